//! Spoils a line: its bytes, or what it says.

use serde_json::{Map, Value};

use super::random::SeededRandom;

/// A line on its way, with the bytes that end it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) bytes: Vec<u8>,
    /// What was done to it, in words; nothing when it is as it was.
    pub(super) done: Vec<&'static str>,
    /// What it was before each of these.
    before: Vec<Vec<u8>>,
}

/// How deep a value is nested that many readers still take, and one that none has to.
const DEEP: usize = 100;
const TOO_DEEP: usize = 20_000;

/// How long something is that is long, and, more rarely, too long.
const LONG: [usize; 8] = [
    5_000, 5_000, 5_000, 5_000, 70_000, 70_000, 70_000, 1_500_000,
];

impl Line {
    /// A line that is as it should be.
    pub(super) fn whole(message: &Value) -> Self {
        let mut bytes = message.to_string().into_bytes();
        bytes.push(b'\n');
        Self {
            bytes,
            done: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Tells whether what follows begins a line.
    pub(super) fn ends(&self) -> bool {
        self.bytes.last() == Some(&b'\n')
    }

    /// Spoils it in one to three ways.
    pub(super) fn spoil(&mut self, random: &mut SeededRandom) {
        for _ in 0..random.between(1, 3) {
            self.before.push(self.bytes.clone());
            let done = match random.below(5) {
                0 | 1 => self.spoil_bytes(random),
                _ => self.spoil_value(random),
            };
            self.done.push(done);
        }
    }

    /// Leaves only the first of the changes that were made.
    pub(super) fn undo_to(&mut self, changes: usize) {
        if let Some(bytes) = self.before.get(changes) {
            self.bytes.clone_from(bytes);
            self.before.truncate(changes);
            self.done.truncate(changes);
        }
    }

    /// Spoils what it says; a line that says nothing any more is spoiled in its bytes.
    fn spoil_value(&mut self, random: &mut SeededRandom) -> &'static str {
        let Ok(mut value) = serde_json::from_slice::<Value>(&self.bytes) else {
            return self.spoil_bytes(random);
        };
        let at = random.below(count(&value));
        let mut left = at;
        let Some(place) = nth(&mut value, &mut left) else {
            return self.spoil_bytes(random);
        };
        let done = spoil_place(place, random);
        self.bytes = value.to_string().into_bytes();
        self.bytes.push(b'\n');
        if done == "doubled a member" {
            self.double_first_member();
        }
        done
    }

    /// Says the first member twice, which no value of serde can.
    fn double_first_member(&mut self) {
        if self.bytes.starts_with(b"{\"") {
            let first = br#"{"jsonrpc":"2.0","#;
            self.bytes.splice(..1, first.iter().copied());
        }
    }

    fn spoil_bytes(&mut self, random: &mut SeededRandom) -> &'static str {
        let length = self.bytes.len();
        if length < 2 {
            self.bytes.splice(0..0, *b"{");
            return "put a byte in";
        }
        // What ends the line is left for those that mean it.
        let at = random.below(length - 1);
        match random.below(12) {
            0 => {
                self.bytes[at] ^= 1 << random.below(8);
                "turned a bit"
            }
            1 => {
                self.bytes[at] = random.byte();
                "changed a byte"
            }
            2 => {
                let more: Vec<u8> = (0..random.between(1, 8)).map(|_| random.byte()).collect();
                self.bytes.splice(at..at, more);
                "put bytes in"
            }
            3 => {
                let end = (at + random.between(1, 16)).min(length - 1);
                self.bytes.drain(at..end);
                "took bytes out"
            }
            4 => {
                self.bytes.drain(at..length - 1);
                "cut the end off"
            }
            5 => {
                self.bytes.truncate(at);
                "cut the end off, and the line feed"
            }
            6 => {
                self.bytes.insert(at, b'\n');
                "broke the line"
            }
            7 => {
                self.bytes.splice(length - 1..length - 1, *b"\r");
                "ended it with carriage return and line feed"
            }
            8 => {
                self.bytes.splice(0..0, *b"\xef\xbb\xbf");
                "put a byte order mark before it"
            }
            9 => {
                self.bytes.clear();
                self.bytes
                    .extend_from_slice(br#"{"jsonrpc":"2.0","method":"_chaos","params":"#);
                self.bytes.extend(std::iter::repeat_n(b'[', TOO_DEEP));
                self.bytes.extend(std::iter::repeat_n(b']', TOO_DEEP));
                self.bytes.extend_from_slice(b"}\n");
                "nested it too deep"
            }
            10 => {
                self.bytes.splice(0..0, *b"INFO starting up: ");
                "put a log before it"
            }
            _ => {
                let odd: &[u8] = random.pick(&[&b"\xff\xfe"[..], b"\0", b"\xed\xa0\x80", b"\xc3"]);
                self.bytes.splice(at..at, odd.iter().copied());
                "put in bytes that are no text"
            }
        }
    }
}

/// Counts a value and all that are in it.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(all) => all.iter().map(count).sum(),
        Value::Object(all) => all.values().map(count).sum(),
        _ => 0,
    }
}

/// Finds the value with this number, in the order in which [`count`] counts.
fn nth<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(all) => all.iter_mut().find_map(|one| nth(one, left)),
        Value::Object(all) => all.values_mut().find_map(|one| nth(one, left)),
        _ => None,
    }
}

fn spoil_place(place: &mut Value, random: &mut SeededRandom) -> &'static str {
    if let Value::Object(members) = place
        && random.once_in(2)
    {
        return spoil_members(members, random);
    }
    match random.below(9) {
        0 => {
            *place = Value::Null;
            "made a value null"
        }
        1 => {
            *place = true.into();
            "made a value true"
        }
        2 => {
            let odd: &str = random.pick(&["-1", "0.5", "1e308", "18446744073709551616", "-0"]);
            *place = serde_json::from_str(odd).unwrap_or_default();
            "made a value an odd number"
        }
        3 => {
            *place = random
                .pick(&["", "\0", "../../../etc/passwd", "\u{202e}", "null", "😀"])
                .into();
            "made a value an odd text"
        }
        4 => {
            let size = LONG[random.below(LONG.len())];
            *place = "long ".repeat(size / 5).into();
            "made a value very long"
        }
        5 => {
            for _ in 0..DEEP {
                *place = Value::Array(vec![place.take()]);
            }
            "nested a value deep"
        }
        6 => {
            *place = Value::Array(vec![place.take()]);
            "put a value into an array"
        }
        7 => {
            let mut members = Map::new();
            members.insert("value".to_owned(), place.take());
            *place = Value::Object(members);
            "put a value into an object"
        }
        _ => {
            *place = Value::Object(Map::new());
            "made a value an empty object"
        }
    }
}

fn spoil_members(members: &mut Map<String, Value>, random: &mut SeededRandom) -> &'static str {
    let keys: Vec<String> = members.keys().cloned().collect();
    if keys.is_empty() {
        members.insert("surplus".to_owned(), Value::Null);
        return "added a member";
    }
    let key = &keys[random.below(keys.len())];
    match random.below(4) {
        0 => {
            members.remove(key);
            "took a member out"
        }
        1 => {
            if let Some(value) = members.remove(key) {
                members.insert(format!("{key}X"), value);
            }
            "renamed a member"
        }
        2 => {
            members.insert("surplus".to_owned(), Value::from("more"));
            "added a member"
        }
        _ => "doubled a member",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PROMPT: &str = r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}"#;

    fn prompt() -> Line {
        Line::whole(&serde_json::from_str(PROMPT).expect("it is JSON"))
    }

    #[test]
    fn everything_that_can_be_done_is_done_and_can_be_repeated() {
        let spoiled = |round| {
            let mut line = prompt();
            line.spoil(&mut SeededRandom::new(3, &[round]));
            line
        };
        let mut done = BTreeSet::new();
        let mut same = 0;
        for round in 0..600 {
            let line = spoiled(round);
            assert_eq!(line, spoiled(round));
            assert!(!line.done.is_empty());
            same += usize::from(line.bytes == prompt().bytes);
            done.extend(line.done);
        }
        assert_eq!(done.len(), 26, "{done:?}");
        assert!(same < 10, "{same} of 600 were as before");
    }

    #[test]
    fn changes_are_undone_one_by_one() {
        let whole = prompt();
        let mut line = whole.clone();
        line.spoil(&mut SeededRandom::new(3, &[1]));
        let all = line.done.len();
        let mut again = line.clone();
        again.undo_to(all);
        assert_eq!(again, line);
        again.undo_to(all - 1);
        assert_eq!(
            (again.done.len(), &again.bytes),
            (all - 1, &line.before[all - 1])
        );
        again.undo_to(0);
        assert_eq!(again, whole);
    }

    #[test]
    fn every_value_can_be_reached() {
        let mut value: Value = serde_json::from_str(PROMPT).unwrap();
        let all = count(&value);
        assert_eq!(all, 10);
        for at in 0..all {
            assert!(nth(&mut value, &mut { at }).is_some(), "{at}");
        }
        assert!(nth(&mut value, &mut { all }).is_none());
    }
}
