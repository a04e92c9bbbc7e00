//! The beginning or the end of a long text, and how much was left out.

use super::line::verbatim;

/// Which lines of a text are of most interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    First(usize),
    Last(usize),
}

/// Some lines of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The first lines, [`KEPT`] at most.
    first: Vec<String>,
    /// The last lines, [`KEPT`] at most, when there are more.
    last: Vec<String>,
    /// How many lines there are.
    pub(super) total: usize,
}

/// Lines that are kept from either end.
pub(super) const KEPT: usize = 12;

impl Excerpt {
    /// Keeps both ends of a text. Blank lines at the ends do not count.
    pub(crate) fn of(text: &str) -> Self {
        let text = text.trim_end();
        let text = text.trim_start_matches(['\n', '\r']);
        if text.is_empty() {
            return Self::default();
        }
        let total = 1 + text.bytes().filter(|byte| *byte == b'\n').count();
        let first: Vec<_> = text.split('\n').take(KEPT).map(verbatim).collect();
        let mut last = Vec::new();
        if total > KEPT {
            last.extend(text.rsplit('\n').take(KEPT).map(verbatim));
            last.reverse();
        }
        Self { first, last, total }
    }

    /// Returns the lines of a part, and how many are left out: in front of them for the
    /// last ones, else behind.
    pub(super) fn part(&self, part: Part) -> (&[String], usize) {
        let ends_in_last = !self.last.is_empty();
        let lines = match part {
            Part::First(count) => &self.first[..count.min(self.first.len())],
            Part::Last(count) => {
                let all = if ends_in_last {
                    &self.last
                } else {
                    &self.first
                };
                &all[all.len() - count.min(all.len())..]
            }
        };
        (lines, self.total - lines.len())
    }

    /// Returns bytes it keeps.
    pub(super) fn size(&self) -> usize {
        let lines = self.first.iter().chain(&self.last);
        lines.map(String::len).sum()
    }

    /// Forgets the lines, and keeps their number.
    pub(super) fn forget(&mut self) {
        self.first = Vec::new();
        self.last = Vec::new();
    }
}

/// Says a number of things.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize) -> String {
        (1..=count).map(|n| format!("{n}\n")).collect()
    }

    #[test]
    fn ends_are_kept_and_the_rest_is_counted() {
        let long = Excerpt::of(&numbered(100));
        assert_eq!(
            long.part(Part::First(2)),
            (&["1".into(), "2".into()][..], 98)
        );
        assert_eq!(
            long.part(Part::Last(2)),
            (&["99".into(), "100".into()][..], 98)
        );
        assert_eq!(long.part(Part::Last(100)).0.len(), KEPT);
        let short = Excerpt::of(&numbered(3));
        assert_eq!(
            short.part(Part::Last(2)),
            (&["2".into(), "3".into()][..], 1)
        );
        assert_eq!(short.part(Part::First(9)).1, 0);
        assert_eq!(Excerpt::of("\n \n").total, 0);
    }

    #[test]
    fn lines_that_lost_their_text_are_still_counted() {
        let mut long = Excerpt::of(&numbered(100));
        long.forget();
        assert_eq!(long.size(), 0);
        assert_eq!(long.part(Part::Last(5)), (&[][..], 100));
    }

    #[test]
    fn a_line_shows_what_was_left_of_it() {
        let bar = Excerpt::of("\u{1b}[32m10%\r100%\u{1b}[0m\r\n\tnext");
        assert_eq!(bar.part(Part::First(9)).0, ["100%", "    next"]);
    }
}
