//! The signals a child can be sent.

/// Names a signal for a child's process group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Signal {
    /// `SIGHUP`.
    Hangup,
    /// `SIGINT`.
    Interrupt,
    /// `SIGQUIT`.
    Quit,
    /// `SIGKILL`.
    Kill,
    /// `SIGUSR1`.
    User1,
    /// `SIGUSR2`.
    User2,
    /// `SIGTERM`.
    Terminate,
    /// `SIGCONT`.
    Continue,
    /// `SIGSTOP`.
    Stop,
    /// `SIGWINCH`.
    WindowChange,
}

/// Why a signal could not be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    /// The child has ended and was reaped; its process group is no more.
    #[error("signal the child: it has ended")]
    Ended,
    /// The system refused.
    #[error("signal the child")]
    Io(#[source] std::io::Error),
}
