//! A connection over our own stdio: a client has started this process as its agent.

use std::io;

use acp_connection::{Handler, Peer, connect, serve};
use acp_process::stdio::protocol_stdio;
use acp_protocol::rpc::{CloseCause, ConnectionRole, Limits};

/// Serves the client that started this process, until it closes our stdin.
///
/// From its call on stdout belongs to the protocol: prints of the rest of the program go
/// to stderr. End the process when it returns.
///
/// # Errors
///
/// When stdin or stdout cannot be used, or are in use already.
///
/// # Cancel safety
///
/// Dropping the future closes the connection.
pub async fn serve_stdio(handler: impl Handler, limits: Limits) -> io::Result<CloseCause> {
    let (stdin, stdout) = protocol_stdio()?;
    Ok(serve(ConnectionRole::Agent, stdin, stdout, handler, limits).await)
}

/// Connects to the client that started this process, as [`serve_stdio`] does, and returns
/// at once.
///
/// # Errors
///
/// As [`serve_stdio`].
///
/// # Panics
///
/// Outside of a tokio runtime.
pub fn connect_stdio(handler: impl Handler, limits: Limits) -> io::Result<Peer> {
    let (stdin, stdout) = protocol_stdio()?;
    Ok(connect(
        ConnectionRole::Agent,
        stdin,
        stdout,
        handler,
        limits,
    ))
}
