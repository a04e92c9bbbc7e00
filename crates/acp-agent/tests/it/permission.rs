//! Permission gates: the round trip through the client.

use std::time::Duration;

use acp_agent::{
    AgentBuilder, AgentLimits,
    host::{
        Control, DecisionSource, Diff, EmitError, EventBody, Gate, GateAnswer, GateId,
        GateResponse, Json, PermissionAction, ToolCall, ToolContent, ToolEnd, ToolKind,
        ToolLocation,
    },
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    client::{Client, notification},
    host::{Does, agent, host, scene},
};

fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

fn action(response: &GateResponse) -> PermissionAction {
    let GateAnswer::Permission(action) = &response.answer else {
        panic!("{response:?}")
    };
    *action
}

#[track_caller]
fn assert_denied_by_policy(response: &GateResponse) {
    assert_eq!(action(response), PermissionAction::Deny);
    assert!(
        matches!(response.source, DecisionSource::Policy { .. }),
        "{response:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_tool_is_announced_before_permission_is_asked() {
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let tool = ToolCall::new("t1", "edit_note", "Change notes.md")
        .with_kind(ToolKind::Edit)
        .with_location(ToolLocation::new("/home/ada/notes.md").with_line(3))
        .with_input(Json::parse(r#"{ "line":  3 }"#).unwrap())
        .with_content(ToolContent::Diff(
            Diff::new("/home/ada/notes.md", "b").with_old_text("a"),
        ));
    let gate = Gate::permission("g1", tool.clone()).with_body("It is a small change.");
    turn.tell(EventBody::GateOpened(Box::new(gate)))
        .await
        .unwrap();

    let announced = client.update().await;
    assert_eq!(announced["sessionUpdate"], "tool_call");
    assert_eq!(announced["status"], "pending");
    assert_eq!(announced["toolCallId"], "t1");
    assert_eq!(announced["kind"], "edit");
    assert_eq!(announced["name"], "edit_note");
    assert_eq!(announced["rawInput"], json!({"line": 3}));
    assert_eq!(
        announced["locations"],
        json!([{"path": "/home/ada/notes.md", "line": 3}])
    );

    let asked = client.asked("session/request_permission").await;
    let params = &asked["params"];
    assert_eq!(params["sessionId"], *id);
    assert_eq!(params["toolCall"]["toolCallId"], "t1");
    assert_eq!(params["toolCall"]["kind"], "edit");
    assert_eq!(
        params["toolCall"]["content"][0]["content"]["text"],
        "It is a small change."
    );
    assert_eq!(params["toolCall"]["content"][1]["type"], "diff");
    let options: Vec<_> = params["options"].as_array().unwrap().iter().collect();
    let kinds: Vec<_> = options
        .iter()
        .map(|o| o["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "reject_once"]);

    client
        .reply(
            &asked["id"],
            selected(options[1]["optionId"].as_str().unwrap()),
        )
        .await;
    let response = session.response().await;
    assert_eq!(response.gate, GateId::from("g1"));
    assert_eq!(action(&response), PermissionAction::ApproveAlways);
    assert_eq!(response.source, DecisionSource::User);

    // The same call goes on; it is not announced again.
    turn.tell(EventBody::ToolStarted(Box::new(tool)))
        .await
        .unwrap();
    let started = client.update().await;
    assert_eq!(started["sessionUpdate"], "tool_call_update");
    assert_eq!(started["status"], "in_progress");
    assert!(
        started.get("title").is_none() && started.get("rawInput").is_none(),
        "{started}"
    );
    turn.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn answers() {
    let (_strings, mut client, id, session) = scene().await;
    let (approve, deny) = (PermissionAction::Approve, PermissionAction::Deny);
    // What the user decided; none where the facade decided for the user.
    let cases = [
        (selected("approve"), Some(approve)),
        (selected("deny"), Some(deny)),
        (cancelled(), None),
        // Offered is what the gate has, whatever other gates have.
        (selected("approve_always_workspace"), None),
        (selected("Approve"), None),
        (selected(""), None),
        (json!({"outcome": {"optionId": "approve"}}), None),
        (json!({"outcome": {"outcome": "approved"}}), None),
        (json!({"outcome": "selected", "optionId": "approve"}), None),
        (json!({}), None),
        (json!(null), None),
    ];
    for (number, (answer, decided)) in cases.into_iter().enumerate() {
        let request = client.prompt(&id, "hi").await;
        let turn = session.start().await;
        let tool = ToolCall::new(format!("t{number}"), "edit", "Change notes.md");
        let controls = vec![
            Control::new(PermissionAction::Approve, "Yes"),
            Control::new(PermissionAction::Deny, ""),
        ];
        let gate = Gate::permission_with(format!("g{number}"), tool, controls);
        turn.tell(EventBody::GateOpened(Box::new(gate)))
            .await
            .unwrap();
        client.update().await;
        let asked = client.asked("session/request_permission").await;
        assert_eq!(
            asked["params"]["options"][1]["name"], "deny",
            "a label for each option"
        );
        client.reply(&asked["id"], answer.clone()).await;
        let response = session.response().await;
        match decided {
            Some(decided) => {
                assert_eq!(action(&response), decided, "{answer}");
                assert_eq!(response.source, DecisionSource::User, "{answer}");
            }
            None => assert_denied_by_policy(&response),
        }
        // Whatever the answer, the turn goes on and ends as the host says.
        turn.done().await;
        assert_eq!(client.stop_reason(request).await, "end_turn", "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_refuses_to_ask_ends_the_turn() {
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    turn.open_gate("g1", "t1").await;
    client.update().await;
    let asked = client.asked("session/request_permission").await;
    client.reply_error(&asked["id"], -32601).await;
    assert_denied_by_policy(&session.response().await);
    client.assert_quiet().await;
    assert_eq!(session.interrupts(), 1);
    turn.interrupted().await;
    let answer = client.answer(request).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");

    // A cancelled request is a cancelled question, not a failure.
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    turn.open_gate("g2", "t2").await;
    client.update().await;
    let asked = client.asked("session/request_permission").await;
    client.reply_error(&asked["id"], -32800).await;
    assert_denied_by_policy(&session.response().await);
    turn.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_asks_no_more() {
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    turn.open_gate("g1", "t1").await;
    client.update().await;
    let asked = client.asked("session/request_permission").await;
    client.cancel(&id).await;
    let withdrawn = client.next().await;
    assert_eq!(withdrawn["method"], "$/cancel_request", "{withdrawn}");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    assert_denied_by_policy(&session.response().await);
    // An approval that comes too late changes nothing.
    client.reply(&asked["id"], selected("approve")).await;
    client.assert_quiet().await;
    assert!(session.has_no_response().await);
    // Nor is anything asked that comes up now: it is denied at once.
    turn.open_gate("g2", "t2").await;
    assert_denied_by_policy(&session.response().await);
    turn.interrupted().await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_is_resolved_elsewhere_is_asked_no_more() {
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    turn.open_gate("g1", "t1").await;
    client.update().await;
    let asked = client.asked("session/request_permission").await;
    turn.tell(EventBody::GateResolved(GateId::from("g1")))
        .await
        .unwrap();
    let withdrawn = client.next().await;
    assert_eq!(withdrawn["params"]["requestId"], asked["id"], "{withdrawn}");
    client.reply(&asked["id"], selected("approve")).await;
    client.assert_quiet().await;
    assert!(session.has_no_response().await);
    turn.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_ends_takes_its_gates_along() {
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    turn.open_gate("g1", "t1").await;
    client.update().await;
    let asked = client.asked("session/request_permission").await;
    turn.done().await;
    let withdrawn = client.next_but_tool_ends().await;
    assert_eq!(withdrawn["params"]["requestId"], asked["id"], "{withdrawn}");
    assert_eq!(client.stop_reason(request).await, "end_turn");
    client.reply(&asked["id"], selected("approve")).await;
    client.assert_quiet().await;
    assert!(session.has_no_response().await);
}

#[tokio::test(start_paused = true)]
async fn a_question_is_withdrawn_before_its_prompt_is_answered() {
    let (strings, mut client, id, session) = scene().await;
    for (number, by_request) in [(0, false), (1, true)] {
        strings.script.submit.lock().push_back(Does::RunInPlace);
        let request = client.prompt(&id, "hi").await;
        let turn = session.start().await;
        turn.open_gate("g", &format!("t{number}")).await;
        client.update().await;
        let asked = client.asked("session/request_permission").await;
        // It ends in the very moment in which it learns of the cancellation.
        let end = match by_request {
            true => EventBody::TurnDone,
            false => EventBody::TurnInterrupted,
        };
        *session.end_in_place.lock() = Some(turn.event(end));
        if by_request {
            let params = json!({"requestId": request});
            client.notify("$/cancel_request", params).await;
        } else {
            client.cancel(&id).await;
        }
        let withdrawn = client.next_but_tool_ends().await;
        assert_eq!(withdrawn["method"], "$/cancel_request", "{withdrawn}");
        assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
        let reason = client.stop_reason(request).await;
        assert_eq!(reason, ["cancelled", "end_turn"][number]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_take_the_decision_ends_the_turn() {
    for does in [Does::FailInPrivate, Does::Panic, Does::Hang] {
        let (strings, mut client, id, session) = scene().await;
        strings.script.respond.lock().push_back(does);
        let request = client.prompt(&id, "hi").await;
        let turn = session.start().await;
        turn.open_gate("g1", "t1").await;
        client.update().await;
        let asked = client.asked("session/request_permission").await;
        client.reply(&asked["id"], selected("approve")).await;
        assert_eq!(action(&session.response().await), PermissionAction::Approve);
        tokio::time::sleep(Duration::from_secs(11)).await;
        assert_eq!(session.interrupts(), 1, "{does:?}");
        turn.interrupted().await;
        let answer = client.answer(request).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        assert!(!answer.to_string().contains("canary"), "{answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_approval_and_a_cancel_that_arrive_together_approve_nothing() {
    let (_strings, mut client, id, session) = scene().await;
    for is_first in [true, false] {
        let request = client.prompt(&id, "hi").await;
        let turn = session.start().await;
        turn.open_gate("g1", &format!("t{is_first}")).await;
        client.update().await;
        let asked = client.asked("session/request_permission").await;
        let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": selected("approve")});
        let cancel = notification("session/cancel", json!({"sessionId": id}));
        let messages = match is_first {
            true => [reply, cancel],
            false => [cancel, reply],
        };
        client.send_all(&messages).await;
        assert_denied_by_policy(&session.response().await);
        turn.interrupted().await;
        loop {
            let message = client.next_but_tool_ends().await;
            if message["method"] != "$/cancel_request" {
                assert_eq!(message["id"], request, "{message}");
                assert_eq!(message["result"]["stopReason"], "cancelled", "{message}");
                break;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_decision_that_is_not_taken_does_not_undo_a_cancel() {
    let (strings, mut client, id, session) = scene().await;
    strings.script.respond.lock().push_back(Does::Hang);
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    turn.open_gate("g1", "t1").await;
    client.update().await;
    let asked = client.asked("session/request_permission").await;
    client.reply(&asked["id"], selected("approve")).await;
    session.response().await;
    client.cancel(&id).await;
    // Meanwhile it is found that the decision was not taken.
    tokio::time::sleep(Duration::from_secs(15)).await;
    turn.interrupted().await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
}

#[tokio::test(start_paused = true)]
async fn nobody_has_to_wait_for_ever() {
    let (host, mut strings) = host();
    let mut limits = AgentLimits::default();
    limits.permission = Some(Duration::from_secs(300));
    let agent = AgentBuilder::new(host).limits(limits).build().unwrap();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let session = strings.session().await;
    client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let asked_at = Instant::now();
    turn.open_gate("g1", "t1").await;
    assert_denied_by_policy(&session.response().await);
    assert_eq!(asked_at.elapsed().as_secs(), 300);
}

#[tokio::test(start_paused = true)]
async fn a_sub_agent_may_ask_too() {
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let child = turn.child("searcher", "child-turn");
    let grandchild = child.child("reader", "grandchild-turn");
    let stranger = session.turn("stranger", "strange-turn");
    // Of a sub-agent only that is seen which it asks about.
    child.text("thinking").await;
    let unseen = ToolCall::new("t0", "search", "Look around");
    child
        .tell(EventBody::ToolStarted(Box::new(unseen)))
        .await
        .unwrap();
    let unseen = ToolCall::new("t0", "search", "Look around");
    let unseen = EventBody::GateOpened(Box::new(Gate::permission("g0", unseen)));
    assert_eq!(stranger.tell(unseen).await, Err(EmitError::NoTurn));
    client.assert_quiet().await;

    grandchild.open_gate("g1", "t1").await;
    assert_eq!(client.update().await["toolCallId"], "t1");
    let asked = client.asked("session/request_permission").await;
    client.reply(&asked["id"], selected("approve")).await;
    assert_eq!(action(&session.response().await), PermissionAction::Approve);
    let end = ToolEnd::completed("t1");
    grandchild
        .tell(EventBody::ToolCompleted(Box::new(end)))
        .await
        .unwrap();
    assert_eq!(client.update().await["status"], "completed");
    // Its end is not the end of the turn.
    grandchild.done().await;
    child.done().await;
    client.assert_quiet().await;
    turn.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}

#[tokio::test(start_paused = true)]
async fn one_open_question_delays_nobody_else() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    let (one, two) = (client.new_session().await, client.new_session().await);
    let (first, second) = (strings.session().await, strings.session().await);
    client.prompt(&one, "hi").await;
    first.start().await.open_gate("g1", "t1").await;
    client.update().await;
    client.asked("session/request_permission").await;
    client.new_session().await;
    let request = client.prompt(&two, "hi").await;
    second.start().await.done().await;
    assert_eq!(client.stop_reason(request).await, "end_turn");
}
