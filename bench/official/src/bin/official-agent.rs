//! The agent of the workloads, on the official SDK: as its examples are (`official-agent`),
//! or as fast as it goes (`official-agent tuned`).

use std::sync::atomic::{AtomicU64, Ordering};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, ContentBlock, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest, PromptResponse, ReadTextFileRequest, SessionId, StopReason,
};
use agent_client_protocol::{Agent, ByteStreams, Client, Result, Stdio, on_receive_request};
use official::{is_tuned, on_default_runtime, on_one_thread, piece, pipes, text};

/// How many sessions there are.
static SESSIONS: AtomicU64 = AtomicU64::new(0);

/// After so many updates the tuned agent lets others run. Fewer cost time, more memory.
const BREATH: usize = 64;

/// The transports are of different types: the same agent is written for each.
macro_rules! serve {
    ($transport:expr, $breath:expr) => {
        Agent
            .v1()
            .name("official-agent")
            .on_receive_request(
                async move |request: InitializeRequest, responder, _| {
                    let response = InitializeResponse::new(request.protocol_version);
                    responder.respond(response.agent_capabilities(AgentCapabilities::new()))
                },
                on_receive_request!(),
            )
            .on_receive_request(
                async move |_: NewSessionRequest, responder, _| {
                    let number = SESSIONS.fetch_add(1, Ordering::Relaxed);
                    let id = SessionId::new(format!("session-{number:08}"));
                    responder.respond(NewSessionResponse::new(id))
                },
                on_receive_request!(),
            )
            .on_receive_request(
                async move |request: PromptRequest, responder, connection: ConnectionTo<Client>| {
                    // In a handler, waiting for the other side would wait for ever.
                    let client = connection.clone();
                    connection.spawn(async move {
                        turn(&client, request, $breath).await?;
                        responder.respond(PromptResponse::new(StopReason::EndTurn))
                    })
                },
                on_receive_request!(),
            )
            .connect_to($transport)
            .await
    };
}

fn main() -> Result<()> {
    if is_tuned() {
        return on_one_thread(async {
            let (stdout, stdin) = pipes().expect("two pipes");
            serve!(ByteStreams::new(stdout, stdin), Some(BREATH))
        });
    }
    on_default_runtime(async { serve!(Stdio::new(), None) })
}

async fn turn(
    client: &ConnectionTo<Client>,
    request: PromptRequest,
    breath: Option<usize>,
) -> Result<()> {
    let Some(ContentBlock::Text(asked)) = request.prompt.first() else {
        return Ok(());
    };
    let session = &request.session_id;
    let mut words = asked.text.split(' ');
    let workload = words.next().unwrap_or_default();
    let mut number = || -> usize {
        let word = words.next().unwrap_or_default();
        word.parse().unwrap_or_default()
    };
    match workload {
        "PING" => client.send_notification(piece(session, "pong"))?,
        "STREAM" | "BIG" => {
            let (number, text) = (number(), text(number()));
            for sent in 1..=number {
                client.send_notification(piece(session, &text))?;
                if breath.is_some_and(|breath| sent % breath == 0) {
                    tokio::task::yield_now().await;
                }
            }
        }
        "CALLBACK" => {
            for _ in 0..number() {
                let ask = ReadTextFileRequest::new(session.clone(), "/bench/file.txt");
                client.send_request(ask).block_task().await?;
            }
        }
        _ => {}
    }
    Ok(())
}
