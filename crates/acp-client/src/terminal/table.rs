//! Which terminals a session has.

use std::collections::HashSet;
use std::sync::Arc;

use acp_protocol::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalId, TerminalOutputRequest,
    TerminalOutputResponse, WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};
use parking_lot::{Mutex, MutexGuard};

use super::DynServeTerminals;
use crate::error::ServeError;
use crate::limits::MAX_KNOWN_TERMINALS;

/// The terminals of one session, and who serves them.
///
/// It holds the ids that were given out and not released, so that no agent gets at
/// a terminal of another session, whoever serves them.
pub(crate) struct TerminalTable {
    terminals: Arc<dyn DynServeTerminals>,
    ids: Mutex<HashSet<TerminalId>>,
}

impl TerminalTable {
    pub(crate) fn new(terminals: Arc<dyn DynServeTerminals>) -> Self {
        Self {
            terminals,
            ids: Mutex::default(),
        }
    }

    pub(crate) async fn create(
        &self,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, ServeError> {
        if self.ids().len() >= MAX_KNOWN_TERMINALS {
            return Err(ServeError::TooManyTerminals {
                limit: MAX_KNOWN_TERMINALS,
            });
        }
        let answer = self.terminals.create_boxed(request).await?;
        self.ids().insert(answer.terminal_id.clone());
        Ok(answer)
    }

    pub(crate) async fn output(
        &self,
        request: TerminalOutputRequest,
    ) -> Result<TerminalOutputResponse, ServeError> {
        self.check(&request.terminal_id)?;
        self.terminals.output_boxed(request).await
    }

    pub(crate) async fn wait_for_exit(
        &self,
        request: WaitForTerminalExitRequest,
    ) -> Result<WaitForTerminalExitResponse, ServeError> {
        self.check(&request.terminal_id)?;
        self.terminals.wait_boxed(request).await
    }

    pub(crate) async fn kill(
        &self,
        request: KillTerminalRequest,
    ) -> Result<KillTerminalResponse, ServeError> {
        self.check(&request.terminal_id)?;
        self.terminals.kill_boxed(request).await
    }

    /// The id is no more from here on, whatever becomes of the release.
    pub(crate) async fn release(
        &self,
        request: ReleaseTerminalRequest,
    ) -> Result<ReleaseTerminalResponse, ServeError> {
        if !self.ids().remove(&request.terminal_id) {
            return Err(ServeError::NoSuchTerminal);
        }
        self.terminals.release_boxed(request).await
    }

    fn check(&self, id: &TerminalId) -> Result<(), ServeError> {
        if self.ids().contains(id) {
            Ok(())
        } else {
            Err(ServeError::NoSuchTerminal)
        }
    }

    fn ids(&self) -> MutexGuard<'_, HashSet<TerminalId>> {
        self.ids.lock()
    }
}
