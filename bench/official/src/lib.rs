//! What both programs on the official SDK need.

use std::io;
use std::os::fd::AsFd;

use agent_client_protocol::Result;
use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, SessionId, SessionNotification, SessionUpdate, TextContent,
};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::runtime::Builder;
use tokio_util::compat::{Compat, TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

/// Runs as the SDK's examples do, on the default runtime.
///
/// # Errors
///
/// What the work fails with.
pub fn on_default_runtime(work: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

/// Runs on one thread.
///
/// # Errors
///
/// What the work fails with.
pub fn on_one_thread(work: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

/// Tells whether the program is asked to go as fast as it can.
#[must_use]
pub fn is_tuned() -> bool {
    std::env::args().nth(1).is_some_and(|mode| mode == "tuned")
}

/// Stdout and stdin as pipes of the runtime, with no threads between.
///
/// # Errors
///
/// When they are no pipes.
pub fn pipes() -> io::Result<(Compat<Sender>, Compat<Receiver>)> {
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    let receiver = Receiver::from_owned_fd(stdin)?.compat();
    Ok((Sender::from_owned_fd(stdout)?.compat_write(), receiver))
}

/// So many bytes of text.
#[must_use]
pub fn text(length: usize) -> String {
    let pattern = "The quick brown fox jumps over the lazy dog.\n";
    pattern.chars().cycle().take(length).collect()
}

/// A piece of a message.
#[must_use]
pub fn piece(session: &SessionId, text: &str) -> SessionNotification {
    let block = ContentBlock::Text(TextContent::new(text.to_owned()));
    let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(block));
    SessionNotification::new(session.clone(), update)
}
