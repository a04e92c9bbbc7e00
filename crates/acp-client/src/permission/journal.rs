//! What was answered to permission requests, kept for whoever asks later.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use acp_protocol::rpc::ReceiveSeq;
use acp_protocol::v1::{
    PermissionOption, RequestPermissionOutcome, SessionId, ToolCallId, ToolKind,
};
use acp_text::cut_bytes;
use parking_lot::{Mutex, MutexGuard};

use super::{PermissionRequest, Reason};
use crate::limits::{MAX_DECISION_TITLE, MAX_DECISIONS};

/// One permission request and its answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Decided {
    /// The session that asked.
    pub session_id: SessionId,
    /// The tool call it was about.
    pub tool_call_id: ToolCallId,
    /// The beginning of the newest title of the call.
    pub title: Option<String>,
    /// The newest kind of the tool.
    pub kind: Option<ToolKind>,
    /// After what it was asked.
    pub after: ReceiveSeq,
    /// The option that was picked; `None` stands for `cancelled`.
    pub option: Option<PermissionOption>,
    /// Who decided.
    pub by: DecidedBy,
}

/// Who decided about a permission request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecidedBy {
    /// A [`Policy`](super::Policy), or another handler that told why.
    Policy(Reason),
    /// A handler.
    Handler,
    /// Whoever reads the session.
    Reader,
    /// Nobody is configured to be asked.
    Nobody,
    /// The turn was cancelled, or the session closed.
    Cancel,
    /// Nobody: the agent took the request back, the connection ended, or the handler
    /// panicked.
    Withdrawn,
    /// Nobody: too many requests of the session wait for an answer.
    Overload,
    /// Nobody: the handler picked an option that was not offered.
    NotOffered,
}

/// Every decision about permissions, the newest 256 of them.
///
/// Clones share what is kept. Give one to
/// [`ClientOptions::with_decision_log`](crate::ClientOptions::with_decision_log), or
/// ask [`Client::decisions`](crate::Client::decisions) for the one that is there anyway.
#[derive(Clone, Default)]
pub struct DecisionLog {
    kept: Arc<Mutex<Kept>>,
    callback: Option<Callback>,
}

type Callback = Arc<dyn Fn(&Decided) + Send + Sync>;

#[derive(Default)]
struct Kept {
    newest: VecDeque<Decided>,
    count: u64,
}

impl DecisionLog {
    /// Creates an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls `callback` with each decision, right before the agent gets it. It must
    /// not block.
    #[must_use]
    pub fn with_callback(mut self, callback: impl Fn(&Decided) + Send + Sync + 'static) -> Self {
        self.callback = Some(Arc::new(callback));
        self
    }

    /// Returns the newest decisions, the oldest of them first.
    #[must_use]
    pub fn newest(&self) -> Vec<Decided> {
        self.kept().newest.iter().cloned().collect()
    }

    /// Returns how many decisions there were in all; what is not kept any more counts.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.kept().count
    }

    fn note(&self, decided: Decided) {
        tracing::debug!(
            session.id = %decided.session_id,
            tool.id = %decided.tool_call_id,
            option = decided.option.as_ref().map_or("cancelled", |option| option.kind.as_str()),
            by = ?decided.by,
            "a permission request was answered"
        );
        if let Some(callback) = &self.callback {
            callback(&decided);
        }
        let mut kept = self.kept();
        kept.count += 1;
        if kept.newest.len() == MAX_DECISIONS {
            kept.newest.pop_front();
        }
        kept.newest.push_back(decided);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock()
    }
}

impl fmt::Debug for DecisionLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DecisionLog")
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}

/// A decision to be made. Dropped without one, it was not needed any more.
pub(crate) struct Entry {
    log: DecisionLog,
    ask: Option<PermissionRequest>,
}

impl Entry {
    pub(crate) fn new(log: DecisionLog, ask: &PermissionRequest) -> Self {
        Self {
            log,
            ask: Some(ask.clone()),
        }
    }

    /// Replaces what is known of the tool.
    pub(crate) fn learn(&mut self, ask: &PermissionRequest) {
        self.ask = Some(ask.clone());
    }

    /// Notes the decision.
    pub(crate) fn close(
        mut self,
        outcome: RequestPermissionOutcome,
        by: DecidedBy,
    ) -> RequestPermissionOutcome {
        self.note(&outcome, by);
        outcome
    }

    fn note(&mut self, outcome: &RequestPermissionOutcome, by: DecidedBy) {
        let Some(ask) = self.ask.take() else { return };
        let option = match outcome {
            RequestPermissionOutcome::Selected(selected) => ask.option(&selected.option_id),
            _ => None,
        };
        self.log.note(Decided {
            session_id: ask.session_id().clone(),
            tool_call_id: ask.tool().id.clone(),
            title: ask
                .tool()
                .title
                .as_deref()
                .map(|title| cut_bytes(title, MAX_DECISION_TITLE).to_owned()),
            kind: ask.tool().kind.clone(),
            after: ask.after(),
            option: option.cloned().map(|mut option| {
                // An agent may have added anything, and as much as it liked.
                option.meta = None;
                option
            }),
            by,
        });
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.note(&RequestPermissionOutcome::Cancelled, DecidedBy::Withdrawn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_protocol::v1::{RequestPermissionRequest, ToolCallUpdate};

    fn ask(id: &str, title: &str) -> PermissionRequest {
        let call = ToolCallUpdate::new(id).with_title(title);
        let request = RequestPermissionRequest::new("s", call, Vec::new());
        PermissionRequest::without_session(request, ReceiveSeq::default())
    }

    #[test]
    fn the_newest_are_kept_and_all_are_counted() {
        let log = DecisionLog::new();
        for n in 0..MAX_DECISIONS + 3 {
            let entry = Entry::new(log.clone(), &ask(&n.to_string(), "t"));
            entry.close(RequestPermissionOutcome::Cancelled, DecidedBy::Nobody);
        }
        assert_eq!(log.count(), MAX_DECISIONS as u64 + 3);
        let kept = log.newest();
        assert_eq!(kept.len(), MAX_DECISIONS);
        assert_eq!(kept[0].tool_call_id, *"3");
        assert!(kept.iter().all(|decided| decided.by == DecidedBy::Nobody));
    }

    #[test]
    fn what_is_dropped_was_withdrawn() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = DecisionLog::new().with_callback({
            let seen = Arc::clone(&seen);
            move |decided| seen.lock().push(decided.by.clone())
        });
        drop(Entry::new(log.clone(), &ask("t", "t")));
        assert_eq!(*seen.lock(), [DecidedBy::Withdrawn]);
        assert_eq!(log.count(), 1);
    }

    #[test]
    fn long_titles_are_cut_between_characters() {
        let log = DecisionLog::new();
        drop(Entry::new(
            log.clone(),
            &ask("t", &"é".repeat(MAX_DECISION_TITLE)),
        ));
        drop(Entry::new(
            log.clone(),
            &ask("t", &format!("x{}", "é".repeat(MAX_DECISION_TITLE))),
        ));
        let lengths: Vec<usize> = log
            .newest()
            .iter()
            .map(|decided| decided.title.as_ref().unwrap().len())
            .collect();
        assert_eq!(lengths, [MAX_DECISION_TITLE, MAX_DECISION_TITLE - 1]);
    }
}
