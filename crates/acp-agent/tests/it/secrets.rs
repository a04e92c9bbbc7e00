//! What is secret is neither told nor logged.

use std::{
    fmt::{self, Write as _},
    sync::{Arc, Mutex},
};

use acp_agent::host::{
    Block, Delta, EventBody, Gate, HostError, Json, ToolCall, ToolContent, ToolEnd, TurnFailure,
};
use serde_json::json;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::{
    client::Client,
    host::{Does, agent},
};

/// Keeps every word that is logged, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

impl Visit for Log {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut log = self.0.lock().unwrap();
        writeln!(log, "{field}={value:?}").unwrap();
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        let chain = std::iter::successors(Some(value), |error| error.source());
        let mut log = self.0.lock().unwrap();
        chain.for_each(|error| writeln!(log, "{field}={error} {error:?}").unwrap());
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        writeln!(self.0.lock().unwrap(), "{}", span.metadata().name()).unwrap();
        span.record(&mut self.clone());
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn event(&self, event: &Event<'_>) {
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
        .unwrap()
        .push_back(Does::FailInPrivate);
    client.call("session/new", params.clone()).await;
    let answer = client.call("session/new", params).await;
    let id = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    let session = strings.session().await;
    strings
        .script
        .submit
        .lock()
        .unwrap()
        .push_back(Does::FailInPrivate);
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
    let failure = TurnFailure::Other(HostError::internal("canary"));
    turn.tell(EventBody::TurnFailed(failure)).await.unwrap();
    client.next().await;
    client.hang_up().await;

    let log = log.0.lock().unwrap();
    assert!(
        log.contains("acp.turn") && log.contains(&id),
        "nothing was logged: {log}"
    );
    assert!(!log.contains("canary"), "{log}");
}
