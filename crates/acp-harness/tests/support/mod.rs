//! An agent that does what a test lays down for each method, and keeps what it heard.

#![allow(dead_code, reason = "each test binary uses another part")]

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use acp_harness::turn::{Harness, HarnessError, TurnOutcome, TurnRequest};
use acp_harness::{AgentEntry, Registry};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::time::sleep;

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// One thing the agent does.
#[derive(Clone, Debug)]
pub(crate) enum Do {
    /// Answers what it was asked.
    Answer(Value),
    /// Refuses what it was asked.
    Refuse(i64),
    /// Answers the prompt that is open.
    End(&'static str),
    /// Sends an update of the session.
    Update(Value),
    /// Writes a line.
    Raw(&'static str),
    /// Asks the client something.
    Ask(&'static str, Value),
    Wait(Duration),
    /// Ends its output, and reads no more.
    HangUp,
}

/// What the agent heard: methods with their parameters, and `result` or `error` for
/// answers.
pub(crate) type Heard = Vec<(String, Value)>;

/// An agent, and what it does.
pub(crate) struct Fake {
    /// What it does each time; the last of it again and again.
    script: HashMap<&'static str, VecDeque<Vec<Do>>>,
    heard: Arc<Mutex<Heard>>,
}

impl Fake {
    /// An agent with these capabilities, which answers `Hello.` to everything.
    pub(crate) fn new(capabilities: Value) -> Self {
        let hello = json!({"protocolVersion": 1, "agentCapabilities": capabilities});
        let fake = Self {
            script: HashMap::new(),
            heard: Arc::default(),
        };
        fake.on("initialize", [Do::Answer(hello)])
            .on("authenticate", [Do::Answer(json!({}))])
            .on("session/new", [Do::Answer(json!({"sessionId": "s-1"}))])
            .on("session/prompt", [text("Hello."), Do::End("end_turn")])
            .on("session/cancel", [])
    }

    /// An agent that wants a login by one of these methods first.
    pub(crate) fn with_logins(methods: &[&str]) -> Self {
        let methods: Vec<_> = methods
            .iter()
            .map(|id| match id.strip_prefix("terminal:") {
                Some(id) => json!({"id": id, "name": id, "type": "terminal"}),
                None => json!({"id": id, "name": id}),
            })
            .collect();
        let hello = json!({"protocolVersion": 1, "authMethods": methods});
        Self::new(json!({})).on("initialize", [Do::Answer(hello)])
    }

    /// Lays down what is done for a method, each time.
    pub(crate) fn on(mut self, method: &'static str, steps: impl IntoIterator<Item = Do>) -> Self {
        let steps = steps.into_iter().collect();
        self.script.insert(method, [steps].into());
        self
    }

    /// Lays down what is done the next time, after what was laid down before.
    pub(crate) fn then(
        mut self,
        method: &'static str,
        steps: impl IntoIterator<Item = Do>,
    ) -> Self {
        let steps = steps.into_iter().collect();
        self.script.entry(method).or_default().push_back(steps);
        self
    }

    pub(crate) fn heard(&self) -> Arc<Mutex<Heard>> {
        Arc::clone(&self.heard)
    }

    /// Runs a turn on this agent, and gives what it heard.
    pub(crate) async fn run(
        self,
        harness: &Harness,
        request: TurnRequest,
    ) -> (Result<TurnOutcome, HarnessError>, Heard) {
        let heard = self.heard();
        let (ours, served) = self.serve();
        let (reader, writer) = split(ours);
        let outcome = harness.run_over(request, reader, writer).await;
        served.await.unwrap();
        let heard = heard.lock().clone();
        (outcome, heard)
    }

    /// Serves, and gives the other end and when it is over.
    pub(crate) fn serve(self) -> (DuplexStream, tokio::task::JoinHandle<()>) {
        let (ours, theirs) = duplex(1 << 16);
        let (reader, writer) = split(theirs);
        (ours, tokio::spawn(self.live(reader, writer)))
    }

    async fn live(mut self, reader: ReadHalf<DuplexStream>, mut writer: WriteHalf<DuplexStream>) {
        let mut lines = BufReader::new(reader).lines();
        let (mut prompt, mut asked) = (Value::Null, 100);
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let Some(method) = message["method"].as_str() else {
                let kind = if message.get("error").is_some() {
                    "error"
                } else {
                    "result"
                };
                self.note(kind, &message[kind]);
                continue;
            };
            self.note(method, &message["params"]);
            if method == "session/prompt" {
                prompt = message["id"].clone();
            }
            for step in self.steps(method) {
                let answer = |id: &Value, member: &str, value: Value| {
                    json!({"jsonrpc": "2.0", "id": id, member: value}).to_string()
                };
                let line = match step {
                    Do::Answer(result) => answer(&message["id"], "result", result),
                    Do::Refuse(code) => {
                        let error = json!({"code": code, "message": "no"});
                        answer(&message["id"], "error", error)
                    }
                    Do::End(reason) => answer(&prompt, "result", json!({"stopReason": reason})),
                    Do::Update(update) => {
                        let params = json!({"sessionId": "s-1", "update": update});
                        let method = "session/update";
                        json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
                    }
                    Do::Raw(line) => line.to_owned(),
                    Do::Ask(method, params) => {
                        asked += 1;
                        json!({"jsonrpc": "2.0", "id": asked, "method": method, "params": params})
                            .to_string()
                    }
                    Do::Wait(time) => {
                        sleep(time).await;
                        continue;
                    }
                    Do::HangUp => return,
                };
                if writer
                    .write_all(format!("{line}\n").as_bytes())
                    .await
                    .is_err()
                {
                    return;
                }
            }
        }
    }

    fn note(&self, what: &str, params: &Value) {
        let mut heard = self.heard.lock();
        heard.push((what.to_owned(), params.clone()));
    }

    fn steps(&mut self, method: &str) -> Vec<Do> {
        match self.script.get_mut(method) {
            Some(script) if script.len() > 1 => script.pop_front().unwrap(),
            Some(script) => script.front().cloned().unwrap_or_default(),
            None => vec![Do::Refuse(-32601)],
        }
    }
}

/// The agent says something.
pub(crate) fn text(text: &str) -> Do {
    Do::Update(json!({
        "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text},
    }))
}

/// The agent begins to use a tool.
pub(crate) fn tool(id: &str, title: &str) -> Do {
    Do::Update(json!({
        "sessionUpdate": "tool_call", "toolCallId": id, "title": title, "status": "in_progress",
    }))
}

/// The agent asks for permission to use a tool of this kind.
pub(crate) fn permission(kind: &str) -> Do {
    let options = json!([
        {"optionId": "always", "name": "Always", "kind": "allow_always"},
        {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
        {"optionId": "no", "name": "No", "kind": "reject_once"},
    ]);
    let call = json!({"toolCallId": "t-1", "title": "it", "kind": kind});
    let params = json!({"sessionId": "s-1", "toolCall": call, "options": options});
    Do::Ask("session/request_permission", params)
}

/// A harness that knows one agent, `ada`.
pub(crate) fn harness() -> Harness {
    harness_of(ada())
}

pub(crate) fn ada() -> AgentEntry {
    let mut ada = AgentEntry::new("ada", "ada");
    ada.login.hint = "ada login".to_owned();
    ada
}

pub(crate) fn harness_of(entry: AgentEntry) -> Harness {
    let mut registry = Registry::empty();
    registry.insert(entry).unwrap();
    Harness::with_registry(registry)
}

pub(crate) fn ask(prompt: &str) -> TurnRequest {
    TurnRequest::new("ada", prompt, "/code")
}

/// The methods that were heard, in order.
pub(crate) fn methods(heard: &Heard) -> Vec<&str> {
    heard.iter().map(|(method, _)| method.as_str()).collect()
}

/// The parameters of the first that was heard of a method.
pub(crate) fn params<'a>(heard: &'a Heard, method: &str) -> &'a Value {
    let found = heard.iter().find(|(other, _)| other == method);
    &found.unwrap_or_else(|| panic!("no {method}: {heard:?}")).1
}
