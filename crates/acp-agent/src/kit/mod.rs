//! An agent in thirty lines: a function that answers prompts, and nothing else.
//!
//! Implement [`TurnHandler`]; [`Kit`] makes a host of it. The kit supplies
//! sessions and their ids, events and their names, gates, cancellation, and
//! catches panics. See the first page of this crate for a whole agent.
//!
//! | in a turn | call |
//! |---|---|
//! | say something | [`Turn::text`], [`Turn::thought`] |
//! | show a plan | [`Turn::plan`] |
//! | run a tool | [`Turn::tool`], then [`RunningTool`] |
//! | ask whether it may run | [`Turn::ask_permission`] |
//! | read and write files of the client | [`Turn::read_text_file`], [`Turn::write_text_file`] |
//! | stop when nobody waits any more | `?`, [`Turn::run_until_cancelled`], [`Turn::cancelled`] |
//!
//! # Cancellation
//!
//! When the client cancels, everything a turn waits for through its [`Turn`]
//! returns an error, so a function that uses `?` ends by itself. Whatever it
//! returns then, the client reads `cancelled`. A function that does not end is
//! dropped after a [grace](Kit::with_cancel_grace).

mod error;
mod permission;
mod prompt;
mod session;
mod tool;
mod turn;

use std::{sync::Arc, time::Duration};

use acp_host::{HostError, SessionHost, SessionId, Setup};
use uuid::Uuid;

pub use error::{TurnEnd, TurnError};
pub use permission::Permission;
pub use prompt::Prompt;
pub use session::KitSession;
pub use tool::{RunningTool, ToolDraft};
pub use turn::Turn;

/// Answers prompts: the one thing that makes an agent.
///
/// Implement it with a plain `async fn`. Turns of different sessions run at the
/// same time; those of one session never do.
pub trait TurnHandler: Send + Sync + 'static {
    /// Answers one prompt.
    ///
    /// The future may be dropped at any point, once the client has cancelled
    /// the turn or gone away. A panic ends the turn as failed.
    ///
    /// It starts on the task that serves the connection, and moves to its own
    /// when it waits for the first time. Work that blocks a thread belongs into
    /// `tokio::task::spawn_blocking`.
    ///
    /// # Errors
    ///
    /// [`TurnError`]; any other error becomes one by `?`, and its text stays in
    /// this process.
    fn turn(
        &self,
        turn: &mut Turn,
        prompt: Prompt,
    ) -> impl Future<Output = Result<TurnEnd, TurnError>> + Send;
}

/// A host made of a [`TurnHandler`].
#[derive(Debug)]
pub struct Kit<H> {
    handler: Arc<H>,
    cancel_grace: Duration,
}

impl<H: TurnHandler> Kit<H> {
    /// Makes a host of something that answers prompts.
    pub fn new(handler: H) -> Self {
        Self {
            handler: Arc::new(handler),
            cancel_grace: Duration::from_secs(5),
        }
    }

    /// Sets how long a turn that was cancelled may go on before it is dropped.
    /// Default 5 s.
    #[must_use]
    pub fn with_cancel_grace(mut self, grace: Duration) -> Self {
        self.cancel_grace = grace;
        self
    }
}

impl<H: TurnHandler> SessionHost for Kit<H> {
    type Session = KitSession<H>;

    async fn new_session(&self, setup: Setup) -> Result<KitSession<H>, HostError> {
        let id = SessionId::new(Uuid::now_v7().to_string()).map_err(HostError::internal)?;
        Ok(KitSession::new(
            id,
            setup,
            Arc::clone(&self.handler),
            self.cancel_grace,
        ))
    }
}
