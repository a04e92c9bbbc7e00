//! An agent and the proxy to its model, started and ended together.

mod closing;
mod error;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use acp_client::{Client, ClientOptions};
use acp_process::{Exit, Launch};
use derive_setters::Setters;
use tokio::runtime::Handle;

pub use error::{CloseError, ManagedCause, ManagedError};

use self::closing::{Closing, Unwinding};
use super::connector::{Connector, NativeConnector};
use super::proxy::{DynProxy, ModelProxy, Owned, ProxyBinding};
use crate::limits::{PROXY_CLOSE_TIMEOUT, PROXY_START_TIMEOUT};

/// Describes an agent that is started together with its way to its model.
///
/// In this order: what can be checked is checked; a proxy that is owned is started; it
/// says where it is; the agent is told of it, started, and introduced. When any of this
/// fails, or nobody waits for it any more, what was started is ended again, the agent
/// before the proxy.
///
/// ```no_run
/// use acp_client::ClientOptions;
/// use acp_harness::launch::{ClaudeConnector, ManagedLaunch, ModelProxy};
/// use acp_process::Launch;
///
/// # async fn example(proxy: impl ModelProxy) -> Result<(), Box<dyn std::error::Error>> {
/// let claude = ClaudeConnector::new().with_models("large", "small");
/// let launch = Launch::new("/opt/claude-agent-acp");
/// let agent = ManagedLaunch::owning(launch, claude, proxy)
///     .dial(ClientOptions::new())
///     .await?;
/// let session = agent.client().new_session("/home/ada/project").await?;
/// # drop(session);
/// agent.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Setters)]
#[setters(generate = false, prefix = "with_")]
pub struct ManagedLaunch {
    launch: Launch,
    route: ModelRoute,
    /// Sets how long an owned proxy may take to start. Default 30 seconds.
    #[setters(generate, rename = "with_start_timeout")]
    start_bound: Duration,
    /// Sets how long an owned proxy may take to close. Default 10 seconds.
    #[setters(generate, rename = "with_close_timeout")]
    close_bound: Duration,
    connect: Connect,
}

/// How the agent gets to its model.
enum ModelRoute {
    Owned(Box<dyn Connector>, Arc<dyn DynProxy>),
    Shared(Box<dyn Connector>, ProxyBinding),
    Native(Box<dyn NativeConnector>),
}

type Connect = Box<dyn FnOnce(Launch, ClientOptions) -> Client + Send>;

impl ManagedLaunch {
    /// Starts a proxy for this agent alone, and closes it with the agent.
    #[must_use]
    pub fn owning(launch: Launch, connector: impl Connector, proxy: impl ModelProxy) -> Self {
        Self::by(
            launch,
            ModelRoute::Owned(Box::new(connector), Arc::new(proxy)),
        )
    }

    /// Uses a proxy that somebody else starts and closes.
    #[must_use]
    pub fn sharing(launch: Launch, connector: impl Connector, binding: ProxyBinding) -> Self {
        Self::by(launch, ModelRoute::Shared(Box::new(connector), binding))
    }

    /// Lets the agent get to its model by itself.
    #[must_use]
    pub fn native(launch: Launch, connector: impl NativeConnector) -> Self {
        Self::by(launch, ModelRoute::Native(Box::new(connector)))
    }

    /// Starts all of it, and returns the agent, introduced.
    ///
    /// # Errors
    ///
    /// [`ManagedError`]; nothing is left running by then, but a proxy that does not close
    /// in time.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, what was started is ended in the background.
    pub async fn dial(self, options: ClientOptions) -> Result<Managed, ManagedError> {
        let mut unwinding = Unwinding::new(Handle::current());
        match self.attempt(options, &mut unwinding).await {
            Ok(client) => Ok(Managed::new(client, unwinding.dismiss())),
            Err(cause) => Err(ManagedError::new(cause, unwinding.run().await)),
        }
    }

    async fn attempt(
        self,
        options: ClientOptions,
        unwinding: &mut Unwinding,
    ) -> Result<Client, ManagedCause> {
        let launch = match self.route {
            ModelRoute::Native(connector) => connector.configure_native(&self.launch)?,
            ModelRoute::Shared(connector, binding) => {
                connector.check(&self.launch)?;
                connector.configure(&self.launch, &binding)?
            }
            ModelRoute::Owned(connector, proxy) => {
                connector.check(&self.launch)?;
                let owned = Arc::new(Owned::new(proxy, Handle::current(), self.close_bound));
                // Also one that is given up while it starts.
                unwinding.of_proxy(&owned);
                if let Err(fault) = owned.start(self.start_bound).await {
                    if fault.says_not_started() {
                        unwinding.not_of_proxy();
                    }
                    return Err(ManagedCause::ProxyStart(fault));
                }
                let binding = owned.binding().ok_or(ManagedCause::ProxyNotReady)?;
                connector.configure(&self.launch, &binding)?
            }
        };
        let client = (self.connect)(launch, options);
        unwinding.of_client(&client);
        client.dial().await?;
        Ok(client)
    }

    fn by(launch: Launch, route: ModelRoute) -> Self {
        Self {
            launch,
            route,
            start_bound: PROXY_START_TIMEOUT,
            close_bound: PROXY_CLOSE_TIMEOUT,
            connect: Box::new(Client::new),
        }
    }
}

impl fmt::Debug for ManagedLaunch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let route = match self.route {
            ModelRoute::Owned(..) => "owned proxy",
            ModelRoute::Shared(..) => "shared proxy",
            ModelRoute::Native(_) => "native",
        };
        f.debug_struct("ManagedLaunch")
            .field("launch", &self.launch)
            .field("route", &route)
            .finish_non_exhaustive()
    }
}

/// An agent, and the proxy that was started for it.
///
/// When the agent goes away, the proxy is closed. Requests that fail close nothing.
/// Dropping this closes both in the background, also where a clone of the client is
/// still held.
pub struct Managed {
    closing: Arc<Closing>,
}

impl Managed {
    fn new(client: Client, owned: Option<Arc<Owned>>) -> Self {
        let has_proxy = owned.is_some();
        let closing = Arc::new(Closing::new(client, owned, Handle::current()));
        if has_proxy {
            tokio::spawn(Arc::clone(&closing).watch());
        }
        Self { closing }
    }

    /// Returns the client.
    #[must_use]
    pub fn client(&self) -> &Client {
        self.closing.client()
    }

    /// Closes the connection, and then the proxy if it is owned, each once; returns how
    /// the agent ended. Asked again, it tells the same.
    ///
    /// # Errors
    ///
    /// [`CloseError`] with what of the two did not end well. Both are tried in any case.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it waits, the closing goes on.
    pub async fn close(&self) -> Result<Option<Exit>, CloseError> {
        self.closing.close().await
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        self.closing.begin();
    }
}

impl fmt::Debug for Managed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Managed")
            .field("client", self.client())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
