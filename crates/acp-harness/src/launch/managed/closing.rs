//! The end of an agent and its proxy, in order and once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acp_client::{Client, ClientEnd};
use acp_process::Exit;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;

use super::CloseError;
use crate::launch::proxy::{Owned, ProxyFault};
use crate::limits::UNWIND_TIMEOUT;

type End = Result<Option<Exit>, CloseError>;

/// What is to be closed, and how that went.
pub(super) struct Closing {
    client: Client,
    owned: Option<Arc<Owned>>,
    runtime: Handle,
    begun: AtomicBool,
    closed: watch::Sender<Option<End>>,
}

impl Closing {
    pub(super) fn new(client: Client, owned: Option<Arc<Owned>>, runtime: Handle) -> Self {
        Self {
            client,
            owned,
            runtime,
            begun: AtomicBool::new(false),
            closed: watch::Sender::new(None),
        }
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    /// Closes everything in a task of its own, unless somebody did.
    pub(super) fn begin(self: &Arc<Self>) {
        if self.begun.swap(true, Ordering::AcqRel) {
            return;
        }
        let closing = Arc::clone(self);
        self.runtime.spawn(async move {
            let exit = closing.client.close().await;
            let connection = exit.clone().and_then(|exit| exit.into_result().err());
            let proxy = match &closing.owned {
                Some(owned) => owned.close().await.err(),
                None => None,
            };
            let end = match CloseError::of(connection, proxy) {
                Some(error) => Err(error),
                None => Ok(exit),
            };
            closing.closed.send_replace(Some(end));
        });
    }

    pub(super) async fn close(self: &Arc<Self>) -> End {
        self.begin();
        let mut closed = self.closed.subscribe();
        let end = closed.wait_for(Option::is_some).await;
        // The sender is ours: it is not gone.
        end.ok().and_then(|end| end.clone()).unwrap_or(Ok(None))
    }

    /// Closes an owned proxy when its agent goes away.
    pub(super) async fn watch(self: Arc<Self>) {
        match (self.client.done().await, &self.owned) {
            (ClientEnd::Died(_), Some(owned)) => owned.begin_close(),
            // By hand, through a clone: it is told before it is done.
            _ => self.begin(),
        }
    }
}

/// Ends what was started of something that did not come to be.
pub(super) struct Unwinding {
    runtime: Handle,
    client: Option<Client>,
    owned: Option<Arc<Owned>>,
}

impl Unwinding {
    pub(super) fn new(runtime: Handle) -> Self {
        Self {
            runtime,
            client: None,
            owned: None,
        }
    }

    pub(super) fn of_proxy(&mut self, owned: &Arc<Owned>) {
        self.owned = Some(Arc::clone(owned));
    }

    pub(super) fn not_of_proxy(&mut self) {
        self.owned = None;
    }

    pub(super) fn of_client(&mut self, client: &Client) {
        self.client = Some(client.clone());
    }

    /// Ends nothing: all of it came to be.
    pub(super) fn dismiss(mut self) -> Option<Arc<Owned>> {
        self.client = None;
        self.owned.take()
    }

    /// Ends it, in a task that goes on when nobody waits for it.
    pub(super) async fn run(mut self) -> Option<ProxyFault> {
        let owned = self.owned.clone();
        self.begin();
        owned?.closed().await.err()
    }

    fn begin(&mut self) {
        let (client, owned) = (self.client.take(), self.owned.take());
        if client.is_none() && owned.is_none() {
            return;
        }
        self.runtime.spawn(async move {
            if let Some(client) = client {
                // One that the system cannot kill does not keep the proxy open.
                let _ = timeout(UNWIND_TIMEOUT, client.kill()).await;
            }
            if let Some(owned) = owned {
                owned.begin_close();
            }
        });
    }
}

impl Drop for Unwinding {
    fn drop(&mut self) {
        self.begin();
    }
}
