//! Writes a recording as the text of a scenario.

mod answers;
mod json_strings;

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use serde_json::value::RawValue;

use crate::language::pattern::{Template, hex, quoted};
use crate::language::reads_as_pattern;
use crate::ledger::{Ledger, Shape};
use crate::rules::Check;
use crate::schema;
use acp_recording::PeerSide;
use acp_recording::{RecordedEvent, Recording, RecordingEntry, signal_name};

/// How close a scenario stays to the recording it is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Style {
    /// Everything that was said, by both sides.
    Exact,
    /// Everything the agent said; of the client, what it asked and not how.
    ///
    /// This is what a mock agent plays: other clients word things in another way.
    Agent,
    /// Everything the client said; of the agent, only that it answers.
    ///
    /// This is what is said again to an agent: it may word things in another way.
    /// What agents asked is answered as it was, in whatever order it is asked.
    Client,
}

/// What JSON-RPC puts around a message.
const ENVELOPE: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// Writes a recording as the text of a scenario, to be edited or played.
///
/// Ids become names, sessions become `$session`, and lines that are not valid become `raw`
/// or `text`.
#[must_use]
pub fn transcribe(recording: &Recording, style: Style) -> String {
    let mut skeleton = Skeleton {
        style,
        ledger: Ledger::default(),
        open: Vec::new(),
        sessions: HashMap::new(),
        names: name_requests(recording),
        asked: 0,
        cwd: None,
        heard: false,
        breaks_rules: false,
    };
    let mut text = format!("# {}\n", title(recording));
    let mut steps = String::new();
    if style == Style::Client {
        skeleton.cwd = answers::cwd(recording);
        text.push_str(PATIENT);
        steps.push_str(&skeleton.rules(recording));
    }
    steps.push('\n');
    for (index, entry) in recording.entries().iter().enumerate() {
        let rest = &recording.entries()[index + 1..];
        if let Some(step) = skeleton.step(entry, rest) {
            steps.push_str(&step);
            steps.push('\n');
        }
    }
    // It tells what was, and does not judge it.
    if style != Style::Client && skeleton.breaks_rules {
        text.push_str("allow: rules\n");
    }
    text + &steps
}

/// What comes before the steps of a client that does not insist on how it is answered.
const PATIENT: &str = "\
allow: unexpected, unknown-method, rules
patience: 10m
limit: 60m
";

/// Reads the message in a line of a recording.
pub(crate) fn message(entry: &RecordingEntry) -> Option<Value> {
    match &entry.what {
        RecordedEvent::Line(line) => serde_json::from_slice(line).ok(),
        _ => None,
    }
}

/// Says whose conversation it is.
fn title(recording: &Recording) -> String {
    let info = recording.entries().iter().find_map(|entry| {
        let message = message(entry)?;
        let info = &message["result"]["agentInfo"];
        let name = info["name"].as_str()?;
        Some(format!(
            "{name} {}",
            info["version"].as_str().unwrap_or_default()
        ))
    });
    match info {
        // A comment is one line.
        Some(info) => format!(
            "A conversation with {}.",
            info.trim().replace(['\n', '\r'], " ")
        ),
        None => "A conversation that was recorded.".to_owned(),
    }
}

/// A request that waits for its answer.
struct Open {
    from: PeerSide,
    id: String,
    number: usize,
}

/// Finds the requests that need a name, since another one of the same side is
/// open when they are answered.
fn name_requests(recording: &Recording) -> BTreeMap<usize, String> {
    let mut open: Vec<(Open, String)> = Vec::new();
    let mut names: BTreeMap<usize, String> = BTreeMap::new();
    let mut number = 0;
    for entry in recording.entries() {
        let Some(message) = message(entry) else {
            continue;
        };
        let id = message["id"].to_string();
        match message["method"].as_str() {
            Some(method) if message["id"].is_string() || message["id"].is_number() => {
                let request = Open {
                    from: entry.from,
                    id,
                    number,
                };
                open.push((request, method.to_owned()));
                number += 1;
            }
            Some(_) => {}
            None => {
                let asker = entry.from.other();
                let is_one = |(request, _): &(Open, String)| request.from == asker;
                let others = open.iter().filter(|one| is_one(one)).count();
                let place = open.iter().position(|one| is_one(one) && one.0.id == id);
                let Some(place) = place else { continue };
                let (request, method) = open.remove(place);
                if others > 1 {
                    let word = method.rsplit(['/', '_']).next().unwrap_or_default();
                    let word: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
                    let word = if word.is_empty() { "request" } else { &word };
                    names.insert(request.number, format!("{word}{}", request.number + 1));
                }
            }
        }
    }
    names
}

pub(super) struct Skeleton {
    style: Style,
    ledger: Ledger,
    open: Vec<Open>,
    /// What stands for each session.
    sessions: HashMap<String, String>,
    names: BTreeMap<usize, String>,
    asked: usize,
    /// The folder that was worked in, where it is to be another.
    cwd: Option<String>,
    /// Whether the agent said something since it was last asked.
    heard: bool,
    /// Whether something was said that the schema allows and a rule does not.
    breaks_rules: bool,
}

impl Skeleton {
    fn step(&mut self, entry: &RecordingEntry, rest: &[RecordingEntry]) -> Option<String> {
        let arrow = entry.from.arrow();
        // What a client did beside the protocol, another one need not do.
        let other_client = self.style == Style::Agent && entry.from == PeerSide::Client;
        match &entry.what {
            RecordedEvent::Line(line) => self.line(entry.from, line),
            RecordedEvent::Left(lines) => Some(format!("# {lines} lines are missing here")),
            _ if self.style == Style::Client => None,
            RecordedEvent::Unfinished(_) | RecordedEvent::Close if other_client => None,
            RecordedEvent::Unfinished(line) => Some(format!("{arrow} {}", as_bytes(line))),
            RecordedEvent::Stderr(text) => {
                let text = String::from_utf8_lossy(text);
                Some(format!("<- stderr {}", quoted(&text)))
            }
            // An exit closes too.
            RecordedEvent::Close => {
                let exits = |next: &RecordingEntry| {
                    matches!(next.what, RecordedEvent::Exit(_) | RecordedEvent::Killed(_))
                };
                let exits = entry.from == PeerSide::Agent && rest.iter().any(exits);
                (!exits).then(|| format!("{arrow} close"))
            }
            RecordedEvent::Exit(code) => Some(format!("<- exit {}", code.clamp(&0, &255))),
            RecordedEvent::Killed(signal) => Some(format!("<- exit by {}", signal_name(*signal))),
        }
    }

    fn line(&mut self, from: PeerSide, line: &[u8]) -> Option<String> {
        let arrow = from.arrow();
        let observed = self.ledger.observe(from, line);
        let mut findings = observed.findings.iter();
        self.breaks_rules |= findings.any(|finding| finding.check == Check::Rules);
        if let (Style::Client, Some(message)) = (self.style, &observed.message)
            && let Some(step) = self.passed_over(from, &observed.shape, message)
        {
            return step;
        }
        let text = std::str::from_utf8(line).ok();
        let members = text
            .and_then(|text| serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(text).ok());
        let written = match (&members, &observed.message) {
            (Some(members), Some(message)) => self.message(
                from,
                &observed.shape,
                members,
                message,
                observed
                    .findings
                    .iter()
                    .any(|finding| finding.check != Check::Rules),
            ),
            _ => None,
        };
        if let Some(written) = written {
            let step = format!("{arrow} {written}");
            let told = matches!(observed.shape, Shape::Notification { .. });
            // When the agent had begun to say something, it shall have begun again.
            return Some(match self.style == Style::Client && told && self.heard {
                true => format!("<- any notification\n{step}"),
                false => step,
            });
        }
        if self.style == Style::Client && from == PeerSide::Agent {
            return None;
        }
        if self.style == Style::Agent && from == PeerSide::Client {
            return Some("# the client sent something here that is no message".to_owned());
        }
        // What cannot be said as a message is said as bytes.
        Some(format!("{arrow} {}", as_bytes(&[line, b"\n"].concat())))
    }

    /// Keeps account of what an agent played to need not repeat: all but its answers,
    /// and what was answered to it. `None` for what is written as it is.
    fn passed_over(
        &mut self,
        from: PeerSide,
        shape: &Shape,
        message: &Value,
    ) -> Option<Option<String>> {
        match (from, shape) {
            (PeerSide::Agent, Shape::Request { .. }) => {
                self.heard = true;
                self.ask(from, message);
                Some(None)
            }
            (PeerSide::Agent, Shape::Answer { .. }) => {
                self.heard = false;
                let of = self.answered(from, message);
                let made = message["result"]["sessionId"].as_str();
                let step = of.map(|of| match made {
                    Some(id) => {
                        format!("<- result{of} {{\"sessionId\": \"{}\"}}", self.session(id))
                    }
                    None => format!("<- answer{of}"),
                });
                Some(step)
            }
            (PeerSide::Agent, _) => {
                self.heard = true;
                Some(None)
            }
            (PeerSide::Client, Shape::Answer { .. }) => {
                self.answered(from, message);
                Some(None)
            }
            (PeerSide::Client, Shape::Request { .. }) => {
                self.heard = false;
                None
            }
            (PeerSide::Client, _) => None,
        }
    }

    /// Keeps that a request waits for its answer, and returns its number.
    fn ask(&mut self, from: PeerSide, request: &Value) -> usize {
        let number = self.asked;
        self.asked += 1;
        self.open.push(Open {
            from,
            id: request["id"].to_string(),
            number,
        });
        number
    }

    /// Finds the request that is answered, and says which it is where that is needed.
    fn answered(&mut self, from: PeerSide, answer: &Value) -> Option<String> {
        let id = answer["id"].to_string();
        let mine = |open: &Open| open.from == from.other() && open.id == id;
        let place = self.open.iter().position(mine)?;
        let request = self.open.remove(place);
        Some(match self.names.get(&request.number) {
            Some(name) => format!(" of {name}"),
            None => String::new(),
        })
    }

    fn message(
        &mut self,
        from: PeerSide,
        shape: &Shape,
        members: &BTreeMap<String, Box<RawValue>>,
        message: &Value,
        faulty: bool,
    ) -> Option<String> {
        if members.keys().any(|key| !ENVELOPE.contains(&key.as_str())) {
            return None;
        }
        let member = |key: &str| members.get(key).map(|value| &**value);
        let loose = self.style == Style::Agent && from == PeerSide::Client;
        let raw = if faulty && !loose { "raw " } else { "" };
        match shape {
            Shape::Request { method } => {
                // Other ids cannot be chosen by whoever plays this.
                let id = &message["id"];
                if !(id.is_string() || id.is_i64() || id.is_u64()) {
                    return None;
                }
                let number = self.ask(from, message);
                let name = self.names.get(&number).map(|name| format!(" as {name}"));
                let word = if schema::is_request(method) {
                    ""
                } else {
                    "request "
                };
                let params = self.part(member("params"), loose, "absent", faulty)?;
                Some(format!(
                    "{raw}{word}{}{params}{}",
                    method_name(method),
                    name.unwrap_or_default()
                ))
            }
            Shape::Notification { method } => {
                let known = schema::knows(method) && !schema::is_request(method);
                let word = if known { "" } else { "notify " };
                let params = self.part(member("params"), loose, "absent", faulty)?;
                Some(format!("{raw}{word}{}{params}", method_name(method)))
            }
            Shape::Answer { .. } => {
                let of = self.answered(from, message)?;
                if loose {
                    return Some(format!("answer{of}"));
                }
                let (key, part) = match (member("result"), member("error")) {
                    (Some(result), None) => ("result", result),
                    (None, Some(error)) => ("error", error),
                    _ => return None,
                };
                let part = self.part(Some(part), false, "", faulty)?;
                Some(format!("{raw}{key}{of}{part}"))
            }
            Shape::Other => None,
        }
    }

    /// Writes params, a result or an error, with a blank before.
    fn part(
        &mut self,
        part: Option<&RawValue>,
        loose: bool,
        missing: &str,
        raw: bool,
    ) -> Option<String> {
        let Some(part) = part else {
            return Some(match loose || raw || missing.is_empty() {
                true => String::new(),
                false => format!(" {missing}"),
            });
        };
        if loose {
            let value: Value = serde_json::from_str(part.get()).ok()?;
            return Some(match value["sessionId"].as_str() {
                Some(session) => format!(" {{\"sessionId\": \"{}\"}}", self.session(session)),
                None => String::new(),
            });
        }
        let text = self.pattern(part.get());
        // Members that are there twice, for example, are no pattern.
        reads_as_pattern(&text).then(|| format!(" {text}"))
    }

    /// Writes JSON as a pattern: with names for sessions, and `$` for nothing else.
    pub(super) fn pattern(&mut self, json: &str) -> String {
        let mut text = String::with_capacity(json.len());
        let mut done = 0;
        json_strings::each(json, |string| {
            if string.is_key {
                return;
            }
            let literal = &json[string.range.start - 1..string.range.end + 1];
            let Ok(value) = serde_json::from_str::<String>(literal) else {
                return;
            };
            let is_session = string.keys.last().is_some_and(|key| key == "sessionId");
            let is_session = is_session && self.is_renamed(&value);
            let new = if is_session && !value.is_empty() {
                quoted(&self.session(&value))
            } else if let Some(rest) = self.below_cwd(&value) {
                quoted(&format!("$cwd{}", Template::escape(rest)))
            } else if value.contains('$') {
                quoted(&Template::escape(&value))
            } else {
                return;
            };
            text.push_str(&json[done..string.range.start - 1]);
            text.push_str(&new);
            done = string.range.end + 1;
        });
        text.push_str(&json[done..]);
        text
    }

    /// Tells whether a session gets another id when this is played: for the client, one
    /// that was made; what it knew from before, it names as it did.
    fn is_renamed(&self, id: &str) -> bool {
        self.style != Style::Client || self.sessions.contains_key(id)
    }

    /// Returns what stands behind the folder in a path below it.
    fn below_cwd<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest = path.strip_prefix(self.cwd.as_deref()?)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    }

    fn session(&mut self, id: &str) -> String {
        let number = self.sessions.len() + 1;
        let name = self
            .sessions
            .entry(id.to_owned())
            .or_insert_with(|| match number {
                1 => "$session".to_owned(),
                number => format!("$session{number}"),
            });
        name.clone()
    }
}

/// Writes bytes as a step says them.
fn as_bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("text {}", quoted(text)),
        Err(_) => format!("hex {}", hex(bytes)),
    }
}

/// A method that is not made of what words are made of stands in quotes.
pub(super) fn method_name(method: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./$:".contains(c);
    match !method.is_empty() && method.chars().all(plain) {
        true => method.to_owned(),
        false => quoted(method),
    }
}
