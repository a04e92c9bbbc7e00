//! An agent that runs, and is ended whatever happens.

use std::sync::Arc;

use acp_client::{Client, Exit};
use tokio::runtime::Handle;

use crate::record::Claim;

/// An agent that runs for one turn.
///
/// Dropped, it is killed with everything it started. Until its process is gone nobody else
/// gets its conversation: two processes would write to one session.
pub(super) struct Running {
    client: Client,
    claim: Option<Arc<Claim>>,
    over: bool,
}

impl Running {
    pub(super) fn new(client: Client, claim: Option<Arc<Claim>>) -> Self {
        Self {
            client,
            claim,
            over: false,
        }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn claim(&self) -> Option<Arc<Claim>> {
        self.claim.clone()
    }

    /// Ends the agent: it gets the end of its input, time to put things in order, and is
    /// killed if it does not take it.
    pub(super) async fn end(mut self) -> Option<Exit> {
        let exit = self.client.close().await;
        self.over = true;
        exit
    }

    /// Kills the agent and everything it started.
    pub(super) async fn kill(mut self) -> Option<Exit> {
        let exit = self.client.kill().await;
        self.over = true;
        exit
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        // Without a runtime the process goes with its handles.
        if let Ok(runtime) = Handle::try_current() {
            let (client, claim) = (self.client.clone(), self.claim.take());
            runtime.spawn(async move {
                client.kill().await;
                drop(claim);
            });
        }
    }
}
