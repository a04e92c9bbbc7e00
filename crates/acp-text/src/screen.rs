//! The way to a screen: clean text, and the few commands to a terminal that are ours.

use std::fmt::Write as _;
use std::io;

use crate::clean::Clean;
use crate::json::escape_json;

/// A command to a terminal. These are all that ever reach one from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalCommand {
    /// What follows is bold.
    Bold,
    /// What follows is faint.
    Faint,
    /// What follows is red.
    Red,
    /// What follows is green.
    Green,
    /// What follows is yellow.
    Yellow,
    /// What follows is cyan.
    Cyan,
    /// What follows looks as usual again.
    Plain,
    /// To the beginning of the row.
    Return,
    /// So many rows down, in the same column; scrolls at the bottom.
    Down(usize),
    /// So many rows up.
    Up(usize),
    /// Remembers where the cursor is.
    SaveCursor,
    /// Goes back to where that was.
    RestoreCursor,
    /// Erases the rest of the row.
    EraseRow,
    /// Erases all from the cursor on.
    EraseBelow,
    /// Text at the edge does not go on in the next row.
    WrapOff,
    /// It does again.
    WrapOn,
}

/// Something for a screen: [`Clean`] text and [commands](TerminalCommand) of our own, and
/// nothing else.
///
/// ```
/// use acp_text::{Clean, ScreenText, TerminalCommand};
///
/// let mut text = ScreenText::new();
/// text.command(TerminalCommand::Red);
/// text.push(Clean::line("no\u{1b}[2J such file"));
/// text.command(TerminalCommand::Plain);
/// assert_eq!(text.as_str(), "\u{1b}[31mno such file\u{1b}[0m");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScreenText(String);

impl ScreenText {
    /// Begins an empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text.
    pub fn push<'a>(&mut self, text: impl Into<Clean<'a>>) {
        self.0.push_str(text.into().as_str());
    }

    /// Adds so many blanks.
    pub fn push_blanks(&mut self, count: usize) {
        self.0.extend(std::iter::repeat_n(' ', count));
    }

    /// Ends the line.
    pub fn end_line(&mut self) {
        self.0.push('\n');
    }

    /// Adds a command to the terminal.
    pub fn command(&mut self, command: TerminalCommand) {
        use TerminalCommand as Command;
        self.0.push_str(match command {
            Command::Bold => "\x1b[1m",
            Command::Faint => "\x1b[2m",
            Command::Red => "\x1b[31m",
            Command::Green => "\x1b[32m",
            Command::Yellow => "\x1b[33m",
            Command::Cyan => "\x1b[36m",
            Command::Plain => "\x1b[0m",
            Command::Return => "\r",
            Command::Down(rows) => return self.0.extend(std::iter::repeat_n('\u{b}', rows)),
            Command::Up(0) => "",
            Command::Up(rows) => {
                // Writing to a string does not fail.
                let _ = write!(self.0, "\x1b[{rows}A");
                return;
            }
            Command::SaveCursor => "\x1b7",
            Command::RestoreCursor => "\x1b8",
            Command::EraseRow => "\x1b[K",
            Command::EraseBelow => "\x1b[J",
            Command::WrapOff => "\x1b[?7l",
            Command::WrapOn => "\x1b[?7h",
        });
    }

    /// Adds another one.
    pub fn append(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }

    /// Returns it as a terminal gets it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns how many bytes it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a, T: Into<Clean<'a>>> From<T> for ScreenText {
    fn from(text: T) -> Self {
        Self(text.into().into_string())
    }
}

/// Writes to a screen, or to a file or a pipe in its place. There is no way through it for
/// text that was not cleaned, but for [`pass_on`](Self::pass_on) where no screen is.
#[derive(Debug)]
pub struct ScreenWriter<W> {
    out: W,
    is_terminal: bool,
}

impl<W: io::Write> ScreenWriter<W> {
    /// Writes to a terminal.
    pub fn to_terminal(out: W) -> Self {
        let is_terminal = true;
        Self { out, is_terminal }
    }

    /// Writes to a file or a pipe, whose reader may want every byte of a text.
    pub fn to_file(out: W) -> Self {
        let is_terminal = false;
        Self { out, is_terminal }
    }

    /// Writes all of a text.
    ///
    /// # Errors
    ///
    /// Whatever it is written to fails.
    pub fn write(&mut self, text: &ScreenText) -> io::Result<()> {
        self.out.write_all(text.as_str().as_bytes())
    }

    /// Writes JSON, in which everything is escaped that could act on a terminal.
    ///
    /// # Errors
    ///
    /// Whatever it is written to fails.
    pub fn write_json(&mut self, json: &str) -> io::Result<()> {
        self.out.write_all(escape_json(json).as_bytes())
    }

    /// Passes a text of a peer on as it is; on a terminal it is cleaned.
    ///
    /// # Errors
    ///
    /// Whatever it is written to fails.
    pub fn pass_on(&mut self, text: &str) -> io::Result<()> {
        match self.is_terminal {
            true => self.write(&Clean::new(text).into()),
            false => self.out.write_all(text.as_bytes()),
        }
    }

    /// Makes it one of any stream.
    pub fn boxed(self) -> ScreenWriter<Box<dyn io::Write + Send>>
    where
        W: Send + 'static,
    {
        ScreenWriter {
            out: Box::new(self.out),
            is_terminal: self.is_terminal,
        }
    }

    /// Pushes out what was written.
    ///
    /// # Errors
    ///
    /// Whatever it is written to fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[2J\u{9b}5A\u{202e}b";

    fn written(act: impl FnOnce(&mut ScreenWriter<&mut Vec<u8>>), is_terminal: bool) -> String {
        let mut bytes = Vec::new();
        let mut writer = match is_terminal {
            true => ScreenWriter::to_terminal(&mut bytes),
            false => ScreenWriter::to_file(&mut bytes),
        };
        act(&mut writer);
        writer.flush().unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_terminal_gets_clean_text_and_a_file_what_was_sent() {
        assert_eq!(written(|to| to.pass_on(HOSTILE).unwrap(), true), "ab");
        assert_eq!(written(|to| to.pass_on(HOSTILE).unwrap(), false), HOSTILE);
        let clean = ScreenText::from(Clean::new(HOSTILE));
        assert_eq!(written(|to| to.write(&clean).unwrap(), false), "ab");
        let json = format!("\"{}\"", HOSTILE.replace('\u{1b}', ""));
        for is_terminal in [true, false] {
            let json = written(|to| to.write_json(&json).unwrap(), is_terminal);
            assert_eq!(json, r#""a[2J\u009b5A\u202eb""#);
        }
    }

    #[test]
    fn commands_are_those_of_every_terminal() {
        let mut text = ScreenText::new();
        for command in [
            TerminalCommand::Return,
            TerminalCommand::Down(2),
            TerminalCommand::Up(0),
            TerminalCommand::Up(12),
            TerminalCommand::EraseRow,
        ] {
            text.command(command);
        }
        assert_eq!(text.as_str(), "\r\u{b}\u{b}\u{1b}[12A\u{1b}[K");
    }
}
