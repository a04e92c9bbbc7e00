//! The start of a connection: run the agent, wait for its first byte, introduce ourselves.

use std::pin::Pin;

use acp_process::{ChildHandle, Launch};
use acp_protocol::v1::{InitializeRequest, methods};
use acp_transport_stdio::{DialError, start};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until, timeout};

use super::{ClientTimeouts, Connection};
use crate::error::{ClientError, StartStage};

/// Where a connection comes from.
pub(crate) enum Origin {
    /// A program, started for each attempt.
    Launch(Box<Launch>),
    /// A pair of streams, good for one attempt.
    Streams(Mutex<Option<Pipes>>),
}

/// The two streams of an agent, and its process where it is a child of ours.
pub(crate) struct Pipes {
    pub(crate) reader: Pin<Box<dyn AsyncRead + Send>>,
    pub(crate) writer: Pin<Box<dyn AsyncWrite + Send>>,
    pub(crate) child: Option<ChildHandle>,
}

impl Origin {
    /// Starts the agent, or takes the streams. Dropped, it ends what it started.
    pub(crate) async fn open(&self, timeouts: &ClientTimeouts) -> Result<Pipes, ClientError> {
        let launch = match self {
            Self::Streams(pipes) => return pipes.lock().take().ok_or(ClientError::Closed),
            Self::Launch(launch) => launch.clone(),
        };
        let started = timeout(timeouts.spawn, start(*launch)).await;
        let started = started.map_err(|_| ClientError::StartTimeout {
            stage: StartStage::Spawn,
            after: timeouts.spawn,
            stderr_tail: String::new(),
        })?;
        let pipes = started.map_err(|error| match error {
            DialError::Spawn(error) => ClientError::from(error),
            _ => ClientError::Closed,
        })?;
        Ok(Pipes {
            reader: Box::pin(pipes.stdout),
            writer: Box::pin(pipes.stdin),
            child: Some(pipes.child),
        })
    }
}

impl Connection {
    /// Calls `initialize`, and keeps what the agent says of itself.
    pub(crate) async fn initialize(
        &self,
        request: &InitializeRequest,
        timeouts: &ClientTimeouts,
    ) -> Result<(), ClientError> {
        let call = self.peer.call_with_facts(request);
        tokio::pin!(call);
        let start = Instant::now();
        let (mut stage, mut since) = (StartStage::FirstByte, start);
        // A while from the start of the stage, or from when the agent last wrote to standard
        // error, but not for ever.
        let deadline = |stage, since: Instant| {
            let silent = match stage {
                StartStage::Initialize => timeouts.initialize,
                _ => timeouts.first_byte,
            };
            let child = self.child.as_ref();
            let wrote = child.and_then(|child| child.stderr_activity().last_at);
            let moved = wrote.map_or(since, |wrote| since.max(Instant::from_std(wrote)));
            (moved + silent).min(start + timeouts.initialize_in_all.max(silent))
        };
        let answer = loop {
            let until = deadline(stage, since);
            tokio::select! {
                biased;
                answer = &mut call => break answer,
                _ = self.first_byte.wait(), if stage == StartStage::FirstByte => {
                    (stage, since) = (StartStage::Initialize, Instant::now());
                }
                () = sleep_until(until) => if deadline(stage, since) <= until {
                    return Err(ClientError::StartTimeout {
                        stage,
                        after: since.elapsed(),
                        stderr_tail: self.stderr_tail(),
                    });
                },
            }
        };
        let answer = match answer {
            (_, Ok(answer)) => answer,
            (facts, Err(error)) => {
                return Err(self.explain(methods::INITIALIZE, error, facts).await);
            }
        };
        if answer.protocol_version != request.protocol_version {
            return Err(ClientError::VersionMismatch {
                got: answer.protocol_version.0,
            });
        }
        let agent = answer.agent_info.as_ref();
        tracing::debug!(
            agent.name = agent.map(|agent| agent.name.as_str()),
            agent.version = agent.map(|agent| agent.version.as_str()),
            "the agent answered"
        );
        // Called once, by the attempt that dials.
        let _ = self.agent.set(answer.into());
        Ok(())
    }
}
