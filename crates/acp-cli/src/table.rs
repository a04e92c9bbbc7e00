//! Tables for people.

use std::fmt::Write as _;

use acp_text::{Clean, width as columns};

/// Rows of text in columns.
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

/// What stands between two columns.
const GAP: usize = 2;

/// Columns are never made narrower than this.
const NARROWEST: usize = 6;

/// Returns how wide a terminal is: `None` where it is none, and nothing has to fit.
pub(crate) fn width(is_terminal: bool) -> Option<usize> {
    let size = terminal_size::terminal_size().filter(|_| is_terminal);
    size.map(|(width, _)| usize::from(width.0))
}

impl<const N: usize> Table<N> {
    /// Makes a table with these heads.
    pub(crate) fn new(heads: [&str; N]) -> Self {
        Self {
            rows: vec![heads.map(str::to_uppercase)],
        }
    }

    /// Adds a row, of one clean line for each cell.
    pub(crate) fn row(&mut self, cells: [String; N]) {
        let cells = cells.map(|cell| Clean::line(&cell).into_string());
        self.rows.push(cells);
    }

    /// Writes it in so many columns; what does not fit goes on in the lines below, in its
    /// own column.
    pub(crate) fn fitted(&self, width: Option<usize>) -> String {
        let widths = self.widths(width);
        let mut text = String::new();
        for row in &self.rows {
            let cells: Vec<Vec<String>> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| wrapped(cell, *width))
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or_default();
            for line in 0..height {
                let mut out = String::new();
                for (cell, width) in cells.iter().zip(&widths) {
                    let part = cell.get(line).map_or("", String::as_str);
                    let space = width.saturating_sub(columns(part)) + GAP;
                    let _ = write!(out, "{part}{:space$}", "");
                }
                text.push_str(out.trim_end());
                text.push('\n');
            }
        }
        text
    }

    /// Gives each column what it needs, and takes from the widest until all fits.
    fn widths(&self, width: Option<usize>) -> [usize; N] {
        let mut widths = [0; N];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(cell));
            }
        }
        if let Some(width) = width {
            let room = width.saturating_sub(GAP * N.saturating_sub(1));
            while widths.iter().sum::<usize>() > room {
                match widths.iter_mut().max() {
                    Some(widest) if *widest > NARROWEST => *widest -= 1,
                    _ => break,
                }
            }
        }
        widths
    }
}

/// Breaks a text into lines that fit, if anything has to.
pub(crate) fn wrap(text: &str, width: Option<usize>) -> Vec<String> {
    match width {
        Some(width) => wrapped(text, width),
        None => vec![text.to_owned()],
    }
}

/// Breaks a text into lines of so many columns, between words where it can.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_inclusive([' ', '/']) {
        let bare = columns(word.trim_end());
        if used > 0 && used + bare > width {
            lines.push(String::new());
            used = 0;
        }
        for c in word.chars() {
            let wide = acp_text::char_width(c);
            if used + wide > width && used > 0 {
                if c == ' ' {
                    continue;
                }
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(c);
                used += wide;
            }
        }
    }
    for line in &mut lines {
        line.truncate(line.trim_end().len());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn table() -> Table<3> {
        let mut table = Table::new(["name", "version", "what to do"]);
        table.row(
            [
                "claude",
                "0.101.0",
                "npm install -g @anthropic-ai/claude-code",
            ]
            .map(String::from),
        );
        table.row(["名前", "", "nothing"].map(String::from));
        table
    }

    #[test]
    fn columns_are_as_wide_as_they_need() {
        expect![[r#"
            NAME    VERSION  WHAT TO DO
            claude  0.101.0  npm install -g @anthropic-ai/claude-code
            名前             nothing
        "#]]
        .assert_eq(&table().fitted(None));
    }

    #[test]
    fn what_does_not_fit_goes_on_below() {
        expect![[r#"
            NAME    VERSION  WHAT TO DO
            claude  0.101.0  npm install -g
                             @anthropic-ai/
                             claude-code
            名前             nothing
        "#]]
        .assert_eq(&table().fitted(Some(40)));
        for width in 1..80 {
            let fitted = table().fitted(Some(width));
            let widest = fitted.lines().map(columns).max().unwrap();
            assert!(
                widest <= width.max(3 * NARROWEST + 2 * GAP),
                "{width}: {fitted}"
            );
        }
    }

    #[test]
    fn long_words_are_broken() {
        assert_eq!(wrapped("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("a/b/cdef/g", 5), ["a/b/", "cdef/", "g"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("漢字漢字", 5), ["漢字", "漢字"]);
    }
}
