//! A connection to a child: the agent is a program that we start.

use acp_connection::{Handler, Peer, connect};
use acp_process::{ChildHandle, ChildStdin, ChildStdout, Launch, SpawnError};
use acp_protocol::rpc::{ConnectionRole, Limits};

/// A child that was started, and the pipes its connection runs over.
#[derive(Debug)]
pub struct ChildPipes {
    /// Carries our messages.
    pub stdin: ChildStdin,
    /// Carries the messages of the child.
    pub stdout: ChildStdout,
    /// Ends the child and tells about it.
    pub child: ChildHandle,
}

/// Why there is no connection to a child.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DialError {
    /// The program did not start.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The launch gives the child no pipes for stdin and stdout.
    #[error("child has no pipes: do not launch an agent on a terminal")]
    NoPipes,
    /// The runtime ended before the program was started.
    #[error("runtime ended while the program started")]
    RuntimeEnded,
}

/// Starts a child, away from the tasks of the runtime: that takes milliseconds.
///
/// # Errors
///
/// [`DialError`]; no process is left running then.
///
/// # Cancel safety
///
/// Dropping the future ends the child, also one that only comes up later.
pub async fn start(launch: Launch) -> Result<ChildPipes, DialError> {
    let spawned = tokio::task::spawn_blocking(move || launch.spawn()).await;
    let mut child = spawned.map_err(|_| DialError::RuntimeEnded)??;
    let (Some(stdin), Some(stdout)) = (child.take_stdin(), child.take_stdout()) else {
        return Err(DialError::NoPipes);
    };
    Ok(ChildPipes {
        stdin,
        stdout,
        child: child.handle(),
    })
}

/// Starts an agent and connects to it as its client.
///
/// Nothing was said yet: call `initialize` first. The connection ends with the child, behind
/// all that it wrote, and closing the connection closes the child's stdin, on which agents
/// end.
///
/// # Errors
///
/// As [`start`].
///
/// # Cancel safety
///
/// As [`start`].
pub async fn dial(
    launch: Launch,
    handler: impl Handler,
    limits: Limits,
) -> Result<(Peer, ChildHandle), DialError> {
    let ChildPipes {
        stdin,
        stdout,
        child,
    } = start(launch).await?;
    let agent = connect(ConnectionRole::Client, stdout, stdin, handler, limits);
    tokio::spawn(hear_out(agent.clone(), child.exited()));
    Ok((agent, child))
}

/// Reads what a child has written to its end when it has exited, whatever the consumers
/// do meanwhile.
async fn hear_out(agent: Peer, exited: impl Future<Output = ()>) {
    tokio::select! {
        () = exited => agent.hear_out(),
        _ = agent.closed() => {}
    }
}
