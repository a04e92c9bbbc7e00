//! The messages of a recording, read once, and which of them answers which.

use std::collections::BTreeMap;

use acp_recording::{PeerSide, RecordedEvent, Recording, RecordingEntry};
use serde_json::Value;

/// A line of a recording that is JSON.
pub(super) struct Line<'a> {
    /// Which entry of the recording it is.
    pub(super) at: usize,
    pub(super) from: PeerSide,
    pub(super) text: &'a str,
    pub(super) message: Value,
}

/// Reads the lines of a recording.
pub(super) fn read(recording: &Recording) -> Vec<Line<'_>> {
    let entries = recording.entries().iter().enumerate();
    let lines = entries.filter_map(|(at, entry)| {
        let RecordedEvent::Line(line) = &entry.what else {
            return None;
        };
        Some(Line {
            at,
            from: entry.from,
            text: std::str::from_utf8(line).ok()?,
            message: message(entry)?,
        })
    });
    lines.collect()
}

/// Reads the message in a line of a recording.
pub(crate) fn message(entry: &RecordingEntry) -> Option<Value> {
    match &entry.what {
        RecordedEvent::Line(line) => serde_json::from_slice(line).ok(),
        _ => None,
    }
}

/// Which entry answers which, and the names of the requests that need one.
#[derive(Default)]
pub(super) struct Links {
    /// The request of each answer.
    pub(super) requests: BTreeMap<usize, usize>,
    /// The names of the requests that are answered while another one of the same side is open.
    pub(super) names: BTreeMap<usize, String>,
}

impl Links {
    pub(super) fn of(lines: &[Line<'_>]) -> Self {
        let mut links = Self::default();
        let mut open: Vec<(usize, &Line<'_>)> = Vec::new();
        let mut asked = 0;
        for line in lines {
            let id = &line.message["id"];
            if !line.message["method"].is_string() {
                let to_us = |(_, request): &&(usize, &Line<'_>)| request.from != line.from;
                let waiting = open.iter().filter(to_us).count();
                let is_ours = |one| to_us(&one) && one.1.message["id"] == *id;
                let Some(place) = open.iter().position(is_ours) else {
                    continue;
                };
                let (number, request) = open.remove(place);
                links.requests.insert(line.at, request.at);
                if waiting > 1 {
                    links
                        .names
                        .insert(request.at, name(&request.message, number));
                }
            } else if id.is_string() || id.is_number() {
                asked += 1;
                open.push((asked, line));
            }
        }
        links
    }
}

/// Makes a name of the last word of a method and the number of the request.
fn name(request: &Value, number: usize) -> String {
    let method = request["method"].as_str().unwrap_or_default();
    let word = method.rsplit(['/', '_']).next().unwrap_or_default();
    let word: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    let word = if word.is_empty() { "request" } else { &word };
    format!("{word}{number}")
}
