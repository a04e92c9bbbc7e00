//! What begins a line of ours: a sign on a terminal, else a word in brackets.

use acp_protocol::v1::NoticeSeverity;
use acp_text::{Clean, clean};

use super::line::Line;
use super::style::Tone;

/// What begins a line of ours.
pub(super) struct Label {
    pub(super) word: Clean<'static>,
    pub(super) sign: Clean<'static>,
    pub(super) tone: Tone,
}

pub(super) const LOST: Label = Label::new(clean!("lost"), clean!("!"), Tone::Warning);
pub(super) const ASKS: Label = Label::new(clean!("asks"), clean!("?"), Tone::Warning);
pub(super) const ACP: Label = Label::new(clean!("acp"), clean!(">"), Tone::Faint);
pub(super) const LINK: Label = Label::new(clean!("link"), clean!("@"), Tone::Faint);
pub(super) const ALSO: Label = Label::new(clean!("also"), clean!("@"), Tone::Faint);
pub(super) const THOUGHT: Label = Label::new(clean!("thought"), clean!("~"), Tone::Faint);
pub(super) const NEWS: Label = Label::new(clean!("news"), clean!("-"), Tone::Faint);
pub(super) const PLAN: Label = Label::new(clean!("plan"), clean!("-"), Tone::Faint);

impl Label {
    const fn new(word: Clean<'static>, sign: Clean<'static>, tone: Tone) -> Self {
        Self { word, sign, tone }
    }

    /// For what was served to the agent, by its word.
    pub(super) fn of_served(word: Clean<'static>) -> Self {
        let (sign, tone) = match word.as_str() {
            "runs" => (clean!("$"), Tone::Faint),
            _ => (clean!("!"), Tone::Warning),
        };
        Self { word, sign, tone }
    }

    pub(super) fn of_notice(severity: &NoticeSeverity) -> Self {
        let (sign, tone) = match severity {
            NoticeSeverity::Error => (clean!("!"), Tone::Bad),
            NoticeSeverity::Warning => (clean!("!"), Tone::Warning),
            _ => (clean!("i"), Tone::Faint),
        };
        Self {
            word: clean!("note"),
            sign,
            tone,
        }
    }

    /// Returns how the line begins.
    pub(super) fn line(&self, drawn: bool) -> Line {
        match drawn {
            true => Line::new()
                .with(self.tone, &self.sign)
                .with(Tone::Plain, clean!(" ")),
            false => bracketed(&self.word),
        }
    }
}

pub(super) fn bracketed(word: &Clean<'_>) -> Line {
    Line::new().with(Tone::Faint, clean!("[{}] ", word))
}
