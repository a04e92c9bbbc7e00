//! Commands that write one text, and end.

use acp_process::stdio;
use acp_text::{Clean, ScreenText};
use serde_json::Value;

use super::{Format, Output};
use crate::config::Colour;
use crate::exit::Exit;
use crate::outcome::Outcome;

/// The one text of a command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Printed {
    /// For a person.
    Text(Clean<'static>),
    /// For a program.
    Json(Vec<Value>),
}

impl Printed {
    /// One JSON object.
    pub(crate) fn json(value: Value) -> Self {
        Self::Json(vec![value])
    }
}

impl From<String> for Printed {
    /// Cleans a text.
    fn from(text: String) -> Self {
        Self::Text(Clean::new(&text).into_owned())
    }
}

impl From<&str> for Printed {
    /// Cleans a text.
    fn from(text: &str) -> Self {
        Self::Text(Clean::new(text).into_owned())
    }
}

/// Shows what came of a command that writes one text, or how it failed.
pub(crate) fn print(done: Result<impl Into<Printed>, Outcome>) -> Exit {
    match done.and_then(|printed| write(&printed.into())) {
        Ok(()) => Exit::EndOfTurn,
        Err(outcome) => fail(&outcome),
    }
}

/// Writes to standard output; a closed pipe is no failure.
pub(crate) fn write(printed: &Printed) -> Result<(), Outcome> {
    let written = stdio::write_stdout(|out| match printed {
        Printed::Text(text) => out.write(&ScreenText::from(text)),
        Printed::Json(values) => {
            let mut values = values.iter();
            values.try_for_each(|value| out.write_json(&format!("{value:#}\n")))
        }
    });
    written.map_err(|error| {
        Outcome::usage(
            format!("failed to write to standard output: {error}"),
            "see that there is room where it goes",
        )
    })
}

/// Shows how something failed that shows nothing else.
pub(crate) fn fail(outcome: &Outcome) -> Exit {
    Output::standard(Format::Human, Colour::Auto).end(outcome);
    outcome.exit
}

/// Says something of this program to a person, outside of a turn.
pub(crate) fn tell(text: &Clean<'_>) {
    let mut line = ScreenText::from(text);
    line.end_line();
    // Without standard error there is nobody to tell.
    let _ = stdio::stderr().write(&line);
}

/// Asks a person something, outside of a turn.
pub(crate) fn ask(text: &Clean<'_>) -> std::io::Result<()> {
    let mut stderr = stdio::stderr();
    stderr.write(&ScreenText::from(text))?;
    stderr.flush()
}
