//! What is wrong with the text of a scenario, and where.

use std::fmt;
use std::sync::Arc;

/// A scenario could not be understood.
///
/// The message names file, line and column, says what was expected there, and
/// shows the line:
///
/// ```text
/// cancel.acpt:4:12: expected a value, found `}`
///   4 | -> session/new {"cwd": }
///     |                        ^
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseError {
    /// The name of the file.
    pub file: Arc<str>,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong, without the place.
    pub message: String,
    shown: String,
}

impl ParseError {
    /// Points at a byte of the source.
    pub(crate) fn at(file: &Arc<str>, source: &str, offset: usize, message: String) -> Self {
        let offset = offset.min(source.len());
        let start = source[..offset].rfind('\n').map_or(0, |at| at + 1);
        let rest = &source[start..];
        Self {
            file: file.clone(),
            line: source[..start].matches('\n').count() + 1,
            column: source[start..offset].chars().count() + 1,
            message,
            shown: rest.lines().next().unwrap_or_default().to_owned(),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        writeln!(
            f,
            "{}:{}:{}: {}",
            self.file, self.line, self.column, self.message
        )?;
        // Long lines are shown around the place.
        const WIDTH: usize = 96;
        let from = (self.column - 1).saturating_sub(WIDTH / 2);
        let shown: String = self.shown.chars().skip(from).take(WIDTH).collect();
        writeln!(f, "{}", format!("  {number} | {shown}").trim_end())?;
        write!(f, "  {margin} | {}^", " ".repeat(self.column - 1 - from))
    }
}

impl std::error::Error for ParseError {}
