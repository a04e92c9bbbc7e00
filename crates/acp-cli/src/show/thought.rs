//! What an agent thinks aloud, folded into one line.

use acp_text::{clean, fit_end, last_bytes, shorten_width, width};

use super::excerpt::count;
use super::line::{Line, shown};
use super::style::{Style, Tone};

/// Bytes of a thought's end in which its newest words are looked for.
const MAX_END: usize = 512;

/// Returns the row that shows a thought while it goes on: its newest words.
pub(super) fn row(thought: &str, style: &Style) -> Option<Line> {
    let end = clean(last_bytes(thought, MAX_END));
    let mut lines = end.rsplit('\n').map(str::trim_start);
    let newest = without_marks(lines.find(|line| !line.is_empty())?);
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

/// Returns the words that stay of a thought.
pub(super) fn words(thought: &str, style: &Style) -> Option<String> {
    let thought = clean(thought);
    let mut lines = thought
        .split('\n')
        .filter(|line| !line.trim_start().is_empty());
    let first = without_marks(lines.next()?);
    if first.is_empty() {
        return None;
    }
    let more = match lines.count() {
        0 => String::new(),
        more => format!(" (+{})", count(more, "line", "lines")),
    };
    let room = style.width.unwrap_or(usize::MAX);
    let room = room.saturating_sub(width(&more));
    Some(shorten_width(&first, room, style.signs.more) + &more)
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

    fn newest(thought: &str, width: usize) -> String {
        let style = style(Some(width));
        let mut text = String::new();
        row(thought, &style).unwrap().render(&style, &mut text);
        text
    }

    #[test]
    fn it_stays_as_its_first_line() {
        let thought = "\n**Planning**\n\nFirst I look.\nThen I write.";
        assert_eq!(words("\n ", &style(None)), None);
        let whole = words(thought, &style(None)).unwrap();
        assert_eq!(whole, "Planning (+2 lines)");
        let short = words(thought, &style(Some(18))).unwrap();
        assert_eq!(short, "Planni… (+2 lines)");
        assert_eq!(newest(thought, 40), "thinking Then I write.");
        assert_eq!(newest(thought, 18), "thinking …I write.");
    }

    #[test]
    fn of_a_long_one_the_end_is_looked_at() {
        let thought = "思考 ".repeat(10_000);
        assert_eq!(newest(&thought, 20), "thinking … 思考 思考");
        assert!(words(&thought, &style(Some(20))).unwrap().ends_with('…'));
    }
}
