//! Signals and wakers, fired once the lock of a session is released.

use std::{sync::Arc, task::Waker};

use acp_host::{Cancel, ToolId};
use acp_protocol::v1::SessionUpdate;

use super::translator::Translator;
use crate::wire::event_meta::EventMeta;

/// Signals to cancel, tasks to wake, and tool calls to end before that.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(super) closed_tools: Vec<ClosedTool>,
    pub(super) cancels: Vec<Cancel>,
    pub(super) wakers: Vec<Waker>,
}

/// The end of a tool call that the client believes open behind its turn.
#[derive(Debug)]
pub(crate) struct ClosedTool {
    /// The `_meta` of the updates of the turn.
    pub(crate) meta: Arc<EventMeta>,
    pub(crate) id: ToolId,
    pub(crate) update: SessionUpdate,
}

impl Effects {
    /// Ends the tool calls that the client believes open.
    pub(crate) fn close_tools(&mut self, translator: &mut Translator) {
        let ends = translator.close_tools().into_iter();
        let meta = translator.meta();
        self.closed_tools
            .extend(ends.map(|(id, update)| ClosedTool {
                meta: Arc::clone(meta),
                id,
                update,
            }));
    }

    /// The ends of tool calls; send them while the lock is held.
    pub(crate) fn take_closed_tools(&mut self) -> Vec<ClosedTool> {
        std::mem::take(&mut self.closed_tools)
    }

    /// Fires all of them.
    pub(crate) fn run(self) {
        for cancel in self.cancels {
            cancel.cancel();
        }
        for waker in self.wakers {
            waker.wake();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cancels.is_empty() && self.wakers.is_empty() && self.closed_tools.is_empty()
    }
}
