//! What is said of a tool call: one line, and below it what it showed.

use std::time::Duration;

use acp_protocol::v1::{ToolCallStatus, ToolKind};

use super::changes::{self, more};
use super::excerpt::{self, Excerpt, count};
use super::line::{Line, one_line};
use super::part::Part;
use super::style::{Style, Tone};
use super::tools::ShownCall;
use acp_text::width;

/// Lines of output that are shown: of a command, whose end says how it went, of one that
/// failed, and of any other.
const OF_COMMAND: excerpt::Part = excerpt::Part::Last(6);
const OF_FAILURE: excerpt::Part = excerpt::Part::Last(8);
const OF_OTHERS: excerpt::Part = excerpt::Part::First(4);

/// Returns the row of a call that runs.
pub(super) fn running(call: &ShownCall<'_>, turning: &str, style: &Style) -> Line {
    let sign = match call.call.status {
        Some(ToolCallStatus::InProgress) => (Tone::Busy, turning),
        _ => (Tone::Faint, style.signs.waiting),
    };
    let time = call.took.filter(|time| time.as_secs() > 0).map(in_seconds);
    line(call, sign, None, time, style)
}

/// Returns the line of a call that ended.
pub(super) fn ended(call: &ShownCall<'_>, style: &Style) -> Line {
    let (sign, how) = match call.status() {
        Some(ToolCallStatus::Completed) => ((Tone::Good, style.signs.done), hidden(call)),
        Some(ToolCallStatus::Failed) => {
            ((Tone::Bad, style.signs.failed), Some("failed".to_owned()))
        }
        _ => (
            (Tone::Faint, style.signs.waiting),
            Some("not finished".to_owned()),
        ),
    };
    line(call, sign, how, call.took.and_then(spoken), style)
}

/// Says the same in words, for where there is no terminal.
pub(super) fn in_words(call: &ShownCall<'_>) -> Line {
    let kind = call.call.kind.as_ref().filter(|_| !call.title().is_empty());
    let kind = kind.map_or_else(String::new, |kind| one_line(kind.as_str()) + " ");
    let status = call.status().map_or("not finished", ToolCallStatus::as_str);
    let tone = match call.status() {
        Some(ToolCallStatus::Failed) => Tone::Bad,
        _ => Tone::Plain,
    };
    let mut details: Vec<String> = hidden(call).into_iter().collect();
    details.extend(call.place());
    details.extend(call.took.and_then(spoken));
    let details = match details.is_empty() {
        true => String::new(),
        false => format!(" ({})", details.join(", ")),
    };
    Line::new()
        .with(Tone::Plain, format!("{kind}{}: ", call.name()))
        .with(tone, status)
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
            Part::Other(words) => lines.push(Line::new().with(Tone::Faint, words.as_str())),
        }
    }
    lines
}

/// Says how long something took, if it is worth a word.
pub(super) fn spoken(time: Duration) -> Option<String> {
    match time.as_millis() {
        0..100 => None,
        100..10_000 => Some(format!("{:.1}s", time.as_secs_f64())),
        _ => Some(in_seconds(time)),
    }
}

/// The same, in whole seconds.
pub(super) fn in_seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
        seconds => format!("{}h {:02}m", seconds / 3600, seconds / 60 % 60),
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
            .with(Tone::Faint, style.signs.bar)
            .with(Tone::Faint, line.as_str())
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
fn hidden(call: &ShownCall<'_>) -> Option<String> {
    let lines = call.parts.iter().map(|part| match part {
        Part::Text(excerpt) => excerpt.total,
        _ => 0,
    });
    let lines = lines.sum();
    (hides_text(call) && lines > 0).then(|| count(lines, "line", "lines"))
}

fn line(
    call: &ShownCall<'_>,
    (tone, sign): (Tone, &str),
    how: Option<String>,
    time: Option<String>,
    style: &Style,
) -> Line {
    let name = call.name();
    let kind = call.call.kind.as_ref().filter(|_| !call.title().is_empty());
    let kind = kind.filter(|kind| **kind != ToolKind::Other);
    let kind = kind.map(|kind| one_line(kind.as_str()).replace('_', " "));
    // What comes last goes first when there is no room.
    let mut details: Vec<(u8, String)> = Vec::new();
    details.extend(kind.map(|kind| (2, kind)));
    details.extend(call.place().map(|place| (3, place)));
    details.extend(how.map(|how| (0, how)));
    details.extend(time.map(|time| (1, time)));
    let room = style.width.unwrap_or(usize::MAX);
    let gap = "  ";
    let taken = |details: &[(u8, String)]| {
        let dots = width(style.signs.dot) * details.len().saturating_sub(1);
        let words: usize = details.iter().map(|(_, words)| width(words)).sum();
        gap.len() + words + dots
    };
    let head = width(sign) + 1;
    while !details.is_empty() && head + width(&name) + taken(&details) > room {
        // At least half of the line is for the name.
        let least = details.iter().map(|(rank, _)| *rank).max().unwrap_or(0);
        if least < 2 && head + taken(&details) <= room / 2 {
            break;
        }
        details.retain(|(rank, _)| *rank != least);
    }
    let line = Line::new().with(tone, sign).with(Tone::Plain, " ");
    if details.is_empty() {
        return line.with(Tone::Plain, name);
    }
    let details_width = taken(&details);
    let name = acp_text::shorten_width(
        &name,
        room.saturating_sub(head + details_width),
        style.signs.more,
    );
    let details: Vec<_> = details.into_iter().map(|(_, words)| words).collect();
    line.with(Tone::Plain, name).with(
        Tone::Faint,
        format!("{gap}{}", details.join(style.signs.dot)),
    )
}
