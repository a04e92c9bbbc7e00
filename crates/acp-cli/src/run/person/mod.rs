//! A person at the terminal, who answers what the agent asks.

mod form;
mod permission;

use std::io::{self, BufRead, IsTerminal};
use std::thread;

use acp_client::{ElicitationAnswer, PermissionRequest, Question, QuestionKind};
use acp_protocol::v1::PermissionOption;
use acp_text::clean;
use tokio::sync::mpsc;

use crate::outcome::Outcome;
use crate::show::{Answered, AskText, By, Output};
use permission::{permission_text, refusal, which};

/// Lines that are typed ahead and kept; more than that is held by the terminal.
const MAX_TYPED: usize = 16;

/// A person at the terminal.
pub(super) struct Person {
    lines: Option<mpsc::Receiver<String>>,
}

impl Person {
    /// Looks whether there is one: standard input and standard error have to be a terminal.
    pub(super) fn at_terminal() -> Result<Self, Outcome> {
        if io::stdin().is_terminal() && acp_process::stdio::stderr_is_terminal() {
            return Ok(Self { lines: None });
        }
        Err(Outcome::usage(
            "--ask needs a terminal, to ask and to hear the answer".to_owned(),
            "leave it out; --allow and --answer say what is answered when nobody is there, and \
             --file takes a prompt",
        ))
    }

    /// Types what a test types.
    #[cfg(test)]
    pub(super) fn typing(lines: mpsc::Receiver<String>) -> Self {
        Self { lines: Some(lines) }
    }

    /// Asks for permission. `None` when the agent offers no way to say no.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the next line goes to the next question.
    pub(super) async fn permit(
        &mut self,
        ask: &PermissionRequest,
        output: &mut Output,
    ) -> io::Result<Option<PermissionOption>> {
        let options = ask.options();
        let refusal = refusal(options);
        let mut text = permission_text(ask);
        output.preview(&ask.raw().tool_call)?;
        self.forget_typed();
        loop {
            output.ask(&text)?;
            let Some(line) = self.line().await else {
                return Ok(refusal.map(|at| options[at].clone()));
            };
            let picked = match line.trim() {
                "" => return Ok(refusal.map(|at| options[at].clone())),
                number => number.parse::<usize>().ok(),
            };
            let picked = picked.and_then(|number| options.get(number.checked_sub(1)?));
            if let Some(option) = picked {
                return Ok(Some(option.clone()));
            }
            let again = clean!("One of the numbers, please: {}", which(refusal));
            text = AskText::new().words(again);
        }
    }

    /// Asks a question.
    ///
    /// # Cancel safety
    ///
    /// As [`permit`](Self::permit).
    pub(super) async fn answer(
        &mut self,
        question: &Question,
        output: &mut Output,
    ) -> io::Result<(ElicitationAnswer, Answered)> {
        self.forget_typed();
        let text = AskText::new().words(clean!("\nThe agent asks:\n"));
        output.ask(&text.quoted(question.message()))?;
        let answer = match question.kind() {
            QuestionKind::Form(form) if !form.is_answerable() => {
                let declined =
                    clean!("  It asks for something that cannot be asked here; declined.\n");
                output.ask(&AskText::new().words(declined))?;
                None
            }
            QuestionKind::Form(form) => self.fill_in(form, output).await?,
            QuestionKind::Link(link) => self.go_to(link, output).await?,
        };
        let by = By::Person;
        Ok(match answer {
            Some(answer) => (answer, Answered::Accepted { by }),
            None => (ElicitationAnswer::decline(), Answered::Declined { by }),
        })
    }

    /// Forgets what was typed before the question: it was meant for something else.
    pub(super) fn forget_typed(&mut self) {
        if let Some(lines) = &mut self.lines {
            while lines.try_recv().is_ok() {}
        }
    }

    /// Waits for a line; `None` at the end of the input.
    pub(super) async fn line(&mut self) -> Option<String> {
        self.lines.get_or_insert_with(read_lines).recv().await
    }
}

/// Reads standard input line by line, on a thread of its own: it cannot be made to stop, and
/// goes with the process.
fn read_lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(MAX_TYPED);
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}
