//! The start of a connection: run the agent, wait for its first byte, introduce ourselves.

use std::pin::Pin;

use acp_process::{ChildHandle, Launch};
use acp_protocol::v1::{InitializeRequest, methods};
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
        // Starting a process takes milliseconds, as a rule. One that comes up when
        // nobody waits any more is dropped, which ends it.
        let spawning = tokio::task::spawn_blocking(move || launch.spawn());
        let spawned = timeout(timeouts.spawn, spawning).await;
        let spawned = spawned.map_err(|_| ClientError::StartTimeout {
            stage: StartStage::Spawn,
            after: timeouts.spawn,
            stderr_tail: String::new(),
        })?;
        let mut child = spawned.map_err(|_| ClientError::Closed)??;
        let (Some(stdin), Some(stdout)) = (child.take_stdin(), child.take_stdout()) else {
            return Err(ClientError::Closed);
        };
        Ok(Pipes {
            reader: Box::pin(stdout),
            writer: Box::pin(stdin),
            child: Some(child.handle()),
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
        let call = self.peer.call(request);
        tokio::pin!(call);
        let mut patience = Patience::new(timeouts);
        let answer = loop {
            tokio::select! {
                biased;
                answer = &mut call => break answer,
                _ = self.first_byte.wait(), if patience.stage == StartStage::FirstByte => {
                    patience.begin(StartStage::Initialize);
                }
                () = sleep_until(patience.deadline) => if !patience.extend(self.child.as_ref()) {
                    return Err(ClientError::StartTimeout {
                        stage: patience.stage,
                        after: patience.since.elapsed(),
                        stderr_tail: self.stderr_tail(),
                    });
                },
            }
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return Err(self.explain(methods::INITIALIZE, error).await),
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

/// How long the agent may take: a while from the start of each stage, or from when it
/// last wrote to standard error, but not for ever.
struct Patience<'a> {
    timeouts: &'a ClientTimeouts,
    start: Instant,
    stage: StartStage,
    since: Instant,
    deadline: Instant,
}

impl<'a> Patience<'a> {
    fn new(timeouts: &'a ClientTimeouts) -> Self {
        let start = Instant::now();
        let mut patience = Self {
            timeouts,
            start,
            stage: StartStage::FirstByte,
            since: start,
            deadline: start,
        };
        patience.begin(StartStage::FirstByte);
        patience
    }

    fn begin(&mut self, stage: StartStage) {
        self.stage = stage;
        self.since = Instant::now();
        self.deadline = self.deadline_after(self.since);
    }

    /// Waits longer for an agent that writes to standard error; false for a silent one.
    fn extend(&mut self, child: Option<&ChildHandle>) -> bool {
        let last = child.and_then(|child| child.stderr_activity().last_at);
        let moved = last.map_or(self.since, |last| self.since.max(Instant::from_std(last)));
        let before = self.deadline;
        self.deadline = self.deadline_after(moved);
        self.deadline > before
    }

    fn deadline_after(&self, moved: Instant) -> Instant {
        let silent = match self.stage {
            StartStage::Initialize => self.timeouts.initialize,
            _ => self.timeouts.first_byte,
        };
        let in_all = self.timeouts.initialize_in_all.max(silent);
        (moved + silent).min(self.start + in_all)
    }
}
