//! Events as updates.

use acp_agent::{
    AgentBuilder,
    host::{
        Block, ContextUse, Delta, EmitError, EventBody, HostEvent, Json, Media, PlanEntry,
        PlanPriority, PlanStatus, ToolCall, ToolContent, ToolEnd, ToolKind, ToolProgress,
        Visibility,
    },
};
use serde_json::{Value, json};

use crate::{
    client::Client,
    host::{Turn, host, scene},
};

/// Tells events and gives the updates they make.
async fn updates(client: &mut Client, turn: &Turn, bodies: Vec<EventBody>) -> Vec<Value> {
    for body in bodies {
        turn.tell(body).await.unwrap();
    }
    let plan = EventBody::PlanChanged(Vec::new());
    turn.tell(plan).await.unwrap();
    let mut updates = Vec::new();
    loop {
        let update = client.update().await;
        if update["sessionUpdate"] == "plan" && update["entries"] == json!([]) {
            return updates;
        }
        updates.push(update);
    }
}

fn text(text: &str) -> EventBody {
    EventBody::Delta(Delta::Text(text.into()))
}

fn thought(text: &str) -> EventBody {
    EventBody::Delta(Delta::Thinking(text.into()))
}

#[tokio::test(start_paused = true)]
async fn names_of_events() {
    let (_strings, mut client, id, session) = scene().await;
    client.prompt(&id, "hi").await;
    let command = session.submission().await.command;
    let turn = session.turn("main", "t");
    turn.start(&command).await;
    turn.text("one").await;
    turn.step(vec![
        Block::text("one and two"),
        Block::Image(Media::new("image/png", "QUJD")),
    ])
    .await;
    let mut names = Vec::new();
    for _ in 0..3 {
        let message = client.next().await;
        let meta = &message["params"]["_meta"];
        assert_eq!(meta["promptId"], *command.as_str(), "{message}");
        assert!(meta.get("isReplay").is_none(), "{message}");
        names.push(meta["eventId"].as_str().unwrap().to_owned());
    }
    assert_eq!(names, ["t:1", "t:2", "t:2.1"]);

    let (host, mut strings) = host();
    let agent = AgentBuilder::new(host)
        .without_event_names()
        .build()
        .unwrap();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let session = strings.session().await;
    client.prompt(&id, "hi").await;
    let turn = session.start().await;
    for text in ["one", "two", "three"] {
        turn.text(text).await;
        let message = client.next().await;
        assert_eq!(message["params"]["update"]["content"]["text"], text);
        assert!(message["params"].get("_meta").is_none(), "{message}");
    }
}

#[tokio::test(start_paused = true)]
async fn every_piece_of_a_text_is_told_alike() {
    let (_strings, mut client, id, session) = scene().await;
    client.prompt(&id, "hi").await;
    let command = session.submission().await.command;
    let turn = session.turn("main", "t");
    turn.start(&command).await;
    // Long enough not to be written where it is queued.
    let long = "\"long\"\n".repeat(2000);
    let pieces = ["one", "", "t\two", &long, "four"];
    let kinds: [fn(String) -> Delta; 5] = [
        Delta::Text,
        Delta::Refusal,
        Delta::Text,
        Delta::Thinking,
        Delta::Text,
    ];
    let mut messages = Vec::new();
    for kind in kinds {
        for text in pieces {
            turn.tell(EventBody::Delta(kind(text.to_owned())))
                .await
                .unwrap();
            if !text.is_empty() {
                messages.push((text, client.next().await));
            }
        }
    }
    let chunk = |kind: &str, message: &str, text: &str| {
        json!({
            "sessionUpdate": kind,
            "content": {"type": "text", "text": text},
            "messageId": message,
        })
    };
    for (place, (text, message)) in messages.iter().enumerate() {
        // The last thing that is said is another message than what was thought before.
        let mut want = match place / 4 {
            0..=2 => chunk("agent_message_chunk", "msg:t:0", text),
            3 => chunk("agent_thought_chunk", "msg:t:1", text),
            _ => chunk("agent_message_chunk", "msg:t:2", text),
        };
        if place / 4 == 1 {
            want["_meta"] = json!({"refusal": true});
        }
        // Event 0 began the turn, and one of five has no text.
        let number = 1 + place / 4 * 5 + [0, 2, 3, 4][place % 4];
        let meta = json!({"eventId": format!("t:{number}"), "promptId": command.as_str()});
        let params = json!({"sessionId": id, "update": want, "_meta": meta});
        assert_eq!(message["params"], params, "{place}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_text_that_is_too_long_is_refused_and_forgotten() {
    let (_strings, mut client, id, session) = scene().await;
    client.prompt(&id, "hi").await;
    let turn = session.start().await;
    turn.text("one ").await;
    turn.text("two ").await;
    client.update().await;
    client.update().await;
    let long = turn.tell(text(&"x".repeat(33 << 20))).await;
    assert_eq!(long, Err(EmitError::TooLarge));
    turn.step(vec![Block::text("one two three")]).await;
    assert_eq!(client.update().await["content"]["text"], "three");
}

#[tokio::test(start_paused = true)]
async fn messages() {
    let (_strings, mut client, id, session) = scene().await;
    client.prompt(&id, "hi").await;
    let command = session.submission().await.command;
    let turn = session.turn("main", "t");
    turn.start(&command).await;
    let tool = || Box::new(ToolCall::new("t1", "read", "Read"));
    let told = vec![
        thought("hm"),
        text("one "),
        text(""),
        text("two"),
        EventBody::ToolRequested(tool()),
        // News of a tool that is known do not break a message in two.
        text("three "),
        EventBody::ToolStarted(tool()),
        text("four"),
        EventBody::StepDone(vec![]),
        text("five"),
        EventBody::Delta(Delta::ToolInput("{\"unfin".into())),
        EventBody::Delta(Delta::Refusal("no".into())),
    ];
    let updates = updates(&mut client, &turn, told).await;
    let shown: Vec<String> = updates
        .iter()
        .map(|update| match update["content"]["text"].as_str() {
            Some(text) => format!("{}={text}", update["messageId"].as_str().unwrap()),
            None => format!("{}", update["sessionUpdate"]),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "msg:t:0=hm",
            "msg:t:1=one ",
            "msg:t:1=two",
            "\"tool_call\"",
            "msg:t:2=three ",
            "\"tool_call_update\"",
            "msg:t:2=four",
            "msg:t:3=five",
            "msg:t:3=no",
        ]
    );
    assert_eq!(updates[0]["sessionUpdate"], "agent_thought_chunk");
    assert_eq!(updates.last().unwrap()["_meta"], json!({"refusal": true}));
}

#[tokio::test(start_paused = true)]
async fn the_last_words_decide_about_refusal() {
    let (_strings, mut client, id, session) = scene().await;
    let refusal = || EventBody::Delta(Delta::Refusal("no".into()));
    for (told, want) in [
        (vec![refusal()], "refusal"),
        (vec![refusal(), text("or maybe")], "end_turn"),
        (
            vec![
                text("well"),
                EventBody::StepDone(vec![Block::text("well"), Block::Refusal("no".into())]),
            ],
            "refusal",
        ),
    ] {
        let request = client.prompt(&id, "hi").await;
        let turn = session.start().await;
        updates(&mut client, &turn, told).await;
        turn.done().await;
        assert_eq!(client.stop_reason(request).await, want);
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_tells_what_its_deltas_did_not() {
    let (_strings, mut client, id, session) = scene().await;
    client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let texts = |updates: &[Value]| -> Vec<String> {
        updates
            .iter()
            .map(|u| u["content"]["text"].as_str().unwrap().to_owned())
            .collect()
    };
    // Everything was told.
    let all = vec![
        thought("hm"),
        text("one two"),
        EventBody::StepDone(vec![Block::Thinking("hm".into()), Block::text("one two")]),
    ];
    assert_eq!(
        texts(&updates(&mut client, &turn, all).await),
        ["hm", "one two"]
    );
    // The rest of it was lost.
    let some = vec![
        text("ünd "),
        EventBody::StepDone(vec![Block::text("ünd zwei"), Block::text(" drei")]),
    ];
    assert_eq!(
        texts(&updates(&mut client, &turn, some).await),
        ["ünd ", "zwei", " drei"]
    );
    // A host that does not stream.
    let none = vec![EventBody::StepDone(vec![
        Block::Thinking("hm".into()),
        Block::text("all at once"),
    ])];
    assert_eq!(
        texts(&updates(&mut client, &turn, none).await),
        ["hm", "all at once"]
    );
    // What was told is no beginning of it: at least nothing breaks.
    let other = vec![text("a"), EventBody::StepDone(vec![Block::text("ü")])];
    assert_eq!(texts(&updates(&mut client, &turn, other).await), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn tools() {
    let (_strings, mut client, id, session) = scene().await;
    client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let tool = |id: &str| ToolCall::new(id, "run", "Run tests").with_kind(ToolKind::Execute);
    let progress = ToolProgress::new("t1").with_content(vec![ToolContent::text("1 of 2")]);
    let no_news = ToolProgress::new("t1").with_content(vec![ToolContent::text("1 of 2")]);
    let output = Json::from_value(&json!({"passed": 2})).unwrap();
    let end = ToolEnd::completed("t1")
        .with_content(ToolContent::text("ok"))
        .with_output(output);
    let told = vec![
        EventBody::ToolStarted(Box::new(tool("t1"))),
        EventBody::ToolStarted(Box::new(tool("t1").with_kind(ToolKind::Read))),
        EventBody::ToolProgressed(Box::new(progress)),
        EventBody::ToolProgressed(Box::new(no_news)),
        EventBody::ToolCompleted(Box::new(end)),
        EventBody::ToolCompleted(Box::new(ToolEnd::failed("t1"))),
        EventBody::ToolProgressed(Box::new(ToolProgress::new("t2").with_title("unknown"))),
        EventBody::ToolStarted(Box::new(tool("t3"))),
        EventBody::ToolCompleted(Box::new(ToolEnd::failed("t3"))),
    ];
    let updates = updates(&mut client, &turn, told).await;
    let content =
        |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    assert_eq!(
        updates,
        [
            json!({"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "Run tests",
                "name": "run", "kind": "execute", "status": "in_progress"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1", "kind": "read",
                "status": "in_progress"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1",
                "content": content("1 of 2")}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1",
                "status": "completed", "content": content("ok"), "rawOutput": {"passed": 2}}),
            json!({"sessionUpdate": "tool_call", "toolCallId": "t3", "title": "Run tests",
                "name": "run", "kind": "execute", "status": "in_progress"}),
            json!({"sessionUpdate": "tool_call_update", "toolCallId": "t3", "status": "failed"}),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn plans_and_measures() {
    let (_strings, mut client, id, session) = scene().await;
    client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let plan = vec![
        PlanEntry::new("look").with_status(PlanStatus::Completed),
        PlanEntry::new("leap")
            .with_priority(PlanPriority::High)
            .with_status(PlanStatus::InProgress),
    ];
    let told = vec![
        EventBody::PlanChanged(plan),
        EventBody::ContextMeasured(ContextUse::new(1_000, 200_000)),
    ];
    assert_eq!(
        updates(&mut client, &turn, told).await,
        [
            json!({"sessionUpdate": "plan", "entries": [
                {"content": "look", "priority": "medium", "status": "completed"},
                {"content": "leap", "priority": "high", "status": "in_progress"}]}),
            json!({"sessionUpdate": "usage_update", "used": 1_000, "size": 200_000}),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_session_as_a_whole_speaks_at_any_time() {
    let (_strings, mut client, id, session) = scene().await;
    let measured = || EventBody::ContextMeasured(ContextUse::new(1, 2));
    session
        .link()
        .emit(HostEvent::of_session(7, measured()))
        .await
        .unwrap();
    let message = client.next().await;
    assert_eq!(message["params"]["update"]["sessionUpdate"], "usage_update");
    assert_eq!(
        message["params"]["_meta"],
        json!({"eventId": format!("{id}:7")})
    );
    let inside = HostEvent::of_session(8, measured()).with_visibility(Visibility::Internal);
    session.link().emit(inside).await.unwrap();
    // What belongs to a turn is told in a turn only.
    session
        .link()
        .emit(HostEvent::of_session(9, text("hi")))
        .await
        .unwrap();
    client.assert_quiet().await;
}
