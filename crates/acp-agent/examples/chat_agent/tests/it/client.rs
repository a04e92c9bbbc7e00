//! A client that is nothing but lines.

use std::path::Path;

use acp_agent::Agent;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};

pub(crate) struct Client {
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
    next_id: i64,
}

/// What became of a turn.
pub(crate) struct Turn {
    pub(crate) updates: Vec<Value>,
    pub(crate) end: Value,
}

impl Turn {
    pub(crate) fn text(&self) -> String {
        self.texts("agent_message_chunk")
    }

    pub(crate) fn texts(&self, kind: &str) -> String {
        let chunks = self.of_kind(kind);
        let texts = chunks
            .iter()
            .filter_map(|chunk| chunk["content"]["text"].as_str());
        texts.collect()
    }

    pub(crate) fn of_kind(&self, kind: &str) -> Vec<&Value> {
        let updates = self.updates.iter();
        let wanted = updates.filter(|update| update["sessionUpdate"] == kind);
        wanted.collect()
    }

    pub(crate) fn stop_reason(&self) -> &str {
        let reason = self.end["result"]["stopReason"].as_str();
        reason.unwrap_or_else(|| panic!("{}", self.end))
    }

    pub(crate) fn error(&self) -> &str {
        let message = self.end["error"]["message"].as_str();
        message.unwrap_or_else(|| panic!("{}", self.end))
    }
}

impl Client {
    pub(crate) async fn start(agent: Agent, capabilities: Value) -> Self {
        let (input, agent_input) = tokio::io::duplex(64 << 10);
        let (output, agent_output) = tokio::io::duplex(64 << 10);
        tokio::spawn(async move { agent.serve(agent_input, agent_output).await });
        let mut client = Self {
            input,
            output: BufReader::new(output).lines(),
            next_id: 0,
        };
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        client.call("initialize", params).await;
        client
    }

    pub(crate) async fn new_session(&mut self, folder: &Path) -> String {
        let params = json!({"cwd": folder, "mcpServers": []});
        let answer = self.call("session/new", params).await.end;
        let id = answer["result"]["sessionId"].as_str();
        id.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Runs a prompt; whoever asks for permission gets this option, and other
    /// questions are answered by `answer`.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str, option: &str) -> Turn {
        self.prompt_and_answer(session, text, option, |message| panic!("{message}"))
            .await
    }

    pub(crate) async fn prompt_and_answer(
        &mut self,
        session: &str,
        text: &str,
        option: &str,
        answer: impl Fn(&Value) -> Value,
    ) -> Turn {
        let params = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        let request = self.send_request("session/prompt", params).await;
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        self.hear(request, |message| match message["method"].as_str() {
            Some("session/request_permission") => outcome.clone(),
            _ => answer(message),
        })
        .await
    }

    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Turn {
        let request = self.send_request(method, params).await;
        self.hear(request, |message| panic!("{message}")).await
    }

    pub(crate) async fn send_request(&mut self, method: &str, params: Value) -> i64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    pub(crate) async fn cancel(&mut self, session: &str) {
        let params = json!({ "sessionId": session });
        self.send(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params}))
            .await;
    }

    /// Reads up to an answer.
    pub(crate) async fn hear(&mut self, request: i64, answer: impl Fn(&Value) -> Value) -> Turn {
        let mut updates = Vec::new();
        loop {
            let mut message = self.next().await;
            if message["method"] == "session/update" {
                updates.push(message["params"]["update"].take());
            } else if message["method"].is_string() {
                let result = answer(&message);
                self.send(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
                    .await;
            } else if message["id"] == request {
                let end = message;
                return Turn { updates, end };
            }
        }
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = self.output.next_line().await.unwrap();
        serde_json::from_str(&line.expect("the agent hung up")).unwrap()
    }

    async fn send(&mut self, message: Value) {
        let line = format!("{message}\n");
        self.input.write_all(line.as_bytes()).await.unwrap();
    }
}
