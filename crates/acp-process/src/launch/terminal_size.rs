//! A terminal of a child's own.

/// How large a child's terminal is, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// Characters of a line.
    pub columns: u16,
    /// Lines.
    pub rows: u16,
}

impl TerminalSize {
    /// Says a size.
    #[must_use]
    pub const fn new(columns: u16, rows: u16) -> Self {
        Self { columns, rows }
    }
}

impl Default for TerminalSize {
    /// What terminals have been since they were made of glass: 80 by 24.
    fn default() -> Self {
        Self::new(80, 24)
    }
}
