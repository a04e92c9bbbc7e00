//! What a turn asks of its client: files, terminals, and all of it once.

use std::collections::BTreeSet;

use acp_agent::host::{
    ClientCallError, CreateTerminal, Delta, EmitError, EventBody, FormField, Gate, GateId,
    HostEvent, OpenUrl, ReadTextFile, SecretText, SessionInfo, Terminal, TerminalExit, UserForm,
    WriteTextFile,
};
use acp_protocol::v1::methods::ClientMethod;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::{
    client::Client,
    host::{Session, agent},
};

async fn scene() -> (Client, std::sync::Arc<Session>) {
    let (agent, mut strings) = agent();
    let capabilities = json!({
        "fs": {"readTextFile": true, "writeTextFile": true},
        "terminal": true,
        "elicitation": {"form": {}, "url": {}},
    });
    let mut client = Client::ready_with(&agent, capabilities).await;
    client.new_session().await;
    let session = strings.session().await;
    (client, session)
}

fn create(session: &Session) -> JoinHandle<Result<Terminal, ClientCallError>> {
    let link = session.link().clone();
    let request = CreateTerminal::new("make")
        .with_args(["all"])
        .with_env("TOKEN", SecretText::new("t"))
        .with_cwd("/home/ada")
        .with_output_byte_limit(1000);
    tokio::spawn(async move { link.create_terminal(request).await })
}

/// Lets the client make a terminal for a session.
async fn terminal(client: &mut Client, session: &Session) -> Terminal {
    let created = create(session);
    let asked = client.asked("terminal/create").await;
    client
        .reply(&asked["id"], json!({"terminalId": "term-1"}))
        .await;
    created.await.unwrap().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_command_runs_at_the_client() {
    let (mut client, session) = scene().await;
    let created = create(&session);
    let asked = client.asked("terminal/create").await;
    assert_eq!(
        asked["params"],
        json!({"sessionId": "session-0", "command": "make", "args": ["all"],
            "env": [{"name": "TOKEN", "value": "t"}], "cwd": "/home/ada",
            "outputByteLimit": 1000})
    );
    client
        .reply(&asked["id"], json!({"terminalId": "term-1"}))
        .await;
    let terminal = created.await.unwrap().unwrap();
    assert_eq!(terminal.id(), "term-1");
    let own = json!({"sessionId": "session-0", "terminalId": "term-1"});

    let (output, ()) = tokio::join!(terminal.output(), async {
        let asked = client.asked("terminal/output").await;
        assert_eq!(asked["params"], own);
        let result = json!({"output": "making", "truncated": true});
        client.reply(&asked["id"], result).await;
    });
    let output = output.unwrap();
    assert_eq!(
        (&*output.text, output.is_truncated, output.exit),
        ("making", true, None)
    );

    let (killed, ()) = tokio::join!(terminal.kill(), async {
        let asked = client.asked("terminal/kill").await;
        assert_eq!(asked["params"], own);
        client.reply(&asked["id"], json!({})).await;
    });
    assert_eq!(killed, Ok(()));

    let (exit, ()) = tokio::join!(terminal.wait(), async {
        let asked = client.asked("terminal/wait_for_exit").await;
        assert_eq!(asked["params"], own);
        client
            .reply(&asked["id"], json!({"signal": "SIGTERM"}))
            .await;
    });
    assert_eq!(exit, Ok(TerminalExit::new(None, Some("SIGTERM".into()))));

    let (released, ()) = tokio::join!(terminal.release(), async {
        let asked = client.asked("terminal/release").await;
        assert_eq!(asked["params"], own);
        client.reply_error(&asked["id"], -32002).await;
    });
    assert!(matches!(
        released,
        Err(ClientCallError::Refused { code: -32002, .. })
    ));
    // It was released once.
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_terminal_that_is_dropped_is_released() {
    let (mut client, session) = scene().await;
    drop(terminal(&mut client, &session).await);
    let asked = client.asked("terminal/release").await;
    assert_eq!(asked["params"]["terminalId"], "term-1");

    // So is one that nobody waits for any more.
    let created = create(&session);
    let asked = client.asked("terminal/create").await;
    created.abort();
    assert!(created.await.unwrap_err().is_cancelled());
    client
        .reply(&asked["id"], json!({"terminalId": "term-2"}))
        .await;
    let asked = client.asked("terminal/release").await;
    assert_eq!(asked["params"]["terminalId"], "term-2");

    // And one that is being released, whoever waits for that.
    let terminal = terminal(&mut client, &session).await;
    drop(terminal.release());
    let asked = client.next().await;
    assert_eq!(asked["method"], "terminal/release");
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_without_terminals_is_not_asked() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    client.new_session().await;
    let session = strings.session().await;
    let created = session
        .link()
        .create_terminal(CreateTerminal::new("ls"))
        .await;
    assert!(
        matches!(created, Err(ClientCallError::Unsupported)),
        "{created:?}"
    );
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_terminal_ends_with_its_connection() {
    let (mut client, session) = scene().await;
    let terminal = terminal(&mut client, &session).await;
    client.hang_up().await;
    assert_eq!(terminal.wait().await, Err(ClientCallError::Closed));
    assert_eq!(terminal.release().await, Err(ClientCallError::Closed));
}

/// A method that the schema adds is not called, and this test says so.
#[tokio::test(start_paused = true)]
async fn every_method_of_a_client_is_called() {
    let (mut client, session) = scene().await;
    client.prompt("session-0", "hi").await;
    let turn = session.start().await;
    let link = session.link().clone();
    let work = tokio::spawn(async move {
        turn.text("hello").await;
        turn.open_gate("g1", "t1").await;
        session.response().await;
        let form = UserForm::new().with_field(FormField::text("name", "Name"));
        let gate = Gate::form("g2", "Who are you?", form);
        turn.tell(EventBody::GateOpened(Box::new(gate)))
            .await
            .unwrap();
        session.response().await;
        let gate = Gate::open_url("g3", "Log in.", OpenUrl::new("https://example.com/"));
        turn.tell(EventBody::GateOpened(Box::new(gate)))
            .await
            .unwrap();
        session.response().await;
        turn.tell(EventBody::GateResolved(GateId::from("g3")))
            .await
            .unwrap();
        link.read_text_file(ReadTextFile::new("/a")).await.unwrap();
        link.write_text_file(WriteTextFile::new("/a", "b"))
            .await
            .unwrap();
        let terminal = link
            .create_terminal(CreateTerminal::new("ls"))
            .await
            .unwrap();
        terminal.output().await.unwrap();
        terminal.wait().await.unwrap();
        terminal.kill().await.unwrap();
        terminal.release().await.unwrap();
        turn.done().await;
    });
    let mut seen = BTreeSet::new();
    loop {
        let message = client.next().await;
        let Some(method) = message["method"].as_str() else {
            assert_eq!(message["result"]["stopReason"], "end_turn", "{message}");
            break;
        };
        seen.insert(method.to_owned());
        let result = match method {
            "session/request_permission" => {
                json!({"outcome": {"outcome": "selected", "optionId": "approve"}})
            }
            "elicitation/create" => match &message["params"]["mode"] {
                Value::String(mode) if mode == "form" => {
                    json!({"action": "accept", "content": {"name": "Ada"}})
                }
                _ => json!({"action": "accept"}),
            },
            "fs/read_text_file" => json!({"content": "a"}),
            "terminal/create" => json!({"terminalId": "term-1"}),
            "terminal/output" => json!({"output": "", "truncated": false}),
            _ => json!({}),
        };
        if !message["id"].is_null() {
            client.reply(&message["id"], result).await;
        }
    }
    work.await.unwrap();
    let all = ClientMethod::ALL
        .iter()
        .map(|method| method.name().to_owned());
    assert_eq!(seen, all.collect());
}

fn read(session: &Session, path: &str) -> JoinHandle<Result<String, ClientCallError>> {
    let link = session.link().clone();
    let request = ReadTextFile::new(path);
    tokio::spawn(async move { link.read_text_file(request).await })
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_asks_for_nothing_more_than_to_clean_up() {
    let (mut client, session) = scene().await;
    let kept = terminal(&mut client, &session).await;
    // What is asked between turns is nobody's but the session's.
    let idle = read(&session, "/home/ada/idle");
    let idle_id = client.asked("fs/read_text_file").await["id"].take();
    let request = client.prompt("session-0", "hi").await;
    let turn = session.start().await;

    let reading = read(&session, "/home/ada/notes.md");
    let read_id = client.asked("fs/read_text_file").await["id"].take();
    let creating = create(&session);
    let create_id = client.asked("terminal/create").await["id"].take();
    let waiting = async { kept.wait().await };
    let stop = async {
        let wait_id = client.asked("terminal/wait_for_exit").await["id"].take();
        client.cancel("session-0").await;
        let mut withdrawn = BTreeSet::new();
        for _ in 0..2 {
            let message = client.next().await;
            assert_eq!(message["method"], "$/cancel_request", "{message}");
            withdrawn.insert(message["params"]["requestId"].to_string());
        }
        let want = [&read_id, &wait_id].map(ToString::to_string);
        assert_eq!(withdrawn, BTreeSet::from(want));
    };
    let (waited, ()) = tokio::join!(waiting, stop);
    assert_eq!(waited, Err(ClientCallError::Cancelled));
    assert_eq!(reading.await.unwrap(), Err(ClientCallError::Cancelled));
    let created = creating.await.unwrap().map(drop);
    assert_eq!(created, Err(ClientCallError::Cancelled));
    // The terminal that nobody waits for any more is released once there is one.
    client
        .reply(&create_id, json!({"terminalId": "term-2"}))
        .await;
    let released = client.asked("terminal/release").await;
    assert_eq!(released["params"]["terminalId"], "term-2");

    let (killed, ()) = tokio::join!(kept.kill(), async {
        let asked = client.asked("terminal/kill").await;
        client.reply(&asked["id"], json!({})).await;
    });
    assert_eq!(killed, Ok(()));
    let (output, ()) = tokio::join!(kept.output(), async {
        let asked = client.asked("terminal/output").await;
        let result = json!({"output": "made", "truncated": false});
        client.reply(&asked["id"], result).await;
    });
    assert_eq!(&*output.unwrap().text, "made");
    turn.interrupted().await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
    assert!(!idle.is_finished());
    client.reply(&idle_id, json!({"content": "idle"})).await;
    assert_eq!(idle.await.unwrap().as_deref(), Ok("idle"));
}

#[tokio::test(start_paused = true)]
async fn a_closed_session_asks_for_nothing() {
    let (mut client, session) = scene().await;
    let kept = terminal(&mut client, &session).await;
    let dropped = terminal(&mut client, &session).await;
    let params = json!({"sessionId": "session-0"});
    client.call("session/close", params).await;
    let closed = Err(ClientCallError::Closed);
    assert_eq!(read(&session, "/home/ada/a").await.unwrap(), closed);
    let created = create(&session).await.unwrap().map(drop);
    assert_eq!(created, Err(ClientCallError::Closed));
    assert_eq!(kept.wait().await.map(drop), Err(ClientCallError::Closed));
    assert_eq!(kept.kill().await, Err(ClientCallError::Closed));
    assert_eq!(kept.release().await, Err(ClientCallError::Closed));
    drop(dropped);
    let info = SessionInfo::new().with_title("Late");
    let late = HostEvent::of_session(0, EventBody::InfoChanged(info));
    assert_eq!(session.link().emit(late).await, Err(EmitError::Ended));
    let turn = session.turn("main", "late");
    let text = EventBody::Delta(Delta::Text("late".into()));
    assert_eq!(turn.tell(text).await, Err(EmitError::Ended));
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn paths_are_absolute() {
    let (mut client, session) = scene().await;
    let failed = |result: Result<(), ClientCallError>| {
        assert!(
            matches!(result, Err(ClientCallError::Failed { .. })),
            "{result:?}"
        );
    };
    failed(read(&session, "notes.md").await.unwrap().map(drop));
    let write = WriteTextFile::new("./notes.md", "");
    failed(session.link().write_text_file(write).await);
    let command = CreateTerminal::new("make").with_cwd("src");
    let created = session.link().create_terminal(command).await;
    failed(created.map(drop));
    client.assert_quiet().await;
}
