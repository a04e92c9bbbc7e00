//! How an agent takes bad company, and its end.

use std::time::{Duration, Instant};

use acp_client::{Client, SessionSetup};
use acp_process::Rung;
use acp_protocol::v1::{McpServer, McpServerStdio};

use super::prompts::hello;
use crate::peer::{Peer, Plan};
use crate::report::{Outcome, absent, check, expect, failed};
use crate::turn::{Consent, see};

/// How long the turn of a killed agent may go on, on a busy machine.
const DEATH: Duration = Duration::from_secs(2);

/// Tries everything about ends; the agent itself comes to one.
pub(super) async fn all(peer: Peer) {
    check("dead-mcp", dead_mcp(&peer)).await;
    let plan = peer.plan.clone();
    check("eof", eof(peer.client)).await;
    check("eof-busy", eof_busy(&plan)).await;
    check("killed", killed(&plan)).await;
}

/// An MCP server that cannot be started harms nobody.
async fn dead_mcp(peer: &Peer) -> Outcome {
    let server = McpServerStdio::new("dead", "/no/such/server", [""; 0], []);
    let setup = SessionSetup::new(&peer.plan.folder).with_mcp_servers([McpServer::Stdio(server)]);
    let mut session = peer.client.new_session(setup).await?;
    peer.set_asking_mode(&session).await?;
    hello(peer, &mut session).await
}

/// The agent ends by itself when nobody talks to it any more.
async fn eof(client: Client) -> Outcome {
    let exit = client
        .close()
        .await
        .ok_or_else(|| failed("it was not running"))?;
    let gone = exit.reached().is_none_or(|rung| rung == Rung::Eof);
    expect(gone, format!("it took {:?} to end it", exit.reached()))?;
    expect(exit.success(), format!("it ended with {}", exit.status()))
}

/// And so it does in the middle of a turn.
async fn eof_busy(plan: &Plan) -> Outcome {
    let peer = plan.dial(Plan::options()).await?;
    let mut session = peer.open().await?;
    let turn = session.prompt("SLOW").await?;
    let client = peer.client.clone();
    let mut closing = None;
    let seen = see(turn, Consent::Reject, |_, text| {
        if closing.is_none() && text.contains("slow2 ") {
            let client = client.clone();
            closing = Some(tokio::spawn(async move { client.close().await }));
        }
    })
    .await;
    let closing = closing.ok_or_else(|| absent("it talks to no model"))?;
    let exit = closing.await.map_err(|error| failed(error.to_string()))?;
    let exit = exit.ok_or_else(|| failed("it was not running"))?;
    expect(
        seen.is_err() || exit.success(),
        "the turn came to a good end",
    )?;
    let gone = exit.reached().is_none_or(|rung| rung == Rung::Eof);
    expect(gone, format!("it took {:?} to end it", exit.reached()))
}

/// A killed agent ends its turn at once, with what is known of its death.
async fn killed(plan: &Plan) -> Outcome {
    let peer = plan.dial(Plan::options()).await?;
    let mut session = peer.open().await?;
    let turn = session.prompt("SLOW").await?;
    let client = peer.client.clone();
    let (mut killing, mut begun) = (None, None);
    let seen = see(turn, Consent::Reject, |_, text| {
        if killing.is_none() && text.contains("slow2 ") {
            begun = Some(Instant::now());
            let client = client.clone();
            killing = Some(tokio::spawn(async move { client.kill().await }));
        }
    })
    .await;
    let time = begun
        .map(|begun: Instant| begun.elapsed())
        .unwrap_or_default();
    let killing = killing.ok_or_else(|| absent("it talks to no model"))?;
    let exit = killing.await.map_err(|error| failed(error.to_string()))?;
    expect(exit.is_some(), "it was not running")?;
    expect(
        time < DEATH,
        format!("the turn ended after {} ms", time.as_millis()),
    )?;
    expect(
        seen.is_err(),
        "the turn of a killed agent came to a good end",
    )
}
