//! Events of turns that have not begun, and turns without an end.

use std::time::Duration;

use acp_agent::{
    AgentBuilder, AgentLimits,
    host::{Delta, EmitError, EventBody, Gate, HostEvent, PlanEntry, ToolCall, TurnFailure},
};
use tokio::time::Instant;

use crate::{
    client::Client,
    host::{Does, host, scene},
};

fn text() -> EventBody {
    EventBody::Delta(Delta::Text("hi".into()))
}

fn gate() -> EventBody {
    let tool = ToolCall::new("t1", "edit", "Edit");
    EventBody::GateOpened(Box::new(Gate::permission("g1", tool)))
}

#[tokio::test(start_paused = true)]
async fn a_host_learns_that_its_turn_has_not_begun() {
    let (_strings, mut client, id, session) = scene().await;
    let turn = session.turn("main", "t");
    // Nobody prompted, somebody did, and another turn runs.
    for prompts in 0..3 {
        for body in [
            text(),
            gate(),
            EventBody::StepDone(Vec::new()),
            EventBody::PlanChanged(vec![PlanEntry::new("look")]),
        ] {
            assert_eq!(turn.tell(body).await, Err(EmitError::NoTurn), "{prompts}");
        }
        match prompts {
            0 => {
                client.prompt(&id, "hi").await;
            }
            1 => {
                session.start().await;
            }
            _ => {}
        }
    }
    // A gate of the session as a whole is one that nobody sees.
    let event = HostEvent::of_session(0, gate());
    let opened = session.link().emit(event).await;
    assert_eq!(opened, Err(EmitError::NoTurn));
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_without_a_prompt_is_its_hosts_own_affair() {
    let (_strings, mut client, _id, session) = scene().await;
    let turn = session.turn("main", "t");
    let started = EventBody::TurnStarted {
        command: None,
        index: 0,
    };
    turn.tell(started).await.unwrap();
    turn.text("nobody asked").await;
    turn.child("helper", "h").text("nor here").await;
    // But a question that nobody can answer is none.
    assert_eq!(turn.tell(gate()).await, Err(EmitError::NoTurn));
    turn.done().await;
    assert_eq!(turn.tell(text()).await, Err(EmitError::NoTurn));
    client.assert_quiet().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_that_never_began_ends_soon() {
    // The host reports the end of a turn whose beginning it did not report.
    for end in [
        EventBody::TurnInterrupted,
        EventBody::TurnDone,
        EventBody::TurnFailed(TurnFailure::Panicked),
    ] {
        let (_strings, mut client, id, session) = scene().await;
        let request = client.prompt(&id, "hi").await;
        session.submission().await;
        let turn = session.turn("main", "t");
        let began = Instant::now();
        client.cancel(&id).await;
        client.pause().await;
        assert_eq!(turn.tell(end).await, Err(EmitError::NoTurn));
        assert_eq!(client.stop_reason(request).await, "cancelled");
        assert_eq!(began.elapsed().as_secs(), 0);
        // The session takes the next prompt.
        let request = client.prompt(&id, "hi").await;
        session.start().await.done().await;
        assert_eq!(client.stop_reason(request).await, "end_turn");
    }
    // The host says nothing at all.
    let (_strings, mut client, id, session) = scene().await;
    let request = client.prompt(&id, "hi").await;
    session.submission().await;
    let began = Instant::now();
    client.cancel(&id).await;
    assert_eq!(client.stop_reason(request).await, "cancelled");
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_reports_nothing_any_more_fails() {
    let (host, mut strings) = host();
    let mut limits = AgentLimits::default();
    limits.turn_idle = Some(Duration::from_secs(100));
    let agent = AgentBuilder::new(host).limits(limits).build().unwrap();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let session = strings.session().await;
    strings.script.interrupt.lock().push_back(Does::Work);
    let request = client.prompt(&id, "hi").await;
    let began = Instant::now();
    let turn = session.start().await;
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_secs(90)).await;
        turn.text("on and on").await;
        client.update().await;
    }
    // Somebody who is asked may take all the time there is.
    turn.open_gate("g1", "t1").await;
    client.update().await;
    let asked = client.asked("session/request_permission").await;
    tokio::time::sleep(Duration::from_secs(10_000)).await;
    client.assert_quiet().await;
    let cancelled = serde_json::json!({"outcome": {"outcome": "cancelled"}});
    client.reply(&asked["id"], cancelled).await;
    session.response().await;
    let silent = Instant::now();
    while session.interrupts() == 0 {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let waited = silent.elapsed();
    assert!(waited <= Duration::from_secs(201), "{waited:?}");
    turn.interrupted().await;
    assert_eq!(client.update().await["status"], "failed");
    let answer = client.answer(request).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
    assert_eq!(answer["error"]["data"]["reason"], "silent", "{answer}");
    assert!(began.elapsed() > Duration::from_secs(10_900));
}
