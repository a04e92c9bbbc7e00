//! Updates that wait for the client to take them.

use std::{collections::VecDeque, sync::Arc};

use acp_host::Origin;
use acp_protocol::v1::SessionUpdate;

use crate::{session::SessionCore, turn::sent::SentMark};

/// Updates that are being told. What is left of them when this is dropped was
/// not told, and is forgotten.
pub(crate) struct UnsentUpdates {
    core: Arc<SessionCore>,
    /// The turn to which they belong.
    origin: Option<Arc<Origin>>,
    left: VecDeque<SentMark>,
}

impl UnsentUpdates {
    pub(crate) fn new<'a>(
        core: &Arc<SessionCore>,
        origin: Option<&Arc<Origin>>,
        updates: impl IntoIterator<Item = &'a SessionUpdate>,
    ) -> Self {
        Self {
            core: Arc::clone(core),
            origin: origin.cloned(),
            left: updates.into_iter().map(SentMark::of).collect(),
        }
    }

    /// Takes note that the next one is told.
    pub(crate) fn told(&mut self) {
        self.left.pop_front();
    }
}

impl Drop for UnsentUpdates {
    fn drop(&mut self) {
        if self.left.is_empty() {
            return;
        }
        let mut slot = self.core.slot();
        for memory in &self.left {
            slot.forget(self.origin.as_deref(), memory);
        }
    }
}
