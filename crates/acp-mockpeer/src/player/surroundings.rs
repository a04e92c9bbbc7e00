//! What a play does besides reading and writing.

use std::future::pending;
use std::pin::Pin;
use std::time::Duration;
use std::{fmt, io};

use crate::language::ExitAs;
use acp_recording::{SignalName, signal_name};

/// How an agent was seen to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It is gone, and nobody knows how: there is only a pipe.
    Unknown,
}

impl Ended {
    /// Tells whether it is what a step says.
    pub(super) fn is(self, how: ExitAs) -> bool {
        match (how, self) {
            (ExitAs::Any, _) => true,
            (ExitAs::Code(code), Self::Code(got)) => i32::from(code) == got,
            (ExitAs::By(signal), Self::Signal(got)) => signal.number() == got,
            _ => false,
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "{}", signal_name(*signal)),
            Self::Unknown => f.write_str("an end of which only the closed pipe was seen"),
        }
    }
}

/// Writes bytes somewhere.
pub(super) type Writing = dyn FnMut(&[u8]) -> io::Result<()> + Send;

/// Does something outside of the pipes.
pub(super) type Deed<T> = Box<dyn FnMut(T) -> io::Result<()> + Send>;

/// The world around a play: without one, there are only pipes.
#[derive(Default)]
pub(super) struct World {
    /// Writes to stderr.
    pub(super) stderr: Option<Box<Writing>>,
    /// Starts a process that ignores signals and lives so long.
    pub(super) grandchild: Option<Deed<Duration>>,
    /// Sends a signal to the agent.
    pub(super) signal: Option<Deed<SignalName>>,
    /// Waits for the agent's end.
    pub(super) exit: Option<Pin<Box<dyn Future<Output = Ended> + Send>>>,
}

impl World {
    /// Waits for the agent's end, once; without an agent that is a process, for ever.
    ///
    /// Cancel-safe.
    pub(super) async fn exited(&mut self) -> Ended {
        match &mut self.exit {
            Some(exit) => {
                let ended = exit.await;
                self.exit = None;
                ended
            }
            None => pending().await,
        }
    }
}
