//! Policies, people who are asked, and the log of what was decided.

mod support;

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use acp_client::{
    AskUser, ClientOptions, DecidedBy, DecisionLog, PermissionRequest, Policy, Reason, TurnEvent,
};
use acp_protocol::v1::{PermissionOptionKind, ToolKind};
use parking_lot::Mutex;
use serde_json::{Value, json};
use support::{Agent, SESSION, brief, cancelled, opened, selected};

const SECOND: Duration = Duration::from_secs(1);

fn tool(id: &str, kind: &str) -> Value {
    json!({"toolCallId": id, "title": id, "kind": kind})
}

/// Asks something that two options answer with yes.
async fn ask_a_question(agent: &mut Agent, id: i64) {
    let options = json!([
        {"optionId": "tea", "name": "Tea", "kind": "allow_once"},
        {"optionId": "coffee", "name": "Coffee", "kind": "allow_once"},
        {"optionId": "neither", "name": "Neither", "kind": "reject_once"},
    ]);
    let params = json!({"sessionId": SESSION, "toolCall": tool("t", "read"), "options": options});
    agent.ask(id, "session/request_permission", params).await;
}

/// Who decided, in order.
fn deciders(log: &DecisionLog) -> Vec<DecidedBy> {
    log.newest().into_iter().map(|decided| decided.by).collect()
}

#[tokio::test(start_paused = true)]
async fn nobody_answers_a_question_in_disguise_but_a_person() {
    let options = ClientOptions::new().with_permissions(Policy::approve_all().with_always());
    let (client, _session, mut agent) = opened(options).await;
    ask_a_question(&mut agent, 1).await;
    assert_eq!(agent.result(1).await, selected("neither"));
    assert_eq!(
        deciders(&client.decisions()),
        [DecidedBy::Policy(Reason::AskedAsChoice)]
    );

    let person = async |ask: PermissionRequest| ask.select(&"coffee".into()).unwrap();
    let ask = AskUser::new(person, SECOND).unless(Policy::approve_all());
    let (client, _session, mut agent) = opened(ClientOptions::new().with_permissions(ask)).await;
    ask_a_question(&mut agent, 1).await;
    assert_eq!(agent.result(1).await, selected("coffee"));
    assert_eq!(deciders(&client.decisions()), [DecidedBy::Handler]);
}

#[tokio::test(start_paused = true)]
async fn a_person_is_not_waited_for_for_ever() {
    let ask = AskUser::new(async |_: PermissionRequest| pending().await, 60 * SECOND);
    let (client, _session, mut agent) = opened(ClientOptions::new().with_permissions(ask)).await;
    let start = tokio::time::Instant::now();
    agent.ask_permission(1, tool("t", "read")).await;
    agent.hears_nothing_for(59 * SECOND).await;
    assert_eq!(agent.result(1).await, selected("no"));
    assert_eq!(start.elapsed(), 60 * SECOND);
    assert_eq!(
        deciders(&client.decisions()),
        [DecidedBy::Policy(Reason::TimedOut)]
    );
}

#[tokio::test(start_paused = true)]
async fn a_person_is_not_asked_about_what_the_policy_allows() {
    let asked = Arc::new(AtomicU32::new(0));
    let person = {
        let asked = Arc::clone(&asked);
        move |ask: PermissionRequest| {
            asked.fetch_add(1, Ordering::Relaxed);
            async move { ask.select(&"always".into()).unwrap() }
        }
    };
    let ask = AskUser::new(person, SECOND).unless(Policy::allow_kinds([ToolKind::Read]));
    let (client, _session, mut agent) = opened(ClientOptions::new().with_permissions(ask)).await;
    agent.ask_permission(1, tool("t", "read")).await;
    assert_eq!(agent.result(1).await, selected("yes"));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    agent.ask_permission(2, tool("t", "execute")).await;
    assert_eq!(agent.result(2).await, selected("always"));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(
        deciders(&client.decisions()),
        [
            DecidedBy::Policy(Reason::KindAllowed(ToolKind::Read)),
            DecidedBy::Handler
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_callback_is_told_what_was_picked() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = DecisionLog::new().with_callback({
        let seen = Arc::clone(&seen);
        move |decided| seen.lock().push(decided.clone())
    });
    let options = ClientOptions::new()
        .with_permissions(Policy::allow_kinds([ToolKind::Read]))
        .with_decision_log(log);
    let (_client, _session, mut agent) = opened(options).await;
    agent.ask_permission(1, tool("t", "read")).await;
    agent.result(1).await;
    let seen = seen.lock();
    let [decided] = seen.as_slice() else {
        panic!("{seen:?}");
    };
    assert_eq!(decided.session_id, *SESSION);
    assert_eq!(decided.tool_call_id, *"t");
    assert_eq!(decided.title.as_deref(), Some("t"));
    assert_eq!(decided.kind, Some(ToolKind::Read));
    assert_eq!(decided.after.get(), 2, "initialize, session/new");
    let option = decided.option.as_ref().unwrap();
    assert_eq!(option.kind, PermissionOptionKind::AllowOnce);
}

#[tokio::test(start_paused = true)]
async fn a_policy_does_not_decide_about_what_was_not_read() {
    let log = DecisionLog::new();
    let options = ClientOptions::new()
        .with_permissions(Policy::allow_kinds([ToolKind::Read]))
        .with_decision_log(log.clone());
    let (_client, _session, mut agent) = opened(options).await;
    // It may have announced the tool as one that executes.
    agent.text("an update that nobody reads").await;
    agent.ask_permission(1, tool("t", "read")).await;
    agent.result(1).await;
    let decided = log.newest().remove(0);
    let reason = Reason::AnnouncementUnread;
    assert_eq!(decided.by, DecidedBy::Policy(reason));
    let option = decided.option.unwrap();
    assert_eq!(option.kind, PermissionOptionKind::RejectOnce);
}

#[tokio::test(start_paused = true)]
async fn what_nobody_decided_is_noted_too() {
    let (client, mut session, mut agent) = opened(ClientOptions::new()).await;
    agent.ask_permission(1, tool("t", "read")).await;
    assert_eq!(agent.result(1).await, selected("no"));
    let turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    turn.cancel();
    agent.notification("session/cancel").await;
    agent.ask_permission(2, tool("u", "read")).await;
    assert_eq!(agent.result(2).await, cancelled());
    assert_eq!(
        deciders(&client.decisions()),
        [DecidedBy::Nobody, DecidedBy::Cancel]
    );

    let never = async |_: PermissionRequest| pending().await;
    let (client, _session, mut agent) = opened(ClientOptions::new().with_permissions(never)).await;
    agent.ask_permission(1, tool("t", "read")).await;
    agent
        .say(json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 1}}))
        .await;
    assert_eq!(agent.refusal(1).await, -32800);
    assert_eq!(deciders(&client.decisions()), [DecidedBy::Withdrawn]);
}

#[tokio::test(start_paused = true)]
async fn what_a_reader_decides_is_noted_with_what_was_announced() {
    let (client, mut session, mut agent) =
        opened(ClientOptions::new().with_permissions_in_stream()).await;
    let mut turn = session.prompt("one").await.unwrap();
    agent.request("session/prompt").await;
    let announced = json!({
        "sessionUpdate": "tool_call", "toolCallId": "t", "title": "announced", "kind": "edit",
    });
    agent.update(SESSION, announced).await;
    agent.ask_permission(1, json!({"toolCallId": "t"})).await;
    agent.ask_permission(2, tool("u", "edit")).await;
    assert_eq!(brief(&turn.next().await.unwrap()), "tool_call");
    let Some(TurnEvent::Permission(by_hand)) = turn.next().await else {
        panic!("a permission");
    };
    by_hand.select(&"yes".into()).unwrap();
    assert_eq!(agent.result(1).await, selected("yes"));
    let Some(TurnEvent::Permission(by_rule)) = turn.next().await else {
        panic!("a permission");
    };
    let ask = by_rule.request();
    let decision = Policy::reject_all().decide(ask.tool(), ask.options());
    by_rule.decide(&decision);
    assert_eq!(agent.result(2).await, selected("no"));
    let noted = client.decisions().newest();
    assert_eq!(noted[0].title.as_deref(), Some("announced"));
    assert_eq!(noted[0].by, DecidedBy::Reader);
    assert_eq!(noted[1].by, DecidedBy::Policy(Reason::NothingAllowed));
}
