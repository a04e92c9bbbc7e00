//! Consent: every request is answered once, by whom it concerns, in its place.

mod support;

use std::future::pending;
use std::time::Duration;

use acp_client::limits::{MAX_ID, MAX_OPTION_NAME, MAX_PERMISSION_OPTIONS};
use acp_client::{Allow, ClientOptions, PermissionRequest, Policy, TurnEvent};
use acp_protocol::v1::{PermissionOptionId, RequestPermissionOutcome, ToolKind};
use serde_json::{Value, json};
use support::{SESSION, all, brief, cancelled, end_turn, opened, selected};

const SECOND: Duration = Duration::from_secs(1);

fn tool(id: &str, kind: &str) -> Value {
    json!({"toolCallId": id, "title": id, "kind": kind})
}

fn announced(id: &str, kind: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "announced", "kind": kind})
}

#[tokio::test(start_paused = true)]
async fn without_anybody_to_ask_everything_is_refused() {
    let (_client, _session, mut agent) = opened(ClientOptions::new()).await;
    agent.ask_permission(1, tool("t", "read")).await;
    assert_eq!(agent.result(1).await, selected("no"));
}

#[tokio::test(start_paused = true)]
async fn a_policy_answers_by_kind_and_never_for_ever() {
    let options = ClientOptions::new().with_permissions(Policy::new(Allow::Reads, "/code"));
    let (_client, _session, mut agent) = opened(options).await;
    agent.ask_permission(1, tool("t", "read")).await;
    assert_eq!(agent.result(1).await, selected("yes"));
    agent.ask_permission(2, tool("t", "execute")).await;
    assert_eq!(agent.result(2).await, selected("no"));
}

#[tokio::test(start_paused = true)]
async fn a_handler_is_told_the_kind_that_was_announced() {
    let options = ClientOptions::new().with_permissions(Policy::new(Allow::Reads, "/code"));
    let (_client, mut session, mut agent) = opened(options).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    let serve = async {
        agent.update(SESSION, announced("t", "search")).await;
        agent.ask_permission(1, json!({"toolCallId": "t"})).await;
        let answer = agent.result(1).await;
        agent
            .ask_permission(2, json!({"toolCallId": "other"}))
            .await;
        let other = agent.result(2).await;
        agent.answer(&prompt, end_turn()).await;
        (answer, other)
    };
    let (_, (answer, other)) = tokio::join!(all(&mut turn), serve);
    assert_eq!(answer, selected("yes"));
    assert_eq!(other, selected("no"), "nothing is known of this one");
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_stands_still_does_not_hold_up_the_answer_for_long() {
    let options = ClientOptions::new().with_permissions(Policy::new(Allow::Reads, "/code"));
    let (_client, mut session, mut agent) = opened(options).await;
    let _turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    agent.update(SESSION, announced("t", "read")).await;
    let start = tokio::time::Instant::now();
    agent.ask_permission(1, json!({"toolCallId": "t"})).await;
    assert_eq!(agent.result(1).await, selected("no"), "unread is unknown");
    assert_eq!(start.elapsed(), SECOND);
}

#[tokio::test(start_paused = true)]
async fn closures_answer_and_are_told_after_what_they_were_asked() {
    let options = ClientOptions::new().with_permissions(async |ask: PermissionRequest| {
        assert_eq!(ask.session_id(), SESSION);
        assert_eq!(ask.tool().kind.as_ref(), Some(&ToolKind::Execute));
        // initialize, session/new, and one update.
        assert_eq!(ask.after().get(), 3);
        ask.select(&PermissionOptionId::from("always")).unwrap()
    });
    let (_client, _session, mut agent) = opened(options).await;
    agent.text("one update").await;
    agent.ask_permission(1, tool("t", "execute")).await;
    assert_eq!(agent.result(1).await, selected("always"));
}

#[tokio::test(start_paused = true)]
async fn an_option_that_was_not_offered_is_not_picked() {
    let options = ClientOptions::new().with_permissions(async |ask: PermissionRequest| {
        ask.select(&PermissionOptionId::from("nonsense"))
            .expect_err("not offered");
        RequestPermissionOutcome::Selected(acp_protocol::v1::SelectedPermissionOutcome::new(
            "nonsense",
        ))
    });
    let (_client, _session, mut agent) = opened(options).await;
    agent.ask_permission(1, tool("t", "read")).await;
    assert_eq!(agent.result(1).await, cancelled());
}

#[tokio::test(start_paused = true)]
async fn a_cancel_answers_what_is_open_and_what_comes_after_it() {
    let options =
        ClientOptions::new().with_permissions(async |_: PermissionRequest| pending().await);
    let (_client, mut session, mut agent) = opened(options).await;
    let turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.ask_permission(1, tool("t", "read")).await;
    agent.ask_permission(2, tool("u", "read")).await;
    agent.hears_nothing_for(60 * SECOND).await;
    turn.cancel();
    agent.notification("session/cancel").await;
    let mut answered = [agent.next().await, agent.next().await];
    answered.sort_by_key(|answer| answer["id"].as_i64());
    for (answer, id) in answered.iter().zip([1, 2]) {
        assert_eq!(
            (&answer["id"], &answer["result"]),
            (&json!(id), &cancelled())
        );
    }
    agent.ask_permission(3, tool("v", "read")).await;
    assert_eq!(agent.result(3).await, cancelled());
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_next_turn_can_ask_again() {
    let (_client, mut session, mut agent) = opened(ClientOptions::new()).await;
    let turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    turn.cancel();
    agent.notification("session/cancel").await;
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
    let _turn = session.prompt("two").await.unwrap();
    agent.request("session/prompt").await;
    agent.ask_permission(1, tool("t", "read")).await;
    assert_eq!(agent.result(1).await, selected("no"));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_turn_answers_cancelled() {
    let (_client, mut session, mut agent) =
        opened(ClientOptions::new().with_permissions_in_stream()).await;
    let turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    agent.ask_permission(1, tool("t", "read")).await;
    agent.hears_nothing_for(SECOND).await;
    drop(turn);
    let mut heard = [agent.next().await, agent.next().await];
    heard.sort_by_key(|message| message.get("method").is_none());
    assert_eq!(heard[0]["method"], "session/cancel");
    assert_eq!(heard[1]["result"], cancelled());
}

#[tokio::test(start_paused = true)]
async fn in_the_stream_a_request_stands_in_its_place() {
    let (_client, mut session, mut agent) =
        opened(ClientOptions::new().with_permissions_in_stream()).await;
    let mut turn = session.prompt("one").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent.text("before").await;
    agent.update(SESSION, announced("t", "edit")).await;
    agent.ask_permission(1, json!({"toolCallId": "t"})).await;
    agent.text("between").await;
    agent.ask_permission(2, tool("u", "read")).await;
    agent.text("after").await;
    // Everything is in before anything is read.
    agent.hears_nothing_for(SECOND).await;
    let mut seen = Vec::new();
    for _ in 0..3 {
        let event = turn.next().await.unwrap();
        seen.push(brief(&event));
        if let TurnEvent::Permission(pending) = event {
            assert_eq!(
                pending.request().tool().kind.as_ref(),
                Some(&ToolKind::Edit),
                "as announced"
            );
            assert!(pending.is_open());
            pending.select(&PermissionOptionId::from("yes")).unwrap();
        }
    }
    assert_eq!(agent.result(1).await, selected("yes"));
    agent.answer(&prompt, end_turn()).await;
    seen.extend(all(&mut turn).await);
    assert_eq!(
        seen,
        [
            "before",
            "tool_call",
            "asks t",
            "between",
            "asks u",
            "after"
        ]
    );
    assert_eq!(agent.result(2).await, selected("no"), "dropped is refused");
}

#[tokio::test(start_paused = true)]
async fn in_the_stream_a_request_wakes_a_waiting_reader() {
    let (_client, mut session, mut agent) =
        opened(ClientOptions::new().with_permissions_in_stream()).await;
    let mut turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    let serve = async {
        tokio::time::sleep(SECOND).await;
        agent.ask_permission(1, tool("t", "read")).await;
    };
    let (event, ()) = tokio::join!(turn.next(), serve);
    let Some(TurnEvent::Permission(pending)) = event else {
        panic!("a permission");
    };
    let control = turn.control();
    control.cancel();
    agent.notification("session/cancel").await;
    assert_eq!(agent.result(1).await, cancelled());
    assert!(!pending.is_open());
    pending.select(&PermissionOptionId::from("yes")).unwrap();
    agent.hears_nothing_for(SECOND / 2).await;
}

#[tokio::test(start_paused = true)]
async fn in_the_stream_requests_between_turns_reach_who_reads_there() {
    let (_client, mut session, mut agent) =
        opened(ClientOptions::new().with_permissions_in_stream()).await;
    agent.ask_permission(1, tool("t", "read")).await;
    let event = session.updates().next().await.unwrap();
    assert_eq!(brief(&event), "asks t");
    drop(event);
    assert_eq!(agent.result(1).await, selected("no"));
}

#[tokio::test(start_paused = true)]
async fn too_many_open_requests_are_cancelled() {
    let (_client, mut session, mut agent) =
        opened(ClientOptions::new().with_permissions_in_stream()).await;
    let _turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    for id in 0..65 {
        agent.ask_permission(id, tool("t", "read")).await;
    }
    assert_eq!(agent.result(64).await, cancelled());
    agent.hears_nothing_for(SECOND).await;
}

#[tokio::test(start_paused = true)]
async fn a_request_the_agent_takes_back_is_answered_as_cancelled() {
    let options =
        ClientOptions::new().with_permissions(async |_: PermissionRequest| pending().await);
    let (_client, _session, mut agent) = opened(options).await;
    agent.ask_permission(1, tool("t", "read")).await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}});
    agent.say(cancel).await;
    assert_eq!(agent.refusal(1).await, -32800);
}

#[tokio::test(start_paused = true)]
async fn requests_for_sessions_that_are_not_open_are_refused() {
    let (_client, session, mut agent) = opened(ClientOptions::new()).await;
    let ask = |session: &str| json!({"sessionId": session, "toolCall": {"toolCallId": "t"}, "options": []});
    agent
        .ask(1, "session/request_permission", ask("child-1"))
        .await;
    assert_eq!(agent.refusal(1).await, -32002);
    agent.ask(2, "session/request_permission", ask("")).await;
    assert_eq!(agent.refusal(2).await, -32602);
    agent
        .ask(
            3,
            "session/request_permission",
            json!({"sessionId": SESSION}),
        )
        .await;
    assert_eq!(agent.refusal(3).await, -32602);
    agent
        .ask(4, "session/request_permission", ask(SESSION))
        .await;
    assert_eq!(agent.result(4).await, cancelled(), "no option refuses");
    drop(session);
    agent
        .ask(5, "session/request_permission", ask(SESSION))
        .await;
    assert_eq!(agent.refusal(5).await, -32002);
}

#[tokio::test(start_paused = true)]
async fn long_ids_and_many_options_are_refused_by_their_member() {
    let (_client, _session, mut agent) = opened(ClientOptions::new()).await;
    let option =
        |id: &str, name: &str, kind: &str| json!({"optionId": id, "name": name, "kind": kind});
    let long = "i".repeat(MAX_ID + 1);
    let name = "n".repeat(MAX_OPTION_NAME + 1);
    let no = option("no", "No", "reject_once");
    for (id, call, options, member) in [
        (
            1,
            json!({"toolCallId": long}),
            json!([no]),
            "toolCall.toolCallId has 1025 bytes",
        ),
        (
            2,
            tool("t", "read"),
            json!([option(&long, "No", "reject_once")]),
            "optionId has 1025 bytes",
        ),
        (
            3,
            tool("t", "read"),
            json!([option("no", &name, "reject_once")]),
            "name has 4097 bytes",
        ),
        (
            4,
            tool("t", "read"),
            json!([option("no", "No", &long)]),
            "kind has 1025 bytes",
        ),
        (
            5,
            tool("t", "read"),
            json!(vec![no.clone(); MAX_PERMISSION_OPTIONS + 1]),
            "options has 65 entries",
        ),
    ] {
        let params = json!({"sessionId": SESSION, "toolCall": call, "options": options});
        agent.ask(id, "session/request_permission", params).await;
        let answer = agent.next().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(id), &json!(-32602))
        );
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(member), "{message}");
    }
    agent.ask_permission(6, tool("t", "read")).await;
    assert_eq!(agent.result(6).await, selected("no"));
}
