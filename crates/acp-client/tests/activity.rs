//! Whether an agent moves, and what it waits for.

mod support;

use acp_client::{Client, ClientError, ClientOptions, PermissionRequest};
use serde_json::json;
use support::{opened, pair};
use tokio::sync::oneshot;

#[tokio::test(start_paused = true)]
async fn whatever_an_agent_says_is_a_sign_of_life_and_what_it_asks_is_owed() {
    let (asked, answer) = (parking_lot::Mutex::new(None), parking_lot::Mutex::new(None));
    let (hear, heard) = oneshot::channel();
    let (give, given) = oneshot::channel::<()>();
    *asked.lock() = Some(hear);
    *answer.lock() = Some(given);
    let slow = move |ask: PermissionRequest| {
        let hear = asked.lock().take();
        let given = answer.lock().take();
        async move {
            hear.unwrap().send(()).unwrap();
            given.unwrap().await.unwrap();
            ask.reject()
        }
    };
    let options = ClientOptions::new().with_permissions(slow);
    let (client, _session, mut agent) = opened(options).await;
    let activity = |client: &Client| client.activity().unwrap();

    let before = activity(&client);
    assert_eq!(before, activity(&client), "nothing was said");
    assert_eq!(before.owed, 0);
    agent
        .ask_permission(1, json!({"toolCallId": "t", "kind": "edit"}))
        .await;
    heard.await.unwrap();
    let asked = activity(&client);
    assert_eq!((asked.requested - before.requested, asked.owed), (1, 1));
    give.send(()).unwrap();
    agent.result(1).await;
    let answered = activity(&client);
    assert_eq!((answered.requested, answered.owed), (asked.requested, 0));
    agent.text("Then not.").await;
    while activity(&client) == answered {
        tokio::task::yield_now().await;
    }
    assert!(activity(&client).received > answered.received);
}

#[tokio::test(start_paused = true)]
async fn who_is_not_connected_does_not_move() {
    let (client, _agent) = pair(ClientOptions::new());
    assert!(matches!(client.activity(), Err(ClientError::NotDialed)));
}
