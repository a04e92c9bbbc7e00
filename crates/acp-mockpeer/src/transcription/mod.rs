//! Writes a recording as the text of a scenario.

mod answers;
mod lines;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use acp_recording::{PeerSide, RecordedEvent, Recording, RecordingEntry, signal_name};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::language::pattern::{Template, hex, quoted};
use crate::language::reads_as_pattern;
use crate::ledger::{Ledger, Observed, Shape};
use crate::rules::Check;
use crate::schema;
#[cfg(feature = "judge")]
pub(crate) use lines::message;
use lines::{Line, Links};

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
    let lines = lines::read(recording);
    let mut transcriber = Transcriber {
        style,
        ledger: Ledger::default(),
        links: Links::of(&lines),
        asked: BTreeSet::new(),
        sessions: HashMap::new(),
        cwd: None,
        notified: false,
        breaks_rules: false,
    };
    let mut text = format!("# {}\n", title(&lines));
    let mut steps = String::new();
    if style == Style::Client {
        transcriber.cwd = answers::cwd(&lines);
        text.push_str(PATIENT);
        steps.push_str(&transcriber.rules(&lines));
    }
    steps.push('\n');
    for at in 0..recording.entries().len() {
        if let Some(step) = transcriber.step(at, recording.entries()) {
            steps.push_str(&step);
            steps.push('\n');
        }
    }
    // It says what happened, and does not judge it.
    if style != Style::Client && transcriber.breaks_rules {
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

/// Says whose conversation it is.
fn title(lines: &[Line<'_>]) -> String {
    let info = lines.iter().find_map(|line| {
        let info = &line.message["result"]["agentInfo"];
        let version = info["version"].as_str().unwrap_or_default();
        Some(format!("{} {version}", info["name"].as_str()?))
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

struct Transcriber {
    style: Style,
    ledger: Ledger,
    links: Links,
    /// The requests that are written as such; only these can be answered.
    asked: BTreeSet<usize>,
    /// The name of each session.
    sessions: HashMap<String, String>,
    /// The folder that was worked in, where it is to be another.
    cwd: Option<String>,
    /// Whether the agent sent something since its last answer or the client's last request.
    notified: bool,
    /// Whether something was sent that the schema allows and a rule does not.
    breaks_rules: bool,
}

impl Transcriber {
    fn step(&mut self, at: usize, entries: &[RecordingEntry]) -> Option<String> {
        let entry = &entries[at];
        let arrow = entry.from.arrow();
        // What a client did beside the protocol, another one need not do.
        let other_client = self.style == Style::Agent && entry.from == PeerSide::Client;
        match &entry.what {
            RecordedEvent::Line(line) => self.line(at, entry.from, line),
            RecordedEvent::Left(lines) => Some(format!("# {lines} lines are missing here")),
            RecordedEvent::Unreadable(bytes) => Some(format!(
                "# a line of {bytes} bytes that was no JSON is missing here"
            )),
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
                let exits = entry.from == PeerSide::Agent && entries[at..].iter().any(exits);
                (!exits).then(|| format!("{arrow} close"))
            }
            RecordedEvent::Exit(code) => Some(format!("<- exit {}", code.clamp(&0, &255))),
            RecordedEvent::Killed(signal) => Some(format!("<- exit by {}", signal_name(*signal))),
        }
    }

    fn line(&mut self, at: usize, from: PeerSide, line: &[u8]) -> Option<String> {
        let arrow = from.arrow();
        let observed = self.ledger.observe(from, line);
        let mut findings = observed.findings.iter();
        self.breaks_rules |= findings.any(|finding| finding.check == Check::Rules);
        if self.style == Style::Client
            && let Some(message) = &observed.message
            && let Some(step) = self.passed_over(at, from, &observed.shape, message)
        {
            return step;
        }
        if let Some(written) = self.message(at, from, line, &observed) {
            let step = format!("{arrow} {written}");
            let notifies = matches!(observed.shape, Shape::Notification { .. });
            // When the agent had begun to send something, it shall have begun again.
            return Some(
                match self.style == Style::Client && notifies && self.notified {
                    true => format!("<- any notification\n{step}"),
                    false => step,
                },
            );
        }
        match (self.style, from) {
            (Style::Client, PeerSide::Agent) => None,
            (Style::Agent, PeerSide::Client) => {
                Some("# the client sent something here that is no message".to_owned())
            }
            // A line that is no message is written as bytes.
            _ => Some(format!("{arrow} {}", as_bytes(&[line, b"\n"].concat()))),
        }
    }

    /// Keeps account of what an agent played to need not repeat: all but its answers,
    /// and what was answered to it. `None` for what is written as it is.
    fn passed_over(
        &mut self,
        at: usize,
        from: PeerSide,
        shape: &Shape,
        message: &Value,
    ) -> Option<Option<String>> {
        match (from, shape) {
            (PeerSide::Agent, Shape::Answer { .. }) => {
                self.notified = false;
                let made = message["result"]["sessionId"].as_str();
                Some(self.answered(at).map(|of| match made {
                    Some(id) => format!("<- result{of} {}", self.with_session(id)),
                    None => format!("<- answer{of}"),
                }))
            }
            (PeerSide::Agent, _) => {
                self.notified = true;
                Some(None)
            }
            (PeerSide::Client, Shape::Answer { .. }) => Some(None),
            (PeerSide::Client, shape) => {
                self.notified &= !matches!(shape, Shape::Request { .. });
                None
            }
        }
    }

    /// Returns how an answer names its request, if that one is written as such.
    fn answered(&self, at: usize) -> Option<String> {
        let request = self.links.requests.get(&at);
        let request = request.filter(|request| self.asked.contains(request))?;
        let name = self.links.names.get(request);
        Some(name.map_or_else(String::new, |name| format!(" of {name}")))
    }

    fn message(
        &mut self,
        at: usize,
        from: PeerSide,
        line: &[u8],
        observed: &Observed,
    ) -> Option<String> {
        let message = observed.message.as_ref()?;
        let members: Members = serde_json::from_slice(line).ok()?;
        if members.keys().any(|key| !ENVELOPE.contains(&key.as_str())) {
            return None;
        }
        // How another client puts it is its own affair.
        let loose = self.style == Style::Agent && from == PeerSide::Client;
        let mut findings = observed.findings.iter();
        let faulty = findings.any(|finding| finding.check != Check::Rules);
        let raw = if faulty && !loose { "raw " } else { "" };
        let mut params = || match (members.get("params"), &message["params"]["sessionId"]) {
            (_, Value::String(id)) if loose => Some(format!(" {}", self.with_session(id))),
            (Some(params), _) if !loose => Some(format!(" {}", self.pattern(params.get())?)),
            (None, _) if !loose && !faulty => Some(" absent".to_owned()),
            _ => Some(String::new()),
        };
        match &observed.shape {
            Shape::Request { method } => {
                let id = &message["id"];
                if !(id.is_string() || id.is_i64() || id.is_u64()) {
                    return None;
                }
                let (word, params) = (request_word(method), params()?);
                self.asked.insert(at);
                let name = self.links.names.get(&at);
                let name = name.map_or_else(String::new, |name| format!(" as {name}"));
                Some(format!("{raw}{word}{}{params}{name}", method_name(method)))
            }
            Shape::Notification { method } => {
                let known = schema::knows(method) && !schema::is_request(method);
                let word = if known { "" } else { "notify " };
                Some(format!("{raw}{word}{}{}", method_name(method), params()?))
            }
            Shape::Answer { .. } => {
                let of = self.answered(at)?;
                if loose {
                    return Some(format!("answer{of}"));
                }
                let (key, part) = outcome(&members)?;
                Some(format!("{raw}{key}{of} {}", self.pattern(part)?))
            }
            Shape::Other => None,
        }
    }

    /// Writes a part of a message as a pattern, if it can be read as one.
    ///
    /// Only the strings that would be read otherwise change; all else stays as it was.
    fn pattern(&mut self, json: &str) -> Option<String> {
        let mut text = String::with_capacity(json.len());
        let (mut rest, mut key) = (json, "");
        while let Some((before, string, after)) = split_string(rest) {
            text.push_str(before);
            rest = after;
            let named = match after.trim_start().starts_with(':') {
                true => {
                    key = string;
                    None
                }
                false => {
                    let of_session = std::mem::take(&mut key) == "\"sessionId\"";
                    let value = serde_json::from_str::<String>(string).ok();
                    value.and_then(|value| self.named(&value, of_session))
                }
            };
            text.push_str(named.as_deref().unwrap_or(string));
        }
        text.push_str(rest);
        reads_as_pattern(&text).then_some(text)
    }

    /// Returns how a string is written that does not stand for itself.
    fn named(&mut self, value: &str, of_session: bool) -> Option<String> {
        if of_session && !value.is_empty() && self.is_renamed(value) {
            return Some(quoted(&self.session(value)));
        }
        let named = match self.below_cwd(value) {
            Some(rest) => format!("$cwd{}", Template::escape(rest)),
            None if value.contains('$') => Template::escape(value),
            None => return None,
        };
        Some(quoted(&named))
    }

    fn with_session(&mut self, id: &str) -> String {
        format!("{{\"sessionId\": \"{}\"}}", self.session(id))
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

/// The members of a message, each as it was written.
type Members = BTreeMap<String, Box<RawValue>>;

/// Returns the result or the error of an answer, with its name.
fn outcome(members: &Members) -> Option<(&'static str, &str)> {
    match (members.get("result"), members.get("error")) {
        (Some(result), None) => Some(("result", result.get())),
        (None, Some(error)) => Some(("error", error.get())),
        _ => None,
    }
}

/// Splits a JSON text at its first string: before it, the string in its quotes, behind it.
fn split_string(json: &str) -> Option<(&str, &str, &str)> {
    let start = json.find('"')?;
    let mut escaped = false;
    let inside = json[start + 1..].find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    let end = start + 1 + inside + 1;
    Some((&json[..start], &json[start..end], &json[end..]))
}

/// A request that the schema does not know is said to be one.
fn request_word(method: &str) -> &'static str {
    match schema::is_request(method) {
        true => "",
        false => "request ",
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
fn method_name(method: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./$:".contains(c);
    match !method.is_empty() && method.chars().all(plain) {
        true => method.to_owned(),
        false => quoted(method),
    }
}
