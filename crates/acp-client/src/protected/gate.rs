//! Who may allow a write to a protected path.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use acp_protocol::v1::SessionId;

use super::ProtectedPath;

/// A write to a protected path, which waits for a person.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProtectedWrite {
    /// The session that asks for it.
    pub session_id: SessionId,
    /// What is to be written, and why it is protected.
    pub protected: ProtectedPath,
    /// Where it lies, without links.
    pub target: PathBuf,
    /// The text that is to be written.
    pub content: Arc<str>,
}

impl ProtectedWrite {
    /// Describes a write, for whoever tests an answer to it.
    #[must_use]
    pub fn new(
        session_id: impl Into<SessionId>,
        protected: ProtectedPath,
        target: impl Into<PathBuf>,
        content: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            session_id: session_id.into(),
            protected,
            target: target.into(),
            content: content.into(),
        }
    }
}

/// Asks a person whether one write to a protected path may be done.
///
/// It is for people: an answer that is computed undoes the protection. Closures of the same
/// shape answer too. Each write is asked for by itself, with the whole path.
pub trait AllowProtected: Send + Sync + 'static {
    /// Returns whether this write may be done.
    ///
    /// The future is dropped when the agent takes its request back, the turn is cancelled
    /// or the session ends; nothing is written then.
    fn allow(&self, write: ProtectedWrite) -> impl Future<Output = bool> + Send;
}

impl<F, Fut> AllowProtected for F
where
    F: Fn(ProtectedWrite) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = bool> + Send,
{
    fn allow(&self, write: ProtectedWrite) -> impl Future<Output = bool> + Send {
        self(write)
    }
}

/// [`AllowProtected`] behind a pointer.
pub(crate) trait DynAllowProtected: Send + Sync + 'static {
    fn allow_boxed(&self, write: ProtectedWrite)
    -> Pin<Box<dyn Future<Output = bool> + Send + '_>>;
}

impl<T: AllowProtected> DynAllowProtected for T {
    fn allow_boxed(
        &self,
        write: ProtectedWrite,
    ) -> Pin<Box<dyn Future<Output = bool> + Send + '_>> {
        Box::pin(self.allow(write))
    }
}
