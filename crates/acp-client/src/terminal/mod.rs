//! Commands an agent runs through its client.

mod command;
mod command_request;
mod local;
mod ring;
mod running;
mod table;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use acp_protocol::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};

pub use command::ShellLines;
pub use command_request::CommandRequest;
pub use local::{LocalTerminals, SessionTerminals};
pub(crate) use table::TerminalRequests;

use table::TerminalTable;

use crate::error::ServeError;
use crate::folders::SessionFolders;

/// Serves the terminals of one session.
///
/// Requests reach it only while the session is open, for terminals that it created
/// for this session and that were not released; a command is never empty, and its
/// directory, if any, is absolute and without `.`, `..` and double separators.
///
/// Every future is dropped when the agent takes its request back, the turn is
/// cancelled or the session ends.
pub trait ServeTerminals: Send + Sync + 'static {
    /// Starts a command and returns the id under which its output is kept, without
    /// waiting for its end (R150).
    ///
    /// # Errors
    ///
    /// A [`ServeError`], which says what the agent is told.
    fn create(
        &self,
        request: CreateTerminalRequest,
    ) -> impl Future<Output = Result<CreateTerminalResponse, ServeError>> + Send;

    /// Returns what the command has written so far, and how it ended if it has.
    ///
    /// # Errors
    ///
    /// A [`ServeError`], which says what the agent is told.
    fn output(
        &self,
        request: TerminalOutputRequest,
    ) -> impl Future<Output = Result<TerminalOutputResponse, ServeError>> + Send;

    /// Waits for the end of the command (R155).
    ///
    /// # Errors
    ///
    /// A [`ServeError`], which says what the agent is told.
    fn wait_for_exit(
        &self,
        request: WaitForTerminalExitRequest,
    ) -> impl Future<Output = Result<WaitForTerminalExitResponse, ServeError>> + Send;

    /// Ends the command; its output and its end can still be asked for (R156).
    ///
    /// # Errors
    ///
    /// A [`ServeError`], which says what the agent is told.
    fn kill(
        &self,
        request: KillTerminalRequest,
    ) -> impl Future<Output = Result<KillTerminalResponse, ServeError>> + Send;

    /// Ends the command if it runs, and forgets it (R157).
    ///
    /// # Errors
    ///
    /// A [`ServeError`], which says what the agent is told.
    fn release(
        &self,
        request: ReleaseTerminalRequest,
    ) -> impl Future<Output = Result<ReleaseTerminalResponse, ServeError>> + Send;
}

/// Gives each session terminals of its own.
pub trait OpenTerminals: Send + Sync + 'static {
    /// Serves one session. Dropped when the session ends, and then everything that
    /// still runs in it has to end.
    type Terminals: ServeTerminals;

    /// Makes ready for a session that works in these folders, before the agent hears
    /// of the session.
    fn open(&self, folders: &SessionFolders) -> impl Future<Output = Self::Terminals> + Send;
}

/// [`OpenTerminals`] behind a pointer.
pub(crate) trait DynOpenTerminals: Send + Sync + 'static {
    fn open_boxed<'a>(
        &'a self,
        folders: &'a SessionFolders,
    ) -> Pin<Box<dyn Future<Output = Arc<dyn TerminalRequests>> + Send + 'a>>;
}

impl<T: OpenTerminals> DynOpenTerminals for T {
    fn open_boxed<'a>(
        &'a self,
        folders: &'a SessionFolders,
    ) -> Pin<Box<dyn Future<Output = Arc<dyn TerminalRequests>> + Send + 'a>> {
        Box::pin(async move { Arc::new(TerminalTable::new(self.open(folders).await)) as _ })
    }
}
