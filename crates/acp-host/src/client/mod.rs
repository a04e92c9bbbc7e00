//! The link of a session to its client.

pub(crate) mod terminal;

use derive_setters::Setters;
use std::{fmt, path::PathBuf, pin::Pin, sync::Arc};

use crate::{CreateTerminal, HostError, HostEvent, Terminal};

/// A boxed future that may be sent to another thread.
pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The link of one session to its client; cheap to clone.
///
/// The facade hands it over in [`attach`](crate::LiveSession::attach), before
/// anything is submitted. Events take no detour: [`emit`](ClientLink::emit)
/// translates the event and appends it to what the connection is about to
/// write, on the task of the caller. There is no queue in between, so a client
/// that reads slowly slows the caller down.
///
/// When the last clone is dropped, the facade takes it that no more events
/// will come, and a prompt that still waits for its end fails.
#[derive(Clone)]
pub struct ClientLink(Arc<dyn Port>);

impl ClientLink {
    /// Wraps a port.
    pub fn new(port: Arc<dyn Port>) -> Self {
        Self(port)
    }

    /// Sends an event.
    ///
    /// Waits while the client is too slow to take more. An event that ends a
    /// turn never waits; nor does an event that the client does not see.
    ///
    /// # Errors
    ///
    /// [`EmitError`] says why the client will not see this event.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: an event whose future is dropped before it is ready was not
    /// sent.
    pub async fn emit(&self, event: HostEvent) -> Result<(), EmitError> {
        match self.0.offer(event) {
            Offer::Done(result) => result,
            Offer::Wait(rest) => rest.await,
        }
    }

    /// Sends an event if that is possible at once, else returns what is left to
    /// do. Events that end a turn are always sent at once.
    pub fn offer(&self, event: HostEvent) -> Offer {
        self.0.offer(event)
    }

    /// Says that the host lost track of the session's events, so no end of the
    /// running turn will come. The prompt that waits for it fails.
    pub fn lose_events(&self, cause: HostError) {
        self.0.lose_events(cause);
    }

    /// Reads a text file through the client, unsaved text of open editors
    /// included.
    ///
    /// # Errors
    ///
    /// [`ClientCallError::Unsupported`] without asking, when the client did not say
    /// that it can; [`ClientCallError::Cancelled`] when the turn that runs is
    /// cancelled meanwhile; else what became of the request.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future tells the client that the answer is not wanted.
    pub async fn read_text_file(&self, request: ReadTextFile) -> Result<String, ClientCallError> {
        self.0.read_text_file(request).await
    }

    /// Writes a text file through the client.
    ///
    /// # Errors
    ///
    /// As [`read_text_file`](ClientLink::read_text_file).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future tells the client that the answer is not wanted; the
    /// file may have been written.
    pub async fn write_text_file(&self, request: WriteTextFile) -> Result<(), ClientCallError> {
        self.0.write_text_file(request).await
    }

    /// Lets the client run a command.
    ///
    /// # Errors
    ///
    /// As [`read_text_file`](ClientLink::read_text_file).
    ///
    /// # Cancel safety
    ///
    /// If dropped, the terminal is released as soon as there is one.
    pub async fn create_terminal(
        &self,
        request: CreateTerminal,
    ) -> Result<Terminal, ClientCallError> {
        self.0.create_terminal(request).await
    }
}

impl fmt::Debug for ClientLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientLink").finish_non_exhaustive()
    }
}

/// What carries a [`ClientLink`].
///
/// The facade implements it. Implement it yourself to test a host without one.
pub trait Port: Send + Sync {
    /// Sends an event, or returns the future that will.
    fn offer(&self, event: HostEvent) -> Offer;

    /// Learns that no end of the running turn will come.
    fn lose_events(&self, cause: HostError) {
        drop(cause);
    }

    /// Reads a text file through the client.
    fn read_text_file(
        &self,
        request: ReadTextFile,
    ) -> HostFuture<'_, Result<String, ClientCallError>> {
        drop(request);
        Box::pin(std::future::ready(Err(ClientCallError::Unsupported)))
    }

    /// Writes a text file through the client.
    fn write_text_file(
        &self,
        request: WriteTextFile,
    ) -> HostFuture<'_, Result<(), ClientCallError>> {
        drop(request);
        Box::pin(std::future::ready(Err(ClientCallError::Unsupported)))
    }

    /// Lets the client run a command.
    fn create_terminal(
        &self,
        request: CreateTerminal,
    ) -> HostFuture<'_, Result<Terminal, ClientCallError>> {
        drop(request);
        Box::pin(std::future::ready(Err(ClientCallError::Unsupported)))
    }
}

/// What became of an event that was offered.
#[must_use = "an event that waits is sent only when its future is awaited"]
pub enum Offer {
    /// It was sent, or will never be.
    Done(Result<(), EmitError>),
    /// It waits for the client to take more.
    Wait(HostFuture<'static, Result<(), EmitError>>),
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Done(result) => f.debug_tuple("Done").field(result).finish(),
            Self::Wait(_) => f.write_str("Wait"),
        }
    }
}

/// Why an event is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// The client cancelled the turn while the event waited.
    #[error("send an event: the client cancelled the turn")]
    Cancelled,
    /// The turn has ended, or the session is closed.
    #[error("send an event: its turn or its session has ended")]
    Ended,
    /// The turn has not begun: its first event is
    /// [`TurnStarted`](crate::EventBody::TurnStarted). For a gate, also that its turn
    /// answers no prompt of the client, so nobody can be asked.
    #[error("send an event: its turn has not begun, and TurnStarted comes first")]
    NoTurn,
    /// The connection is closed.
    #[error("send an event: the connection is closed")]
    Closed,
    /// The event is larger than a message may be.
    #[error("send an event: it is larger than a message may be")]
    TooLarge,
    /// The client does not know the session yet, and too much waits for it to.
    #[error("send an event: too many wait for the client to learn of the session")]
    NoRoom,
    /// An amount of the event is no finite number.
    #[error("send an event: an amount in it is no finite number")]
    NotFinite,
    /// The event cannot be written as a message.
    #[error("send an event: it cannot be written as a message")]
    Unwritable,
}

/// Why a client did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientCallError {
    /// The client did not say that it can do this; it was not asked.
    #[error("ask the client: it did not say that it can do this")]
    Unsupported,
    /// The client answered with an error.
    #[error("ask the client: it answered {code}: {message}")]
    Refused {
        /// The code of the error.
        code: i32,
        /// The words of the client.
        message: String,
    },
    /// The request was cancelled, or the turn during which it was made. What a
    /// session asks for behind the cancellation of a turn is asked all the same,
    /// so it can clean up.
    #[error("ask the client: cancelled")]
    Cancelled,
    /// The connection is closed, or the session.
    #[error("ask the client: the connection or the session is closed")]
    Closed,
    /// The question cannot be sent, or the answer cannot be read.
    #[error("ask the client: {reason}")]
    Failed {
        /// What went wrong.
        reason: String,
    },
}

/// Which part of which file to read.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", strip_option)]
pub struct ReadTextFile {
    /// The file, an absolute path.
    pub path: PathBuf,
    /// The first line, counted from 1.
    pub line: Option<u32>,
    /// The most lines.
    pub limit: Option<u32>,
}

impl ReadTextFile {
    /// Reads all of a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            line: None,
            limit: None,
        }
    }
}

/// What to write to which file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteTextFile {
    /// The file, an absolute path.
    pub path: PathBuf,
    /// All of its new text.
    pub text: String,
}

impl WriteTextFile {
    /// Writes all of a file.
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }
}
