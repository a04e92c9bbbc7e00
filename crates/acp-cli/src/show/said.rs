//! What is said of a tool call: one line, and below it what it showed.

use std::time::Duration;

use acp_protocol::v1::{ToolCallStatus, ToolKind};

use super::changes::{self, more};
use super::excerpt::{self, Excerpt, count};
use super::line::{Line, one_line};
use super::part::Part;
use super::style::{Style, Tone};
use super::tools::ShownCall;
use acp_text::{Clean, clean};

/// Lines of output that are shown: of a command, whose end says how it went, of one that
/// failed, and of any other.
const OF_COMMAND: excerpt::Part = excerpt::Part::Last(6);
const OF_FAILURE: excerpt::Part = excerpt::Part::Last(8);
const OF_OTHERS: excerpt::Part = excerpt::Part::First(4);

/// Returns the row of a call that runs.
pub(super) fn running(call: &ShownCall<'_>, turning: &Clean<'_>, style: &Style) -> Line {
    let sign = match call.call.status {
        Some(ToolCallStatus::InProgress) => (Tone::Busy, turning),
        _ => (Tone::Faint, &style.signs.waiting),
    };
    let time = call.took.filter(|time| time.as_secs() > 0).map(in_seconds);
    line(call, sign, None, time, style)
}

/// Returns the line of a call that ended.
pub(super) fn ended(call: &ShownCall<'_>, style: &Style) -> Line {
    let (sign, how) = match call.status() {
        Some(ToolCallStatus::Completed) => ((Tone::Good, &style.signs.done), hidden(call)),
        Some(ToolCallStatus::Failed) => ((Tone::Bad, &style.signs.failed), Some(clean!("failed"))),
        _ => (
            (Tone::Faint, &style.signs.waiting),
            Some(clean!("not finished")),
        ),
    };
    line(call, sign, how, call.took.and_then(spoken), style)
}

/// Says the same in words, for where there is no terminal.
pub(super) fn in_words(call: &ShownCall<'_>) -> Line {
    let kind = call.call.kind.as_ref().filter(|_| !call.title().is_empty());
    let kind = kind.map(|kind| clean!("{} ", one_line(kind.as_str())));
    let status = call.status().map(|status| one_line(status.as_str()));
    let tone = match call.status() {
        Some(ToolCallStatus::Failed) => Tone::Bad,
        _ => Tone::Plain,
    };
    let mut details: Vec<Clean<'static>> = hidden(call).into_iter().collect();
    details.extend(call.place());
    details.extend(call.took.and_then(spoken));
    let details = match details.is_empty() {
        true => clean!(""),
        false => clean!(" ({})", Clean::join(details, &clean!(", "))),
    };
    Line::new()
        .with(
            Tone::Plain,
            clean!("{}{}: ", kind.unwrap_or_default(), call.name()),
        )
        .with(tone, status.unwrap_or(clean!("not finished")))
        .with(Tone::Faint, details)
}

/// Returns the lines below: what changes, and what was put out.
pub(super) fn body(call: &ShownCall<'_>, style: &Style) -> Vec<Line> {
    let failed = call.status() == Some(&ToolCallStatus::Failed);
    let mut lines = Vec::new();
    for part in &call.parts {
        match part {
            Part::Text(_) if hides_text(call) => {}
            Part::Text(excerpt) => {
                let part = match call.call.kind.as_ref() {
                    _ if failed => OF_FAILURE,
                    Some(ToolKind::Execute) => OF_COMMAND,
                    _ => OF_OTHERS,
                };
                output(excerpt, part, style, &mut lines);
            }
            Part::Change { change, path } => lines.extend(changes::lines(change, path, style)),
            Part::Other(words) => lines.push(Line::new().with(Tone::Faint, words)),
        }
    }
    lines
}

/// Says how long something took, if it is worth a word.
pub(super) fn spoken(time: Duration) -> Option<Clean<'static>> {
    match time.as_millis() {
        0..100 => None,
        100..10_000 => Some(Clean::line(&format!("{:.1}s", time.as_secs_f64()))),
        _ => Some(in_seconds(time)),
    }
}

/// The same, in whole seconds.
pub(super) fn in_seconds(time: Duration) -> Clean<'static> {
    match time.as_secs() {
        seconds @ 0..60 => clean!("{}s", seconds),
        seconds @ 60..3600 => clean!("{}m {:02}s", seconds / 60, seconds % 60),
        seconds => clean!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
    }
}

fn output(excerpt: &Excerpt, part: excerpt::Part, style: &Style, into: &mut Vec<Line>) {
    let (mut shown, mut left) = excerpt.part(part);
    if left == 1 {
        // The line that says so would take as much room.
        (shown, left) = excerpt.part(match part {
            excerpt::Part::First(count) => excerpt::Part::First(count + 1),
            excerpt::Part::Last(count) => excerpt::Part::Last(count + 1),
        });
    }
    let lines = shown.iter().map(|line| {
        Line::new()
            .with(Tone::Faint, &style.signs.bar)
            .with(Tone::Faint, line)
    });
    let fold = (left > 0).then(|| more(left, style));
    match part {
        excerpt::Part::First(_) => into.extend(lines.chain(fold)),
        excerpt::Part::Last(_) => into.extend(fold.into_iter().chain(lines)),
    }
}

/// Tells whether what a call put out is not shown: who reads a file shows it to itself.
fn hides_text(call: &ShownCall<'_>) -> bool {
    call.call.kind.as_ref() == Some(&ToolKind::Read)
        && call.status() == Some(&ToolCallStatus::Completed)
}

/// Says how much that is.
fn hidden(call: &ShownCall<'_>) -> Option<Clean<'static>> {
    let lines = call.parts.iter().map(|part| match part {
        Part::Text(excerpt) => excerpt.total,
        _ => 0,
    });
    let lines = lines.sum();
    (hides_text(call) && lines > 0).then(|| count(lines, &clean!("line"), &clean!("lines")))
}

fn line(
    call: &ShownCall<'_>,
    (tone, sign): (Tone, &Clean<'_>),
    how: Option<Clean<'static>>,
    time: Option<Clean<'static>>,
    style: &Style,
) -> Line {
    let name = call.name();
    let kind = call.call.kind.as_ref().filter(|_| !call.title().is_empty());
    let kind = kind.filter(|kind| **kind != ToolKind::Other);
    let kind = kind.map(|kind| one_line(&kind.as_str().replace('_', " ")));
    // What comes last goes first when there is no room.
    let mut details: Vec<(u8, Clean<'static>)> = Vec::new();
    details.extend(kind.map(|kind| (2, kind)));
    details.extend(call.place().map(|place| (3, place)));
    details.extend(how.map(|how| (0, how)));
    details.extend(time.map(|time| (1, time)));
    let room = style.width.unwrap_or(usize::MAX);
    let gap = clean!("  ");
    let taken = |details: &[(u8, Clean<'static>)]| {
        let dots = style.signs.dot.width() * details.len().saturating_sub(1);
        let words: usize = details.iter().map(|(_, words)| words.width()).sum();
        gap.width() + words + dots
    };
    let head = sign.width() + 1;
    while !details.is_empty() && head + name.width() + taken(&details) > room {
        // At least half of the line is for the name.
        let least = details.iter().map(|(rank, _)| *rank).max().unwrap_or(0);
        if least < 2 && head + taken(&details) <= room / 2 {
            break;
        }
        details.retain(|(rank, _)| *rank != least);
    }
    let line = Line::new().with(tone, sign).with(Tone::Plain, clean!(" "));
    if details.is_empty() {
        return line.with(Tone::Plain, name);
    }
    let details_width = taken(&details);
    let name = name.shorten_width(room.saturating_sub(head + details_width), &style.signs.more);
    let details = details.into_iter().map(|(_, words)| words);
    let details = Clean::join(details, &style.signs.dot);
    line.with(Tone::Plain, name)
        .with(Tone::Faint, clean!("{}{}", gap, details))
}
