//! A client that is nothing but lines.

use std::time::Duration;

use acp_agent::Agent;
use acp_protocol::rpc::CloseCause;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines},
    task::JoinHandle,
    time::timeout,
};

/// Longer than any bound of the agent, so only a hang reaches it.
const NEVER: Duration = Duration::from_secs(3600);

pub(crate) struct Client {
    /// None once the client sends nothing more.
    input: Option<DuplexStream>,
    /// None once the client reads nothing more.
    output: Option<Lines<BufReader<DuplexStream>>>,
    next_id: i64,
    pub(crate) agent: JoinHandle<CloseCause>,
}

impl Client {
    /// Starts an agent behind pipes of a size.
    pub(crate) fn with_pipe(agent: &Agent, bytes: usize) -> Self {
        let (input, agent_input) = tokio::io::duplex(bytes);
        let (output, agent_output) = tokio::io::duplex(bytes);
        let agent = agent.clone();
        let agent = tokio::spawn(async move { agent.serve(agent_input, agent_output).await });
        Self {
            input: Some(input),
            output: Some(BufReader::new(output).lines()),
            next_id: 0,
            agent,
        }
    }

    pub(crate) fn start(agent: &Agent) -> Self {
        Self::with_pipe(agent, 64 << 10)
    }

    /// Starts an agent and shakes hands, with these client capabilities.
    pub(crate) async fn ready_with(agent: &Agent, capabilities: Value) -> Self {
        let mut client = Self::start(agent);
        let params = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        let answer = client.call("initialize", params).await;
        assert_eq!(answer["result"]["protocolVersion"], 1, "{answer}");
        client
    }

    pub(crate) async fn ready(agent: &Agent) -> Self {
        Self::ready_with(agent, json!({})).await
    }

    fn lines(&mut self) -> &mut Lines<BufReader<DuplexStream>> {
        self.output.as_mut().expect("it reads nothing more")
    }

    /// Sends one message.
    pub(crate) async fn send(&mut self, message: Value) {
        self.send_all(&[message]).await;
    }

    /// Sends messages in one write, so that they arrive together.
    pub(crate) async fn send_all(&mut self, messages: &[Value]) {
        let lines: String = messages
            .iter()
            .map(|message| format!("{message}\n"))
            .collect();
        let input = self.input.as_mut().expect("it sends nothing more");
        input.write_all(lines.as_bytes()).await.unwrap();
    }

    /// A request with an id of its own.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> (i64, Value) {
        self.next_id += 1;
        let id = self.next_id;
        (
            id,
            json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
        )
    }

    /// Sends a request and gives its id.
    pub(crate) async fn start_call(&mut self, method: &str, params: Value) -> i64 {
        let (id, message) = self.request(method, params);
        self.send(message).await;
        id
    }

    /// Sends a request and waits for its answer; nothing may come before it.
    pub(crate) async fn call(&mut self, method: &str, params: Value) -> Value {
        let id = self.start_call(method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a request, and gives the updates until its answer, and the answer.
    pub(crate) async fn told(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        let request = self.start_call(method, params).await;
        let mut told = Vec::new();
        loop {
            let mut message = self.next().await;
            if message["id"] == request {
                return (told, message);
            }
            told.push(message["params"]["update"].take());
        }
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(notification(method, params)).await;
    }

    /// Opens a session and gives its id.
    pub(crate) async fn new_session(&mut self) -> String {
        let params = json!({"cwd": "/home/ada/project", "mcpServers": []});
        let answer = self.call("session/new", params).await;
        let id = answer["result"]["sessionId"].as_str();
        id.unwrap_or_else(|| panic!("no session: {answer}"))
            .to_owned()
    }

    /// Sends a prompt and gives the id of the request.
    pub(crate) async fn prompt(&mut self, session: &str, text: &str) -> i64 {
        self.start_call("session/prompt", prompt(session, text))
            .await
    }

    pub(crate) async fn cancel(&mut self, session: &str) {
        self.notify("session/cancel", json!({"sessionId": session}))
            .await;
    }

    /// Answers a request of the agent.
    pub(crate) async fn reply(&mut self, id: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "result": result}))
            .await;
    }

    /// Answers a request of the agent with an error.
    pub(crate) async fn reply_error(&mut self, id: &Value, code: i32) {
        let error = json!({"code": code, "message": "no"});
        self.send(json!({"jsonrpc": "2.0", "id": id, "error": error}))
            .await;
    }

    /// The next message of the agent.
    pub(crate) async fn next(&mut self) -> Value {
        let line = timeout(NEVER, self.lines().next_line())
            .await
            .expect("the agent hangs");
        let line = line.unwrap().expect("the agent closed the connection");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The next message, unless everybody waits.
    pub(crate) async fn try_next(&mut self) -> Option<Value> {
        let line = timeout(Duration::from_millis(1), self.lines().next_line()).await;
        let line = line
            .ok()?
            .unwrap()
            .expect("the agent closed the connection");
        Some(serde_json::from_str(&line).unwrap())
    }

    /// The next message, which must be an update; gives what is under `update`.
    pub(crate) async fn update(&mut self) -> Value {
        let mut message = self.next().await;
        assert_eq!(message["method"], "session/update", "{message}");
        message["params"]["update"].take()
    }

    /// The next message, which must be a request of the agent.
    pub(crate) async fn asked(&mut self, method: &str) -> Value {
        let message = self.next().await;
        assert_eq!(message["method"], method, "{message}");
        assert!(!message["id"].is_null(), "{message}");
        message
    }

    /// The next message that is not the end of a tool call which ended with its turn.
    pub(crate) async fn next_but_tool_ends(&mut self) -> Value {
        loop {
            let message = self.next().await;
            let name = message["params"]["_meta"]["eventId"].as_str();
            if !name.is_some_and(|name| name.contains(":end:")) {
                return message;
            }
        }
    }

    /// The next message, which must be the answer to a request; tool calls may end
    /// before it.
    pub(crate) async fn answer(&mut self, id: i64) -> Value {
        let message = self.next_but_tool_ends().await;
        assert!(
            message["id"] == id && message.get("method").is_none(),
            "{message}"
        );
        message
    }

    /// The next message, which must end a prompt; gives the reason.
    pub(crate) async fn stop_reason(&mut self, id: i64) -> String {
        let answer = self.answer(id).await;
        let reason = answer["result"]["stopReason"].as_str();
        reason
            .unwrap_or_else(|| panic!("no stop reason: {answer}"))
            .to_owned()
    }

    /// Asserts that nothing more comes when everybody waits.
    pub(crate) async fn assert_quiet(&mut self) {
        let quiet = timeout(Duration::from_millis(1), self.lines().next_line()).await;
        assert!(quiet.is_err(), "{quiet:?}");
    }

    /// Lets everybody run until they wait, without reading.
    pub(crate) async fn pause(&mut self) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    /// Closes the agent's stdin; what it writes can still be read.
    pub(crate) fn close_input(mut self) -> Self {
        self.input = None;
        self
    }

    /// Reads nothing more.
    pub(crate) fn close_output(&mut self) {
        self.output = None;
    }

    /// Waits for the end of the agent's service.
    pub(crate) async fn end(self) -> CloseCause {
        timeout(NEVER, self.agent)
            .await
            .expect("the agent serves on")
            .unwrap()
    }

    /// Closes the agent's stdin and waits for the end of its service.
    pub(crate) async fn hang_up(self) -> CloseCause {
        self.close_input().end().await
    }
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub(crate) fn prompt(session: &str, text: &str) -> Value {
    json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]})
}
