//! Everything can be shared and moved: futures between threads, sessions between tasks,
//! and a handler may use the client that calls it.

mod support;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use acp_client::{
    AnswerPermissions, Client, ClientOptions, Loading, PermissionRequest, Session, SessionControl,
    SessionList, Turn, Updates,
};
use acp_protocol::rpc::ReceiveSeq;
use acp_protocol::v1::RequestPermissionOutcome;
use serde_json::json;
use support::{dialed, end_turn, open, selected};

fn send<T: Send>(_: T) {}

fn shared<T: Send + Sync + 'static>() {}

/// Compiles, or does not.
#[test]
fn every_future_may_move_between_threads() {
    shared::<Client>();
    shared::<Session>();
    shared::<SessionControl>();
    shared::<Turn>();
    shared::<Loading>();
    shared::<SessionList>();
    fn client(client: &'static Client) {
        send(client.dial());
        send(client.new_session("/code"));
        send(client.load_session("s", "/code"));
        send(client.resume_session("s", "/code"));
        send(client.close_session("s"));
        send(client.delete_session("s"));
        send(client.authenticate("key"));
        send(client.logout());
        send(client.close());
        send(client.kill());
        send(client.done());
    }
    fn session(session: &'static mut Session) {
        send(session.prompt_when_idle("x"));
    }
    fn prompt(session: &'static mut Session) {
        send(session.prompt("x"));
    }
    fn owned(session: Session, turn: Turn, loading: Loading, list: SessionList) {
        send(session.close());
        send(turn.end());
        send(loading.end());
        send(list.all());
    }
    fn streams(
        turn: &'static mut Turn,
        updates: &'static mut Updates<'static>,
        loading: &'static mut Loading,
        list: &'static mut SessionList,
    ) {
        send(updates.next());
        send(turn.next());
        send(loading.next());
        send(list.next());
    }
    fn merged(turn: &'static mut Turn, updates: &'static mut Updates<'static>) {
        send(turn.next_merged());
        send(updates.next_merged());
    }
    fn collected(loading: Loading, list: &'static mut SessionList) {
        send(loading.collect());
        send(list.next_page());
    }
    fn control(control: &'static SessionControl) {
        send(control.set_mode("ask"));
        send(control.set_config_option("model", "big"));
        send(control.wait_updates());
        send(control.wait_updates_through(ReceiveSeq::default()));
    }
    // Never called: that they compile is the point.
    let _ = (
        client, session, prompt, owned, streams, merged, collected, control,
    );
}

/// Asks the agent before it answers.
struct Curious(Arc<OnceLock<(Client, SessionControl)>>);

impl AnswerPermissions for Curious {
    async fn answer(&self, ask: PermissionRequest) -> RequestPermissionOutcome {
        let (client, control) = self.0.get().unwrap();
        control.set_config_option("careful", true).await.unwrap();
        let sessions = client.list_sessions().all().await.unwrap();
        assert_eq!(sessions.len(), 1);
        ask.reject()
    }
}

#[tokio::test(start_paused = true)]
async fn a_handler_may_ask_the_agent() {
    let cell = Arc::new(OnceLock::new());
    let options = ClientOptions::new().with_permissions(Curious(Arc::clone(&cell)));
    let list = json!({"sessionCapabilities": {"list": {}}});
    let (client, mut agent) = dialed(options, list).await;
    let mut session = open(&client, &mut agent, json!({})).await;
    assert!(cell.set((client, session.control())).is_ok());
    let turn = session.prompt("x").await.unwrap();
    let prompt = agent.request("session/prompt").await;
    agent
        .ask_permission(0, json!({"toolCallId": "t", "kind": "read"}))
        .await;
    let asked = agent.request("session/set_config_option").await;
    agent.answer(&asked, json!({"configOptions": []})).await;
    let asked = agent.request("session/list").await;
    let sessions = json!([{"sessionId": "s-1", "cwd": "/code"}]);
    agent.answer(&asked, json!({"sessions": sessions})).await;
    assert_eq!(agent.result(0).await, selected("no"));
    agent.answer(&prompt, end_turn()).await;
    turn.end().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_moves_from_task_to_task() {
    let (client, mut agent) = dialed(ClientOptions::new(), json!({})).await;
    let mut session = open(&client, &mut agent, json!({})).await;
    for _ in 0..10 {
        let task = tokio::spawn(async move {
            let turn = session.prompt("x").await.unwrap();
            (session, turn)
        });
        let prompt = agent.request("session/prompt").await;
        let (back, turn) = task.await.unwrap();
        let reading = tokio::spawn(turn.end());
        agent.text("x").await;
        agent.answer(&prompt, end_turn()).await;
        reading.await.unwrap().unwrap();
        session = back;
        let late = tokio::spawn(async move {
            let mut updates = session.updates();
            let seen = tokio::time::timeout(Duration::from_secs(60), updates.next());
            assert!(seen.await.unwrap().is_some());
            drop(updates);
            session
        });
        agent.text("late").await;
        session = late.await.unwrap();
    }
}
