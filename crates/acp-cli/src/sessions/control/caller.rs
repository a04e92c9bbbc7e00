//! The side that wants something of a turn.

use std::io;
use std::path::Path;
use std::time::Duration;

use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader,
};
use tokio::time::timeout;

use super::socket::{Stream, connect, same_user};
use super::{Answer, Ask, Line, VERSION};
use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::sessions::limits::{CALL_TIMEOUT, MAX_LINE};

/// A call to the process that runs a turn.
#[derive(Debug)]
pub(crate) struct Caller<S = Stream> {
    stream: BufReader<S>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// The other process has ended, or is about to.
    #[error("hear of the process that runs the turn: it is gone")]
    Gone,
    #[error("hear of the process that runs the turn in time")]
    TimedOut,
    #[error("talk to the process that runs the turn")]
    Io(#[from] io::Error),
}

impl Caller {
    /// Calls the process that listens here; `None` when there is none.
    pub(crate) async fn call(path: &Path) -> Result<Option<Self>, NoAnswer> {
        use io::ErrorKind::{ConnectionRefused, NotFound};
        match timeout(CALL_TIMEOUT, connect(path)).await {
            Ok(Ok(stream)) if same_user(&stream) => Ok(Some(Self::over(stream))),
            Ok(Ok(_)) => Err(NoAnswer::Io(io::ErrorKind::PermissionDenied.into())),
            Ok(Err(error)) if matches!(error.kind(), ConnectionRefused | NotFound) => Ok(None),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(NoAnswer::TimedOut),
        }
    }

    /// Calls the process and asks it one thing; `None` when it is gone.
    pub(crate) async fn call_and_ask(
        path: &Path,
        ask: &Ask,
        patience: Duration,
    ) -> Result<Option<(Self, Answer)>, NoAnswer> {
        let Some(mut caller) = Self::call(path).await? else {
            return Ok(None);
        };
        match caller.ask(ask, patience).await {
            Ok(answer) => Ok(Some((caller, answer))),
            Err(NoAnswer::Gone) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Caller<S> {
    pub(super) fn over(stream: S) -> Self {
        let stream = BufReader::new(stream);
        Self { stream }
    }

    /// Says what is wanted, and waits this long for the answer.
    pub(crate) async fn ask(&mut self, ask: &Ask, patience: Duration) -> Result<Answer, NoAnswer> {
        let line = Line {
            version: VERSION,
            ask: ask.clone(),
        };
        let mut line = serde_json::to_vec(&line).map_err(io::Error::from)?;
        line.push(b'\n');
        let said = async {
            self.stream.write_all(&line).await?;
            self.stream.flush().await
        };
        match timeout(CALL_TIMEOUT, said).await {
            Ok(Ok(())) => self.answer(patience).await,
            Ok(Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Err(NoAnswer::Gone),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(NoAnswer::TimedOut),
        }
    }

    /// Waits this long for the next answer.
    pub(crate) async fn answer(&mut self, patience: Duration) -> Result<Answer, NoAnswer> {
        match timeout(patience, read_line(&mut self.stream)).await {
            Ok(Ok(Some(line))) => Ok(serde_json::from_slice(&line).map_err(io::Error::from)?),
            Ok(Ok(None)) => Err(NoAnswer::Gone),
            Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionReset => Err(NoAnswer::Gone),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(NoAnswer::TimedOut),
        }
    }
}

/// Reads a line of bounded length; `None` at the end, also within a line.
pub(super) async fn read_line(
    stream: &mut (impl AsyncBufRead + Unpin),
) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut bounded = stream.take(MAX_LINE as u64);
    bounded.read_until(b'\n', &mut line).await?;
    match line.pop() {
        Some(b'\n') => Ok(Some(line)),
        Some(_) if line.len() + 1 == MAX_LINE => Err(io::ErrorKind::InvalidData.into()),
        _ => Ok(None),
    }
}

impl From<NoAnswer> for Outcome {
    fn from(error: NoAnswer) -> Self {
        match error {
            NoAnswer::TimedOut => Self::failed(Exit::TimedOut, &error)
                .with_hint("the turn goes on; look for the process that runs it"),
            _ => Self::failed(Exit::StartFailed, &error),
        }
    }
}
