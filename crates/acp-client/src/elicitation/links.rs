//! The links whose end the agent may still tell.

use std::collections::VecDeque;
use std::sync::Arc;

use acp_protocol::rpc::{Fault, ReceiveSeq};
use acp_protocol::v1::ElicitationId;
use parking_lot::Mutex;

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

/// Tells whoever was asked about a link that it came to its end; false when nobody is there
/// any more.
pub(crate) type LinkListener = Arc<dyn Fn(&ElicitationId, ReceiveSeq) -> bool + Send + Sync>;

/// The links of one connection.
///
/// A link is known from the moment it is asked about until its end was told, it was
/// refused, or it is the oldest of too many.
#[derive(Default)]
pub(crate) struct Links {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    open: VecDeque<OpenLink>,
    stats: LinkStats,
}

struct OpenLink {
    id: ElicitationId,
    tell: LinkListener,
    stage: LinkStage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkStage {
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
    pub(crate) fn ask(
        self: &Arc<Self>,
        id: &ElicitationId,
        tell: LinkListener,
    ) -> Result<AskedLink, Fault> {
        let mut inner = self.inner.lock();
        if inner.open.iter().any(|open| open.id == *id) {
            return Err(Fault::invalid_params("an elicitation of this id is open"));
        }
        inner.open.push_back(OpenLink {
            id: id.clone(),
            tell,
            stage: LinkStage::Asked,
        });
        Ok(AskedLink {
            links: Some(Arc::clone(self)),
            id: id.clone(),
        })
    }

    /// Takes the word of the agent that a link came to its end.
    pub(crate) fn complete(&self, id: &ElicitationId, at: ReceiveSeq) {
        let told = self.end(id).is_some_and(|tell| tell(id, at));
        if !told {
            tracing::debug!("the agent told the end of a link that nobody waits for");
        }
        let stats = &mut self.inner.lock().stats;
        match told {
            true => stats.completed += 1,
            false => stats.ignored += 1,
        }
    }

    fn end(&self, id: &ElicitationId) -> Option<LinkListener> {
        let open = &mut self.inner.lock().open;
        let at = open
            .iter()
            .position(|open| open.id == *id && open.stage != LinkStage::EndedEarly)?;
        if open[at].stage == LinkStage::Asked {
            open[at].stage = LinkStage::EndedEarly;
            return Some(Arc::clone(&open[at].tell));
        }
        open.remove(at).map(|open| open.tell)
    }

    pub(crate) fn stats(&self) -> LinkStats {
        self.inner.lock().stats
    }
}

/// A link that is asked about. Dropped, it was refused.
pub(crate) struct AskedLink {
    links: Option<Arc<Links>>,
    id: ElicitationId,
}

impl AskedLink {
    /// The user agreed: from now on its end is waited for, but not for ever.
    pub(crate) fn agree(mut self) {
        let Some(links) = self.links.take() else {
            return;
        };
        let mut inner = links.inner.lock();
        let Some(at) = inner.open.iter().position(|open| open.id == self.id) else {
            return;
        };
        if inner.open[at].stage == LinkStage::EndedEarly {
            inner.open.remove(at);
            return;
        }
        inner.open[at].stage = LinkStage::Agreed;
        let agreed = |open: &&OpenLink| open.stage == LinkStage::Agreed;
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
