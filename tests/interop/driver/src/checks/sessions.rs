//! The life of a session beyond its turns.

use acp_client::{ClientError, LoadedSession};
use acp_protocol::v1::{ContentBlock, SessionId, SessionUpdate};

use super::prompts::hello;
use crate::peer::{Peer, Plan};
use crate::report::{Outcome, Trouble, absent, check, expect, failed, refused};

/// An id that no agent has given; several take nothing but a UUID.
const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

/// Tries everything about lists, loads and ends of sessions.
pub(super) async fn all(peer: &Peer) {
    check("list", list(peer)).await;
    check("load", load(peer)).await;
    check("load-unknown", load_unknown(peer)).await;
    check("resume", resume(peer)).await;
    check("close", close(peer)).await;
    check("delete", delete(peer)).await;
}

/// Has a session in which something was said, and lets go of it.
async fn spoken(peer: &Peer) -> Result<SessionId, Trouble> {
    let mut session = peer.open().await?;
    hello(peer, &mut session).await?;
    let id = session.id().clone();
    match session.close().await {
        Ok(()) | Err(ClientError::Unsupported { .. }) => Ok(id),
        // Where closing is advertised in vain, that is told by another check.
        Err(ClientError::Refused { .. }) => Ok(id),
        Err(other) => Err(other.into()),
    }
}

/// Finds out whether a session is in the list, and compares its folder.
async fn listed(peer: &Peer, id: &SessionId) -> Result<bool, Trouble> {
    let mut sessions = peer.client.list_sessions().with_cwd(&peer.plan.folder);
    while let Some(session) = sessions.next().await? {
        if session.session_id == *id {
            let here = session.cwd == peer.folder()?;
            expect(here, format!("its folder is {}", session.cwd))?;
            return Ok(true);
        }
    }
    Ok(false)
}

async fn list(peer: &Peer) -> Outcome {
    // First, so that nothing else is done where there is no list.
    peer.client.list_sessions().next().await?;
    let id = spoken(peer).await?;
    expect(listed(peer, &id).await?, "the session is not in the list")
}

/// Loads a session and compares what is replayed with what was said.
async fn replay(peer: &Peer, id: &SessionId) -> Outcome {
    let loading = peer
        .client
        .load_session(id.clone(), &peer.plan.folder)
        .await?;
    let LoadedSession {
        mut session,
        replay,
        missing,
        ..
    } = loading.collect().await?;
    expect(missing == 0, format!("{missing} updates are missing"))?;
    let text = |of: fn(&SessionUpdate) -> Option<&ContentBlock>| -> String {
        let blocks = replay.iter().filter_map(|update| of(&update.update));
        let texts = blocks.filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    };
    let prompts = text(|update| match update {
        SessionUpdate::UserMessageChunk(chunk) => Some(&chunk.content),
        _ => None,
    });
    expect(
        prompts.contains("Say hello"),
        format!("the prompt is replayed as {prompts:?}"),
    )?;
    let answers = text(|update| match update {
        SessionUpdate::AgentMessageChunk(chunk) => Some(&chunk.content),
        _ => None,
    });
    let whole = answers.contains(peer.plan.hello.as_str());
    expect(whole, format!("the answer is replayed as {answers:?}"))?;
    peer.set_asking_mode(&session).await?;
    hello(peer, &mut session).await
}

async fn load(peer: &Peer) -> Outcome {
    offered(
        peer.client.agent()?.agent_capabilities.load_session,
        "loadSession",
    )?;
    let id = spoken(peer).await?;
    replay(peer, &id).await
}

fn offered(truth: bool, capability: &str) -> Outcome {
    let what = format!("{capability} is not advertised");
    if truth { Ok(()) } else { Err(absent(what)) }
}

async fn load_unknown(peer: &Peer) -> Outcome {
    let loading = peer.client.load_session(NOBODY, &peer.plan.folder).await?;
    refused(loading.end().await, "a load of no session")
}

async fn resume(peer: &Peer) -> Outcome {
    let agent = peer.client.agent()?;
    let can = agent
        .agent_capabilities
        .session_capabilities
        .resume
        .is_some();
    offered(can, "sessionCapabilities.resume")?;
    let id = spoken(peer).await?;
    let mut session = peer.client.resume_session(id, &peer.plan.folder).await?;
    peer.set_asking_mode(&session).await?;
    hello(peer, &mut session).await?;
    let nobody = peer.client.resume_session(NOBODY, &peer.plan.folder).await;
    refused(nobody, "to resume no session")
}

/// Closes a session, and once more where the agent has forgotten it: it may say so.
async fn close(peer: &Peer) -> Outcome {
    let session = peer.open().await?;
    let id = session.id().clone();
    session.close().await?;
    match peer.client.close_session(id).await {
        Ok(()) | Err(ClientError::Refused { .. }) => Ok(()),
        Err(other) => Err(other.into()),
    }
}

async fn delete(peer: &Peer) -> Outcome {
    let agent = peer.client.agent()?;
    let can = agent
        .agent_capabilities
        .session_capabilities
        .delete
        .is_some();
    offered(can, "sessionCapabilities.delete")?;
    let id = spoken(peer).await?;
    peer.client.delete_session(id.clone()).await?;
    expect(
        !listed(peer, &id).await?,
        "the session is still in the list",
    )
}

/// Loads a session in a new process of the agent.
pub(super) async fn reload(plan: &Plan) -> Outcome {
    let first = plan.dial(Plan::options()).await?;
    offered(
        first.client.agent()?.agent_capabilities.load_session,
        "loadSession",
    )?;
    let id = spoken(&first).await?;
    let exit = first.client.close().await;
    expect(exit.is_some(), "it was not running")?;
    let second = plan.dial(Plan::options()).await?;
    let outcome = replay(&second, &id).await;
    let exit = second.client.close().await;
    outcome?;
    exit.map(drop).ok_or_else(|| failed("it was not running"))
}
