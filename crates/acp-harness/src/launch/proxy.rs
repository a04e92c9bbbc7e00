//! Proxies that stand between an agent and its model.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::Secret;

/// An error of somebody else's code.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// A proxy through which an agent speaks with its model.
///
/// It listens where only this machine can reach it, and its token is good for one launch:
/// the token stands in the environment of a process.
pub trait ModelProxy: Send + Sync + 'static {
    /// Starts it. Called once, before anything else.
    ///
    /// # Errors
    ///
    /// Whatever kept it from starting; it is not closed then.
    fn start(&self) -> impl Future<Output = Result<(), BoxError>> + Send;

    /// Returns where it can be reached; `None` while it cannot.
    fn binding(&self) -> Option<ProxyBinding>;

    /// Closes it. Called once, however it came to that.
    ///
    /// # Errors
    ///
    /// Whatever is left open.
    fn close(&self) -> impl Future<Output = Result<(), BoxError>> + Send;
}

/// Where a proxy is, and what opens it. Data: who holds one neither starts nor closes
/// anything.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProxyBinding {
    /// Its address.
    pub base_url: String,
    /// What opens it.
    pub token: Secret,
}

impl ProxyBinding {
    /// Says where a proxy is, and what opens it.
    #[must_use]
    pub fn new(base_url: impl Into<String>, token: Secret) -> Self {
        let base_url = base_url.into();
        Self { base_url, token }
    }

    /// Returns the address without a slash at its end.
    pub(super) fn root(&self) -> &str {
        self.base_url.trim_end_matches('/')
    }

    /// Says what is wrong with it.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let address = self.base_url.strip_prefix("http://");
        let address = address.or_else(|| self.base_url.strip_prefix("https://"));
        let unfit = |c: char| c.is_control() || c.is_whitespace() || matches!(c, '"' | '\\');
        match address {
            None => Some("its address is not one of http or https"),
            Some(address) if address.is_empty() || address.contains(unfit) => {
                Some("its address is no address")
            }
            Some(address)
                if address
                    .split('/')
                    .next()
                    .is_some_and(|host| host.contains('@')) =>
            {
                Some("its address holds a password; that is what the token is for")
            }
            Some(_) if self.token.is_empty() => Some("its token is empty"),
            Some(_) => None,
        }
    }
}

impl fmt::Debug for ProxyBinding {
    /// Shows no address either: where it is not fit, it may hold anything.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ProxyBinding(***)")
    }
}

/// What went wrong with a proxy.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyFault {
    /// It said so.
    #[error("it failed")]
    Failed(#[source] Arc<dyn Error + Send + Sync>),
    /// It took too long.
    #[error("it was not done within {} s", .bound.as_secs_f32())]
    TimedOut {
        /// How long it had.
        bound: Duration,
    },
    /// Its code panicked.
    #[error("its code panicked")]
    Panicked,
}

impl ProxyFault {
    /// Tells whether who starts a proxy knows by this that it did not start. One that was
    /// given up may have come far.
    pub(super) fn says_not_started(&self) -> bool {
        matches!(self, Self::Failed(_))
    }
}

/// A proxy that was started here, and is closed here, once.
pub(super) struct Owned {
    proxy: Arc<dyn DynProxy>,
    runtime: Handle,
    close_bound: Duration,
    closing: AtomicBool,
    closed: watch::Sender<Option<Result<(), ProxyFault>>>,
}

impl Owned {
    pub(super) fn new(proxy: Arc<dyn DynProxy>, runtime: Handle, close_bound: Duration) -> Self {
        Self {
            proxy,
            runtime,
            close_bound,
            closing: AtomicBool::new(false),
            closed: watch::Sender::new(None),
        }
    }

    pub(super) async fn start(&self, bound: Duration) -> Result<(), ProxyFault> {
        let proxy = Arc::clone(&self.proxy);
        bounded(bound, async move { proxy.start().await }).await
    }

    pub(super) fn binding(&self) -> Option<ProxyBinding> {
        self.proxy.binding()
    }

    /// Closes it in a task of its own, unless somebody did.
    pub(super) fn begin_close(self: &Arc<Self>) {
        if self.closing.swap(true, Ordering::AcqRel) {
            return;
        }
        let owned = Arc::clone(self);
        self.runtime.spawn(async move {
            let proxy = Arc::clone(&owned.proxy);
            let end = bounded(owned.close_bound, async move { proxy.close().await }).await;
            if let Err(fault) = &end {
                tracing::warn!(error = %fault, "a model proxy was not closed well");
            }
            owned.closed.send_replace(Some(end));
        });
    }

    /// Closes it, and waits until it is closed.
    pub(super) async fn close(self: &Arc<Self>) -> Result<(), ProxyFault> {
        self.begin_close();
        self.closed().await
    }

    /// Waits until it is closed. All who ask get the same end.
    pub(super) async fn closed(&self) -> Result<(), ProxyFault> {
        let mut closed = self.closed.subscribe();
        let end = closed.wait_for(Option::is_some).await;
        // The sender is ours: it is not gone.
        end.ok().and_then(|end| end.clone()).unwrap_or(Ok(()))
    }
}

/// Runs code of somebody else, which may hang or panic.
///
/// Dropped, the code is dropped too.
async fn bounded(
    bound: Duration,
    work: impl Future<Output = Result<(), BoxError>> + Send + 'static,
) -> Result<(), ProxyFault> {
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(work);
    let end = timeout(bound, tasks.join_next()).await;
    // Whatever comes next does not run beside it.
    tasks.shutdown().await;
    match end {
        Err(_) => Err(ProxyFault::TimedOut { bound }),
        Ok(Some(Ok(end))) => end.map_err(|error| ProxyFault::Failed(Arc::from(error))),
        Ok(_) => Err(ProxyFault::Panicked),
    }
}

type Work<'a> = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send + 'a>>;

/// [`ModelProxy`], to be kept.
pub(super) trait DynProxy: Send + Sync {
    fn start(&self) -> Work<'_>;
    fn binding(&self) -> Option<ProxyBinding>;
    fn close(&self) -> Work<'_>;
}

impl<P: ModelProxy> DynProxy for P {
    fn start(&self) -> Work<'_> {
        Box::pin(ModelProxy::start(self))
    }

    fn binding(&self) -> Option<ProxyBinding> {
        ModelProxy::binding(self)
    }

    fn close(&self) -> Work<'_> {
        Box::pin(ModelProxy::close(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_judged_and_never_shown() {
        let check = |url: &str, token: &str, fault: Option<&str>| {
            let binding = ProxyBinding::new(url, Secret::from(token));
            assert_eq!(binding.fault(), fault, "{url}");
            assert_eq!(format!("{binding:?}"), "ProxyBinding(***)");
        };
        check("http://127.0.0.1:8080", "t", None);
        check("https://localhost/a@b/", "t", None);
        check("http://127.0.0.1:8080", "", Some("its token is empty"));
        let scheme = Some("its address is not one of http or https");
        check("", "t", scheme);
        check("ftp://127.0.0.1", "t", scheme);
        let unfit = Some("its address is no address");
        check("http://", "t", unfit);
        check("http://local host", "t", unfit);
        check("http://a\"b", "t", unfit);
        let password = Some("its address holds a password; that is what the token is for");
        check("http://ada:s3cret@localhost/", "t", password);
    }
}
