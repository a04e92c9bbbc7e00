//! A session that nobody reads, and another one on the same pipe.

use std::time::Duration;

use acp_connection::{Item, NoHandler, connect};
use acp_protocol::{
    rpc::{ConnectionRole, Flow, Limits},
    v1::PromptRequest,
};
use tokio::{
    io::{AsyncWriteExt as _, duplex, split},
    time::Instant,
};

fn update(session: &str, length: usize) -> String {
    let text = "x".repeat(length);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{{\"type\":\"text\",\"text\":\"{text}\"}}}}}}}}\n"
    )
}

/// How long the twenty updates of one session take to arrive while eight mebibytes wait
/// for the consumer of another one.
async fn time_behind_a_full_mailbox(flow: Flow) -> Duration {
    let (near, mut far) = duplex(64 << 10);
    let (reader, writer) = split(near);
    let role = ConnectionRole::Client;
    let client = connect(role, reader, writer, NoHandler, Limits::default());
    let mut slow = client.open_mailbox(&"slow".into()).unwrap();
    let mut quick = client.open_mailbox(&"quick".into()).unwrap();
    slow.control().set_flow(flow);
    for (mailbox, session) in [(&mut slow, "slow"), (&mut quick, "quick")] {
        let prompt = PromptRequest::new(session, Vec::new());
        mailbox.start_streamed(&prompt).unwrap();
    }
    let agent = tokio::spawn(async move {
        for _ in 0..20 {
            for _ in 0..100 {
                let text = update("slow", 4 << 10);
                far.write_all(text.as_bytes()).await.unwrap();
            }
            far.write_all(update("quick", 10).as_bytes()).await.unwrap();
        }
        far
    });
    let start = Instant::now();
    for _ in 0..20 {
        assert!(matches!(quick.next().await, Some(Item::Update(_))));
    }
    let elapsed = start.elapsed();
    let _far = agent.await.unwrap();
    assert_eq!(slow.control().counts().dropped, 0);
    elapsed
}

#[tokio::test(start_paused = true)]
async fn who_spills_holds_up_nobody() {
    assert_eq!(
        time_behind_a_full_mailbox(Flow::Spill).await,
        Duration::ZERO
    );
    // Patience comes to an end, once.
    let patience = Limits::default().patience.unwrap();
    let held_up = time_behind_a_full_mailbox(Flow::Lossless).await;
    assert!(held_up >= patience, "{held_up:?}");
}
