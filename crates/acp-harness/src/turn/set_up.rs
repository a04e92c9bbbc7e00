//! Bringing an agent to where it can be asked.

use acp_client::{ClientError, Session, SessionSetup};
use acp_protocol::v1::ContentBlock;

use super::ladder::{Ladder, NoSession};
use super::running::Running;
use super::sign_in::SignIn;
use super::{Observer, Opened, Progress, TurnError, TurnRequest};
use crate::model::{Demand, Settings, Step};
use crate::registry::AgentEntry;
use crate::transcript::{FirstPrompt, TranscriptStats};
use crate::version::{ChildRunner, Probe, ProbeCommand, Version};

/// An agent that is ready for its prompt.
pub(super) struct Ready {
    pub(super) session: Session,
    pub(super) opened: Opened,
}

/// Brings an agent to where it can be asked.
pub(super) async fn set_up(
    running: &Running,
    request: &TurnRequest,
    preflight: Option<(Probe, ProbeCommand)>,
    sign_in: &mut SignIn<'_>,
    tell: &mut Observer<'_>,
) -> Result<Ready, TurnError> {
    if let Some((probe, command)) = preflight {
        let forever = std::future::pending();
        probe.run(&ChildRunner, &command, forever).await?;
    }
    let entry = sign_in.entry;
    let client = running.client();
    let agent = client.dial().await?;
    if let Some(minimum) = entry.min_version {
        let said = agent.agent_info.as_ref().map(|info| info.version.as_str());
        Version::accept(said.unwrap_or_default(), minimum)?;
    }
    tell(Progress::Connected {
        agent: agent.agent_info.clone(),
    });
    sign_in.announce(client, tell).await?;
    let cwd = request.cwd.to_str();
    let ladder = Ladder {
        agent: &entry.name,
        cwd: cwd.ok_or_else(|| ClientError::UnusablePath {
            path: request.cwd.clone(),
        })?,
        setup: SessionSetup::new(&request.cwd)
            .with_mcp_servers(request.mcp_servers.iter().cloned())
            .with_additional_directories(&request.folders),
        claim: running.claim(),
    };
    let (session, opened) = match ladder.climb(client).await {
        Ok(found) => found,
        Err(NoSession::Failed(error)) => return Err(error),
        Err(NoSession::LoginFirst(refusal)) => {
            sign_in.log_in(client, refusal, tell).await?;
            // Once: an agent that asks again would ask for ever.
            match ladder.climb(client).await {
                Ok(found) => found,
                Err(NoSession::Failed(error)) => return Err(error),
                Err(NoSession::LoginFirst(refusal)) => {
                    return Err(sign_in.still_required(refusal));
                }
            }
        }
    };
    sign_in.remember_login();
    tell(Progress::Session {
        id: session.id().clone(),
        opened,
    });
    set(&session, &wishes(request, entry)).await?;
    Ok(Ready { session, opened })
}

/// What the session is set to: what was chosen, and what the agent's entry says where
/// nothing was.
fn wishes(request: &TurnRequest, entry: &AgentEntry) -> Settings {
    let mut wishes = request.settings.clone();
    let mut others = Settings::new();
    if let (Some(model), Some(_)) = (wishes.model(), &entry.model_env)
        && model.demand == Demand::Require
    {
        // It is set already, where there is no choice of it.
        let value = model.value.clone();
        wishes = Settings::new().with_model(value, Demand::Prefer).or(wishes);
    }
    if let Some(model) = &entry.model {
        others = others.with_model(model, Demand::Suggest);
    }
    if let (Some(mode), false) = (&entry.quirks.asking_mode, request.keeps_mode) {
        others = others.with_mode(mode, Demand::Prefer);
    }
    wishes.or(others)
}

/// Sets model, effort and mode, each by what the agent offers after the one before.
async fn set(session: &Session, settings: &Settings) -> Result<(), TurnError> {
    let control = session.control();
    let mut plan = settings.plan();
    loop {
        let options = session.config_options().unwrap_or_default();
        match plan.next(&options, session.modes().as_ref())? {
            Some(Step::Option { option, value, .. }) => {
                control.set_config_option(option, value).await?;
            }
            Some(Step::Mode(mode)) => control.set_mode(mode).await?,
            None => return Ok(()),
        }
    }
}

/// Writes the prompt: in a new session instructions and history go before it.
pub(super) fn prompt_of(
    request: &TurnRequest,
    opened: Opened,
) -> (Vec<ContentBlock>, TranscriptStats) {
    let (text, history) = if opened == Opened::New {
        let first = FirstPrompt::new(&request.prompt)
            .with_instructions(&request.instructions)
            .with_history(&request.history);
        (first.to_text(), request.history.stats())
    } else {
        (request.prompt.clone(), TranscriptStats::default())
    };
    let mut blocks = Vec::with_capacity(1 + request.attachments.len());
    if !text.is_empty() {
        blocks.push(ContentBlock::text(text));
    }
    blocks.extend(request.attachments.iter().cloned());
    (blocks, history)
}
