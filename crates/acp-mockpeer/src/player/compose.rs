//! Builds the messages we send.

use indexmap::map::Entry;
use serde_json::Value;

use super::compare::Knowledge;
use super::plain::{SESSION, completed, plain};
use crate::language::Need;
use crate::language::matching::Bindings;
use crate::language::pattern::{Object, Pattern};
use crate::language::step::{AnswerBody, Ending, Message, Split, What, Writing};
use crate::language::writing::{Inventor, TooVague, write};
use crate::ledger::Ledger;
use crate::schema::{self, Use};
use acp_recording::PeerSide;

/// Builds messages for one side.
pub(super) struct Composer {
    us: PeerSide,
    needs: Vec<Need>,
    next_id: i64,
    pub(super) inventor: Inventor,
}

impl Composer {
    pub(super) fn new(us: PeerSide, needs: &[Need]) -> Self {
        Self {
            us,
            needs: needs
                .iter()
                .filter(|need| need.side == us)
                .cloned()
                .collect(),
            next_id: 1,
            inventor: Inventor::default(),
        }
    }

    /// Returns an id that no request had.
    pub(super) fn free_id(&mut self) -> i64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// Writes a message as one line, without its end.
    ///
    /// `answered` is the method of the request that it answers.
    pub(super) fn line(
        &mut self,
        message: &Message,
        knowledge: &mut Knowledge,
        ledger: &Ledger,
    ) -> Result<String, TooVague> {
        let session = ledger.latest_session().unwrap_or("session-1");
        let names = &mut knowledge.names;
        names.insert(SESSION.into(), session.into());
        let mut line = String::from("{\"jsonrpc\":\"2.0\"");
        match &message.what {
            What::Whole(pattern) => return write(pattern, names, &mut self.inventor),
            What::Request {
                method,
                params,
                slot,
            } => {
                let id = self.id(message.id.as_ref(), names)?;
                if let (Some(slot), Ok(value)) = (slot, serde_json::from_str::<Value>(&id)) {
                    knowledge.ids.insert(*slot, value);
                }
                line.push_str(&format!(",\"id\":{id},\"method\":{}", json(method)));
                let names = &mut knowledge.names;
                self.params(&mut line, method, params.as_ref(), message.raw, names)?;
            }
            What::Notification { method, params } => {
                line.push_str(&format!(",\"method\":{}", json(method)));
                self.params(&mut line, method, params.as_ref(), message.raw, names)?;
            }
            What::Answer { slot, body, to } => {
                let id = match &message.id {
                    Some(id) => write(id, names, &mut self.inventor)?,
                    None => slot
                        .and_then(|slot| knowledge.ids.get(&slot))
                        .unwrap_or(&Value::Null)
                        .to_string(),
                };
                line.push_str(&format!(",\"id\":{id},"));
                let method = to.method.as_deref().unwrap_or_default();
                let (key, pattern) = match body {
                    AnswerBody::Error(pattern) => ("error", error(pattern.as_ref(), message.raw)),
                    AnswerBody::Result(pattern) => (
                        "result",
                        self.part(method, Use::Result, pattern.as_ref(), message.raw),
                    ),
                    AnswerBody::Either => {
                        ("result", self.part(method, Use::Result, None, message.raw))
                    }
                };
                let body = write(&pattern, names, &mut self.inventor)?;
                line.push_str(&format!("\"{key}\":{body}"));
            }
            What::Any { kind, .. } => {
                // A program does not hold one for our own side.
                let kind = Pattern::text(kind.words());
                line.push_str(&format!(
                    ",\"any\":{}",
                    write(&kind, names, &mut self.inventor)?
                ));
            }
        }
        line.push('}');
        Ok(line)
    }

    fn id(&mut self, given: Option<&Pattern>, names: &mut Bindings) -> Result<String, TooVague> {
        match given {
            Some(pattern) => write(pattern, names, &mut self.inventor),
            None => Ok(self.free_id().to_string()),
        }
    }

    fn params(
        &mut self,
        line: &mut String,
        method: &str,
        given: Option<&Pattern>,
        raw: bool,
        names: &mut Bindings,
    ) -> Result<(), TooVague> {
        let left_out = match given {
            Some(pattern) => matches!(pattern, Pattern::Absent),
            // Methods that are not in the schema may have none.
            None => raw || !schema::knows(method),
        };
        if left_out {
            return Ok(());
        }
        let params = self.part(method, Use::Params, given, raw);
        let params = write(&params, names, &mut self.inventor)?;
        line.push_str(&format!(",\"params\":{params}"));
        Ok(())
    }

    /// Says what is sent: what is given, and plain values where it says too little.
    fn part(&self, method: &str, part: Use, given: Option<&Pattern>, raw: bool) -> Pattern {
        let empty = Pattern::Object(Object::default());
        if raw {
            return given.cloned().unwrap_or(empty);
        }
        let said = completed(given.unwrap_or(&empty), plain(method, part, given));
        match (method, part, self.us) {
            ("initialize", Use::Params, PeerSide::Client) => {
                self.advertise("clientCapabilities", said)
            }
            ("initialize", Use::Result, PeerSide::Agent) => {
                self.advertise("agentCapabilities", said)
            }
            _ => said,
        }
    }

    /// Advertises what the scenario needs of us, where it does not say otherwise.
    fn advertise(&self, member: &str, mut said: Pattern) -> Pattern {
        for need in &self.needs {
            let path: Vec<&str> = std::iter::once(member)
                .chain(need.path.split('.'))
                .collect();
            let value = if schema::is_flag(need.side, &need.path) {
                Pattern::Bool(true)
            } else {
                Pattern::Object(Object::default())
            };
            put(&mut said, &path, value);
        }
        said
    }
}

/// Puts a value below an object, unless something else stands on the way.
fn put(pattern: &mut Pattern, path: &[&str], value: Pattern) {
    let (Pattern::Object(object), Some((first, rest))) = (pattern, path.split_first()) else {
        return;
    };
    match object.members.entry((*first).to_owned()) {
        Entry::Vacant(free) if rest.is_empty() => {
            free.insert(value);
        }
        Entry::Occupied(_) if rest.is_empty() => {}
        below => {
            let empty = || Pattern::Object(Object::default());
            put(below.or_insert_with(empty), rest, value);
        }
    }
}

/// An error has a code and a message.
fn error(given: Option<&Pattern>, raw: bool) -> Pattern {
    let mut object = match given {
        Some(Pattern::Object(object)) => object.clone(),
        Some(other) => return other.clone(),
        None => Object::default(),
    };
    if !raw {
        if !object.members.contains_key("code") {
            let code = Pattern::Number("-32603".into());
            object.members.shift_insert(0, "code".to_owned(), code);
        }
        if !object.members.contains_key("message") {
            let message = match object.members.get("code") {
                Some(Pattern::Number(code)) => meaning(code),
                _ => "error",
            };
            let message = Pattern::text(message);
            object
                .members
                .shift_insert(1, "message".to_owned(), message);
        }
    }
    Pattern::Object(object)
}

fn meaning(code: &str) -> &'static str {
    match code {
        "-32700" => "parse error",
        "-32600" => "invalid request",
        "-32601" => "method not found",
        "-32602" => "invalid params",
        "-32603" => "internal error",
        "-32800" => "request cancelled",
        "-32000" => "authentication required",
        "-32002" => "resource not found",
        _ => "error",
    }
}

fn json(text: &str) -> String {
    Value::from(text).to_string()
}

/// Gives a line its form on the wire.
pub(super) fn on_the_wire(line: &str, writing: &Writing) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(line.len() + 5);
    if writing.bom {
        bytes.extend_from_slice(b"\xef\xbb\xbf");
    }
    bytes.extend_from_slice(line.as_bytes());
    // Blanks before the last bracket change nothing of what it says.
    if let Some(more) = writing.padded_to.checked_sub(bytes.len())
        && let Some(last) = bytes.pop()
    {
        bytes.resize(bytes.len() + more, b' ');
        bytes.push(last);
    }
    bytes.extend_from_slice(match writing.ending {
        Ending::LineFeed => b"\n".as_slice(),
        Ending::CrLf => b"\r\n",
        Ending::Nothing => b"",
    });
    bytes
}

/// Cuts bytes where they are to be written apart.
pub(super) fn pieces<'a>(bytes: &'a [u8], split: &Split) -> Vec<&'a [u8]> {
    match split {
        Split::No => vec![bytes],
        Split::Every(size) => bytes.chunks(*size).collect(),
        Split::At(places) => {
            let mut pieces = Vec::new();
            let mut done = 0;
            for place in places {
                let place = (*place).clamp(done, bytes.len());
                pieces.push(&bytes[done..place]);
                done = place;
            }
            pieces.push(&bytes[done..]);
            pieces.retain(|piece| !piece.is_empty());
            pieces
        }
    }
}
