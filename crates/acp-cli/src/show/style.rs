//! How lines look: signs, colours, and the width there is.

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
    pub(super) done: &'static str,
    pub(super) failed: &'static str,
    pub(super) waiting: &'static str,
    pub(super) current: &'static str,
    /// Stands for what was left out.
    pub(super) more: &'static str,
    pub(super) dot: &'static str,
    pub(super) bar: &'static str,
    pub(super) turning: &'static [&'static str],
}

/// For terminals that know them.
pub(super) const UNICODE: Signs = Signs {
    done: "✓",
    failed: "✗",
    waiting: "○",
    current: "▸",
    more: "…",
    dot: " · ",
    bar: "│ ",
    turning: &["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"],
};

/// For those that do not.
pub(super) const ASCII: Signs = Signs {
    done: "+",
    failed: "x",
    waiting: "o",
    current: ">",
    more: "~",
    dot: ", ",
    bar: "| ",
    turning: &["|", "/", "-", "\\"],
};

impl Style {
    /// Appends a piece in its tone.
    pub(super) fn paint(&self, tone: Tone, text: &str, into: &mut String) {
        let code = match tone {
            Tone::Plain => "",
            Tone::Strong => "1",
            Tone::Faint => "2",
            Tone::Good => "32",
            Tone::Bad => "31",
            Tone::Warning => "33",
            Tone::Busy => "36",
        };
        if !self.colour || code.is_empty() || text.is_empty() {
            into.push_str(text);
            return;
        }
        into.push_str("\x1b[");
        into.push_str(code);
        into.push('m');
        into.push_str(text);
        into.push_str("\x1b[0m");
    }

    /// Returns the turning sign at this moment of a turn.
    pub(super) fn turning(&self, millis: u128) -> &'static str {
        let signs = self.signs.turning;
        let at = usize::try_from(millis / 100).unwrap_or_default();
        signs[at % signs.len()]
    }
}
