//! One thing that was seen.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::side::PeerSide;
use crate::signal::SignalName;

/// One thing that was seen in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordingEntry {
    /// When, since the beginning.
    pub at: Duration,
    /// Who did it.
    pub from: PeerSide,
    /// What it was.
    pub what: RecordedEvent,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordedEvent {
    /// A line, without its line feed.
    Line(Vec<u8>),
    /// The bytes behind the last line feed, when the side closed.
    Unfinished(Vec<u8>),
    /// Something on stderr.
    Stderr(Vec<u8>),
    /// The side closed what it writes to.
    Close,
    /// The agent ended with this code.
    Exit(i32),
    /// This signal ended the agent.
    Killed(i32),
    /// So many lines came here that were not kept.
    Left(u64),
    /// A line of so many bytes came here that could not be read as JSON. It was not kept,
    /// since nobody knows what was secret in it.
    Unreadable(u64),
}

impl RecordingEntry {
    /// Writes the entry as it stands in a recording.
    #[must_use]
    pub fn to_json(&self) -> String {
        let millis = self.at.as_secs_f64() * 1000.0;
        let arrow = match self.from {
            PeerSide::Client => "client->agent",
            PeerSide::Agent => "agent->client",
        };
        // Written by hand: the members stand in the order in which people read.
        let mut json = format!("{{\"t\": {:.1}, \"dir\": \"{arrow}\"", millis);
        let mut member = |key: &str, value: Value| {
            json.push_str(&format!(", \"{key}\": {value}"));
        };
        match &self.what {
            RecordedEvent::Line(bytes) => put_bytes(&mut member, "line", bytes),
            RecordedEvent::Unfinished(bytes) => {
                put_bytes(&mut member, "line", bytes);
                member("unfinished", true.into());
            }
            RecordedEvent::Stderr(bytes) => put_bytes(&mut member, "stderr", bytes),
            RecordedEvent::Close => member("event", "close".into()),
            RecordedEvent::Exit(code) => {
                member("event", "exit".into());
                member("code", (*code).into());
            }
            RecordedEvent::Killed(signal) => {
                member("event", "exit".into());
                let known = SignalName::numbered(*signal);
                member(
                    "signal",
                    known.map_or((*signal).into(), |known| known.name().into()),
                );
            }
            RecordedEvent::Left(lines) => {
                member("event", "left out".into());
                member("lines", (*lines).into());
            }
            RecordedEvent::Unreadable(bytes) => {
                member("event", "unreadable".into());
                member("bytes", (*bytes).into());
            }
        }
        json.push('}');
        json
    }

    /// Reads an entry from a line of a recording.
    ///
    /// # Errors
    ///
    /// [`EntryError`] tells what is missing or wrong.
    pub fn from_json(line: &[u8]) -> Result<Self, EntryError> {
        let value: Value = serde_json::from_slice(line)
            .map_err(|error| EntryError(format!("this is no JSON: {error}")))?;
        let Value::Object(members) = value else {
            return Err(EntryError("this is no JSON object".to_owned()));
        };
        let at = members.get("t").and_then(Value::as_f64).unwrap_or(0.0);
        let from = match members.get("dir").and_then(Value::as_str) {
            Some("client->agent") => PeerSide::Client,
            Some("agent->client") => PeerSide::Agent,
            _ => {
                return Err(EntryError(
                    "`dir` has to be \"client->agent\" or \"agent->client\"".to_owned(),
                ));
            }
        };
        let at = Duration::try_from_secs_f64(at / 1000.0)
            .map_err(|_| EntryError("`t` has to be milliseconds since the beginning".to_owned()))?;
        Ok(Self {
            at,
            from,
            what: what(&members)?,
        })
    }
}

/// UTF-8 is kept as text, other bytes as hexadecimal digits.
fn put_bytes(member: &mut impl FnMut(&str, Value), key: &str, bytes: &[u8]) {
    match std::str::from_utf8(bytes) {
        Ok(text) => member(key, text.into()),
        Err(_) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let key = match key {
                "stderr" => "stderr_hex",
                _ => "hex",
            };
            member(key, hex.into());
        }
    }
}

fn what(members: &Map<String, Value>) -> Result<RecordedEvent, EntryError> {
    if let Some(bytes) = bytes(members, "line", "hex")? {
        let unfinished = members.get("unfinished") == Some(&Value::Bool(true));
        return Ok(if unfinished {
            RecordedEvent::Unfinished(bytes)
        } else {
            RecordedEvent::Line(bytes)
        });
    }
    if let Some(bytes) = bytes(members, "stderr", "stderr_hex")? {
        return Ok(RecordedEvent::Stderr(bytes));
    }
    let number = |key: &str| members.get(key).and_then(Value::as_i64);
    let count = |key: &str| members.get(key).and_then(Value::as_u64).unwrap_or_default();
    let small = |key: &str| number(key).and_then(|number| i32::try_from(number).ok());
    match members.get("event").and_then(Value::as_str) {
        Some("close") => Ok(RecordedEvent::Close),
        Some("exit") => {
            if let Some(code) = small("code") {
                return Ok(RecordedEvent::Exit(code));
            }
            let signal = members.get("signal").and_then(Value::as_str);
            let signal = signal
                .and_then(SignalName::named)
                .map(SignalName::number)
                .or_else(|| small("signal"));
            signal
                .map(RecordedEvent::Killed)
                .ok_or_else(|| EntryError("an exit has a `code` or a `signal`".to_owned()))
        }
        Some("left out") => Ok(RecordedEvent::Left(count("lines"))),
        Some("unreadable") => Ok(RecordedEvent::Unreadable(count("bytes"))),
        Some(other) => Err(EntryError(format!("there is no event \"{other}\""))),
        None => Err(EntryError(
            "expected one of `line`, `hex`, `stderr` and `event`".to_owned(),
        )),
    }
}

fn bytes(
    members: &Map<String, Value>,
    text: &str,
    hex: &str,
) -> Result<Option<Vec<u8>>, EntryError> {
    if let Some(value) = members.get(text) {
        let value = value.as_str();
        let value = value.ok_or_else(|| EntryError(format!("`{text}` has to be a string")))?;
        return Ok(Some(value.as_bytes().to_vec()));
    }
    let Some(value) = members.get(hex) else {
        return Ok(None);
    };
    let digits = value.as_str().unwrap_or_default();
    let wrong = || EntryError(format!("`{hex}` has to be pairs of hexadecimal digits"));
    if digits.len() % 2 != 0 || !digits.is_ascii() {
        return Err(wrong());
    }
    let pairs = (0..digits.len()).step_by(2);
    let bytes: Result<Vec<u8>, _> = pairs
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16))
        .collect();
    bytes.map(Some).map_err(|_| wrong())
}

/// A line of a recording is not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct EntryError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_read_back() {
        let all = [
            RecordedEvent::Line(b"{\"jsonrpc\":\"2.0\"}".to_vec()),
            RecordedEvent::Line(b"\xff\xfe".to_vec()),
            RecordedEvent::Unfinished(b"{\"js".to_vec()),
            RecordedEvent::Stderr(b"warning\n".to_vec()),
            RecordedEvent::Stderr(vec![0xc3]),
            RecordedEvent::Close,
            RecordedEvent::Exit(3),
            RecordedEvent::Killed(9),
            RecordedEvent::Killed(60),
            RecordedEvent::Left(12),
            RecordedEvent::Unreadable(1 << 40),
        ];
        for what in all {
            let entry = RecordingEntry {
                at: Duration::from_micros(12_300),
                from: PeerSide::Agent,
                what,
            };
            let json = entry.to_json();
            assert_eq!(
                RecordingEntry::from_json(json.as_bytes()).unwrap(),
                entry,
                "{json}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        #[track_caller]
        fn check(line: &str, expected: &str) {
            let error = RecordingEntry::from_json(line.as_bytes()).unwrap_err();
            assert!(error.to_string().starts_with(expected), "{error}");
        }
        check("5", "this is no JSON object");
        check("{", "this is no JSON: ");
        check("{}", "`dir` has to be");
        let with = |rest: &str| format!("{{\"t\": 1, \"dir\": \"agent->client\"{rest}}}");
        check(&with(""), "expected one of");
        check(&with(", \"line\": 5"), "`line` has to be a string");
        check(&with(", \"hex\": \"abc\""), "`hex` has to be pairs");
        check(&with(", \"event\": \"exit\""), "an exit has");
        check(&with(", \"event\": \"dance\""), "there is no event");
        check("{\"t\": -1, \"dir\": \"agent->client\"}", "`t` has to be");
    }
}
