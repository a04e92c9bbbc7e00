//! What is secret is neither told nor logged.

use std::{
    fmt::{self, Write as _},
    sync::Arc,
};

use acp_agent::host::{
    Block, CreateTerminal, Delta, EventBody, FormField, Gate, HostError, Json, OpenUrl,
    ReadTextFile, SecretText, ToolCall, ToolContent, ToolEnd, TurnFailure, UserForm, Visibility,
    WriteTextFile,
};
use parking_lot::Mutex;
use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::{
    client::Client,
    host::{Does, agent, login_builder},
};

/// Keeps every word that is logged, at every level.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<String>>);

impl Log {
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.0.lock().contains(text)
    }

    /// The record of an event in which a text stands.
    pub(crate) fn record_with(&self, text: &str) -> String {
        let log = self.0.lock();
        let record = log.split("event\n").find(|record| record.contains(text));
        record.unwrap_or_default().to_owned()
    }
}

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut log = self.0.lock();
        writeln!(log, "{field}={value:?}").unwrap();
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let chain = std::iter::successors(Some(value), |error| error.source());
        let mut log = self.0.lock();
        chain.for_each(|error| writeln!(log, "{field}={error} {error:?}").unwrap());
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        writeln!(self.0.lock(), "{}", span.metadata().name()).unwrap();
        span.record(&mut self.clone());
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn event(&self, event: &Event<'_>) {
        writeln!(self.0.lock(), "event").unwrap();
        event.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

#[tokio::test(start_paused = true)]
async fn a_whole_session_logs_no_secret() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;

    // In the environment of a tool server, in the errors and panics of a host.
    let server = json!({"name": "notes", "command": "/usr/bin/notes", "args": ["canary"],
        "env": [{"name": "TOKEN", "value": "canary"}]});
    let params = json!({"cwd": "/home/ada", "mcpServers": [server]});
    strings
        .script
        .new_session
        .lock()
        .push_back(Does::FailInPrivate);
    client.call("session/new", params.clone()).await;
    let answer = client.call("session/new", params).await;
    let id = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    let session = strings.session().await;
    strings.script.submit.lock().push_back(Does::FailInPrivate);
    client.prompt(&id, "canary").await;
    session.submission().await;
    client.next().await;

    // In a prompt, and in everything that a turn tells.
    client.prompt(&id, "canary").await;
    let turn = session.start().await;
    turn.text("canary").await;
    turn.step(vec![Block::Thinking("canary".into())]).await;
    let tool = ToolCall::new("t1", "run", "canary")
        .with_input(Json::from_value(&"canary").unwrap())
        .with_content(ToolContent::text("canary"));
    let gate = Gate::permission("g1", tool).with_body("canary");
    turn.tell(EventBody::GateOpened(Box::new(gate)))
        .await
        .unwrap();
    for _ in 0..3 {
        client.update().await;
    }
    let asked = client.asked("session/request_permission").await;
    client
        .reply(
            &asked["id"],
            json!({"outcome": {"outcome": "selected", "optionId": "canary"}}),
        )
        .await;
    session.response().await;
    let end = ToolEnd::failed("t1").with_content(ToolContent::text("canary"));
    turn.tell(EventBody::ToolCompleted(Box::new(end)))
        .await
        .unwrap();
    client.update().await;
    turn.tell(EventBody::Delta(Delta::ToolInput("canary".into())))
        .await
        .unwrap();
    let failure = TurnFailure::Other(HostError::internal("Bearer canarycanarycanarycanary"));
    turn.tell(EventBody::TurnFailed(failure)).await.unwrap();
    client.next().await;
    client.hang_up().await;

    let log = log.0.lock();
    assert!(
        log.contains("acp.turn") && log.contains(&id),
        "nothing was logged: {log}"
    );
    assert!(!log.contains("canary"), "{log}");
}

/// What a host keeps to itself reaches the client by no method, and no log.
#[tokio::test(start_paused = true)]
async fn private_failures_stay_private_in_every_method() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let (builder, strings) = login_builder();
    let agent = builder.build().unwrap();
    let mut client = Client::ready(&agent).await;
    let script = &strings.script;
    let login = json!({"methodId": "key"});
    client.call("authenticate", login.clone()).await;
    client.new_session().await;
    let params = json!({"sessionId": "s", "cwd": "/home/ada", "mcpServers": [],
        "methodId": "key"});
    let of_live = json!({"sessionId": "session-0", "modeId": "m", "configId": "c", "value": "v"});
    let rows = [
        ("authenticate", &params, &script.authenticate),
        ("session/load", &params, &script.load),
        ("session/load", &params, &script.attach),
        ("session/load", &params, &script.options),
        ("session/resume", &params, &script.resume),
        ("session/delete", &params, &script.delete),
        ("session/set_mode", &of_live, &script.options),
        ("session/set_config_option", &of_live, &script.options),
        ("logout", &params, &script.logout),
    ];
    for does in [Does::FailInPrivate, Does::Panic] {
        for (method, params, queue) in rows {
            queue.lock().push_back(does);
            let answer = client.call(method, params.clone()).await;
            assert_eq!(answer["error"]["code"], -32603, "{method}: {answer}");
            assert!(!answer.to_string().contains("canary"), "{answer}");
        }
        script.list.lock().push_back(does);
        let answer = client.call("session/list", json!({})).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(!answer.to_string().contains("canary"), "{answer}");
    }
    client.hang_up().await;
    let log = log.0.lock();
    assert!(log.contains("session/resume"), "nothing was logged: {log}");
    assert!(!log.contains("canary"), "{log}");
}

/// What users answer, and what commands get and write, is in no log; what is
/// not public is not told.
#[tokio::test(start_paused = true)]
async fn what_a_turn_asks_is_not_logged() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let (agent, mut strings) = agent();
    let capabilities = json!({"terminal": true, "elicitation": {"form": {}, "url": {}}});
    let mut client = Client::ready_with(&agent, capabilities).await;
    let id = client.new_session().await;
    let session = strings.session().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;

    let form = UserForm::new().with_field(FormField::text("name", "canary"));
    let gate = Gate::form("g1", "canary", form);
    turn.tell(EventBody::GateOpened(Box::new(gate)))
        .await
        .unwrap();
    let asked = client.asked("elicitation/create").await;
    let accept = json!({"action": "accept", "content": {"name": "canary"}});
    client.reply(&asked["id"], accept).await;
    let response = session.response().await;
    assert!(!format!("{response:?}").contains("canary"), "{response:?}");
    let url = OpenUrl::new("https://example.com/?canary");
    let gate = Gate::open_url("g2", "canary", url);
    turn.tell(EventBody::GateOpened(Box::new(gate)))
        .await
        .unwrap();
    let asked = client.asked("elicitation/create").await;
    client
        .reply(&asked["id"], json!({"action": "canary"}))
        .await;
    session.response().await;

    let request_terminal =
        CreateTerminal::new("canary").with_env("TOKEN", SecretText::new("canary"));
    let link = session.link().clone();
    let created = tokio::spawn(async move { link.create_terminal(request_terminal).await });
    let asked = client.asked("terminal/create").await;
    assert_eq!(asked["params"]["env"][0]["value"], "canary");
    client
        .reply(&asked["id"], json!({"terminalId": "term-1"}))
        .await;
    let terminal = created.await.unwrap().unwrap();
    let (output, ()) = tokio::join!(terminal.output(), async {
        let asked = client.asked("terminal/output").await;
        let output = json!({"output": "canary", "truncated": false});
        client.reply(&asked["id"], output).await;
    });
    assert!(!format!("{:?}", output.unwrap()).contains("canary"));
    drop(terminal);
    client.asked("terminal/release").await;

    for body in [
        EventBody::Delta(Delta::Text("canary".into())),
        EventBody::StepDone(vec![Block::text("canary")]),
        EventBody::ToolStarted(Box::new(ToolCall::new("t", "canary", "canary"))),
        EventBody::PlanChanged(Vec::new()),
    ] {
        let event = turn.event(body).with_visibility(Visibility::Internal);
        session.link().emit(event).await.unwrap();
    }
    turn.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
    client.hang_up().await;
    let log = log.0.lock();
    assert!(
        log.contains("a gate is answered"),
        "nothing was logged: {log}"
    );
    assert!(!log.contains("canary"), "{log}");
}

/// The log has no words of a client that refuses or answers in another shape: they may quote what
/// it was asked.
#[tokio::test(start_paused = true)]
async fn what_a_client_refuses_is_not_logged() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let (agent, mut strings) = agent();
    let capabilities = json!({
        "fs": {"readTextFile": true, "writeTextFile": true},
        "terminal": true,
        "elicitation": {"form": {}},
    });
    let mut client = Client::ready_with(&agent, capabilities).await;
    let id = client.new_session().await;
    let session = strings.session().await;
    for wrong in [false, true] {
        let answer = |id: &serde_json::Value| match wrong {
            true => json!({"jsonrpc": "2.0", "id": id, "result": ["canary"]}),
            false => json!({"jsonrpc": "2.0", "id": id,
                "error": {"code": -32603, "message": "canary", "data": "canary"}}),
        };
        let request = client.prompt(&id, "canary").await;
        let turn = session.start().await;
        let link = session.link().clone();
        let reading = async {
            let read = link.read_text_file(ReadTextFile::new("/canary"));
            read.await.unwrap_err();
            let write = link.write_text_file(WriteTextFile::new("/canary", "canary"));
            write.await.unwrap_err();
            let create = link.create_terminal(CreateTerminal::new("canary"));
            create.await.map(drop).unwrap_err();
        };
        let answering = async {
            for method in ["fs/read_text_file", "fs/write_text_file", "terminal/create"] {
                let asked = client.asked(method).await;
                client.send(answer(&asked["id"])).await;
            }
        };
        tokio::join!(reading, answering);
        let form = UserForm::new().with_field(FormField::text("name", "canary"));
        turn.tell(EventBody::GateOpened(Box::new(Gate::form(
            "g1", "canary", form,
        ))))
        .await
        .unwrap();
        let asked = client.asked("elicitation/create").await;
        client.send(answer(&asked["id"])).await;
        session.response().await;
        turn.done().await;
        assert_eq!(client.stop_reason(request).await, "end_turn");
    }
    client.hang_up().await;
    let log = log.0.lock();
    assert!(
        log.contains("a gate is answered"),
        "nothing was logged: {log}"
    );
    assert!(!log.contains("canary"), "{log}");
}
