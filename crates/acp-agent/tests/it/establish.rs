//! Sessions resumed and loaded, and what is told when a session begins.

use std::sync::Arc;

use acp_agent::{
    AgentBuilder, AgentLimits,
    host::{
        Block, Delta, EventBody, HostEvent, SessionInfo, SlashCommand, ToolCall, ToolContent,
        ToolEnd, TurnOrigin, Visibility,
    },
};
use serde_json::{Value, json};

use crate::{
    client::{Client, prompt},
    host::{Does, full_agent, host},
};

fn params(id: &str) -> Value {
    json!({"sessionId": id, "cwd": "/home/ada", "mcpServers": []})
}

/// The events of two turns, as a journal keeps them.
fn journal() -> Vec<HostEvent> {
    let mut events = Vec::new();
    let mut tell = |turn: &Arc<TurnOrigin>, bodies: Vec<EventBody>| {
        let numbered = (0..).zip(bodies);
        events.extend(numbered.map(|(n, body)| HostEvent::new(Arc::clone(turn), n, body)));
    };
    let first = Arc::new(TurnOrigin::new("main", "t1"));
    let started = |index| EventBody::TurnStarted {
        command: Some("c".into()),
        index,
    };
    let said = |text: &str| EventBody::StepDone(vec![Block::text(text)]);
    let tool = ToolCall::new("tool-1", "edit", "Change notes.md");
    let end = ToolEnd::completed("tool-1").with_content(ToolContent::text("done"));
    tell(
        &first,
        vec![
            started(0),
            EventBody::UserMessage(vec![Block::text("water"), Block::text("the plants")]),
            EventBody::StepDone(vec![Block::Thinking("hm".into()), Block::text("I will.")]),
            EventBody::ToolStarted(Box::new(tool)),
            EventBody::ToolCompleted(Box::new(end)),
            said("Done."),
            EventBody::TurnDone,
        ],
    );
    // A sub-agent and a stranger are not told.
    let child = Arc::new(TurnOrigin::new("child", "t2").with_parent(Arc::clone(&first)));
    tell(&child, vec![said("unseen")]);
    let second = Arc::new(TurnOrigin::new("main", "t3"));
    tell(
        &second,
        vec![
            started(1),
            EventBody::UserMessage(vec![Block::text("again")]),
            EventBody::Delta(Delta::Text("No".into())),
            EventBody::StepDone(vec![Block::text("No.")]),
            EventBody::TurnInterrupted,
        ],
    );
    let secret = HostEvent::new(second, 9, said("canary")).with_visibility(Visibility::Internal);
    events.push(secret);
    events.push(HostEvent::of_session(
        3,
        EventBody::InfoChanged(SessionInfo::new().with_title("Plants")),
    ));
    events
}

#[tokio::test(start_paused = true)]
async fn a_loaded_session_tells_its_conversation_in_order() {
    let (agent, mut strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    *strings.script.journal.lock() = journal();
    let load = client.start_call("session/load", params("s")).await;
    let mut told = Vec::new();
    let answer = loop {
        let message = client.next().await;
        if message["id"] == load {
            break message;
        }
        assert_eq!(message["params"]["sessionId"], "s");
        told.push(message["params"].clone());
    };
    let shown: Vec<_> = told
        .iter()
        .map(|params| {
            let update = &params["update"];
            let what = update["content"]["text"]
                .as_str()
                .or(update["status"].as_str())
                .or(update["title"].as_str())
                .unwrap_or_default();
            (
                update["sessionUpdate"].as_str().unwrap(),
                what,
                update["messageId"].as_str().unwrap_or_default(),
                params["_meta"]["eventId"].as_str().unwrap_or_default(),
            )
        })
        .collect();
    let want = [
        ("user_message_chunk", "water", "msg:t1:user", "t1:1"),
        ("user_message_chunk", "the plants", "msg:t1:user", "t1:1.1"),
        ("agent_thought_chunk", "hm", "msg:t1:0", "t1:2"),
        ("agent_message_chunk", "I will.", "msg:t1:1", "t1:2.1"),
        ("tool_call", "in_progress", "", "t1:3"),
        ("tool_call_update", "completed", "", "t1:4"),
        ("agent_message_chunk", "Done.", "msg:t1:2", "t1:5"),
        ("user_message_chunk", "again", "msg:t3:user", "t3:1"),
        ("agent_message_chunk", "No", "msg:t3:0", "t3:2"),
        ("agent_message_chunk", ".", "msg:t3:0", "t3:3"),
        ("session_info_update", "Plants", "", "s:3"),
        ("available_commands_update", "", "", "s:commands"),
    ];
    assert_eq!(shown, want);
    for params in &told[..told.len() - 1] {
        assert_eq!(params["_meta"]["isReplay"], true, "{params}");
        assert_eq!(params["_meta"]["promptId"], Value::Null, "{params}");
    }
    assert!(answer["result"].is_object(), "{answer}");

    // It is live now, and what it tells again is not told twice.
    let session = strings.session().await;
    let same = EventBody::InfoChanged(SessionInfo::new().with_title("Plants"));
    session.tell(4, same).await;
    let request = client.prompt("s", "hi").await;
    session.start().await.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_resumed_session_tells_nothing_before_the_client_knows_it() {
    let (agent, strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    for method in ["session/resume", "session/new"] {
        *strings.script.tells.lock() = vec![
            EventBody::InfoChanged(SessionInfo::new().with_title(method)),
            EventBody::CommandsChanged(vec![SlashCommand::new("plan", "Plans").with_hint("what")]),
        ];
        // The answer first, then what was told while the session was attached.
        let answer = client.call(method, params("s")).await;
        assert!(answer["result"].is_object(), "{method}: {answer}");
        assert_eq!(client.update().await["title"], method);
        let commands = client.update().await;
        assert_eq!(
            commands["availableCommands"],
            json!([
                {"name": "compact", "description": "Shorten the conversation so far"},
                {"name": "plan", "description": "Plans", "input": {"hint": "what"}},
            ])
        );
        client.assert_quiet().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_cannot_be_used_is_shut_down() {
    let (agent, mut strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    let script = Arc::clone(&strings.script);
    for method in ["session/load", "session/resume"] {
        let queue = match method {
            "session/load" => &script.load,
            _ => &script.resume,
        };
        for (does, message) in [
            (Does::FailInPublic, "no room left in here"),
            (Does::FailInPrivate, "the agent failed"),
            (Does::Panic, "the agent failed"),
        ] {
            queue.lock().push_back(does);
            let answer = client.call(method, params("s")).await;
            assert_eq!(answer["error"]["code"], -32603, "{answer}");
            assert_eq!(answer["error"]["message"], format!("{method}: {message}"));
        }
        // Another session than was asked for.
        script.ids.lock().push_back("other".into());
        let answer = client.call(method, params("s")).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        let made = strings.session().await;
        client.pause().await;
        assert_eq!(made.shutdowns(), 1, "{method}");

        // It cannot be attached, or does not know its options.
        for queue in [&script.attach, &script.options] {
            queue.lock().push_back(Does::FailInPrivate);
            let load = client.start_call(method, params("s")).await;
            let answer = loop {
                let message = client.next().await;
                if message["id"] == load {
                    break message;
                }
            };
            assert_eq!(answer["error"]["code"], -32603, "{answer}");
            let made = strings.session().await;
            client.pause().await;
            assert_eq!(made.shutdowns(), 1, "{method}");
        }
        let answer = client
            .call("session/prompt", crate::client::prompt("s", "hi"))
            .await;
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn parameters_are_checked_before_the_host_is_asked() {
    let (agent, _strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    for method in ["session/load", "session/resume"] {
        for bad in [
            json!({}),
            json!({"sessionId": "", "cwd": "/a", "mcpServers": []}),
            json!({"sessionId": "s", "cwd": "a", "mcpServers": []}),
            json!({"sessionId": "s", "cwd": "/a/../b", "mcpServers": []}),
            json!({"sessionId": "s", "cwd": "/a", "mcpServers": [],
                "additionalDirectories": ["/b"]}),
        ] {
            let answer = client.call(method, bad.clone()).await;
            assert_eq!(answer["error"]["code"], -32602, "{method} {bad}: {answer}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_live_session_is_left_alone() {
    let (host, mut strings) = host();
    let mut limits = AgentLimits::default();
    limits.live_sessions = 2;
    let agent = AgentBuilder::new(host.clone())
        .resumer(host.clone())
        .loader(host)
        .limits(limits)
        .build()
        .unwrap();
    let mut client = Client::ready(&agent).await;
    client.call("session/resume", params("s")).await;
    let session = strings.session().await;
    for method in ["session/resume", "session/load"] {
        let answer = client.call(method, params("s")).await;
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert_eq!(answer["error"]["data"]["reason"], "already_live");
    }
    client.call("session/load", params("t")).await;
    for method in ["session/resume", "session/load", "session/new"] {
        let answer = client.call(method, params("u")).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert_eq!(answer["error"]["data"]["reason"], "too_many_live_sessions");
    }
    let request = client.prompt("s", "hi").await;
    session.start().await.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
    assert_eq!(session.shutdowns(), 0);
}

#[tokio::test(start_paused = true)]
async fn set_ups_have_budgets_in_number_and_bytes() {
    let (host, mut strings) = host();
    let builder = AgentBuilder::new(host.clone()).resumer(host);
    let agent = builder.additional_directories().build().unwrap();
    let mut client = Client::ready(&agent).await;
    let server = |name: &str, bytes: usize| json!({"name": name, "command": "/bin/server", "args": ["a".repeat(bytes)], "env": []});
    let servers: Vec<Value> = (0..65).map(|n| server(&n.to_string(), 1)).collect();
    let folders: Vec<String> = (0..65).map(|n| format!("/{n}")).collect();
    let long = format!("/{}", "d".repeat(4096));
    for (member, value, reason) in [
        (
            "cwd",
            json!(long),
            "cwd: the path has 4097 bytes; at most 4096 are taken",
        ),
        (
            "additionalDirectories",
            json!([long]),
            "additionalDirectories[0]: the path has 4097",
        ),
        (
            "additionalDirectories",
            json!(folders),
            "additionalDirectories: there are 65 entries",
        ),
        (
            "mcpServers",
            json!(servers),
            "mcpServers: there are 65 entries; at most 64 are taken",
        ),
        (
            "mcpServers",
            json!([server("a", 256 << 10)]),
            "the set-up has 2622",
        ),
    ] {
        let mut setup = params("s");
        setup[member] = value;
        let answer = client.call("session/resume", setup).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(reason), "{message}");
    }
    // All live sessions together.
    let open = async |client: &mut Client, n: usize| {
        let mut setup = params(&format!("s{n}"));
        setup["mcpServers"] = json!([server("a", 250 << 10)]);
        client.call("session/resume", setup).await
    };
    let mut kept = Vec::new();
    let refused = loop {
        let answer = open(&mut client, kept.len()).await;
        if !answer["error"].is_null() {
            break answer;
        }
        kept.push(strings.session().await);
    };
    assert_eq!(
        refused["error"]["data"]["reason"],
        "too_large_live_sessions"
    );
    assert_eq!(kept.len(), (16 << 20) / (250 << 10));
    client
        .call("session/close", json!({"sessionId": "s0"}))
        .await;
    let answer = open(&mut client, kept.len()).await;
    assert!(answer["error"].is_null(), "{answer}");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_cancelled_leaves_nothing_behind() {
    let (agent, mut strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    for method in ["session/load", "session/resume", "session/new"] {
        strings.script.attach.lock().push_back(Does::Hang);
        let request = client.start_call(method, params("s")).await;
        let made = strings.session().await;
        client
            .notify("$/cancel_request", json!({"requestId": request}))
            .await;
        let answer = client.answer(request).await;
        assert_eq!(answer["error"]["code"], -32800, "{answer}");
        client.pause().await;
        assert_eq!(made.shutdowns(), 1, "{method}");
    }
    // The connection ends while a session is being made.
    strings.script.attach.lock().push_back(Does::Hang);
    client.start_call("session/load", params("s")).await;
    let made = strings.session().await;
    client.hang_up().await;
    tokio::time::sleep(std::time::Duration::from_secs(6)).await;
    assert_eq!(made.shutdowns(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_prompt_finds_a_session_whose_host_can_take_it() {
    for method in ["session/resume", "session/load"] {
        let (agent, mut strings) = full_agent();
        let mut client = Client::ready(&agent).await;
        strings.script.attach.lock().push_back(Does::Rest(1000));
        let opening = client.start_call(method, params("s")).await;
        let session = strings.session().await;
        let early = client.call("session/prompt", prompt("s", "hi")).await;
        assert_eq!(early["error"]["code"], -32002, "{early}");
        assert!(session.try_submission().await.is_none());
        while client.next().await["id"] != opening {}
        let request = client.prompt("s", "hi").await;
        session.start().await.done().await;
        while client.next().await["id"] != request {}
    }
}
