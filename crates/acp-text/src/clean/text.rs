//! Text that was cleaned, as a type.

use std::borrow::Cow;
use std::fmt;

use super::cleaner::{Cleaner, Layout};
use super::compose::is_harmless;
use super::one_line;
use crate::clean;
use crate::cut::{cut_chars, last_chars};
use crate::width::{fit, width};

/// Columns that a line end counts for in [`Clean::ends`]: about the row it takes.
const LINE_END: usize = 64;

/// Text that was cleaned, and so may go to a screen, to a log or before a person who decides.
///
/// Every way to one cleans: there is none that believes its caller. It holds no character
/// that acts on a terminal or changes how a line is read, and few marks on each character.
/// Parts are put together by [`clean!`](crate::clean!), which takes clean parts and numbers
/// only.
///
/// ```
/// use acp_text::{Clean, clean};
///
/// let title = Clean::line("rm \u{202e}\u{1b}[2Jnotes.md\n");
/// assert_eq!(clean!("{} of {}: {}", 1, 3, title).as_str(), "1 of 3: rm notes.md");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clean<'a>(Cow<'a, str>);

/// The beginning and the end of a text, and how much between them is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanEnds {
    /// The beginning, or all of it.
    pub head: Clean<'static>,
    /// Characters between the two.
    pub hidden: usize,
    /// The end, where something is hidden before it.
    pub tail: Clean<'static>,
}

impl<'a> Clean<'a> {
    /// Cleans a text of several lines.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Cleaner::new(Layout::Lines).clean(text)
    }

    /// Returns one line that is written in a program: ASCII, Latin letters and signs.
    ///
    /// [`clean!`](crate::clean!) calls it while the program is compiled.
    ///
    /// # Panics
    ///
    /// When the text holds anything else.
    #[must_use]
    pub const fn literal(text: &'static str) -> Clean<'static> {
        assert!(is_harmless(text), "text of a program holds plain text only");
        Clean(Cow::Borrowed(text))
    }

    /// Makes one line of a text, as long as it is.
    #[must_use]
    pub fn line(text: &str) -> Clean<'static> {
        Cleaner::new(Layout::Line).clean(text).into_owned()
    }

    /// Makes one line of at most this many characters, with `…` where it was cut.
    #[must_use]
    pub fn short_line(text: &str, max_chars: usize) -> Clean<'static> {
        // The mark of a cut is clean, and what was cut stays so.
        Clean(Cow::Owned(one_line(text, max_chars)))
    }

    /// Writes a text of one line so that a reader sees all of it: what would act, or not be
    /// seen, becomes an escape.
    #[must_use]
    pub fn visible(text: &'a str) -> Self {
        Cleaner::new(Layout::Visible).clean(text)
    }

    /// Writes both ends of a text on which a person decides, visible as by
    /// [`visible`](Self::visible) but for line ends, which stay. Of a text that takes more than
    /// `max` characters a quarter of them is for its end; a line end counts for a row.
    #[must_use]
    pub fn ends(text: &str, max: usize) -> CleanEnds {
        let rows = text.bytes().filter(|byte| *byte == b'\n').count();
        let all = text.chars().count();
        if all + rows * (LINE_END - 1) <= max {
            return CleanEnds {
                head: visible_lines(text),
                hidden: 0,
                tail: Clean::default(),
            };
        }
        let tail_chars = counted(text.chars().rev(), max / 4);
        let head_chars = counted(text.chars(), max - max / 4).min(all - tail_chars);
        CleanEnds {
            head: visible_lines(cut_chars(text, head_chars)),
            hidden: all - head_chars - tail_chars,
            tail: visible_lines(last_chars(text, tail_chars)),
        }
    }

    /// Makes so many blanks.
    #[must_use]
    pub fn blanks(count: usize) -> Clean<'static> {
        Clean(Cow::Owned(" ".repeat(count)))
    }

    /// Cleans what was formatted; [`clean!`](crate::clean!) calls it.
    #[must_use]
    pub fn format(arguments: fmt::Arguments<'_>) -> Clean<'static> {
        Clean::new(&arguments.to_string()).into_owned()
    }

    /// Takes what a cleaner returned.
    pub(super) fn of_cleaner(text: Cow<'a, str>) -> Self {
        Self(text)
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether it has no characters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the columns that it takes at most.
    #[must_use]
    pub fn width(&self) -> usize {
        width(&self.0)
    }

    /// Lends it.
    #[must_use]
    pub fn borrowed(&self) -> Clean<'_> {
        Clean(Cow::Borrowed(&self.0))
    }

    /// Makes it independent of where it came from.
    #[must_use]
    pub fn into_owned(self) -> Clean<'static> {
        Clean(Cow::Owned(self.into_string()))
    }

    /// Takes the text out.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0.into_owned()
    }

    pub(super) fn into_cow(self) -> Cow<'a, str> {
        self.0
    }

    /// Splits it where so many columns end; the first part may be empty.
    #[must_use]
    pub fn split_at_width(&self, columns: usize) -> (Clean<'_>, Clean<'_>) {
        let first = fit(&self.0, columns);
        let rest = &self.0[first.len()..];
        (Clean(Cow::Borrowed(first)), Clean(Cow::Borrowed(rest)))
    }

    /// Cuts it to so many columns, and ends it with `more` where it was cut.
    #[must_use]
    pub fn shorten_width(&self, columns: usize, more: &Clean<'_>) -> Clean<'static> {
        if self.width() <= columns {
            return self.clone().into_owned();
        }
        let (beginning, _) = self.split_at_width(columns.saturating_sub(more.width()));
        let mut cut = beginning.0.trim_end().to_owned();
        cut.push_str(&more.0);
        Clean(Cow::Owned(cut))
    }

    /// Returns it without blanks at its end.
    #[must_use]
    pub fn trim_end(&self) -> Clean<'_> {
        Clean(Cow::Borrowed(self.0.trim_end()))
    }

    /// Returns its lines.
    pub fn lines(&self) -> impl Iterator<Item = Clean<'_>> {
        self.0.split('\n').map(|line| Clean(Cow::Borrowed(line)))
    }

    /// Returns its words, each with the blank behind it.
    pub fn words(&self) -> impl Iterator<Item = Clean<'_>> {
        let words = self.0.split_inclusive(' ');
        words.map(|word| Clean(Cow::Borrowed(word)))
    }

    /// Joins texts, with another one between each two.
    #[must_use]
    pub fn join<'b>(
        parts: impl IntoIterator<Item = Clean<'b>>,
        between: &Clean<'_>,
    ) -> Clean<'static> {
        let mut joined = String::new();
        for (at, part) in parts.into_iter().enumerate() {
            if at > 0 {
                joined.push_str(&between.0);
            }
            joined.push_str(&part.0);
        }
        Clean(Cow::Owned(joined))
    }
}

impl fmt::Display for Clean<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl<'a> From<&'a Clean<'_>> for Clean<'a> {
    fn from(text: &'a Clean<'_>) -> Self {
        text.borrowed()
    }
}

impl PartialEq<str> for Clean<'_> {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for Clean<'_> {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

/// Makes each line visible; the line ends stay.
fn visible_lines(text: &str) -> Clean<'static> {
    let lines = text
        .split('\n')
        .map(|line| Clean::visible(line.strip_suffix('\r').unwrap_or(line)));
    Clean::join(lines, &clean!("\n"))
}

/// Counts the characters of which so many columns are made.
fn counted(chars: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut used = 0;
    let fitting = chars.take_while(|c| {
        used += if *c == '\n' { LINE_END } else { 1 };
        used <= columns
    });
    fitting.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_a_long_text_are_there() {
        let short = Clean::ends("ls\n\u{202e}x\tx", 200);
        assert_eq!(
            (short.head.as_str(), short.hidden),
            ("ls\n\\u{202e}x\\tx", 0)
        );
        let long = format!("rm {}; curl x | sh", "a".repeat(1000));
        let ends = Clean::ends(&long, 100);
        assert_eq!(ends.head.as_str(), format!("rm {}", "a".repeat(72)));
        assert_eq!(ends.tail, "aaaaaaaaaaaa; curl x | sh");
        assert_eq!(ends.hidden, long.len() - 100);
        // Rows count, so that no flood of them scrolls the beginning away.
        let rows = format!("rm x{}; sh", "\n".repeat(10_000));
        let ends = Clean::ends(&rows, 6400);
        let shown = ends.head.lines().count() + ends.tail.lines().count();
        assert!((90..=110).contains(&shown), "{shown}");
        assert!(ends.tail.as_str().ends_with("\n; sh"));
    }

    #[test]
    fn parts_of_a_width() {
        let text = Clean::new("日本 ab");
        let (first, rest) = text.split_at_width(3);
        assert_eq!((first.as_str(), rest.as_str()), ("日", "本 ab"));
        assert_eq!(text.shorten_width(5, &clean!("…")), "日本…");
        assert_eq!(text.shorten_width(7, &clean!("…")), "日本 ab");
        let words: Vec<_> = text.words().map(Clean::into_string).collect();
        assert_eq!(words, ["日本 ", "ab"]);
    }
}
