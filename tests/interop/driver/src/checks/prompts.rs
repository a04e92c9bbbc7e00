//! Turns: answered, long, allowed, refused, cancelled, failed.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use acp_client::Session;
use acp_protocol::v1::{StopReason, ToolCallStatus};

use crate::peer::Peer;
use crate::report::{Outcome, Trouble, absent, check, ended, expect, failed};
use crate::turn::{Consent, Seen, run, see};

/// How long a turn may go on when it was cancelled: several agents put things in order.
const CANCEL: Duration = Duration::from_secs(10);

/// Tries everything about turns.
pub(super) async fn all(peer: &Peer) {
    check("hello", async {
        hello(peer, &mut peer.open().await?).await
    })
    .await;
    check("long", long(peer)).await;
    check("allow", allow(peer)).await;
    check("reject", reject(peer)).await;
    check("cancel", cancel(peer)).await;
    check("cancel-at-once", cancel_at_once(peer)).await;
    check("cancel-asking", cancel_asking(peer)).await;
    check("model-fails", model_fails(peer)).await;
    check("two-sessions", two_sessions(peer)).await;
}

/// Sends a prompt that has one answer.
pub(super) async fn hello(peer: &Peer, session: &mut Session) -> Outcome {
    let seen = run(session, "Say hello", Consent::Reject).await?;
    ended(&seen.stop, &StopReason::EndTurn)?;
    let text = seen.text.trim();
    expect(text == peer.plan.hello, format!("it said {text:?}"))
}

async fn long(peer: &Peer) -> Outcome {
    let seen = run(&mut peer.open().await?, "LONG", Consent::Reject).await?;
    ended(&seen.stop, &StopReason::EndTurn)?;
    if !seen.text.contains("w0000 ") {
        return Err(absent("it talks to no model"));
    }
    let words = seen.text.split_whitespace();
    let expected = (0..2000).map(|number| format!("w{number:04}"));
    expect(
        words.eq(expected),
        "the 2,000 pieces are not complete and in order",
    )
}

/// Has the agent use its tool, in a session of its own.
async fn use_tool(peer: &Peer, consent: Consent) -> Result<(Seen, Session), Trouble> {
    let file = tool_file(peer);
    if file.exists() {
        fs::remove_file(&file).map_err(|error| failed(format!("{error}")))?;
    }
    let mut session = peer.open().await?;
    let prompt = format!("USE_TOOL CWD={}", peer.folder()?);
    let seen = run(&mut session, &prompt, consent).await?;
    if seen.asked == 0 {
        return Err(absent("it asks for no permission"));
    }
    Ok((seen, session))
}

/// The file that the tool writes.
fn tool_file(peer: &Peer) -> PathBuf {
    peer.plan.folder.join("mock_shell.txt")
}

async fn allow(peer: &Peer) -> Outcome {
    let (seen, _session) = use_tool(peer, Consent::Allow).await?;
    ended(&seen.stop, &StopReason::EndTurn)?;
    let written = fs::read_to_string(tool_file(peer));
    expect(
        written.is_ok_and(|text| text == "mock\n"),
        "the tool did not write its file",
    )?;
    let done = seen.statuses.contains(&ToolCallStatus::Completed);
    expect(done, format!("the tool came to {:?}", seen.statuses))
}

/// Some agents end a turn whose tool was refused, others tell the model so and go on.
async fn reject(peer: &Peer) -> Outcome {
    let (seen, mut session) = use_tool(peer, Consent::Reject).await?;
    let ends = [StopReason::EndTurn, StopReason::Cancelled];
    expect(
        ends.contains(&seen.stop),
        format!("stop reason {}", seen.stop.as_str()),
    )?;
    expect(!tool_file(peer).exists(), "the tool ran")?;
    hello(peer, &mut session).await
}

async fn cancel(peer: &Peer) -> Outcome {
    let mut session = peer.open().await?;
    let turn = session.prompt("SLOW").await?;
    let mut cancelled = None;
    let seen = see(turn, Consent::Reject, |turn, text| {
        if cancelled.is_none() && text.contains("slow2 ") {
            turn.cancel();
            cancelled = Some(Instant::now());
        }
    })
    .await?;
    let cancelled = cancelled.ok_or_else(|| absent("it talks to no model"))?;
    ended_soon(&seen, cancelled)?;
    hello(peer, &mut session).await
}

async fn cancel_at_once(peer: &Peer) -> Outcome {
    let mut session = peer.open().await?;
    let turn = session.prompt("SLOW").await?;
    turn.cancel();
    let cancelled = Instant::now();
    let seen = see(turn, Consent::Reject, |_, _| {}).await?;
    ended_soon(&seen, cancelled)?;
    hello(peer, &mut session).await
}

async fn cancel_asking(peer: &Peer) -> Outcome {
    let begun = Instant::now();
    let (seen, mut session) = use_tool(peer, Consent::Cancel).await?;
    ended_soon(&seen, begun)?;
    expect(!tool_file(peer).exists(), "the tool ran")?;
    hello(peer, &mut session).await
}

fn ended_soon(seen: &Seen, cancelled: Instant) -> Outcome {
    ended(&seen.stop, &StopReason::Cancelled)?;
    let time = cancelled.elapsed();
    expect(
        time < CANCEL,
        format!("it went on for {} s", time.as_secs()),
    )
}

/// A model that fails is an error or an end, and the session lives.
async fn model_fails(peer: &Peer) -> Outcome {
    let mut session = peer.open().await?;
    let turn = session.prompt("FAIL").await?;
    match see(turn, Consent::Reject, |_, _| {}).await {
        Ok(_) => {}
        Err(Trouble::Failed(what)) if what.contains("the agent answered") => {}
        Err(other) => return Err(other),
    }
    hello(peer, &mut session).await
}

async fn two_sessions(peer: &Peer) -> Outcome {
    let (mut one, mut other) = (peer.open().await?, peer.open().await?);
    let (long, short) = tokio::join!(
        run(&mut one, "LONG", Consent::Reject),
        run(&mut other, "Say hello", Consent::Reject),
    );
    let (long, short) = (long?, short?);
    ended(&long.stop, &StopReason::EndTurn)?;
    ended(&short.stop, &StopReason::EndTurn)?;
    let text = short.text.trim();
    expect(
        text == peer.plan.hello,
        format!("the one session heard {text:?}"),
    )?;
    let strays = long.text.contains(peer.plan.hello.as_str());
    expect(!strays, "the other session heard what was not for it")
}
