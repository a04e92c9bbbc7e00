//! What is asked, answered and served in a turn, on the screen.

use std::io::{self, Write};

use acp_client::{Decision, Reason};
use acp_conversation::ToolCallState;
use acp_conversation::limits::MAX_TITLE;
use acp_protocol::v1::ToolCallUpdate;
use acp_text::{Clean, clean};

use super::ask::AskText;
use super::excerpt::Excerpt;
use super::human::Screen;
use super::label::{ASKS, Label, bracketed};
use super::line::{Line, decided, one_line};
use super::page::{Fit, INDENT, INDENT_BELOW};
use super::said;
use super::style::Tone;

impl<O: Write, E: Write> Screen<O, E> {
    /// Says what was answered to a permission request.
    pub(super) fn permission(
        &mut self,
        tool: &ToolCallState,
        decision: &Decision,
    ) -> io::Result<()> {
        self.end_thought()?;
        let kind = tool.kind.as_ref().map(|kind| decided(kind.as_str()));
        let kind = kind.unwrap_or(clean!("tool"));
        let (answer, tone) = match decision.allowed {
            true => (clean!("allowed"), Tone::Good),
            false => (clean!("refused"), Tone::Bad),
        };
        let hint = match decision.reason {
            _ if decision.allowed => clean!(""),
            // No level of it helps.
            Reason::AskedAsChoice => clean!(""),
            _ => clean!("; see --allow"),
        };
        let reason = decided(&decision.reason.to_string());
        let line = Line::new()
            .with(Tone::Plain, clean!("{} {}: ", kind, title_of(tool)))
            .with(tone, answer)
            .with(Tone::Faint, clean!(" ({}{})", reason, hint));
        self.say_line(&ASKS, line)
    }

    /// Says what was answered to a question.
    pub(super) fn asked(&mut self, text: &Clean<'_>) -> io::Result<()> {
        self.end_thought()?;
        self.say_line(&ASKS, Line::new().with(Tone::Plain, text))
    }

    /// A command that was served ended, and wrote this; the call it belongs to shows it.
    pub(super) fn wrote(&mut self, terminal: &str, output: &Excerpt) {
        self.tools.wrote(terminal, output);
    }

    /// Says what the agent was served.
    pub(super) fn served(&mut self, what: Clean<'static>, text: &Clean<'_>) -> io::Result<()> {
        let label = Label::of_served(what);
        self.say_line(&label, Line::new().with(Tone::Plain, text))
    }

    /// Shows what a call would do about which somebody is going to be asked.
    pub(super) fn preview(&mut self, call: &ToolCallUpdate) -> io::Result<()> {
        self.end_thought()?;
        let (style, below) = (self.page.style(INDENT), self.page.style(INDENT_BELOW));
        let (drawn, now) = (self.page.facts().drawn, self.page.now());
        let Some(change) = self.conversation.ask(call) else {
            return Ok(());
        };
        self.tools.note(&change, now);
        self.used_tools += usize::from(change.begins);
        let shown = self.tools.show(change.call, &self.cwd, now);
        let body = said::body(&shown, &below);
        if body.is_empty() {
            // The question says the rest.
            return Ok(());
        }
        let line = match drawn {
            true => said::running(&shown, &style.signs.waiting, &style),
            false => bracketed(&clean!("tool"))
                .with(Tone::Plain, clean!("{}: would do this", shown.name())),
        };
        self.push(line, Fit::Cut, &body)
    }

    /// Shows a question; what is typed stands behind it. Nothing is drawn until it is
    /// [answered](Self::answered).
    pub(super) fn ask(&mut self, text: &AskText) -> io::Result<()> {
        self.end_thought()?;
        self.page.ask(text)
    }

    /// What was asked is answered, or nobody wants to know any more.
    pub(super) fn answered(&mut self) {
        self.page.answered();
    }
}

/// Returns the whole title of a call, as far as it is kept.
fn title_of(tool: &ToolCallState) -> Clean<'static> {
    match &tool.title {
        None => clean!("a tool"),
        Some(title) if is_cut(title) => {
            clean!(
                "{} [... the rest of the title is not kept ...]",
                decided(title)
            )
        }
        Some(title) if title.trim().is_empty() => one_line(title),
        Some(title) => decided(title),
    }
}

/// Tells whether a title is as long as titles that are kept.
pub(crate) fn is_cut(title: &str) -> bool {
    // It was cut between two characters, of which one has up to four bytes.
    title.len() > MAX_TITLE - 4
}
