//! One line on a screen: pieces of text in tones, cut or wrapped to a width.

use acp_text::{Clean, ScreenText, char_width, clean};

use super::style::{Style, Tone};

/// Characters of a title or a name that are shown.
const MAX_TITLE: usize = 120;

/// Characters of an error that are shown.
const MAX_MESSAGE: usize = 600;

/// Characters of a text on which somebody decides, or decided: a command line of a shell is
/// shorter by far, and of a longer one both ends are shown.
pub(super) const MAX_DECIDED: usize = 8 << 10;

/// Columns from one tab stop to the next, inside a line of ours.
const TAB: usize = 4;

/// A line that is not on the screen yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    pieces: Vec<(Tone, Clean<'static>)>,
}

impl Line {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a piece. A line has no line ends: they become blanks.
    #[must_use]
    pub(super) fn with<'a>(mut self, tone: Tone, text: impl Into<Clean<'a>>) -> Self {
        let text = text.into();
        let text = match text.as_str().contains(['\n', '\t']) {
            true => Clean::line(text.as_str()),
            false => text.into_owned(),
        };
        if !text.is_empty() {
            self.pieces.push((tone, text));
        }
        self
    }

    /// Adds so many blanks.
    #[must_use]
    pub(super) fn with_blanks(self, count: usize) -> Self {
        self.with(Tone::Plain, Clean::blanks(count))
    }

    /// Adds another line's pieces.
    #[must_use]
    pub(super) fn and(mut self, other: Self) -> Self {
        self.pieces.extend(other.pieces);
        self
    }

    /// Columns it takes at most.
    pub(super) fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| text.width()).sum()
    }

    /// Appends it, cut to the width of the window if there is one.
    pub(super) fn render(&self, style: &Style, into: &mut ScreenText) {
        let Some(limit) = style.width else {
            return self.render_whole(style, into);
        };
        if self.width() <= limit {
            return self.render_whole(style, into);
        }
        let mut left = limit.saturating_sub(1);
        for (tone, text) in &self.pieces {
            let (fitting, rest) = text.split_at_width(left);
            style.paint(*tone, &fitting, into);
            left -= fitting.width();
            if !rest.is_empty() {
                if limit > 0 {
                    style.paint(*tone, &style.signs.more, into);
                }
                return;
            }
        }
    }

    /// Appends it, in as many rows as it takes; all but the first begin with `indent`
    /// blanks.
    pub(super) fn render_wrapped(&self, style: &Style, indent: usize, into: &mut ScreenText) {
        let Some(limit) = style.width.filter(|limit| *limit > 2 * indent) else {
            return self.render_whole(style, into);
        };
        let mut column = 0;
        for (tone, text) in &self.pieces {
            let mut row: Vec<Clean<'_>> = Vec::new();
            for word in text.words() {
                let mut word = word.into_owned();
                if column > indent && column + word.trim_end().width() > limit {
                    let full = Clean::join(row.drain(..), &clean!(""));
                    style.paint(*tone, &full.trim_end(), into);
                    into.end_line();
                    into.push_blanks(indent);
                    column = indent;
                    if word.trim_end().is_empty() {
                        continue;
                    }
                }
                // A word longer than a row is cut where the row ends.
                while column + word.trim_end().width() > limit {
                    let (part, rest) = word.split_at_width(limit - column);
                    if part.is_empty() {
                        break;
                    }
                    row.push(part.into_owned());
                    let rest = rest.into_owned();
                    style.paint(*tone, &Clean::join(row.drain(..), &clean!("")), into);
                    into.end_line();
                    into.push_blanks(indent);
                    column = indent;
                    word = rest;
                }
                column += word.width();
                row.push(word);
            }
            style.paint(*tone, &Clean::join(row, &clean!("")), into);
        }
    }

    fn render_whole(&self, style: &Style, into: &mut ScreenText) {
        for (tone, text) in &self.pieces {
            style.paint(*tone, text, into);
        }
    }
}

/// Makes a title fit one line: white space and control characters become single
/// spaces, and what is too long is cut.
pub(crate) fn one_line(text: &str) -> Clean<'static> {
    Clean::short_line(text, MAX_TITLE)
}

/// The same for an error, which may be longer.
pub(crate) fn shown(text: &str) -> Clean<'static> {
    Clean::short_line(text, MAX_MESSAGE)
}

/// Writes a text on which was decided in one line: all of it, invisible characters too. Of a
/// very long one both ends are shown, and how much lies between.
pub(super) fn decided(text: &str) -> Clean<'static> {
    let ends = Clean::ends(text, MAX_DECIDED);
    let in_one_line = |lines: &Clean<'_>| Clean::join(lines.lines(), &clean!("\\n"));
    let (head, tail) = (in_one_line(&ends.head), in_one_line(&ends.tail));
    match ends.hidden {
        0 => head,
        hidden => clean!("{} {} {}", head, not_shown(hidden), tail),
    }
}

/// Says how much of a text is not shown.
pub(super) fn not_shown(characters: usize) -> Clean<'static> {
    clean!("[... {} characters are not shown here ...]", characters)
}

/// Makes a line of code or of output fit for the screen: its blanks stay.
pub(super) fn verbatim(text: &str) -> Clean<'static> {
    // What was written over with a carriage return was not to stay.
    let text = text.trim_end_matches('\r');
    let text = text.rsplit('\r').next().unwrap_or_default();
    let mut line = String::new();
    let mut column = 0;
    for c in acp_text::clean(text).chars().take(MAX_MESSAGE) {
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
    Clean::new(&line).into_owned()
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
        assert_eq!(one_line(&long), long.as_str());
        let cut = format!("{}…", "ä".repeat(MAX_TITLE - 1));
        assert_eq!(one_line(&format!("{long}ä")), cut.as_str());
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
        let mut rows = ScreenText::new();
        Line::new()
            .with(Tone::Plain, Clean::new(text))
            .render_wrapped(&style, 2, &mut rows);
        let rows = rows.as_str();
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
