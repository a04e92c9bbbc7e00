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

pub(super) const LOST: Label = Label::new("lost", "!", Tone::Warning);
pub(super) const ASKS: Label = Label::new("asks", "?", Tone::Warning);
pub(super) const ACP: Label = Label::new("acp", ">", Tone::Faint);
pub(super) const LINK: Label = Label::new("link", "@", Tone::Faint);
pub(super) const ALSO: Label = Label::new("also", "@", Tone::Faint);
pub(super) const THOUGHT: Label = Label::new("thought", "~", Tone::Faint);
pub(super) const NEWS: Label = Label::new("news", "-", Tone::Faint);
pub(super) const PLAN: Label = Label::new("plan", "-", Tone::Faint);

impl Label {
    const fn new(word: &'static str, sign: &'static str, tone: Tone) -> Self {
        Self { word, sign, tone }
    }

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
