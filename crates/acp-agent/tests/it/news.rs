//! What concerns a session as a whole: title, commands, notices, usage,
//! compaction.

use std::time::{Duration, UNIX_EPOCH};

use acp_agent::{
    AgentBuilder,
    host::{
        Block, CompactRejectReason, Compaction, CompactionStatus, ContextUse, Cost, EmitError,
        EventBody, HostError, HostEvent, Notice, NoticeSeverity, SessionInfo, SlashCommand,
    },
};
use acp_protocol::rpc::Limits;
use serde_json::{Value, json};

use crate::{
    client::{Client, prompt},
    host::{Does, Session, full_agent, host},
};

async fn scene(capabilities: Value) -> (Client, std::sync::Arc<Session>, crate::host::Strings) {
    let (agent, mut strings) = full_agent();
    let mut client = Client::ready_with(&agent, capabilities).await;
    client.new_session().await;
    let commands = client.update().await;
    assert_eq!(commands["availableCommands"][0]["name"], "compact");
    let session = strings.session().await;
    (client, session, strings)
}

#[tokio::test(start_paused = true)]
async fn title_commands_and_usage() {
    let (mut client, session, _strings) = scene(json!({})).await;
    let time = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let info = || {
        SessionInfo::new()
            .with_title("Plants")
            .with_updated_at(time)
    };
    for number in 0..3 {
        session.tell(number, EventBody::InfoChanged(info())).await;
    }
    let update = client.update().await;
    assert_eq!(
        update,
        json!({"sessionUpdate": "session_info_update", "title": "Plants",
            "updatedAt": "2023-11-14T22:13:20Z"})
    );
    session
        .tell(3, EventBody::InfoChanged(SessionInfo::new()))
        .await;
    let update = client.update().await;
    assert_eq!(update["title"], Value::Null);
    assert!(update.as_object().unwrap().contains_key("updatedAt"));

    session
        .tell(
            4,
            EventBody::CommandsChanged(vec![SlashCommand::new("a", "A")]),
        )
        .await;
    let update = client.update().await;
    assert_eq!(update["availableCommands"][1]["name"], "a");
    let used = ContextUse::new(7, 100).with_cost(Cost::new(0.25, "EUR"));
    session.tell(5, EventBody::ContextMeasured(used)).await;
    let update = client.update().await;
    assert_eq!(
        update,
        json!({"sessionUpdate": "usage_update", "used": 7, "size": 100,
            "cost": {"amount": 0.25, "currency": "EUR"}})
    );
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_too_large_to_be_told_is_not_remembered_as_told() {
    let (host, mut strings) = host();
    let limits = Limits::default().with_max_message(2 << 10);
    let builder = AgentBuilder::new(host).compact_command();
    let agent = builder.connection_limits(limits).build().unwrap();
    let mut client = Client::ready(&agent).await;
    let long = "x".repeat(4 << 10);
    let commands = vec![SlashCommand::new("a", long.as_str())];
    let tells = vec![EventBody::CommandsChanged(commands.clone())];
    *strings.script.tells.lock() = tells;
    client.new_session().await;
    let session = strings.session().await;
    // Those of the host are too much, so the client learns of the agent's own.
    let told = client.update().await;
    assert_eq!(told["availableCommands"].as_array().unwrap().len(), 1);
    assert_eq!(told["availableCommands"][0]["name"], "compact");

    let time = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let tell = async |number, info| {
        let event = HostEvent::of_session(number, EventBody::InfoChanged(info));
        session.link().emit(event).await
    };
    let info = SessionInfo::new().with_title(long).with_updated_at(time);
    assert_eq!(tell(1, info).await, Err(EmitError::TooLarge));
    let info = || SessionInfo::new().with_title("x").with_updated_at(time);
    tell(2, info()).await.unwrap();
    assert_eq!(client.update().await["updatedAt"], "2023-11-14T22:13:20Z");
    tell(3, info()).await.unwrap();
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_session_tells_before_it_is_known_is_bounded() {
    let (agent, mut strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    let used = |number| EventBody::ContextMeasured(ContextUse::new(number, 100));
    let title = || EventBody::InfoChanged(SessionInfo::new().with_title("Notes"));
    let mut tells: Vec<_> = (0..64).map(used).collect();
    tells.push(title());
    *strings.script.tells.lock() = tells;
    client.new_session().await;
    let session = strings.session().await;
    for number in 0..64 {
        assert_eq!(client.update().await["used"], number);
    }
    // The agent's own commands did not fit either, and are told now.
    assert!(client.update().await["availableCommands"].is_array());
    client.assert_quiet().await;
    let told = session.told.lock().clone();
    assert!(told[..64].iter().all(Result::is_ok));
    assert_eq!(told[64], Err(EmitError::NoRoom));
    session.tell(65, title()).await;
    assert_eq!(client.update().await["title"], "Notes");
}

#[tokio::test(start_paused = true)]
async fn notices_and_compaction_are_for_clients_that_show_them() {
    let notice = || {
        let notice = Notice::new(NoticeSeverity::Warning, "Slow").with_description("Wait.");
        EventBody::Noticed(Box::new(notice))
    };
    let compacting = |status| EventBody::Compacting(Box::new(Compaction::new("k1", status)));
    let all = || {
        [
            notice(),
            compacting(CompactionStatus::InProgress),
            compacting(CompactionStatus::Summary(Block::text("So far"))),
            compacting(CompactionStatus::Completed(vec![Block::text("So far.")])),
            compacting(CompactionStatus::Failed(Some("too long".into()))),
            compacting(CompactionStatus::Cancelled),
        ]
    };
    let (mut client, session, _strings) = scene(json!({})).await;
    for body in all() {
        session.tell(1, body).await;
    }
    client.assert_quiet().await;

    let shows = json!({"session": {"notices": {}, "compaction": {}}});
    let (mut client, session, _strings) = scene(shows).await;
    for body in all() {
        session.tell(1, body).await;
    }
    let so_far = |text: &str| json!({"type": "text", "text": text});
    for want in [
        json!({"sessionUpdate": "notice", "severity": "warning", "title": "Slow",
            "description": "Wait."}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "k1",
            "status": "in_progress"}),
        json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "k1",
            "content": so_far("So far")}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "k1",
            "status": "completed", "summary": [so_far("So far.")]}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "k1",
            "status": "failed", "error": "too long"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "k1",
            "status": "cancelled"}),
    ] {
        assert_eq!(client.update().await, want);
    }
}

#[tokio::test(start_paused = true)]
async fn the_command_shortens_the_conversation() {
    let (mut client, session, strings) = scene(json!({})).await;
    let request = client.prompt("session-0", "/compact").await;
    let command = session.compaction().await;
    // It holds the slot, for as long as it takes.
    let busy = client
        .call("session/prompt", prompt("session-0", "hi"))
        .await;
    assert_eq!(busy["error"]["code"], -32600, "{busy}");
    tokio::time::sleep(Duration::from_secs(600)).await;
    session
        .tell(
            1,
            EventBody::CompactDone {
                command: "other".into(),
            },
        )
        .await;
    client.assert_quiet().await;
    session.tell(2, EventBody::CompactDone { command }).await;
    assert_eq!(client.stop_reason(request).await, "end_turn");

    let reasons = [
        (HostError::public("it is too long"), "it is too long"),
        (HostError::internal("canary"), "the agent failed"),
    ];
    for (error, text) in reasons {
        let reason = CompactRejectReason::Failed(error);
        let request = client.prompt("session-0", "/compact").await;
        let command = session.compaction().await;
        session
            .tell(3, EventBody::CompactRejected { command, reason })
            .await;
        let answer = client.answer(request).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(
            answer["error"]["message"].as_str().unwrap().contains(text),
            "{answer}"
        );
    }
    strings.script.compact.lock().push_back(Does::FailInPrivate);
    let answer = client
        .call("session/prompt", prompt("session-0", "/compact"))
        .await;
    assert_eq!(
        answer["error"]["message"],
        "session/prompt: the agent failed"
    );

    // A cancel interrupts it, and is the answer whatever becomes of it.
    let request = client.prompt("session-0", "/compact").await;
    let command = session.compaction().await;
    client.cancel("session-0").await;
    client.pause().await;
    assert_eq!(session.interrupts(), 1);
    let reason = CompactRejectReason::Failed(HostError::internal("canary"));
    session
        .tell(9, EventBody::CompactRejected { command, reason })
        .await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
}

#[tokio::test(start_paused = true)]
async fn other_prompts_are_no_command() {
    let (mut client, session, _strings) = scene(json!({})).await;
    let text = |text: &str| json!({"type": "text", "text": text});
    for blocks in [
        json!([text("/compact ")]),
        json!([text("/Compact")]),
        json!([text("/compact"), text("now")]),
        json!([text("please /compact")]),
    ] {
        let params = json!({"sessionId": "session-0", "prompt": blocks});
        let request = client.start_call("session/prompt", params).await;
        session.start().await.done().await;
        assert_eq!(client.stop_reason(request).await, "end_turn");
    }
    // An agent that does not offer it takes it as text.
    let (_strings, mut client, id, session) = crate::host::scene().await;
    let request = client.prompt(&id, "/compact").await;
    session.start().await.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}
