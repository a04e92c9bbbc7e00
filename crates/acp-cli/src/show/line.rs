//! One line on a screen: pieces of text in tones, cut or wrapped to a width.

use acp_text::{char_width, clean, fit, width};

use super::style::{Style, Tone};

/// Characters of a title or a name that are shown.
const MAX_TITLE: usize = 120;

/// Characters of an error that are shown.
const MAX_MESSAGE: usize = 600;

/// Columns from one tab stop to the next, inside a line of ours.
const TAB: usize = 4;

/// A line that is not on the screen yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    pieces: Vec<(Tone, String)>,
}

impl Line {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a piece; it holds no line ends and no commands.
    #[must_use]
    pub(super) fn with(mut self, tone: Tone, text: impl Into<String>) -> Self {
        let text = text.into();
        if !text.is_empty() {
            self.pieces.push((tone, text));
        }
        self
    }

    /// Adds another line's pieces.
    #[must_use]
    pub(super) fn and(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// Columns it takes at most.
    pub(super) fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| width(text)).sum()
    }

    /// Appends it, cut to the width of the window if there is one.
    pub(super) fn render(&self, style: &Style, into: &mut String) {
        let Some(limit) = style.width else {
            return self.render_whole(style, into);
        };
        if self.width() <= limit {
            return self.render_whole(style, into);
        }
        let mut left = limit.saturating_sub(1);
        for (tone, text) in &self.pieces {
            let fitting = fit(text, left);
            style.paint(*tone, fitting, into);
            left -= width(fitting);
            if fitting.len() < text.len() {
                if limit > 0 {
                    style.paint(*tone, style.signs.more, into);
                }
                return;
            }
        }
    }

    /// Appends it, in as many rows as it takes; all but the first begin with `indent`
    /// blanks.
    pub(super) fn render_wrapped(&self, style: &Style, indent: usize, into: &mut String) {
        let Some(limit) = style.width.filter(|limit| *limit > 2 * indent) else {
            return self.render_whole(style, into);
        };
        let mut column = 0;
        for (tone, text) in &self.pieces {
            let mut row = String::new();
            for word in text.split_inclusive(' ') {
                let mut word = word;
                if column > indent && column + width(word.trim_end()) > limit {
                    style.paint(*tone, row.trim_end(), into);
                    row.clear();
                    into.push('\n');
                    into.extend(std::iter::repeat_n(' ', indent));
                    column = indent;
                    word = word.trim_start();
                }
                // A word longer than a row is cut where the row ends.
                while column + width(word.trim_end()) > limit {
                    let part = fit(word, limit - column);
                    if part.is_empty() {
                        break;
                    }
                    row.push_str(part);
                    style.paint(*tone, &row, into);
                    row.clear();
                    into.push('\n');
                    into.extend(std::iter::repeat_n(' ', indent));
                    column = indent;
                    word = &word[part.len()..];
                }
                row.push_str(word);
                column += width(word);
            }
            style.paint(*tone, &row, into);
        }
    }

    fn render_whole(&self, style: &Style, into: &mut String) {
        for (tone, text) in &self.pieces {
            style.paint(*tone, text, into);
        }
    }
}

/// Makes a title fit one line: white space and control characters become single
/// spaces, and what is too long is cut.
pub(crate) fn one_line(text: &str) -> String {
    acp_text::one_line(text, MAX_TITLE)
}

/// The same for an error, which may be longer.
pub(crate) fn shown(text: &str) -> String {
    acp_text::one_line(text, MAX_MESSAGE)
}

/// Makes a line of code or of output fit for the screen: its blanks stay.
pub(super) fn verbatim(text: &str) -> String {
    // What was written over with a carriage return was not to stay.
    let text = text.trim_end_matches('\r');
    let text = text.rsplit('\r').next().unwrap_or_default();
    let mut line = String::new();
    let mut column = 0;
    for c in clean(text).chars().take(MAX_MESSAGE) {
        let (c, columns) = match c {
            '\t' => (' ', TAB - column % TAB),
            '\n' => (' ', 1),
            c => (c, char_width(c)),
        };
        match c {
            ' ' => line.extend(std::iter::repeat_n(c, columns)),
            c => line.push(c),
        }
        column += columns;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::super::style::UNICODE;
    use super::*;

    #[test]
    fn titles_become_one_line() {
        assert_eq!(one_line("Read notes.md"), "Read notes.md");
        assert_eq!(one_line("  a\n\tb\r\n\u{1b}[31mc\u{7f} "), "a b c");
        assert_eq!(one_line("\n\n"), "");
        assert_eq!(one_line("rm \u{202e}txt.a"), "rm txt.a");
        let long = "ä".repeat(MAX_TITLE);
        assert_eq!(one_line(&long), long);
        let cut = format!("{}…", "ä".repeat(MAX_TITLE - 1));
        assert_eq!(one_line(&format!("{long}ä")), cut);
    }

    #[test]
    fn lines_of_code_keep_their_blanks() {
        assert_eq!(verbatim("\tif x {\r"), "    if x {");
        assert_eq!(verbatim("a\tb"), "a   b");
        assert_eq!(verbatim("日\tb"), "日  b");
        assert_eq!(verbatim("10%\r100%"), "100%");
    }

    #[track_caller]
    fn wraps(text: &str, width: usize, wrapped: &str) {
        let style = Style {
            width: Some(width),
            colour: false,
            signs: &UNICODE,
        };
        let mut rows = String::new();
        Line::new()
            .with(Tone::Plain, text)
            .render_wrapped(&style, 2, &mut rows);
        assert_eq!(rows, wrapped);
        assert!(
            rows.lines().all(|row| acp_text::width(row) <= width),
            "{rows:?}"
        );
    }

    #[test]
    fn words_move_to_the_next_row() {
        wraps("one two three", 20, "one two three");
        wraps("one two three", 8, "one two\n  three");
        wraps("one two three", 7, "one two\n  three");
        wraps("a verylongword b", 8, "a verylo\n  ngword\n  b");
        wraps("verylongword", 8, "verylong\n  word");
        wraps("日本語の題名", 8, "日本語の\n  題名");
        wraps("", 8, "");
    }
}
