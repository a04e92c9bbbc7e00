//! What a conversation has come to: who asked what, who can do what.
//!
//! Every line of both sides goes through it, in the order in which it was
//! seen, and it tells what is wrong with each.

mod advertised;
mod envelope;
pub(crate) mod monitor;
mod readable;

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use crate::ledger::monitor::{Monitors, Question, Speaker};
use crate::rules::Check;
use crate::rules::Finding;
use crate::schema::{self, Use};
use acp_recording::Side;
pub(crate) use advertised::{advertises, may_ask};
use readable::Heard;

/// How many sessions, and how many open requests of a side, are remembered;
/// enough for every real conversation. What is beyond that is not judged.
const MOST: usize = 65_536;

/// The state of a conversation.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    asked_by_client: HashMap<String, Asked>,
    asked_by_agent: HashMap<String, Asked>,
    /// Where on the tape `initialize` was answered.
    initialized: Option<usize>,
    client_capabilities: Value,
    agent_capabilities: Value,
    sessions: BTreeSet<String>,
    latest_session: Option<String>,
    /// Requests that make or open a session and have no answer yet.
    setting_up: usize,
    /// The number of the line that is looked at.
    entry: usize,
    /// More was asked than is remembered.
    overflowed: bool,
    monitors: Monitors,
    heard_of_client: Heard,
    heard_of_agent: Heard,
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
    pub(crate) fn observe(&mut self, from: Side, line: &[u8]) -> Observed {
        self.observe_at(from, line, self.entry + 1)
    }

    /// Enters a line that has this number on the tape: it may have come before
    /// one of ours that was entered already.
    pub(crate) fn observe_at(&mut self, from: Side, line: &[u8], entry: usize) -> Observed {
        self.entry = entry;
        let observed = self.understand(from, line);
        self.heard_of(from).note(line, &observed);
        observed
    }

    /// Notes that the next line of a side has another form than most.
    pub(crate) fn note_odd(&mut self, from: Side) {
        self.heard_of(from).note_odd();
    }

    fn heard_of(&mut self, side: Side) -> &mut Heard {
        match side {
            Side::Client => &mut self.heard_of_client,
            Side::Agent => &mut self.heard_of_agent,
        }
    }

    fn understand(&mut self, from: Side, line: &[u8]) -> Observed {
        let mut findings = Vec::new();
        let Some(message) = envelope::object(from, line, &mut findings) else {
            return Observed {
                message: None,
                shape: Shape::Other,
                findings,
            };
        };
        let shape = envelope::shape(&message, &mut findings);
        let shape = match shape {
            Shape::Request { method } => {
                self.request(from, &method, &message, &mut findings);
                Shape::Request { method }
            }
            Shape::Notification { method } => {
                self.method(from, &method, false, &message, &mut findings);
                Shape::Notification { method }
            }
            Shape::Answer { .. } => Shape::Answer {
                to: self.answer(from, &message, &mut findings),
            },
            Shape::Other => Shape::Other,
        };
        Observed {
            message: Some(message),
            shape,
            findings,
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
    pub(crate) fn advertises(&self, side: Side, path: &str) -> bool {
        advertises(self.capabilities(side), path)
    }

    fn capabilities(&self, side: Side) -> &Value {
        match side {
            Side::Agent => &self.agent_capabilities,
            Side::Client => &self.client_capabilities,
        }
    }

    fn asked_by(&mut self, side: Side) -> &mut HashMap<String, Asked> {
        match side {
            Side::Client => &mut self.asked_by_client,
            Side::Agent => &mut self.asked_by_agent,
        }
    }

    fn request(&mut self, from: Side, method: &str, message: &Value, findings: &mut Vec<Finding>) {
        self.method(from, method, true, message, findings);
        let params = &message["params"];
        if from == Side::Client {
            match method {
                "initialize" => self.client_capabilities = params["clientCapabilities"].clone(),
                "session/new" => self.setting_up += 1,
                "session/load" | "session/resume" => {
                    self.setting_up += 1;
                    self.enter_session(&params["sessionId"]);
                }
                _ => {}
            }
        }
        let id = message["id"].to_string();
        if self.asked_by(from).len() >= MOST {
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
        if let Some(older) = self.asked_by(from).insert(id.clone(), asked) {
            findings.push(Finding::new(
                Check::ReusedId,
                &[],
                format!("the id {id} still belongs to {}", older.method),
            ));
        }
    }

    /// Checks what requests and notifications have in common.
    fn method(
        &mut self,
        from: Side,
        method: &str,
        asks: bool,
        message: &Value,
        findings: &mut Vec<Finding>,
    ) {
        let speaker = match from {
            Side::Agent => (&self.agent_capabilities, &self.client_capabilities),
            Side::Client => (&self.client_capabilities, &self.agent_capabilities),
        };
        let speaker = Speaker {
            from,
            own: speaker.0,
            other: speaker.1,
        };
        findings.extend(
            self.monitors
                .asked(speaker, method, &message["id"], &message["params"]),
        );
        if !schema::knows(method) {
            if !method.starts_with('_') {
                findings.push(Finding::new(
                    Check::UnknownMethod,
                    &["R180"],
                    format!("the schema has no method {method}, and own ones begin with `_`"),
                ));
            }
            return;
        }
        if schema::sender(method).is_some_and(|sender| sender != from) {
            findings.push(Finding::new(
                Check::UnknownMethod,
                &[],
                format!("it is the {} that sends {method}", from.other()),
            ));
            return;
        }
        if schema::is_request(method) != asks {
            findings.push(Finding::new(
                Check::Shape,
                &[],
                match asks {
                    true => format!("{method} is a notification and has no id"),
                    false => format!("{method} is a request and needs an id"),
                },
            ));
        }
        let params = message.get("params").filter(|params| !params.is_null());
        let none = Value::Object(serde_json::Map::new());
        let params = params.unwrap_or(&none);
        for violation in schema::violations(method, Use::Params, params) {
            findings.push(Finding::shape(method, params, &violation));
        }
        // Whoever did not see the answer yet has not waited for it.
        let initialized = self
            .initialized
            .is_some_and(|answered| answered < self.entry);
        if !initialized && method != "initialize" {
            findings.push(Finding::new(
                Check::Uninitialized,
                self.too_early(from, method),
                format!("{method} came before initialize was answered"),
            ));
        }
        // Before that nobody knows what is advertised.
        if initialized {
            let other = self.capabilities(from.other());
            findings.extend(advertised::missing_for(method, params, other));
        }
        self.known_session(from, method, params, findings);
    }

    /// The rules that a method breaks which comes before `initialize` was answered.
    fn too_early(&self, from: Side, method: &str) -> &'static [&'static str] {
        let asked = || {
            let mut asked = self.asked_by_client.values();
            self.initialized.is_some() || asked.any(|asked| asked.method == "initialize")
        };
        match (from, method) {
            (Side::Agent, _) => &[],
            (_, "session/new" | "session/load" | "session/resume") if asked() => &["R057"],
            (_, "session/new" | "session/load" | "session/resume") => &["R023", "R057"],
            (_, "session/list") => &["R087"],
            (_, "session/delete") => &["R102"],
            (_, "session/prompt") => &["R106"],
            _ => &[],
        }
    }

    fn known_session(&self, from: Side, method: &str, params: &Value, findings: &mut Vec<Finding>) {
        let Some(session) = params["sessionId"].as_str() else {
            return;
        };
        // These take sessions of other connections; while one is made, the
        // agent may speak of it before its answer is seen.
        let open = match from {
            Side::Client => matches!(
                method,
                "session/load" | "session/resume" | "session/delete" | "session/close"
            ),
            Side::Agent => self.setting_up > 0,
        };
        let full = self.sessions.len() >= MOST;
        if !open && !full && !self.sessions.contains(session) {
            findings.push(Finding::new(
                Check::UnknownSession,
                match (from, method) {
                    (Side::Client, "session/prompt") => &["R106"],
                    _ => &[],
                },
                format!("no session {session:?} was made or opened"),
            ));
        }
    }

    /// Finds what an answer answers, and takes what it tells.
    fn answer(
        &mut self,
        from: Side,
        message: &Value,
        findings: &mut Vec<Finding>,
    ) -> Option<String> {
        let id = &message["id"];
        let error = message.get("error");
        if let Some(error) = error {
            for violation in schema::violations("", Use::Result, error) {
                findings.push(Finding::shape("", error, &violation));
            }
        }
        let asked = self.asked_by(from.other()).remove(&id.to_string());
        let Some(asked) = asked else {
            if id.is_null() && error.is_some() {
                findings.extend(self.heard_of(from.other()).nameless_error());
            } else if !self.overflowed {
                findings.push(self.unknown_answer(from, id));
            }
            return None;
        };
        if matches!(
            asked.method.as_str(),
            "session/new" | "session/load" | "session/resume"
        ) {
            self.setting_up = self.setting_up.saturating_sub(1);
        }
        let question = Question {
            method: &asked.method,
            id,
            params: &asked.params,
        };
        findings.extend(
            self.monitors
                .answered(from, question, message.get("result")),
        );
        if let Some(result) = message.get("result") {
            let method = &asked.method;
            for violation in schema::violations(method, Use::Result, result) {
                findings.push(Finding::shape(method, result, &violation));
            }
            let asker = self.capabilities(from.other());
            findings.extend(advertised::missing_for_result(&asked.method, result, asker));
            self.take_result(&asked, result);
        }
        Some(asked.method)
    }

    fn take_result(&mut self, asked: &Asked, result: &Value) {
        match asked.method.as_str() {
            "initialize" => {
                self.initialized = Some(self.entry);
                self.agent_capabilities = result["agentCapabilities"].clone();
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

    fn unknown_answer(&mut self, from: Side, id: &Value) -> Finding {
        let mut message = format!("nothing that was asked has the id {id} and waits for an answer");
        let other = match id {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(Value::from(number.to_string()).to_string()),
            _ => None,
        };
        if let Some(other) = other
            && self.asked_by(from.other()).contains_key(&other)
        {
            message = format!(
                "the answer has the id {id}, and what was asked has {other}: an id comes back as it \
                 was sent, with its type"
            );
        }
        Finding::new(Check::UnknownAnswer, &["R019"], message)
    }
}
