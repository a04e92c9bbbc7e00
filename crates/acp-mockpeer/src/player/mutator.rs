//! Applies the edit of a mutant to what a side sends.

use serde_json::{Map, Value};

use super::compose::on_the_wire;
use crate::language::matching::Bindings;
use crate::language::mutant::{Edit, Mutant, Path, Place};
use crate::language::pattern::Pattern;
use crate::language::step::{Act, Step, Writing};
use crate::language::writing::{Inventor, write};

/// Changes one message of a side, the first that the step of the mutant sends.
#[derive(Debug)]
pub(super) struct Mutator {
    mutant: Mutant,
    /// The number of the message from which on messages wait for the one that
    /// is sent sooner.
    hold_from: Option<usize>,
    sent: usize,
    pub(super) applied: bool,
    /// It was to close, and does not.
    stays_open: bool,
    /// What waits for the message that is sent sooner, or is sent later.
    held: Vec<Vec<u8>>,
    /// How many more messages go before what is held.
    behind: u32,
    /// Ids of our requests that the other side never saw.
    lost: Vec<Value>,
    /// Ids that the other side saw in the place of ours; `None` for requests
    /// that only it knows of.
    changed: Vec<(Value, Option<Value>)>,
}

/// What is written in the place of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Put {
    Bytes(Vec<u8>),
    Close,
}

impl Mutator {
    /// `numbers` are the lines of the steps whose messages this side sends when
    /// nothing is changed, in order.
    pub(super) fn new(mutant: &Mutant, numbers: &[usize]) -> Self {
        let hold_from = match mutant.edit {
            Edit::Sooner(count) => {
                let at = numbers.iter().position(|line| *line == mutant.step);
                at.map(|at| at.saturating_sub(usize::try_from(count).unwrap_or(usize::MAX)))
            }
            _ => None,
        };
        Self {
            mutant: mutant.clone(),
            hold_from,
            sent: 0,
            applied: false,
            stays_open: false,
            held: Vec::new(),
            behind: 0,
            lost: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Tells whether a step that is no message is left out.
    pub(super) fn leaves_out(&mut self, step: &Step) -> bool {
        let left_out = self.is_meant(step) && matches!(self.mutant.edit, Edit::Drop);
        self.applied |= left_out;
        self.stays_open |= left_out && matches!(step.act, Act::Close { .. });
        left_out
    }

    /// Says what is written before a step that is no message.
    pub(super) fn before(&mut self, step: &Step, names: &mut Bindings) -> Vec<Put> {
        match &self.mutant.edit {
            Edit::Insert(message, Place::Before) if self.is_meant(step) => {
                let message = json(message, names);
                self.applied = true;
                self.invent(&message);
                vec![Put::Bytes(terminated(&message))]
            }
            _ => Vec::new(),
        }
    }

    /// Tells whether this side never closes.
    pub(super) fn stays_open(&self) -> bool {
        self.stays_open
    }

    /// Says what is written for a message; `line` is it without its form on the wire.
    pub(super) fn message(
        &mut self,
        step: &Step,
        line: &str,
        writing: &Writing,
        names: &mut Bindings,
    ) -> Vec<Put> {
        self.bytes(step, line, on_the_wire(line, writing), names)
    }

    /// Says what is written for bytes.
    pub(super) fn bytes(
        &mut self,
        step: &Step,
        line: &str,
        bytes: Vec<u8>,
        names: &mut Bindings,
    ) -> Vec<Put> {
        let number = self.sent;
        self.sent += 1;
        if self.is_meant(step) {
            self.applied = true;
            return self.edited(line, bytes, names);
        }
        if !self.applied && self.hold_from.is_some_and(|from| from <= number) {
            self.held.push(bytes);
            return Vec::new();
        }
        let mut puts = vec![Put::Bytes(bytes)];
        if self.behind > 0 {
            self.behind -= 1;
            if self.behind == 0 {
                puts.append(&mut self.rest());
            }
        }
        puts
    }

    /// What was held back to the end.
    pub(super) fn rest(&mut self) -> Vec<Put> {
        self.held.drain(..).map(Put::Bytes).collect()
    }

    /// Tells whether a request of ours never came to the other side.
    pub(super) fn is_lost(&self, id: &Value) -> bool {
        self.lost.contains(id)
    }

    /// Gives an answer the id back that we know; `None` when it answers what we
    /// never asked.
    pub(super) fn answer(&self, line: Vec<u8>) -> Option<Vec<u8>> {
        if self.changed.is_empty() {
            return Some(line);
        }
        let Ok(Value::Object(mut message)) = serde_json::from_slice::<Value>(&line) else {
            return Some(line);
        };
        if message.contains_key("method") {
            return Some(line);
        }
        let known = message
            .get("id")
            .and_then(|id| self.changed.iter().find(|(theirs, _)| theirs == id));
        match known {
            None => Some(line),
            Some((_, None)) => None,
            Some((_, Some(ours))) => {
                message.insert("id".to_owned(), ours.clone());
                Some(Value::Object(message).to_string().into_bytes())
            }
        }
    }

    fn is_meant(&self, step: &Step) -> bool {
        !self.applied && step.line == self.mutant.step
    }

    fn edited(&mut self, line: &str, bytes: Vec<u8>, names: &mut Bindings) -> Vec<Put> {
        match self.mutant.edit.clone() {
            Edit::Drop => {
                self.lose(line);
                Vec::new()
            }
            Edit::Twice => vec![Put::Bytes(bytes.clone()), Put::Bytes(bytes)],
            Edit::Later(count) => {
                self.held.push(bytes);
                self.behind = count;
                Vec::new()
            }
            Edit::Sooner(_) => {
                let mut puts = vec![Put::Bytes(bytes)];
                puts.append(&mut self.rest());
                puts
            }
            Edit::Set(path, value) => {
                let value = json(&value, names);
                self.changed(line, |message| set(message, &path.0, value))
            }
            Edit::Remove(path) => self.changed(line, |message| remove(message, &path)),
            Edit::Error(error) => {
                let mut error = json(&error, names);
                if let Some(members) = error.as_object_mut() {
                    members.entry("message").or_insert("error".into());
                }
                self.changed(line, |message| answer_with(message, "error", error))
            }
            Edit::Result(result) => {
                let result = json(&result, names);
                self.changed(line, |message| answer_with(message, "result", result))
            }
            Edit::Insert(message, place) => {
                let message = json(&message, names);
                self.invent(&message);
                put(terminated(&message), bytes, place)
            }
            Edit::Bytes(raw, place) => {
                if place == Place::Instead {
                    self.lose(line);
                }
                put(raw, bytes, place)
            }
            Edit::CloseAfter => vec![Put::Bytes(bytes), Put::Close],
        }
    }

    /// Remembers that the answer to a request that was inserted is for nobody.
    fn invent(&mut self, message: &Value) {
        self.changed
            .extend(request_id(message).map(|id| (id, None)));
    }

    /// Changes the message itself, and remembers what becomes of its id.
    fn changed(&mut self, line: &str, change: impl FnOnce(&mut Value) -> bool) -> Vec<Put> {
        let Ok(mut message) = serde_json::from_str::<Value>(line) else {
            self.applied = false;
            return Vec::new();
        };
        let id = request_id(&message);
        self.applied = change(&mut message);
        if let Some(id) = id {
            match request_id(&message) {
                Some(new) if new == id => {}
                Some(new) => self.changed.push((new, Some(id))),
                None => self.lost.push(id),
            }
        }
        vec![Put::Bytes(terminated(&message))]
    }

    fn lose(&mut self, line: &str) {
        let message = serde_json::from_str::<Value>(line).ok();
        self.lost.extend(message.as_ref().and_then(request_id));
    }
}

fn request_id(message: &Value) -> Option<Value> {
    message.get("method")?;
    message.get("id").cloned()
}

fn put(new: Vec<u8>, bytes: Vec<u8>, place: Place) -> Vec<Put> {
    match place {
        Place::Before => vec![Put::Bytes(new), Put::Bytes(bytes)],
        Place::After => vec![Put::Bytes(bytes), Put::Bytes(new)],
        Place::Instead => vec![Put::Bytes(new)],
    }
}

fn terminated(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

fn json(pattern: &Pattern, names: &mut Bindings) -> Value {
    // It was refused when it was read, had it been too vague to be sent.
    let text = write(pattern, names, &mut Inventor::default()).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

/// Puts a value at a place; members on the way that are missing are made.
fn set(at: &mut Value, path: &[String], value: Value) -> bool {
    let Some((first, rest)) = path.split_first() else {
        *at = value;
        return true;
    };
    match at {
        Value::Object(members) => {
            let empty = || Value::Object(Map::new());
            let next = members.entry(first.clone()).or_insert_with(empty);
            set(next, rest, value)
        }
        Value::Array(values) => match first.parse::<usize>() {
            Ok(index) if index == values.len() => {
                values.push(Value::Object(Map::new()));
                set(&mut values[index], rest, value)
            }
            Ok(index) if index < values.len() => set(&mut values[index], rest, value),
            _ => false,
        },
        _ => false,
    }
}

/// Makes another answer of an answer.
fn answer_with(message: &mut Value, member: &str, value: Value) -> bool {
    let Some(members) = message.as_object_mut() else {
        return false;
    };
    let old = (members.remove("result"), members.remove("error"));
    members.insert(member.to_owned(), value);
    old != (None, None)
}

/// Takes out what is at a place; tells whether anything was.
fn remove(message: &mut Value, path: &Path) -> bool {
    let Some((last, above)) = path.0.split_last() else {
        return false;
    };
    let holder = above.iter().try_fold(message, |at, key| match at {
        Value::Object(members) => members.get_mut(key),
        Value::Array(values) => values.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    });
    match holder {
        Some(Value::Object(members)) => members.remove(last).is_some(),
        Some(Value::Array(values)) => match last.parse::<usize>() {
            Ok(index) if index < values.len() => {
                values.remove(index);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
    fn check(path: &str, value: Option<Value>, expected: Option<Value>) {
        let path = Path(path.split('.').map(ToOwned::to_owned).collect());
        let mut message = json!({"result": {"all": [1, {"a": 2}], "b": "c"}});
        let done = match value {
            Some(value) => set(&mut message, &path.0, value),
            None => remove(&mut message, &path),
        };
        assert_eq!(done.then(|| message["result"].take()), expected, "{path}");
    }

    #[test]
    fn values_are_set() {
        check(
            "result.b",
            Some(json!(5)),
            Some(json!({"all": [1, {"a": 2}], "b": 5})),
        );
        check(
            "result.all.1.a",
            Some(json!(5)),
            Some(json!({"all": [1, {"a": 5}], "b": "c"})),
        );
        check(
            "result.all.2",
            Some(json!(5)),
            Some(json!({"all": [1, {"a": 2}, 5], "b": "c"})),
        );
        check(
            "result.new.deep",
            Some(json!(5)),
            Some(json!({"all": [1, {"a": 2}], "b": "c", "new": {"deep": 5}})),
        );
        check("result.all.3", Some(json!(5)), None);
        check("result.all.x", Some(json!(5)), None);
        check("result.b.c", Some(json!(5)), None);
    }

    #[test]
    fn values_are_removed() {
        check("result.b", None, Some(json!({"all": [1, {"a": 2}]})));
        check(
            "result.all.0",
            None,
            Some(json!({"all": [{"a": 2}], "b": "c"})),
        );
        check("result.all.2", None, None);
        check("result.x.y", None, None);
        check("result.x", None, None);
    }
}
