//! What begins a line of ours: a sign on a terminal, else a word in brackets.

use acp_protocol::v1::NoticeSeverity;

use super::line::Line;
use super::style::Tone;

/// What begins a line of ours.
pub(super) struct Label {
    pub(super) word: &'static str,
    pub(super) sign: &'static str,
    pub(super) tone: Tone,
}

pub(super) const LOST: Label = Label {
    word: "lost",
    sign: "!",
    tone: Tone::Warning,
};
pub(super) const ASKS: Label = Label {
    word: "asks",
    sign: "?",
    tone: Tone::Warning,
};
pub(super) const ACP: Label = Label {
    word: "acp",
    sign: ">",
    tone: Tone::Faint,
};
pub(super) const LINK: Label = Label {
    word: "link",
    sign: "@",
    tone: Tone::Faint,
};
pub(super) const ALSO: Label = Label {
    word: "also",
    sign: "@",
    tone: Tone::Faint,
};
pub(super) const THOUGHT: Label = Label {
    word: "thought",
    sign: "~",
    tone: Tone::Faint,
};
pub(super) const NEWS: Label = Label {
    word: "news",
    sign: "-",
    tone: Tone::Faint,
};
pub(super) const PLAN: Label = Label {
    word: "plan",
    sign: "-",
    tone: Tone::Faint,
};

impl Label {
    /// For what was served to the agent, by its word.
    pub(super) fn of_served(word: &'static str) -> Self {
        let (sign, tone) = match word {
            "runs" => ("$", Tone::Faint),
            _ => ("!", Tone::Warning),
        };
        Self { word, sign, tone }
    }

    pub(super) fn of_notice(severity: &NoticeSeverity) -> Self {
        let (sign, tone) = match severity {
            NoticeSeverity::Error => ("!", Tone::Bad),
            NoticeSeverity::Warning => ("!", Tone::Warning),
            _ => ("i", Tone::Faint),
        };
        Self {
            word: "note",
            sign,
            tone,
        }
    }

    /// Returns how the line begins.
    pub(super) fn line(&self, drawn: bool) -> Line {
        match drawn {
            true => Line::new()
                .with(self.tone, self.sign)
                .with(Tone::Plain, " "),
            false => bracketed(self.word),
        }
    }
}

pub(super) fn bracketed(word: &str) -> Line {
    Line::new().with(Tone::Faint, format!("[{word}] "))
}
