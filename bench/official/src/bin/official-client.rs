//! The client of the workloads, on the official SDK: as its examples are
//! (`official-client`), or as fast as it goes (`official-client tuned`).

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, ReadTextFileRequest,
    ReadTextFileResponse, SessionId, SessionNotification, SessionUpdate, TextContent,
};
use agent_client_protocol::{
    Agent, ByteStreams, Client, Result, Stdio, on_receive_notification, on_receive_request,
};
use official::{is_tuned, on_default_runtime, on_one_thread, pipes};

/// What was counted.
#[derive(Default)]
struct Count {
    updates: AtomicUsize,
    bytes: AtomicUsize,
}

/// The transports are of different types: the same client is written for each.
macro_rules! drive {
    ($transport:expr) => {{
        let count = Arc::new(Count::default());
        let counted = Arc::clone(&count);
        let slow = Duration::from_micros(number("BENCH_SLOW_US") as u64);
        Client
            .v1()
            .name("official-client")
            .on_receive_notification(
                async move |notification: SessionNotification, _| {
                    if let SessionUpdate::AgentMessageChunk(chunk) = &notification.update
                        && let ContentBlock::Text(text) = &chunk.content
                    {
                        counted.updates.fetch_add(1, Ordering::Relaxed);
                        counted.bytes.fetch_add(text.text.len(), Ordering::Relaxed);
                    }
                    if !slow.is_zero() {
                        tokio::time::sleep(slow).await;
                    }
                    Ok(())
                },
                on_receive_notification!(),
            )
            .on_receive_request(
                async move |_: ReadTextFileRequest, responder, _| {
                    responder.respond(ReadTextFileResponse::new(
                        "the text of a small file that has sixty-four bytes, and not more",
                    ))
                },
                on_receive_request!(),
            )
            .connect_with($transport, |agent: ConnectionTo<Agent>| turns(agent, count))
            .await
    }};
}

fn main() -> Result<()> {
    if is_tuned() {
        return on_one_thread(async {
            let (stdout, stdin) = pipes().expect("two pipes");
            drive!(ByteStreams::new(stdout, stdin))
        });
    }
    on_default_runtime(async { drive!(Stdio::new()) })
}

async fn turns(agent: ConnectionTo<Agent>, count: Arc<Count>) -> Result<()> {
    let hello = InitializeRequest::new(ProtocolVersion::V1);
    agent.send_request(hello).block_task().await?;
    let new = NewSessionRequest::new("/tmp");
    let session = agent.send_request(new).block_task().await?.session_id;
    let prompt = env::var("BENCH_PROMPT").unwrap_or_default();
    for _ in 0..number("BENCH_TURNS") {
        turn(&agent, &session, prompt.clone()).await?;
    }
    while count.updates.load(Ordering::Relaxed) < number("BENCH_EXPECT") {
        tokio::task::yield_now().await;
    }
    let (updates, bytes) = (&count.updates, &count.bytes);
    let counts = [updates, bytes].map(|count| count.load(Ordering::Relaxed));
    turn(
        &agent,
        &session,
        format!("DONE {} {}", counts[0], counts[1]),
    )
    .await
}

async fn turn(agent: &ConnectionTo<Agent>, session: &SessionId, text: String) -> Result<()> {
    let block = ContentBlock::Text(TextContent::new(text));
    let prompt = PromptRequest::new(session.clone(), vec![block]);
    agent.send_request(prompt).block_task().await.map(drop)
}

fn number(name: &str) -> usize {
    let given = env::var(name).unwrap_or_default();
    given.parse().unwrap_or_default()
}
