//! An agent made of raw JSON: it says what a test tells it to, and shows what it got.

#![allow(dead_code, reason = "each test binary uses another part")]

use std::time::Duration;

use acp_client::{Client, ClientOptions, Session, Turn, TurnEvent};
use acp_protocol::v1::{ContentBlock, SessionUpdate};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex,
    split,
};
use tokio::time::timeout;

pub(crate) const SESSION: &str = "s-1";

/// The agent's end of a connection.
pub(crate) struct Agent {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

/// A client and its agent, not connected yet.
pub(crate) fn pair(options: ClientOptions) -> (Client, Agent) {
    let (ours, theirs) = duplex(1 << 16);
    let (reader, writer) = split(ours);
    let client = Client::over(reader, writer, options);
    let (reader, writer) = split(theirs);
    let agent = Agent {
        lines: BufReader::new(reader).lines(),
        writer,
    };
    (client, agent)
}

/// A client that dialed an agent with these capabilities.
pub(crate) async fn dialed(options: ClientOptions, capabilities: Value) -> (Client, Agent) {
    let (client, mut agent) = pair(options);
    let serve = async {
        let hello = agent.request("initialize").await;
        let answer = json!({"protocolVersion": 1, "agentCapabilities": capabilities});
        agent.answer(&hello, answer).await;
    };
    let (dialed, ()) = tokio::join!(client.dial(), serve);
    dialed.unwrap();
    (client, agent)
}

/// A client with one session, [`SESSION`].
pub(crate) async fn opened(options: ClientOptions) -> (Client, Session, Agent) {
    let (client, mut agent) = dialed(options, json!({})).await;
    let session = open(&client, &mut agent, json!({})).await;
    (client, session, agent)
}

/// Opens [`SESSION`], with more members in the agent's answer.
pub(crate) async fn open(client: &Client, agent: &mut Agent, more: Value) -> Session {
    let serve = async {
        let request = agent.request("session/new").await;
        let mut answer = json!({"sessionId": SESSION});
        answer
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        agent.answer(&request, answer).await;
    };
    let (session, ()) = tokio::join!(client.new_session("/code"), serve);
    session.unwrap()
}

impl Agent {
    /// The next message of the client. Virtual time runs while it waits, for at most a
    /// minute.
    pub(crate) async fn next(&mut self) -> Value {
        let line = timeout(Duration::from_secs(60), self.lines.next_line())
            .await
            .expect("the client says nothing")
            .unwrap()
            .expect("the client hung up");
        serde_json::from_str(&line).unwrap()
    }

    /// The next message, however long it takes; `None` when the client hung up.
    pub(crate) async fn try_next(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// The next message, which must be a request.
    pub(crate) async fn request(&mut self, method: &str) -> Value {
        let message = self.next().await;
        assert_eq!(message["method"], method, "{message}");
        assert!(message.get("id").is_some(), "{message}");
        message
    }

    /// The next message, which must be a notification.
    pub(crate) async fn notification(&mut self, method: &str) -> Value {
        let message = self.next().await;
        assert_eq!(message["method"], method, "{message}");
        assert!(message.get("id").is_none(), "{message}");
        message
    }

    /// The next message, which must answer our request; gives its result.
    pub(crate) async fn result(&mut self, id: i64) -> Value {
        let message = self.next().await;
        assert_eq!(message["id"], id, "{message}");
        assert!(message.get("method").is_none(), "{message}");
        message
            .get("result")
            .unwrap_or_else(|| panic!("{message}"))
            .clone()
    }

    /// The next message, which must refuse our request; gives the code.
    pub(crate) async fn refusal(&mut self, id: i64) -> i64 {
        let message = self.next().await;
        assert_eq!(message["id"], id, "{message}");
        message["error"]["code"]
            .as_i64()
            .unwrap_or_else(|| panic!("{message}"))
    }

    /// Checks that the client says nothing for a while of virtual time.
    pub(crate) async fn hears_nothing_for(&mut self, time: Duration) {
        if let Ok(line) = timeout(time, self.lines.next_line()).await {
            panic!("unexpected: {line:?}");
        }
    }

    /// Checks that the client hangs up and says nothing before.
    pub(crate) async fn hears_the_end(&mut self) {
        let line = timeout(Duration::from_secs(60), self.lines.next_line()).await;
        assert!(matches!(line, Ok(Ok(None))), "{line:?}");
    }

    pub(crate) async fn say(&mut self, message: Value) {
        self.raw(&message.to_string()).await;
    }

    pub(crate) async fn raw(&mut self, line: &str) {
        self.writer
            .write_all(format!("{line}\n").as_bytes())
            .await
            .unwrap();
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
            .await;
    }

    pub(crate) async fn refuse(&mut self, request: &Value, code: i64) {
        let error = json!({"code": code, "message": "no", "data": {"why": "because"}});
        self.say(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
            .await;
    }

    pub(crate) async fn update(&mut self, session: &str, update: Value) {
        let params = json!({"sessionId": session, "update": update});
        self.say(json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
            .await;
    }

    /// A piece of text, as most updates are.
    pub(crate) async fn text(&mut self, text: &str) {
        self.update(SESSION, chunk(text)).await;
    }

    pub(crate) async fn ask(&mut self, id: i64, method: &str, params: Value) {
        self.say(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
    }

    /// Asks for permission for a tool call described like this.
    pub(crate) async fn ask_permission(&mut self, id: i64, tool_call: Value) {
        let options = json!([
            {"optionId": "always", "name": "Always", "kind": "allow_always"},
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]);
        let params = json!({"sessionId": SESSION, "toolCall": tool_call, "options": options});
        self.ask(id, "session/request_permission", params).await;
    }

    /// Ends its output, and reads no more.
    pub(crate) fn hang_up(self) {}
}

pub(crate) fn chunk(text: &str) -> Value {
    json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})
}

pub(crate) fn end_turn() -> Value {
    json!({"stopReason": "end_turn"})
}

pub(crate) fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

pub(crate) fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

/// What happened, in short words.
pub(crate) fn brief(event: &TurnEvent) -> String {
    let text = |update: &SessionUpdate| match update {
        SessionUpdate::AgentMessageChunk(chunk) => match &chunk.content {
            ContentBlock::Text(text) => text.text.clone(),
            other => other.tag().to_owned(),
        },
        other => other.tag().to_owned(),
    };
    match event {
        TurnEvent::Update(update) => text(&update.update),
        TurnEvent::Earlier(update) => format!("earlier {}", text(&update.update)),
        TurnEvent::Unreadable { .. } => "unreadable".to_owned(),
        TurnEvent::Gap { dropped } => format!("gap {dropped}"),
        TurnEvent::Permission(pending) => format!("asks {}", pending.request().tool().id.as_str()),
        other => format!("{other:?}"),
    }
}

/// Everything that happens until the turn ends. Permission requests are refused.
pub(crate) async fn all(turn: &mut Turn) -> Vec<String> {
    let mut seen = Vec::new();
    while let Some(event) = turn.next().await {
        seen.push(brief(&event));
    }
    seen
}
