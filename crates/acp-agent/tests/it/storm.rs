//! Cancelled at every moment: each call of the host takes its time, and the
//! cancellation comes a millisecond later each time.

use std::{sync::Arc, time::Duration};

use acp_agent::host::{Block, EventBody, HostEvent, ToolCall, ToolEnd, TurnOrigin};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use crate::{
    client::Client,
    host::{Does, Session, full_agent},
};

/// Longer than any bound of the agent.
const BOUND: Duration = Duration::from_secs(40);

fn params() -> Value {
    json!({"sessionId": "s", "cwd": "/home/ada", "mcpServers": []})
}

/// Runs one turn as hosts do, with rests between its events; stops when it is
/// cancelled.
async fn play(session: Arc<Session>) {
    let submission = session.submission().await;
    let turn = session.turn("main", submission.command.as_str());
    let pause = || sleep(Duration::from_millis(2));
    let work = async {
        pause().await;
        turn.start(&submission.command).await;
        pause().await;
        turn.text("one ").await;
        turn.open_gate("g", "t").await;
        session.response().await;
        pause().await;
        let tool = ToolCall::new("t", "edit", "Change notes.md");
        let _ = turn.tell(EventBody::ToolStarted(Box::new(tool))).await;
        pause().await;
        let end = ToolEnd::completed("t");
        let _ = turn.tell(EventBody::ToolCompleted(Box::new(end))).await;
        let _ = turn.tell(EventBody::TurnDone).await;
    };
    if submission.cancel.run_until_cancelled(work).await.is_none() {
        pause().await;
        // It may not have begun.
        turn.start(&submission.command).await;
        let _ = turn.tell(EventBody::TurnInterrupted).await;
    }
}

/// Reads until a request is answered, allowing what is asked on the way.
async fn answer_to(client: &mut Client, request: i64) -> Value {
    let asked_at = Instant::now();
    loop {
        let message = timeout(BOUND, client.next()).await.expect("no answer");
        if message["method"] == "session/request_permission" {
            let outcome = json!({"outcome": {"outcome": "selected", "optionId": "approve"}});
            client.reply(&message["id"], outcome).await;
        }
        if message["id"] == request && message.get("method").is_none() {
            assert!(asked_at.elapsed() < BOUND);
            return message;
        }
    }
}

/// Cancels a prompt after so many milliseconds, and gives its answer.
async fn cancel_a_prompt(client: &mut Client, after: u64, by_request: bool) -> Value {
    let request = client.prompt("s", "hi").await;
    let started_at = Instant::now();
    let cancelled_at = Duration::from_millis(after);
    loop {
        let left = cancelled_at.saturating_sub(started_at.elapsed());
        let Ok(message) = timeout(left, client.next()).await else {
            break;
        };
        if message["method"] == "session/request_permission" {
            sleep(Duration::from_millis(2)).await;
            let outcome = json!({"outcome": {"outcome": "selected", "optionId": "approve"}});
            client.reply(&message["id"], outcome).await;
        }
        if message["id"] == request && message.get("method").is_none() {
            return message;
        }
    }
    if by_request {
        let params = json!({"requestId": request});
        client.notify("$/cancel_request", params).await;
    } else {
        client.cancel("s").await;
    }
    answer_to(client, request).await
}

#[tokio::test(start_paused = true)]
async fn prompts() {
    let (agent, mut strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    let opened = client.start_call("session/load", params()).await;
    answer_to(&mut client, opened).await;
    let session = strings.session().await;
    let (mut cancelled, mut done) = (0, 0);
    for by_request in [false, true] {
        for after in 0..16 {
            for calls in [&strings.script.submit, &strings.script.respond] {
                *calls.lock() = [Does::Rest(2)].into();
            }
            let host = tokio::spawn(play(Arc::clone(&session)));
            let answer = cancel_a_prompt(&mut client, after, by_request).await;
            let text = answer.to_string();
            if text.contains("end_turn") {
                done += 1;
            } else {
                let want = ["\"cancelled\"", "-32800"][usize::from(by_request)];
                assert!(text.contains(want), "after {after} ms: {text}");
                cancelled += 1;
            }
            host.await.unwrap();
            while session.has_response().await {}
            // The slot is free, and the next prompt has nothing to do with it.
            for calls in [&strings.script.submit, &strings.script.respond] {
                calls.lock().clear();
            }
            let host = tokio::spawn(play(Arc::clone(&session)));
            let request = client.prompt("s", "again").await;
            let answer = answer_to(&mut client, request).await;
            assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
            host.await.unwrap();
        }
    }
    assert!(cancelled >= 16 && done >= 4, "{cancelled} and {done}");
}

fn journal() -> Vec<HostEvent> {
    let origin = Arc::new(TurnOrigin::new("main", "t"));
    let bodies = [
        EventBody::TurnStarted {
            command: None,
            index: 0,
        },
        EventBody::UserMessage(vec![Block::text("hi")]),
        EventBody::StepDone(vec![Block::text("hello")]),
        EventBody::TurnDone,
    ];
    let numbered = (0..).zip(bodies);
    numbered
        .map(|(number, body)| HostEvent::new(Arc::clone(&origin), number, body))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn sessions_that_are_loaded_and_closed() {
    let (mut loaded, mut not_loaded) = (0, 0);
    for after in 0..12 {
        let (agent, mut strings) = full_agent();
        let mut client = Client::ready(&agent).await;
        *strings.script.journal.lock() = journal();
        let script = &strings.script;
        for calls in [&script.load, &script.attach, &script.options] {
            calls.lock().push_back(Does::Rest(3));
        }
        let load = client.start_call("session/load", params()).await;
        sleep(Duration::from_millis(after)).await;
        let cancel = json!({"requestId": load});
        client.notify("$/cancel_request", cancel).await;
        let answer = answer_to(&mut client, load).await;
        if answer["error"]["code"] == -32800 {
            not_loaded += 1;
            // Nothing is left of it: it can be loaded again.
            let script = &strings.script;
            for calls in [&script.load, &script.attach, &script.options] {
                calls.lock().clear();
            }
            let load = client.start_call("session/load", params()).await;
            let answer = answer_to(&mut client, load).await;
            assert!(answer["result"].is_object(), "after {after} ms: {answer}");
        } else {
            loaded += 1;
            assert!(answer["result"].is_object(), "after {after} ms: {answer}");
        }
        let script = &strings.script;
        for calls in [&script.interrupt, &script.shutdown] {
            calls.lock().push_back(Does::Rest(3));
        }
        let close = json!({"sessionId": "s"});
        let close = client.start_call("session/close", close).await;
        sleep(Duration::from_millis(after)).await;
        let cancel = json!({"requestId": close});
        client.notify("$/cancel_request", cancel).await;
        let answer = answer_to(&mut client, close).await;
        let is_cancelled = answer["error"]["code"] == -32800;
        assert!(is_cancelled || answer["result"].is_object(), "{answer}");
        // Closing goes on, whether anybody waits for it or not.
        sleep(Duration::from_millis(20)).await;
        let again = json!({"sessionId": "s"});
        let answer = client.call("session/close", again).await;
        assert_eq!(
            answer["error"]["code"], -32002,
            "after {after} ms: {answer}"
        );
        client.hang_up().await;
        while let Some(session) = strings.try_session() {
            assert_eq!(session.shutdowns(), 1, "after {after} ms");
        }
    }
    assert!(loaded >= 2 && not_loaded >= 6, "{loaded} and {not_loaded}");
}
