//! The links whose end the agent may still tell.

use std::collections::VecDeque;
use std::sync::Arc;

use acp_protocol::rpc::Fault;
use acp_protocol::v1::ElicitationId;
use parking_lot::Mutex;

use super::question::Answerer;
use crate::limits::MAX_OPEN_LINKS;

/// What became of links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LinkStats {
    /// Links whose end was told to whoever was asked.
    pub completed: u64,
    /// Ends of links that nobody knows, that ended before, or whose session is gone;
    /// they are ignored (R208).
    pub ignored: u64,
    /// Links that were forgotten because too many others came after them.
    pub forgotten: u64,
}

/// The links of one connection.
///
/// A link is known from the moment it is asked about until its end was told, it was
/// refused, or it is the oldest of too many.
#[derive(Default)]
pub(super) struct Links {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    open: VecDeque<Open>,
    stats: LinkStats,
}

struct Open {
    id: ElicitationId,
    by: Answerer,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The user has not said yet whether they go there.
    Asked,
    /// The end was told while the user was still being asked.
    EndedEarly,
    /// The user agreed.
    Agreed,
}

impl Links {
    /// Notes a link that is asked about.
    ///
    /// # Errors
    ///
    /// An id that stands for another link already (R205).
    pub(super) fn ask(
        self: &Arc<Self>,
        id: &ElicitationId,
        by: Answerer,
    ) -> Result<AskedLink, Fault> {
        let mut inner = self.inner.lock();
        if inner.open.iter().any(|open| open.id == *id) {
            return Err(Fault::invalid_params("an elicitation of this id is open"));
        }
        inner.open.push_back(Open {
            id: id.clone(),
            by,
            stage: Stage::Asked,
        });
        Ok(AskedLink {
            links: Some(Arc::clone(self)),
            id: id.clone(),
        })
    }

    /// Takes the word of the agent that a link came to its end, and gives whom to tell.
    pub(super) fn end(&self, id: &ElicitationId) -> Option<Answerer> {
        let mut inner = self.inner.lock();
        let at = inner
            .open
            .iter()
            .position(|open| open.id == *id && open.stage != Stage::EndedEarly)?;
        if inner.open[at].stage == Stage::Asked {
            inner.open[at].stage = Stage::EndedEarly;
            return Some(inner.open[at].by.clone());
        }
        inner.open.remove(at).map(|open| open.by)
    }

    /// Counts an end that was told, or not.
    pub(super) fn count(&self, told: bool) {
        let stats = &mut self.inner.lock().stats;
        if told {
            stats.completed += 1;
        } else {
            stats.ignored += 1;
        }
    }

    pub(super) fn stats(&self) -> LinkStats {
        self.inner.lock().stats
    }
}

/// A link that is asked about. Dropped, it was refused.
pub(super) struct AskedLink {
    links: Option<Arc<Links>>,
    id: ElicitationId,
}

impl AskedLink {
    /// The user agreed: from now on its end is waited for, but not for ever.
    pub(super) fn agree(mut self) {
        let Some(links) = self.links.take() else {
            return;
        };
        let mut inner = links.inner.lock();
        let Some(at) = inner.open.iter().position(|open| open.id == self.id) else {
            return;
        };
        if inner.open[at].stage == Stage::EndedEarly {
            inner.open.remove(at);
            return;
        }
        inner.open[at].stage = Stage::Agreed;
        let agreed = |open: &&Open| open.stage == Stage::Agreed;
        if inner.open.iter().filter(agreed).count() > MAX_OPEN_LINKS
            && let Some(oldest) = inner.open.iter().position(|open| agreed(&open))
        {
            inner.open.remove(oldest);
            inner.stats.forgotten += 1;
        }
    }
}

impl Drop for AskedLink {
    fn drop(&mut self) {
        if let Some(links) = self.links.take() {
            links.inner.lock().open.retain(|open| open.id != self.id);
        }
    }
}
