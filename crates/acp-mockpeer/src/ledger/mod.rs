//! What a conversation has come to: who asked what, who can do what.
//!
//! Every line of both sides goes through it, in the order in which it was
//! seen, and it tells what is wrong with each.

mod advertised;
mod envelope;
pub(crate) mod monitor;
mod places;
mod readable;

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::ledger::monitor::{Monitors, Question, Speaker};
use crate::rules::{Check, Finding};
use crate::schema::{self, Use};
use acp_recording::PeerSide;
pub(crate) use advertised::{advertises, may_ask};
use readable::SentLines;

/// How many sessions, and how many open requests of a side, are remembered;
/// enough for every real conversation. What is beyond that is not judged.
const MOST: usize = 65_536;

/// The state of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    client: Peer,
    agent: Peer,
    /// Where on the tape `initialize` was answered.
    initialized: Option<usize>,
    sessions: BTreeSet<String>,
    latest_session: Option<String>,
    /// Requests that make or open a session and have no answer yet.
    setting_up: usize,
    /// The number of the line that is looked at.
    entry: usize,
    /// What was found in that line.
    findings: Vec<Finding>,
    /// More was asked than is remembered.
    overflowed: bool,
    monitors: Monitors,
}

/// What is known of one side.
#[derive(Debug, Default)]
struct Peer {
    asked: HashMap<String, Asked>,
    capabilities: Value,
    sent: SentLines,
}

/// A request that waits for its answer.
#[derive(Clone, Debug)]
struct Asked {
    method: String,
    /// What was asked; of long texts only whose session it is about.
    params: Value,
}

/// A line as it was understood.
#[derive(Clone, Debug)]
pub(crate) struct Observed {
    /// The message, when the line is a JSON object.
    pub(crate) message: Option<Value>,
    pub(crate) shape: Shape,
    pub(crate) findings: Vec<Finding>,
}

/// What kind of message a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Request {
        method: String,
    },
    Notification {
        method: String,
    },
    /// An answer, with the method of what it answers.
    Answer {
        to: Option<String>,
    },
    Other,
}

impl Ledger {
    /// Enters the next line (without its end) and tells what is wrong with it.
    pub(crate) fn observe(&mut self, from: PeerSide, line: &[u8]) -> Observed {
        self.observe_at(from, line, self.entry + 1)
    }

    /// Enters a line that has this number on the tape: it may have come before
    /// one of ours that was entered already.
    pub(crate) fn observe_at(&mut self, from: PeerSide, line: &[u8], entry: usize) -> Observed {
        self.entry = entry;
        let observed = self.understand(from, line);
        self.of(from).sent.note(line, &observed);
        observed
    }

    /// Notes that the next line of a side has another form than most.
    pub(crate) fn note_odd(&mut self, from: PeerSide) {
        self.of(from).sent.note_odd();
    }

    fn of(&mut self, side: PeerSide) -> &mut Peer {
        match side {
            PeerSide::Client => &mut self.client,
            PeerSide::Agent => &mut self.agent,
        }
    }

    fn find(&mut self, check: Check, rules: &[&'static str], message: String) {
        self.findings.push(Finding::new(check, rules, message));
    }

    fn understand(&mut self, from: PeerSide, line: &[u8]) -> Observed {
        let mut shape = Shape::Other;
        let message = envelope::object(from, line, &mut self.findings);
        if let Some(message) = &message {
            shape = envelope::shape(message, &mut self.findings);
            match &mut shape {
                Shape::Request { method } => self.request(from, method, message),
                Shape::Notification { method } => self.method(from, method, false, message),
                Shape::Answer { to } => *to = self.answer(from, message),
                Shape::Other => {}
            }
        }
        Observed {
            message,
            shape,
            findings: std::mem::take(&mut self.findings),
        }
    }

    /// Returns the session that was made or opened last.
    pub(crate) fn latest_session(&self) -> Option<&str> {
        self.latest_session.as_deref()
    }

    /// Tells whether `initialize` was answered.
    pub(crate) fn initialized(&self) -> bool {
        self.initialized.is_some()
    }

    /// Tells whether a side advertised a capability.
    pub(crate) fn advertises(&self, side: PeerSide, path: &str) -> bool {
        let peer = match side {
            PeerSide::Client => &self.client,
            PeerSide::Agent => &self.agent,
        };
        advertises(&peer.capabilities, path)
    }

    fn request(&mut self, from: PeerSide, method: &str, message: &Value) {
        self.method(from, method, true, message);
        let params = &message["params"];
        if from == PeerSide::Client {
            match method {
                "initialize" => self.client.capabilities = params["clientCapabilities"].clone(),
                "session/new" => self.setting_up += 1,
                "session/load" | "session/resume" => {
                    self.setting_up += 1;
                    self.enter_session(&params["sessionId"]);
                }
                _ => {}
            }
        }
        let id = message["id"].to_string();
        if self.of(from).asked.len() >= MOST {
            self.overflowed = true;
            return;
        }
        let asked = Asked {
            method: method.to_owned(),
            params: match method {
                "session/prompt" | "fs/write_text_file" => {
                    serde_json::json!({"sessionId": params["sessionId"]})
                }
                _ => params.clone(),
            },
        };
        if let Some(older) = self.of(from).asked.insert(id.clone(), asked) {
            let why = format!("the id {id} still belongs to {}", older.method);
            self.find(Check::ReusedId, &[], why);
        }
    }

    /// Checks what requests and notifications have in common.
    fn method(&mut self, from: PeerSide, method: &str, asks: bool, message: &Value) {
        let (own, other) = match from {
            PeerSide::Agent => (&self.agent.capabilities, &self.client.capabilities),
            PeerSide::Client => (&self.client.capabilities, &self.agent.capabilities),
        };
        let speaker = Speaker { from, own, other };
        let params = &message["params"];
        let found = self.monitors.asked(speaker, method, &message["id"], params);
        self.findings.extend(found);
        if !schema::knows(method) {
            if !method.starts_with('_') {
                let why = format!("the schema has no method {method}, and own ones begin with `_`");
                self.find(Check::UnknownMethod, &["R180"], why);
            }
            return;
        }
        if schema::sender(method).is_some_and(|sender| sender != from) {
            let why = format!("it is the {} that sends {method}", from.other());
            return self.find(Check::UnknownMethod, &[], why);
        }
        if schema::is_request(method) != asks {
            let why = match asks {
                true => format!("{method} is a notification and has no id"),
                false => format!("{method} is a request and needs an id"),
            };
            self.find(Check::Shape, &[], why);
        }
        let none = Value::Object(serde_json::Map::new());
        let params = if params.is_null() { &none } else { params };
        self.shape(method, Use::Params, params);
        // An answer that was not seen yet has not been waited for.
        let answered = self.initialized;
        let initialized = answered.is_some_and(|answered| answered < self.entry);
        if !initialized && method != "initialize" {
            let why = format!("{method} came before initialize was answered");
            self.find(Check::Uninitialized, self.too_early(from, method), why);
        }
        // Before that nobody knows what is advertised.
        if initialized {
            let other = &self.of(from.other()).capabilities;
            let missing = advertised::missing(method, "params", params, other);
            self.findings.extend(missing);
        }
        self.known_session(from, method, params);
    }

    /// Holds a part of a message against the schema; errors have no method.
    fn shape(&mut self, method: &str, part: Use, value: &Value) {
        let violations = schema::violations(method, part, value).into_iter();
        let found = violations.map(|violation| Finding::shape(method, value, &violation));
        self.findings.extend(found);
    }

    /// The rules that a method breaks which comes before `initialize` was answered.
    fn too_early(&self, from: PeerSide, method: &str) -> &'static [&'static str] {
        let asked = || {
            let mut asked = self.client.asked.values();
            self.initialized.is_some() || asked.any(|asked| asked.method == "initialize")
        };
        match (from, method) {
            (PeerSide::Agent, _) => &[],
            (_, "session/new" | "session/load" | "session/resume") if asked() => &["R057"],
            (_, "session/new" | "session/load" | "session/resume") => &["R023", "R057"],
            (_, "session/list") => &["R087"],
            (_, "session/delete") => &["R102"],
            (_, "session/prompt") => &["R106"],
            _ => &[],
        }
    }

    fn known_session(&mut self, from: PeerSide, method: &str, params: &Value) {
        let Some(session) = params["sessionId"].as_str() else {
            return;
        };
        // These take sessions of other connections; while one is made, the
        // agent may speak of it before its answer is seen.
        let open = match from {
            PeerSide::Client => matches!(
                method,
                "session/load" | "session/resume" | "session/delete" | "session/close"
            ),
            PeerSide::Agent => self.setting_up > 0,
        };
        let full = self.sessions.len() >= MOST;
        if !open && !full && !self.sessions.contains(session) {
            let rules: &[_] = match (from, method) {
                (PeerSide::Client, "session/prompt") => &["R106"],
                _ => &[],
            };
            let why = format!("no session {session:?} was made or opened");
            self.find(Check::UnknownSession, rules, why);
        }
    }

    /// Finds what an answer answers, and takes what it tells.
    fn answer(&mut self, from: PeerSide, message: &Value) -> Option<String> {
        let id = &message["id"];
        let error = message.get("error");
        if let Some(error) = error {
            self.shape("", Use::Result, error);
        }
        let asker = from.other();
        let Some(asked) = self.of(asker).asked.remove(&id.to_string()) else {
            if id.is_null() && error.is_some() {
                let found = self.of(asker).sent.nameless_error();
                self.findings.extend(found);
            } else if !self.overflowed {
                let found = self.unknown_answer(from, id);
                self.findings.push(found);
            }
            return None;
        };
        let method = asked.method.as_str();
        if matches!(method, "session/new" | "session/load" | "session/resume") {
            self.setting_up = self.setting_up.saturating_sub(1);
        }
        let question = Question {
            method,
            id,
            params: &asked.params,
        };
        let result = message.get("result");
        let found = self.monitors.answered(from, question, result);
        self.findings.extend(found);
        if let Some(result) = result {
            self.shape(method, Use::Result, result);
            let capabilities = &self.of(asker).capabilities;
            let missing = advertised::missing(method, "result", result, capabilities);
            self.findings.extend(missing);
            self.take_result(&asked, result);
        }
        Some(asked.method)
    }

    fn take_result(&mut self, asked: &Asked, result: &Value) {
        match asked.method.as_str() {
            "initialize" => {
                self.initialized = Some(self.entry);
                self.agent.capabilities = result["agentCapabilities"].clone();
            }
            "session/new" => self.enter_session(&result["sessionId"]),
            "session/load" | "session/resume" => self.enter_session(&asked.params["sessionId"]),
            _ => {}
        }
    }

    fn enter_session(&mut self, id: &Value) {
        if let Some(id) = id.as_str()
            && self.sessions.len() < MOST
        {
            self.sessions.insert(id.to_owned());
            self.latest_session = Some(id.to_owned());
        }
    }

    fn unknown_answer(&mut self, from: PeerSide, id: &Value) -> Finding {
        let mut message = format!("nothing that was asked has the id {id} and waits for an answer");
        let other = match id {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(Value::from(number.to_string()).to_string()),
            _ => None,
        };
        if let Some(other) = other
            && self.of(from.other()).asked.contains_key(&other)
        {
            message = format!(
                "the answer has the id {id}, and what was asked has {other}: an id comes back as it \
                 was sent, with its type"
            );
        }
        Finding::new(Check::UnknownAnswer, &["R019"], message)
    }
}
