//! What an agent thinks aloud, folded into one line.

use acp_text::{Clean, clean, fit_end, last_bytes};

use super::excerpt::count;
use super::line::{Line, shown};
use super::style::{Style, Tone};

/// Bytes of a thought's end in which its newest words are looked for.
const MAX_END: usize = 512;

/// Returns the row that shows a thought while it goes on: its newest words.
pub(super) fn row(thought: &str, style: &Style) -> Option<Line> {
    let end = acp_text::clean(last_bytes(thought, MAX_END));
    let mut lines = end.rsplit('\n').map(str::trim_start);
    let newest = without_marks(lines.find(|line| !line.is_empty())?);
    let room = style.width.unwrap_or(usize::MAX);
    let room = room.saturating_sub("thinking ".len() + style.signs.more.width());
    let end = fit_end(newest.as_str(), room);
    let is_cut = end.len() < newest.as_str().len();
    let line = Line::new().with(Tone::Faint, clean!("thinking "));
    let line = match is_cut {
        true => line.with(Tone::Faint, &style.signs.more),
        false => line,
    };
    Some(line.with(Tone::Faint, Clean::new(end)))
}

/// Returns the words that stay of a thought.
pub(super) fn words(thought: &str, style: &Style) -> Option<Clean<'static>> {
    let thought = acp_text::clean(thought);
    let mut lines = thought
        .split('\n')
        .filter(|line| !line.trim_start().is_empty());
    let first = without_marks(lines.next()?);
    if first.is_empty() {
        return None;
    }
    let more = match lines.count() {
        0 => clean!(""),
        more => clean!(" (+{})", count(more, &clean!("line"), &clean!("lines"))),
    };
    let room = style.width.unwrap_or(usize::MAX);
    let room = room.saturating_sub(more.width());
    let first = first.shorten_width(room, &style.signs.more);
    Some(clean!("{}{}", first, more))
}

/// Takes the marks of a heading off.
fn without_marks(text: &str) -> Clean<'static> {
    shown(text.trim_matches(['*', '#', ' ']))
}

#[cfg(test)]
mod tests {
    use acp_text::ScreenText;

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
        let mut text = ScreenText::new();
        row(thought, &style).unwrap().render(&style, &mut text);
        text.as_str().to_owned()
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
        let words = words(&thought, &style(Some(20))).unwrap();
        assert!(words.as_str().ends_with('…'));
    }
}
