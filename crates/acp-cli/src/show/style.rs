//! How lines look: signs, colours, and the width there is.

use acp_text::{Clean, ScreenText, TerminalCommand, clean};

/// How lines look where they are shown.
#[derive(Debug, Clone)]
pub(super) struct Style {
    /// Columns of a line, or `None` where nothing limits it.
    pub(super) width: Option<usize>,
    pub(super) colour: bool,
    pub(super) signs: &'static Signs,
}

/// What a piece of a line is, and so its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Strong,
    Faint,
    Good,
    Bad,
    Warning,
    Busy,
}

/// Signs that stand for words.
#[derive(Debug, PartialEq)]
pub(super) struct Signs {
    pub(super) done: Clean<'static>,
    pub(super) failed: Clean<'static>,
    pub(super) waiting: Clean<'static>,
    pub(super) current: Clean<'static>,
    /// Stands for what was left out.
    pub(super) more: Clean<'static>,
    pub(super) dot: Clean<'static>,
    pub(super) bar: Clean<'static>,
    pub(super) turning: &'static [Clean<'static>],
}

/// For terminals that know them.
pub(super) static UNICODE: Signs = Signs {
    done: clean!("✓"),
    failed: clean!("✗"),
    waiting: clean!("○"),
    current: clean!("▸"),
    more: clean!("…"),
    dot: clean!(" · "),
    bar: clean!("│ "),
    turning: &TURNING_UNICODE,
};

/// For those that do not.
pub(super) static ASCII: Signs = Signs {
    done: clean!("+"),
    failed: clean!("x"),
    waiting: clean!("o"),
    current: clean!(">"),
    more: clean!("~"),
    dot: clean!(", "),
    bar: clean!("| "),
    turning: &TURNING_ASCII,
};

static TURNING_UNICODE: [Clean<'static>; 10] = [
    clean!("⠋"),
    clean!("⠙"),
    clean!("⠹"),
    clean!("⠸"),
    clean!("⠼"),
    clean!("⠴"),
    clean!("⠦"),
    clean!("⠧"),
    clean!("⠇"),
    clean!("⠏"),
];

static TURNING_ASCII: [Clean<'static>; 4] = [clean!("|"), clean!("/"), clean!("-"), clean!("\\")];

impl Style {
    /// Appends a piece in its tone.
    pub(super) fn paint(&self, tone: Tone, text: &Clean<'_>, into: &mut ScreenText) {
        let command = match tone {
            Tone::Plain => None,
            Tone::Strong => Some(TerminalCommand::Bold),
            Tone::Faint => Some(TerminalCommand::Faint),
            Tone::Good => Some(TerminalCommand::Green),
            Tone::Bad => Some(TerminalCommand::Red),
            Tone::Warning => Some(TerminalCommand::Yellow),
            Tone::Busy => Some(TerminalCommand::Cyan),
        };
        match command.filter(|_| self.colour && !text.is_empty()) {
            Some(command) => {
                into.command(command);
                into.push(text);
                into.command(TerminalCommand::Plain);
            }
            None => into.push(text),
        }
    }

    /// Returns the turning sign at this moment of a turn.
    pub(super) fn turning(&self, millis: u128) -> &'static Clean<'static> {
        let signs = self.signs.turning;
        let at = usize::try_from(millis / 100).unwrap_or_default();
        &signs[at % signs.len()]
    }
}
