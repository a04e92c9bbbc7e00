//! The end of a connection ends everything that ran on it.

use std::time::Duration;

use acp_agent::{
    AgentBuilder,
    host::{ClientCallError, Delta, EmitError, EventBody, ReadTextFile},
};
use acp_protocol::rpc::{CloseCause, Limits};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    client::Client,
    host::{Does, agent, full_agent, host},
};

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_interrupts_its_turns_and_closes_its_sessions() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    let mut sessions = Vec::new();
    for _ in 0..3 {
        client.new_session().await;
        sessions.push(strings.session().await);
    }
    client.prompt("session-0", "hi").await;
    client.prompt("session-1", "hi").await;
    let turn = sessions[0].start().await;
    let asking = sessions[1].start().await;
    asking.open_gate("g1", "t1").await;
    client.update().await;
    client.asked("session/request_permission").await;

    let host = tokio::spawn({
        let session = sessions[0].clone();
        async move {
            while session.interrupts() == 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            turn.interrupted().await;
            turn
        }
    });
    let other = tokio::spawn({
        let session = sessions[1].clone();
        async move {
            let response = session.response().await;
            asking.interrupted().await;
            response
        }
    });
    let cause = client.hang_up().await;
    assert!(matches!(cause, CloseCause::PeerEof), "{cause:?}");
    let turn = host.await.unwrap();
    let response = other.await.unwrap();
    let approve =
        acp_agent::host::GateAnswer::Permission(acp_agent::host::PermissionAction::Approve);
    assert_ne!(response.answer, approve);
    for session in &sessions {
        assert_eq!(session.shutdowns(), 1);
        assert!(session.interrupts() > 0);
    }
    let late = EventBody::Delta(Delta::Text("late".into()));
    assert!(turn.tell(late).await.is_err());
    let read = sessions[2]
        .link()
        .read_text_file(ReadTextFile::new("/a"))
        .await;
    assert_eq!(read, Err(ClientCallError::Unsupported));
}

#[tokio::test(start_paused = true)]
async fn hosts_that_hang_are_left_behind() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    let id = client.new_session().await;
    let session = strings.session().await;
    client.prompt(&id, "hi").await;
    let turn = session.start().await;
    strings
        .script
        .interrupt
        .lock()
        .extend([Does::Hang, Does::Hang]);
    strings.script.shutdown.lock().push_back(Does::Hang);
    let began = Instant::now();
    client.hang_up().await;
    // The grace of 10 s, 30 s for the turn, and 5 s for what the session holds.
    let took = began.elapsed();
    assert!(
        took >= Duration::from_secs(45) && took < Duration::from_secs(47),
        "{took:?}"
    );
    assert_eq!(session.shutdowns(), 1);
    let late = turn
        .tell(EventBody::Delta(Delta::Text("late".into())))
        .await;
    assert!(
        matches!(late, Err(EmitError::Ended | EmitError::Closed)),
        "{late:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_made_too_late_is_shut_down() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    strings.script.attach.lock().push_back(Does::Rest(100));
    client
        .start_call("session/new", json!({"cwd": "/home", "mcpServers": []}))
        .await;
    let session = strings.session().await;
    client.hang_up().await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(session.shutdowns(), 1);
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_room_or_for_an_answer_is_told() {
    let (agent, mut strings) = agent();
    let capabilities = json!({"fs": {"readTextFile": true}});
    let mut client = Client::ready_with(&agent, capabilities).await;
    let id = client.new_session().await;
    let session = strings.session().await;
    client.prompt(&id, "hi").await;
    let turn = session.start().await;
    let reading = tokio::spawn({
        let session = session.clone();
        async move { session.link().read_text_file(ReadTextFile::new("/a")).await }
    });
    client.asked("fs/read_text_file").await;
    let telling = tokio::spawn(async move {
        loop {
            let text = EventBody::Delta(Delta::Text("x".repeat(32 << 10)));
            if let Err(error) = turn.tell(text).await {
                return error;
            }
        }
    });
    client.pause().await;
    client.hang_up().await;
    assert_eq!(reading.await.unwrap(), Err(ClientCallError::Closed));
    assert_ne!(telling.await.unwrap(), EmitError::TooLarge);
}

#[tokio::test(start_paused = true)]
async fn requests_that_were_accepted_are_answered_behind_the_end_of_input() {
    let (agent, mut strings) = full_agent();
    let mut client = Client::ready(&agent).await;
    client.new_session().await;
    client.update().await;
    let session = strings.session().await;
    strings
        .script
        .new_session
        .lock()
        .push_back(Does::Rest(5000));
    strings.script.list.lock().push_back(Does::Rest(6000));
    let params = json!({"cwd": "/home", "mcpServers": []});
    let new = client.start_call("session/new", params).await;
    let list = client.start_call("session/list", json!({})).await;
    let prompt = client.prompt("session-0", "hi").await;
    let turn = session.start().await;
    let mut rest = client.close_input();
    turn.text("still here").await;
    turn.done().await;
    assert_eq!(rest.update().await["content"]["text"], "still here");
    assert_eq!(rest.stop_reason(prompt).await, "end_turn");
    let opened = rest.answer(new).await;
    assert!(opened["result"]["sessionId"].is_string(), "{opened}");
    assert!(rest.update().await["availableCommands"].is_array());
    assert!(rest.answer(list).await["result"]["sessions"].is_array());
    assert!(matches!(rest.end().await, CloseCause::PeerEof));
    assert_eq!((session.interrupts(), session.shutdowns()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_runs_on_is_cancelled_behind_the_grace() {
    let (host, mut strings) = host();
    let limits = Limits::default().with_finish_grace(Duration::from_secs(3));
    let agent = AgentBuilder::new(host).connection_limits(limits);
    let mut client = Client::ready(&agent.build().unwrap()).await;
    client.new_session().await;
    let session = strings.session().await;
    strings.script.new_session.lock().push_back(Does::Hang);
    let prompt = client.prompt("session-0", "hi").await;
    let turn = session.start().await;
    let params = json!({"cwd": "/home", "mcpServers": []});
    let new = client.start_call("session/new", params).await;
    client.pause().await;
    let began = Instant::now();
    let mut rest = client.close_input();
    let host = tokio::spawn(async move {
        while session.interrupts() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        turn.text("so far").await;
        turn.interrupted().await;
        session
    });
    let refused = rest.answer(new).await;
    assert_eq!(refused["error"]["code"], -32800, "{refused}");
    assert_eq!(rest.update().await["content"]["text"], "so far");
    assert_eq!(rest.stop_reason(prompt).await, "cancelled");
    assert!(matches!(rest.end().await, CloseCause::PeerEof));
    assert_eq!(began.elapsed().as_secs(), 3);
    assert_eq!(host.await.unwrap().shutdowns(), 1);
}

#[tokio::test(start_paused = true)]
async fn questions_end_at_once_when_nothing_can_answer_them() {
    let (agent, mut strings) = agent();
    let capabilities = json!({"fs": {"readTextFile": true}});
    let mut client = Client::ready_with(&agent, capabilities).await;
    client.new_session().await;
    let session = strings.session().await;
    let prompt = client.prompt("session-0", "hi").await;
    let turn = session.start().await;
    turn.open_gate("g1", "t1").await;
    client.update().await;
    client.asked("session/request_permission").await;
    let began = Instant::now();
    let mut rest = client.close_input();
    let response = session.response().await;
    assert!(format!("{response:?}").contains("Deny"), "{response:?}");
    // No question is asked a second time.
    turn.open_gate("g2", "t1").await;
    let response = session.response().await;
    assert!(format!("{response:?}").contains("Deny"), "{response:?}");
    let read = session.link().read_text_file(ReadTextFile::new("/a")).await;
    assert_eq!(read, Err(ClientCallError::Closed));
    turn.done().await;
    assert_eq!(rest.update().await["status"], "failed");
    assert_eq!(rest.stop_reason(prompt).await, "end_turn");
    rest.end().await;
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_client_that_does_not_read_any_more() {
    let (agent, mut strings) = agent();
    let mut client = Client::ready(&agent).await;
    client.new_session().await;
    let session = strings.session().await;
    client.prompt("session-0", "hi").await;
    let turn = session.start().await;
    let began = Instant::now();
    let mut rest = client.close_input();
    rest.close_output();
    // The first word finds out.
    turn.text("anybody?").await;
    let host = tokio::spawn(async move {
        while session.interrupts() == 0 {
            tokio::task::yield_now().await;
        }
        turn.interrupted().await;
    });
    assert!(matches!(rest.end().await, CloseCause::Io(_)));
    host.await.unwrap();
    assert_eq!(began.elapsed(), Duration::ZERO);
}
