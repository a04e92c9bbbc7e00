//! What changed in a file, line by line.

use std::time::Duration;

use acp_conversation::FileChange;
use similar::{ChangeTag, TextDiff};

use super::excerpt::count;
use super::line::{Line, verbatim};
use super::style::{Style, Tone};
use acp_text::{Clean, clean, width};

/// Time a comparison takes at most; after it the rest counts as rewritten.
const MAX_TIME: Duration = Duration::from_millis(200);

/// Lines around a change.
const CONTEXT: usize = 2;

/// Lines of a change to a file that are shown.
const MAX_LINES: usize = 24;

/// Lines of a new file that are shown.
const MAX_NEW: usize = 8;

/// The lines that show a change, below one that names the file. Of a file that is too large
/// to be kept the numbers of lines are shown.
pub(super) fn lines(change: &FileChange, path: &Clean<'_>, style: &Style) -> Vec<Line> {
    let new = change.new_lines;
    let old = change.old_lines.unwrap_or(0);
    let Some(texts) = &change.texts else {
        let words = clean!("{} before, {} now", lines_of(old), new);
        return vec![head(path).with(Tone::Faint, words)];
    };
    let Some(old_text) = texts.old_text.as_deref().filter(|text| !text.is_empty()) else {
        let head = head(path).with(Tone::Good, clean!("new, {}", lines_of(new)));
        return with_rows(head, added(&texts.new_text), new, MAX_NEW, new, style);
    };
    let compared = TextDiff::configure()
        .timeout(MAX_TIME)
        .diff_lines(old_text, texts.new_text.as_str());
    let (mut plus, mut minus) = (0, 0);
    for change in compared.iter_all_changes() {
        match change.tag() {
            ChangeTag::Insert => plus += 1,
            ChangeTag::Delete => minus += 1,
            ChangeTag::Equal => {}
        }
    }
    let mut head = head(path);
    if plus > 0 {
        head = head.with(Tone::Good, clean!("+{}", plus));
    }
    if minus > 0 {
        let gap = if plus > 0 { clean!(" ") } else { clean!("") };
        head = head.with(Tone::Bad, clean!("{}-{}", gap, minus));
    }
    if plus + minus == 0 {
        return vec![head.with(Tone::Faint, clean!("unchanged"))];
    }
    let hunks = compared.grouped_ops(CONTEXT);
    let all: usize = hunks
        .iter()
        .flatten()
        .map(|op| compared.iter_changes(op).count())
        .sum();
    let rows = hunks.iter().enumerate().flat_map(|(at, hunk)| {
        let gap = (at > 0).then_some(Row::Gap);
        let changes = hunk.iter().flat_map(|op| compared.iter_changes(op));
        gap.into_iter().chain(changes.map(|change| {
            let number = match change.tag() {
                ChangeTag::Delete => change.old_index(),
                _ => change.new_index(),
            };
            Row::Line {
                tag: change.tag(),
                number: number.map_or(0, |at| at + 1),
                text: change.value(),
            }
        }))
    });
    let last = new.max(old);
    with_rows(head, rows, all, MAX_LINES, last, style)
}

enum Row<'a> {
    Line {
        tag: ChangeTag,
        number: usize,
        text: &'a str,
    },
    /// Lines between two changes.
    Gap,
}

fn head(path: &Clean<'_>) -> Line {
    Line::new()
        .with(Tone::Plain, path)
        .with(Tone::Plain, clean!("  "))
}

fn added(text: &str) -> impl Iterator<Item = Row<'_>> {
    text.lines().enumerate().map(|(at, text)| Row::Line {
        tag: ChangeTag::Insert,
        number: at + 1,
        text,
    })
}

/// Puts rows below the head, up to a limit; `all` lines there are, the last of them
/// with the number `last`.
fn with_rows<'a>(
    head: Line,
    rows: impl Iterator<Item = Row<'a>>,
    all: usize,
    limit: usize,
    last: usize,
    style: &Style,
) -> Vec<Line> {
    // One line more than the limit is better shown than folded.
    let limit = if all == limit + 1 { all } else { limit };
    let digits = width(&last.to_string());
    let mut lines = vec![head];
    let mut shown = 0;
    for row in rows {
        let (tag, number, text) = match row {
            Row::Gap if shown < limit => {
                let blanks = digits.saturating_sub(style.signs.more.width());
                let gap = Line::new().with_blanks(blanks);
                lines.push(gap.with(Tone::Faint, &style.signs.more));
                continue;
            }
            Row::Line { tag, number, text } if shown < limit => (tag, number, text),
            _ => break,
        };
        shown += 1;
        let (tone, sign) = match tag {
            ChangeTag::Insert => (Tone::Good, clean!("+")),
            ChangeTag::Delete => (Tone::Bad, clean!("-")),
            ChangeTag::Equal => (Tone::Plain, clean!(" ")),
        };
        let text = verbatim(text.trim_end_matches('\n'));
        lines.push(
            Line::new()
                .with_blanks(digits.saturating_sub(width(&number.to_string())))
                .with(Tone::Faint, clean!("{} ", number))
                .with(tone, clean!("{} {}", sign, text).trim_end()),
        );
    }
    if shown < all {
        lines.push(more(all - shown, style));
    }
    lines
}

/// The line that stands for lines left out.
pub(super) fn more(lines: usize, style: &Style) -> Line {
    let more = count(lines, &clean!("more line"), &clean!("more lines"));
    Line::new().with(Tone::Faint, clean!("{} {}", style.signs.more, more))
}

fn lines_of(number: usize) -> Clean<'static> {
    count(number, &clean!("line"), &clean!("lines"))
}
