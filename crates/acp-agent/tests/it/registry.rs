//! What is live is counted exactly, however it came and went.

use std::{collections::VecDeque, sync::Arc};

use acp_agent::{
    Agent, AgentBuilder, AgentLimits,
    host::{Block, EventBody, HostEvent, TurnOrigin},
};
use acp_protocol::rpc::Limits;
use parking_lot::Mutex;
use serde_json::{Value, json};

use crate::{
    client::Client,
    host::{Does, Strings, host},
};

/// How many sessions may be live.
const ROOM: usize = 16;

fn small_agent() -> (Agent, Strings) {
    let (host, strings) = host();
    let mut limits = AgentLimits::default();
    limits.live_sessions = ROOM;
    let agent = AgentBuilder::new(host.clone())
        .resumer(host.clone())
        .loader(host.clone())
        .deleter(host.clone())
        .config(host)
        .limits(limits)
        .build();
    (agent.unwrap(), strings)
}

fn params(id: &str) -> Value {
    json!({"sessionId": id, "cwd": "/home/ada", "mcpServers": []})
}

/// Nothing is live: there is room for just so many.
async fn assert_empty(client: &mut Client, when: &str) {
    let mut ids = Vec::new();
    for _ in 0..ROOM {
        ids.push(client.new_session().await);
    }
    let answer = client.call("session/new", params("")).await;
    let error = &answer["error"];
    assert_eq!(error["code"], -32603, "{when}: {answer}");
    assert_eq!(
        error["data"],
        json!({"reason": "too_many_live_sessions", "max": ROOM}),
        "{when}"
    );
    for id in ids {
        let answer = client.call("session/close", json!({"sessionId": id})).await;
        assert_eq!(answer["result"], json!({}), "{when}: {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn sessions_come_and_go_without_end() {
    let (agent, mut strings) = small_agent();
    let mut client = Client::ready(&agent).await;
    for round in 0..2000 {
        let id = match round % 3 {
            0 => client.new_session().await,
            // The same id, again and again.
            kind => {
                let method = ["session/load", "session/resume"][kind - 1];
                let answer = client.call(method, params("again")).await;
                assert!(answer["result"].is_object(), "{answer}");
                "again".to_owned()
            }
        };
        let answer = client.call("session/close", json!({"sessionId": id})).await;
        assert_eq!(answer["result"], json!({}), "round {round}: {answer}");
        // Nobody holds on to what was closed.
        let session = Arc::downgrade(&strings.session().await);
        assert!(session.upgrade().is_none(), "round {round} is still there");
    }
    assert_empty(&mut client, "after 2,000 sessions").await;
}

#[tokio::test(start_paused = true)]
async fn sessions_that_did_not_come_about_take_no_room() {
    let (agent, strings) = small_agent();
    let mut client = Client::ready(&agent).await;
    let script = &strings.script;
    let fails = |calls: &Mutex<VecDeque<Does>>| {
        calls.lock().push_back(Does::FailInPrivate);
    };
    let openings = ["session/new", "session/load", "session/resume"];
    for round in 0..ROOM + 1 {
        for (method, call) in [
            ("session/new", &script.new_session),
            ("session/load", &script.load),
            ("session/resume", &script.resume),
            ("session/delete", &script.delete),
        ] {
            fails(call);
            let answer = client.call(method, params("s")).await;
            assert_eq!(answer["error"]["code"], -32603, "{method}: {answer}");
        }
        for method in openings {
            for call in [&script.attach, &script.options] {
                fails(call);
                let answer = client.call(method, params("s")).await;
                assert_eq!(answer["error"]["code"], -32603, "{method}: {answer}");
            }
            // It is cancelled while the host is at work on it.
            for call in [&script.attach, &script.options] {
                call.lock().push_back(Does::Hang);
                let request = client.start_call(method, params("s")).await;
                client
                    .notify("$/cancel_request", json!({"requestId": request}))
                    .await;
                let answer = client.answer(request).await;
                assert_eq!(answer["error"]["code"], -32800, "{method}: {answer}");
            }
        }
        for method in &openings[1..] {
            script.ids.lock().push_back("another".into());
            let answer = client.call(method, params("s")).await;
            assert_eq!(answer["error"]["code"], -32603, "{method}: {answer}");
        }
        let answer = client.call("session/delete", params("s")).await;
        assert_eq!(answer["result"], json!({}), "round {round}: {answer}");
    }
    assert_empty(&mut client, "after nothing came about").await;
}

/// A journal whose events do not fit a message.
#[tokio::test(start_paused = true)]
async fn sessions_whose_journal_cannot_be_told_take_no_room() {
    let (host, strings) = host();
    let mut limits = AgentLimits::default();
    limits.live_sessions = ROOM;
    let agent = AgentBuilder::new(host.clone())
        .loader(host)
        .limits(limits)
        .connection_limits(Limits::default().with_max_message(1 << 10))
        .build()
        .unwrap();
    let mut client = Client::ready(&agent).await;
    for _ in 0..=ROOM {
        let origin = Arc::new(TurnOrigin::new("main", "t"));
        let started = EventBody::TurnStarted {
            command: None,
            index: 0,
        };
        let step = EventBody::StepDone(vec![Block::text("x".repeat(2 << 10))]);
        *strings.script.journal.lock() = vec![
            HostEvent::new(Arc::clone(&origin), 0, started),
            HostEvent::new(origin, 1, step),
        ];
        let answer = client.call("session/load", params("s")).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
    }
    assert_empty(&mut client, "after journals that failed").await;
}
