//! Plays against an agent that is a process.

use std::io;

use acp_process::{ChildHandle, Exit, ExitStatus, Launch, Signal, SpawnError};

use super::{Ended, Play, PlayOutcome};
use acp_recording::SignalName;

#[cfg(feature = "cli")]
impl Play {
    /// Lets an agent do what only a process of its own can: write to stderr
    /// and start another.
    pub(crate) fn with_process(
        mut self,
        stderr: impl FnMut(&[u8]) -> io::Result<()> + Send + 'static,
        grandchild: impl FnMut(std::time::Duration) -> io::Result<()> + Send + 'static,
    ) -> Self {
        self.world.stderr = Some(Box::new(stderr));
        self.world.grandchild = Some(Box::new(grandchild));
        self
    }
}

impl Play {
    /// Starts an agent and plays the client against it.
    ///
    /// When the play is over the agent is ended, by force if it has to be; how
    /// it ended and the end of its stderr are in the outcome.
    ///
    /// # Errors
    ///
    /// [`SpawnError`] when the agent could not be started.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped, the agent is ended in the background.
    pub async fn against(self, launch: &Launch) -> Result<PlayOutcome, SpawnError> {
        let mut child = launch.spawn()?;
        let handle = child.handle();
        let (Some(stdin), Some(stdout)) = (child.take_stdin(), child.take_stdout()) else {
            // A child that was just started has both.
            return Ok(self.over(tokio::io::empty(), tokio::io::sink()).await);
        };
        let mut outcome = self.watching(&handle).over(stdout, stdin).await;
        let exit = handle.close_and_wait().await;
        outcome.ended = Some(ended(&exit));
        outcome.stderr = exit.stderr_tail();
        Ok(outcome)
    }

    /// Makes the end of this agent, and signals to it, part of the play.
    pub(crate) fn watching(mut self, handle: &ChildHandle) -> Self {
        let watched = handle.clone();
        self.world.exit = Some(Box::pin(async move { ended(&watched.wait().await) }));
        let signalled = handle.clone();
        self.world.signal = Some(Box::new(move |signal| send(&signalled, signal)));
        self
    }
}

fn ended(exit: &Exit) -> Ended {
    match exit.status() {
        ExitStatus::Code(code) => Ended::Code(code),
        ExitStatus::Signal(signal) => Ended::Signal(signal),
        _ => Ended::Unknown,
    }
}

fn send(handle: &ChildHandle, signal: SignalName) -> io::Result<()> {
    let signal = match signal {
        SignalName::Hangup => Signal::Hangup,
        SignalName::Interrupt => Signal::Interrupt,
        SignalName::Quit => Signal::Quit,
        SignalName::Abort => return Err(io::ErrorKind::Unsupported.into()),
        SignalName::Kill => Signal::Kill,
        SignalName::Terminate => Signal::Terminate,
    };
    handle.signal(signal).map_err(io::Error::other)
}
