//! The beginning or the end of a long text, and how much was left out.

use acp_conversation::KeptText;
use acp_text::{Clean, clean};

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
    first: Vec<Clean<'static>>,
    /// The last lines, [`KEPT`] at most, when there are more.
    last: Vec<Clean<'static>>,
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

    /// Keeps both ends of a text of which no more may be known. The fences of one that is a
    /// block of code are left out.
    pub(super) fn of_kept(text: &KeptText) -> Self {
        let mut excerpt = Self::of(unfenced(&text.beginning));
        if text.is_cut {
            let end = Self::of(&text.end);
            excerpt.last = if end.last.is_empty() {
                end.first
            } else {
                end.last
            };
            excerpt.total = text.lines;
        }
        excerpt
    }

    /// Returns the lines of a part, and how many are left out: in front of them for the
    /// last ones, else behind.
    pub(super) fn part(&self, part: Part) -> (&[Clean<'static>], usize) {
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
        (lines, self.total.saturating_sub(lines.len()))
    }
}

/// Takes the fences off a text that is one block of code.
fn unfenced(text: &str) -> &str {
    let inner = text.trim().strip_prefix("```").and_then(|rest| {
        let (_language, rest) = rest.split_once('\n')?;
        rest.strip_suffix("```")
    });
    match inner {
        Some(inner) if !inner.contains("```") => inner,
        _ => text,
    }
}

/// Says a number of things.
pub(super) fn count(number: usize, one: &Clean<'static>, many: &Clean<'static>) -> Clean<'static> {
    clean!("{} {}", number, if number == 1 { one } else { many })
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
            (&[clean!("1"), clean!("2")][..], 98)
        );
        assert_eq!(
            long.part(Part::Last(2)),
            (&[clean!("99"), clean!("100")][..], 98)
        );
        assert_eq!(long.part(Part::Last(100)).0.len(), KEPT);
        let short = Excerpt::of(&numbered(3));
        assert_eq!(
            short.part(Part::Last(2)),
            (&[clean!("2"), clean!("3")][..], 1)
        );
        assert_eq!(short.part(Part::First(9)).1, 0);
        assert_eq!(Excerpt::of("\n \n").total, 0);
    }

    #[test]
    fn fences_go() {
        assert_eq!(unfenced("```console\n$ ls\n```\n"), "$ ls\n");
        assert_eq!(
            unfenced("```\na\n```\nb\n```\nc\n```"),
            "```\na\n```\nb\n```\nc\n```"
        );
        assert_eq!(unfenced("plain"), "plain");
    }

    #[test]
    fn a_line_shows_what_was_left_of_it() {
        let bar = Excerpt::of("\u{1b}[32m10%\r100%\u{1b}[0m\r\n\tnext");
        assert_eq!(bar.part(Part::First(9)).0, ["100%", "    next"]);
    }
}
