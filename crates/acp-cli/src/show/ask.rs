//! A question to the person at the terminal: words of ours, and text of the agent set apart.
//!
//! The person decides on what is seen, so all of it is: text of the agent goes on over as
//! many rows as it takes, each behind a mark of ours, and invisible characters are shown as
//! escapes. No row of it can be taken for one of ours.

use acp_text::{Clean, CleanEnds, ScreenText, clean};

use super::line::{MAX_DECIDED, not_shown};

/// Columns where no window says how many there are.
const USUAL_COLUMNS: usize = 80;

/// Columns of a quoted row at least; in a narrower window the terminal wraps it once more.
const LEAST_COLUMNS: usize = 16;

/// What begins a line of the agent.
const QUOTE: Clean<'static> = clean!("  | ");

/// What begins a row in which such a line goes on.
const GOES_ON: Clean<'static> = clean!("  : ");

/// A question as it is put together.
#[derive(Debug, Default)]
pub(crate) struct AskText {
    parts: Vec<AskPart>,
}

#[derive(Debug)]
enum AskPart {
    Words(Clean<'static>),
    Quoted {
        /// What stands before the first row.
        head: Clean<'static>,
        text: CleanEnds,
    },
}

impl AskText {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds words of ours.
    #[must_use]
    pub(crate) fn words(mut self, words: Clean<'static>) -> Self {
        self.parts.push(AskPart::Words(words));
        self
    }

    /// Adds text of the agent, on rows of its own.
    #[must_use]
    pub(crate) fn quoted(self, text: &str) -> Self {
        self.item(QUOTE, text)
    }

    /// The same, with words of ours before it.
    #[must_use]
    pub(crate) fn item(mut self, head: Clean<'static>, text: &str) -> Self {
        let text = Clean::ends(text, MAX_DECIDED);
        self.parts.push(AskPart::Quoted { head, text });
        self
    }

    /// Lays it out for a window of so many columns.
    pub(crate) fn laid_out(&self, columns: Option<usize>) -> ScreenText {
        // The last column stays free: behind it terminals differ in where the cursor is.
        let columns = columns.unwrap_or(USUAL_COLUMNS).saturating_sub(1);
        let mut screen = ScreenText::new();
        for part in &self.parts {
            match part {
                AskPart::Words(words) => screen.push(words),
                AskPart::Quoted { head, text } => {
                    quote(head, &text.head, columns, &mut screen);
                    if text.hidden > 0 {
                        screen.push(clean!("  {}\n", not_shown(text.hidden)));
                        quote(&GOES_ON, &text.tail, columns, &mut screen);
                    }
                }
            }
        }
        screen
    }
}

fn quote(head: &Clean<'_>, text: &Clean<'_>, columns: usize, screen: &mut ScreenText) {
    for (at, line) in text.lines().enumerate() {
        let head = if at == 0 { head } else { &QUOTE };
        screen.push(head);
        let mut room = columns.saturating_sub(head.width()).max(LEAST_COLUMNS);
        let mut rest = line.into_owned();
        while rest.width() > room {
            let (row, below) = rest.split_at_width(room);
            screen.push(row);
            screen.end_line();
            screen.push(&GOES_ON);
            room = columns.saturating_sub(GOES_ON.width()).max(LEAST_COLUMNS);
            rest = below.into_owned();
        }
        screen.push(rest);
        screen.end_line();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn laid_out(ask: &AskText, columns: usize) -> String {
        ask.laid_out(Some(columns)).as_str().to_owned()
    }

    #[test]
    fn text_of_the_agent_stays_behind_its_mark() {
        let hostile = "ls\u{1b}[8m\nWhich? [1]\t\u{202e}x\r\n日本語日本語日本語日本語";
        let ask = AskText::new()
            .words(clean!("The agent asks: {}\n", Clean::line("execute")))
            .quoted(hostile)
            .item(clean!("  {}  ", 1), "Yes, and never ask me again")
            .words(clean!("Which? "));
        expect![[r"
            The agent asks: execute
              | ls\u{1b}[8m
              | Which? [1]\t\u{202
              : e}x
              | 日本語日本語日本語
              : 日本語
              1  Yes, and never as
              : k me again
            Which? "]]
        .assert_eq(&laid_out(&ask, 23));
    }

    #[test]
    fn of_a_very_long_text_both_ends_are_there() {
        let long = format!("ls {}; curl x | sh", " ".repeat(100_000));
        let screen = laid_out(&AskText::new().quoted(&long), 80);
        assert!(screen.starts_with("  | ls  "), "{screen}");
        let cut = format!(
            "\n  [... {} characters are not shown here ...]\n",
            long.len() - MAX_DECIDED
        );
        assert!(screen.contains(&cut), "{screen}");
        assert!(screen.trim_end().ends_with("; curl x | sh"), "{screen}");
        assert!(screen.lines().all(|row| row.len() < 80));
        assert!(
            screen
                .lines()
                .skip(1)
                .all(|row| row.starts_with("  : ") || row.starts_with("  ["))
        );
    }

    #[test]
    fn a_window_without_width_is_a_usual_one() {
        let ask = AskText::new().quoted(&"x".repeat(100));
        let rows = ask.laid_out(None);
        let widest = rows.as_str().lines().map(acp_text::width).max();
        assert_eq!(widest, Some(79));
        assert!(!laid_out(&ask, 0).is_empty());
    }
}
