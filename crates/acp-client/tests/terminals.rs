//! Requests for terminals: what is refused before they are served, and when they end.

mod support;

use std::sync::Arc;
use std::time::Duration;

use acp_client::{
    ClientOptions, OpenTerminals, ServeError, ServeTerminals, SessionFolders, SessionSetup,
};
use acp_protocol::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use support::{Agent, SESSION, dialed, end_turn, open, opened};

const SECOND: Duration = Duration::from_secs(1);

/// Terminals in which nothing runs: it notes what it is asked, and waits for ever.
#[derive(Clone, Default)]
struct Noted(Arc<Mutex<Vec<String>>>);

struct NotedSession {
    notes: Noted,
    name: String,
}

impl Noted {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().push(what.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl OpenTerminals for Noted {
    type Terminals = NotedSession;

    async fn open(&self, folders: &SessionFolders) -> NotedSession {
        let name = folders.cwd().display().to_string();
        self.note(format!("open {:?}", folders.iter().collect::<Vec<_>>()));
        NotedSession {
            notes: self.clone(),
            name,
        }
    }
}

impl Drop for NotedSession {
    fn drop(&mut self) {
        self.notes.note(format!("drop {}", self.name));
    }
}

impl ServeTerminals for NotedSession {
    async fn create(
        &self,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, ServeError> {
        if request.command == "ask" {
            std::future::pending::<()>().await;
        }
        // The same id in every session.
        Ok(CreateTerminalResponse::new("t"))
    }

    async fn output(&self, _: TerminalOutputRequest) -> Result<TerminalOutputResponse, ServeError> {
        Ok(TerminalOutputResponse::new(self.name.clone(), false))
    }

    async fn wait_for_exit(
        &self,
        _: WaitForTerminalExitRequest,
    ) -> Result<WaitForTerminalExitResponse, ServeError> {
        std::future::pending().await
    }

    async fn kill(&self, _: KillTerminalRequest) -> Result<KillTerminalResponse, ServeError> {
        self.notes.note("kill");
        Ok(KillTerminalResponse::new())
    }

    async fn release(
        &self,
        _: ReleaseTerminalRequest,
    ) -> Result<ReleaseTerminalResponse, ServeError> {
        self.notes.note("release");
        Err(ServeError::Io(std::io::Error::other("half done")))
    }
}

fn options() -> (ClientOptions, Noted) {
    let notes = Noted::default();
    (ClientOptions::new().with_terminals(notes.clone()), notes)
}

fn about(terminal: &str) -> Value {
    json!({"sessionId": SESSION, "terminalId": terminal})
}

async fn create(agent: &mut Agent, session: &str) -> Value {
    let params = json!({"sessionId": session, "command": "sleep", "args": ["9"]});
    agent.ask(100, "terminal/create", params).await;
    agent.result(100).await
}

#[test]
fn terminals_are_advertised_when_they_are_configured() {
    let (options, _) = options();
    assert!(options.capabilities().terminal);
    assert!(!ClientOptions::new().capabilities().terminal);
}

#[tokio::test(start_paused = true)]
async fn terminals_are_served_after_a_look_at_the_request() {
    let (options, notes) = options();
    let (_client, _session, mut agent) = opened(options).await;
    assert_eq!(notes.take(), ["open [\"/code\"]"]);
    assert_eq!(
        create(&mut agent, SESSION).await,
        json!({"terminalId": "t"})
    );
    let of = |more: Value| {
        let mut params = json!({"sessionId": SESSION});
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        params
    };
    let cases = [
        ("create", of(json!({"command": ""})), -32602),
        ("create", of(json!({"args": []})), -32602),
        ("create", of(json!({"command": "ls", "cwd": ""})), -32602),
        ("create", of(json!({"command": "ls", "cwd": "src"})), -32602),
        (
            "create",
            of(json!({"command": "ls", "cwd": "/home/../etc"})),
            -32602,
        ),
        ("create", json!({"sessionId": "", "command": "ls"}), -32602),
        (
            "create",
            json!({"sessionId": "s-9", "command": "ls"}),
            -32002,
        ),
        ("output", of(json!({"terminalId": ""})), -32602),
        ("output", of(json!({"terminalId": "t-9"})), -32002),
        ("wait_for_exit", of(json!({"terminalId": ""})), -32602),
        ("wait_for_exit", of(json!({"terminalId": "t-9"})), -32002),
        ("kill", of(json!({"terminalId": ""})), -32602),
        ("kill", of(json!({"terminalId": "t-9"})), -32002),
        ("release", of(json!({"terminalId": ""})), -32602),
        ("release", of(json!({"terminalId": "t-9"})), -32002),
        (
            "kill",
            json!({"sessionId": "s-9", "terminalId": "t"}),
            -32002,
        ),
        ("kill", json!({"terminalId": "t"}), -32602),
    ];
    for (method, params, code) in cases {
        let method = format!("terminal/{method}");
        agent.ask(1, &method, params.clone()).await;
        assert_eq!(agent.refusal(1).await, code, "{method} {params}");
    }
    assert_eq!(notes.take(), [""; 0], "nothing of it came through");
    agent.ask(2, "terminal/kill", about("t")).await;
    assert_eq!(agent.result(2).await, json!({}));
    assert_eq!(notes.take(), ["kill"]);
}

#[tokio::test(start_paused = true)]
async fn a_released_terminal_is_no_more_whatever_became_of_the_release() {
    let (options, notes) = options();
    let (_client, _session, mut agent) = opened(options).await;
    create(&mut agent, SESSION).await;
    agent.ask(1, "terminal/release", about("t")).await;
    assert_eq!(agent.refusal(1).await, -32603);
    for method in ["output", "wait_for_exit", "kill", "release"] {
        let method = format!("terminal/{method}");
        agent.ask(1, &method, about("t")).await;
        assert_eq!(agent.refusal(1).await, -32002, "{method}");
    }
    notes.take();
}

#[tokio::test(start_paused = true)]
async fn a_terminal_belongs_to_its_session() {
    let (options, notes) = options();
    let (client, mut agent) = dialed(options, json!({})).await;
    let _first = open(&client, &mut agent, json!({})).await;
    let serve = async {
        let request = agent.request("session/new").await;
        agent.answer(&request, json!({"sessionId": "s-2"})).await;
    };
    let (second, ()) = tokio::join!(client.new_session("/other"), serve);
    let _second = second.unwrap();
    assert_eq!(notes.take(), ["open [\"/code\"]", "open [\"/other\"]"]);
    create(&mut agent, "s-2").await;
    agent.ask(1, "terminal/output", about("t")).await;
    assert_eq!(agent.refusal(1).await, -32002);
    let params = json!({"sessionId": "s-2", "terminalId": "t"});
    agent.ask(2, "terminal/output", params).await;
    let answer = json!({"output": "/other", "truncated": false});
    assert_eq!(agent.result(2).await, answer);
}

#[tokio::test(start_paused = true)]
async fn all_folders_of_a_session_are_told() {
    let (options, notes) = options();
    let offered = json!({"sessionCapabilities": {"additionalDirectories": {}}});
    let (client, mut agent) = dialed(options, offered).await;
    let new = SessionSetup::new("/code").with_additional_directories(["/lib", "/docs"]);
    let serve = async {
        let request = agent.request("session/new").await;
        let told = ["open [\"/code\", \"/lib\", \"/docs\"]"];
        assert_eq!(notes.take(), told, "before the agent hears of it");
        agent.answer(&request, json!({"sessionId": SESSION})).await;
    };
    let (session, ()) = tokio::join!(client.new_session(new), serve);
    session.unwrap();
    assert_eq!(notes.take(), ["drop /code"]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_session_ends_what_it_waits_for() {
    let (options, notes) = options();
    let (_client, session, mut agent) = opened(options).await;
    let control = session.control();
    create(&mut agent, SESSION).await;
    notes.take();
    agent.ask(1, "terminal/wait_for_exit", about("t")).await;
    agent.hears_nothing_for(SECOND).await;
    // The agent cannot close sessions: it is closed here all the same.
    session.close().await.unwrap_err();
    assert_eq!(agent.refusal(1).await, -32800);
    assert_eq!(notes.take(), ["drop /code"], "although a control is held");
    agent.ask(2, "terminal/output", about("t")).await;
    assert_eq!(agent.refusal(2).await, -32002);
    drop(control);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_holds_ends_what_it_waits_for() {
    let (options, notes) = options();
    let (_client, session, mut agent) = opened(options).await;
    create(&mut agent, SESSION).await;
    notes.take();
    agent.ask(1, "terminal/wait_for_exit", about("t")).await;
    agent.hears_nothing_for(SECOND).await;
    drop(session);
    assert_eq!(agent.refusal(1).await, -32800);
    assert_eq!(notes.take(), ["drop /code"]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_connection_ends_the_terminals() {
    let (options, notes) = options();
    let (client, session, mut agent) = opened(options).await;
    create(&mut agent, SESSION).await;
    notes.take();
    agent.ask(1, "terminal/wait_for_exit", about("t")).await;
    agent.hears_nothing_for(SECOND).await;
    agent.hang_up();
    client.done().await;
    // The waiting request ends on its own task, a moment after the connection.
    while Arc::strong_count(&notes.0) > 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(notes.take(), ["drop /code"], "although the session is held");
    drop(session);
}

#[tokio::test(start_paused = true)]
async fn a_cancel_answers_what_is_open_and_starts_nothing_new() {
    let (options, notes) = options();
    let (_client, mut session, mut agent) = opened(options).await;
    create(&mut agent, SESSION).await;
    let turn = session.prompt("x").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.ask(1, "terminal/wait_for_exit", about("t")).await;
    let ask = json!({"sessionId": SESSION, "command": "ask"});
    agent.ask(2, "terminal/create", ask.clone()).await;
    agent.hears_nothing_for(SECOND).await;
    turn.cancel();
    let mut answered = Vec::new();
    for _ in 0..3 {
        let message = agent.next().await;
        if message.get("method").is_none() {
            assert_eq!(message["error"]["code"], -32800, "{message}");
            answered.push(message["id"].as_i64().unwrap());
        }
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 2]);
    agent.ask(3, "terminal/create", ask).await;
    assert_eq!(agent.refusal(3).await, -32800);
    // What the agent does to end its turn is served.
    notes.take();
    agent.ask(4, "terminal/kill", about("t")).await;
    assert_eq!(agent.result(4).await, json!({}));
    assert_eq!(notes.take(), ["kill"]);
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
    create(&mut agent, SESSION).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_taken_back_is_not_served_on() {
    let (options, _notes) = options();
    let (_client, _session, mut agent) = opened(options).await;
    create(&mut agent, SESSION).await;
    agent.ask(1, "terminal/wait_for_exit", about("t")).await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}});
    agent.say(cancel).await;
    assert_eq!(agent.refusal(1).await, -32800);
    agent.ask(2, "terminal/output", about("t")).await;
    agent.result(2).await;
}
