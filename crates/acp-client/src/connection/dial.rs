//! One attempt to connect: start, introduce, check the version.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use acp_process::{ChildHandle, Ending};
use acp_protocol::v1::{InitializeRequest, InitializeResponse, ProtocolVersion, methods};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until, timeout};

use crate::client::{Reader, Target, Writer};
use crate::connection::{Connection, Lease};
use crate::error::{ClientError, StartStage};
use crate::options::{ClientOptions, Timeouts};

/// The protocol version this client speaks.
const VERSION: ProtocolVersion = ProtocolVersion(1);

/// Connects once. `started` gets the connection as soon as there is something to end.
///
/// Dropped, or failed, it ends what it started.
pub(crate) async fn attempt(
    target: &Target,
    options: &Arc<ClientOptions>,
    started: impl FnOnce(&Arc<Connection>),
) -> Result<Arc<Lease>, ClientError> {
    let (reader, writer, child) = open(target, &options.timeouts).await?;
    let first_byte = Arc::new(FirstByte::default());
    let reader = FirstByteReader {
        reader,
        first_byte: Some(Arc::clone(&first_byte)),
    };
    let connection = Connection::start(reader, writer, child, Arc::clone(options));
    let lease = Lease::new(Arc::clone(&connection));
    started(&connection);
    match introduce(&connection, &first_byte).await {
        Ok(answer) => {
            connection.set_agent(Arc::new(answer));
            Ok(lease)
        }
        Err(error) => {
            if let Some(child) = connection.child() {
                child.end(Ending::Abort);
            }
            Err(error)
        }
    }
}

async fn open(
    target: &Target,
    timeouts: &Timeouts,
) -> Result<(Reader, Writer, Option<ChildHandle>), ClientError> {
    match target {
        Target::Streams(streams) => {
            let streams = streams.lock().take();
            let (reader, writer) = streams.ok_or(ClientError::Closed)?;
            Ok((reader, writer, None))
        }
        Target::Launch(launch) => {
            let launch = launch.clone();
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
            Ok((Box::pin(stdout), Box::pin(stdin), Some(child.handle())))
        }
    }
}

async fn introduce(
    connection: &Connection,
    first_byte: &FirstByte,
) -> Result<InitializeResponse, ClientError> {
    let options = connection.options();
    let mut request =
        InitializeRequest::new(VERSION).with_client_capabilities(options.capabilities());
    if let Some(info) = &options.info {
        request = request.with_client_info(info.clone());
    }
    let call = connection.peer().call(&request);
    tokio::pin!(call);
    let mut patience = Patience::new(&options.timeouts);
    let answer = loop {
        tokio::select! {
            biased;
            answer = &mut call => break answer,
            () = first_byte.came(), if patience.stage == StartStage::FirstByte => {
                patience.come_to(StartStage::Initialize);
            }
            () = sleep_until(patience.deadline) => if !patience.extend(connection.child()) {
                return Err(ClientError::StartTimeout {
                    stage: patience.stage,
                    after: patience.since.elapsed(),
                    stderr_tail: connection.stderr_tail(),
                });
            },
        }
    };
    match answer {
        Ok(answer) if answer.protocol_version == VERSION => {
            let agent = answer.agent_info.as_ref();
            tracing::debug!(
                agent.name = agent.map(|agent| agent.name.as_str()),
                agent.version = agent.map(|agent| agent.version.as_str()),
                "the agent answered"
            );
            Ok(answer)
        }
        Ok(answer) => Err(ClientError::VersionMismatch {
            got: answer.protocol_version.0,
        }),
        Err(error) => Err(connection.explain(methods::INITIALIZE, error).await),
    }
}

/// How long the agent may take: a while from the start of each stage, or from when it
/// last wrote to standard error, but not for ever.
struct Patience<'a> {
    timeouts: &'a Timeouts,
    start: Instant,
    stage: StartStage,
    since: Instant,
    deadline: Instant,
}

impl<'a> Patience<'a> {
    fn new(timeouts: &'a Timeouts) -> Self {
        let start = Instant::now();
        let mut patience = Self {
            timeouts,
            start,
            stage: StartStage::FirstByte,
            since: start,
            deadline: start,
        };
        patience.deadline = patience.until(start);
        patience
    }

    /// Begins a stage.
    fn come_to(&mut self, stage: StartStage) {
        self.stage = stage;
        self.since = Instant::now();
        self.deadline = self.until(self.since);
    }

    /// Waits longer for an agent that moves. False when it does not.
    fn extend(&mut self, child: Option<&ChildHandle>) -> bool {
        let last = child.and_then(|child| child.stderr_activity().last_at);
        let moved = last.map_or(self.since, |last| self.since.max(Instant::from_std(last)));
        let later = self.until(moved);
        let extends = later > self.deadline;
        self.deadline = later;
        extends
    }

    fn until(&self, moved: Instant) -> Instant {
        let silent = match self.stage {
            StartStage::Initialize => self.timeouts.initialize,
            _ => self.timeouts.first_byte,
        };
        let in_all = self.timeouts.initialize_patience.max(silent);
        (moved + silent).min(self.start + in_all)
    }
}

/// Tells when the agent wrote its first byte.
#[derive(Debug, Default)]
struct FirstByte {
    came: AtomicBool,
    bell: Notify,
}

impl FirstByte {
    async fn came(&self) {
        let bell = self.bell.notified();
        if !self.came.load(Ordering::Acquire) {
            bell.await;
        }
    }
}

/// A reader that notices its first byte.
struct FirstByteReader {
    reader: Reader,
    /// `None` once it came.
    first_byte: Option<Arc<FirstByte>>,
}

impl AsyncRead for FirstByteReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = self.reader.as_mut().poll_read(cx, buffer);
        if buffer.filled().len() > before
            && let Some(first_byte) = self.first_byte.take()
        {
            first_byte.came.store(true, Ordering::Release);
            first_byte.bell.notify_waiters();
        }
        read
    }
}
