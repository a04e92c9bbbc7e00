//! What an agent thinks aloud, folded into one line.

use super::excerpt::count;
use super::line::{Line, shown};
use super::style::{Style, Tone};
use acp_text::{Cleaner, fit_end, shorten_width, width};

/// Characters of a thought that are kept, of its beginning and of its end each.
const MAX_KEPT: usize = 240;

/// A thought that goes on.
#[derive(Debug, Default)]
pub(super) struct Thought {
    cleaner: Cleaner,
    /// How its first line with words begins.
    first: String,
    /// The line that grows.
    last: String,
    /// Lines with words in them.
    lines: usize,
}

impl Thought {
    /// Takes the next piece.
    pub(super) fn add(&mut self, text: &str) {
        for (at, line) in self.cleaner.clean(text).split('\n').enumerate() {
            if at > 0 {
                self.last.clear();
            }
            let line = match self.last.is_empty() {
                true => line.trim_start(),
                false => line,
            };
            if line.is_empty() {
                continue;
            }
            self.lines += usize::from(self.last.is_empty());
            if self.lines == 1 {
                let room = MAX_KEPT.saturating_sub(self.first.chars().count());
                self.first.extend(line.chars().take(room));
            }
            self.last.push_str(line);
            let excess = self.last.chars().count().saturating_sub(MAX_KEPT);
            if let Some((cut, _)) = self.last.char_indices().nth(excess) {
                self.last.drain(..cut);
            }
        }
    }

    /// Returns the row that shows it while it goes on: its newest words.
    pub(super) fn row(&self, style: &Style) -> Option<Line> {
        if self.lines == 0 {
            return None;
        }
        let newest = without_marks(&self.last);
        let room = style.width.unwrap_or(usize::MAX);
        let room = room.saturating_sub("thinking ".len() + width(style.signs.more));
        let end = fit_end(&newest, room);
        let more = if end.len() < newest.len() {
            style.signs.more
        } else {
            ""
        };
        Some(Line::new().with(Tone::Faint, format!("thinking {more}{end}")))
    }

    /// Returns the words that stay of it.
    pub(super) fn words(&self, style: &Style) -> Option<String> {
        let first = without_marks(&self.first);
        if self.lines == 0 || first.is_empty() {
            return None;
        }
        let more = match self.lines - 1 {
            0 => String::new(),
            more => format!(" (+{})", count(more, "line", "lines")),
        };
        let room = style.width.unwrap_or(usize::MAX);
        let room = room.saturating_sub(width(&more));
        Some(shorten_width(&first, room, style.signs.more) + &more)
    }
}

/// Takes the marks of a heading off.
fn without_marks(text: &str) -> String {
    shown(text.trim_matches(['*', '#', ' ']))
}

#[cfg(test)]
mod tests {
    use super::super::style::UNICODE;
    use super::*;

    fn style(width: Option<usize>) -> Style {
        Style {
            width,
            colour: false,
            signs: &UNICODE,
        }
    }

    fn row(thought: &Thought, width: usize) -> String {
        let style = style(Some(width));
        let mut text = String::new();
        let line = thought.row(&style).unwrap();
        line.render(&style, &mut text);
        text
    }

    #[test]
    fn it_stays_as_its_first_line() {
        let mut thought = Thought::default();
        assert_eq!(thought.words(&style(None)), None);
        for piece in ["\n**Plan", "ning**\n\nFirst", " I look.\n", "Then I write."] {
            thought.add(piece);
        }
        assert_eq!(thought.words(&style(None)).unwrap(), "Planning (+2 lines)");
        assert_eq!(
            thought.words(&style(Some(18))).unwrap(),
            "Planni… (+2 lines)"
        );
        assert_eq!(row(&thought, 40), "thinking Then I write.");
        assert_eq!(row(&thought, 18), "thinking …I write.");
    }

    #[test]
    fn memory_is_bounded() {
        let mut thought = Thought::default();
        for _ in 0..10_000 {
            thought.add("思考 ");
        }
        assert!(thought.first.chars().count() <= MAX_KEPT);
        assert!(thought.last.chars().count() <= MAX_KEPT);
        assert_eq!(thought.lines, 1);
        assert_eq!(row(&thought, 20), "thinking … 思考 思考");
    }
}
