//! Conversations that the user has shortened.

use std::{pin::Pin, sync::Arc};

use crate::kit::{Turn, TurnError};

/// Shortens the conversation of a session when the user asks for it by `/compact`.
///
/// Register it by [`Kit::with_compactor`](crate::kit::Kit::with_compactor). A handler
/// that shortens the conversation by itself calls [`Turn::compact`] instead.
pub trait Compactor: Send + Sync + 'static {
    /// Makes a summary that stands for the conversation so far. The history keeps it as
    /// [`RecordBody::Compacted`](crate::kit::RecordBody::Compacted), where
    /// [`Turn::earlier`] finds it.
    ///
    /// The future may be dropped at any point, once the user has cancelled it.
    ///
    /// # Errors
    ///
    /// [`TurnError`]; the conversation stays as it is then.
    fn summary(&self, turn: &mut Turn) -> impl Future<Output = Result<String, TurnError>> + Send;
}

type SummaryFuture<'a> = Pin<Box<dyn Future<Output = Result<String, TurnError>> + Send + 'a>>;

/// [`Compactor`] in a form that can be stored.
pub(in crate::kit) trait DynCompactor: Send + Sync {
    fn summary<'a>(&'a self, turn: &'a mut Turn) -> SummaryFuture<'a>;
}

impl<T: Compactor> DynCompactor for T {
    fn summary<'a>(&'a self, turn: &'a mut Turn) -> SummaryFuture<'a> {
        Box::pin(Compactor::summary(self, turn))
    }
}

/// The compactor of a kit, if it has one.
#[derive(Clone, Default)]
pub(in crate::kit) struct SharedCompactor(pub(in crate::kit) Option<Arc<dyn DynCompactor>>);

impl std::fmt::Debug for SharedCompactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SharedCompactor")
            .field(&self.0.is_some())
            .finish()
    }
}

/// Runs a compaction from its report to its end.
pub(in crate::kit) async fn compact_with(
    turn: &mut Turn,
    compactor: &dyn DynCompactor,
) -> Result<(), TurnError> {
    let compaction = turn.begin_compaction().await?;
    match compactor.summary(turn).await {
        Ok(summary) => turn.resume_compaction(compaction).complete(summary).await,
        Err(error) => {
            turn.resume_compaction(compaction).fail_quietly().await?;
            Err(error)
        }
    }
}
