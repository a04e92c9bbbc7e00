//! Mailboxes: the updates of each session, kept raw until they are consumed.
//!
//! The rules are those of the chapter on flow control: a mailbox over its soft
//! mark with a live consumer pauses reading, a consumer that stands still is
//! exempted, and at the hard mark the oldest updates give way to a gap.

mod consumer;
mod flow;
mod one;

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

pub use flow::{Flow, MailboxCounts};
use foldhash::HashMap;
use one::Mailbox;

use super::{
    CallFacts, Limits, ReceiveSeq, Stats,
    calls::{Answered, CallId},
    inbound::Run,
    wake::Wakes,
};

/// Names a mailbox of a connection. Never used again after it was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MailboxId(u64);

/// What a consumer takes from its mailbox, in wire order.
#[derive(Debug)]
pub enum MailboxEntry {
    /// Adjacent updates.
    Run {
        /// The updates.
        run: Run,
        /// Place of the first on the receive clock; the others follow it.
        first: ReceiveSeq,
    },
    /// Updates that were dropped here.
    Gap {
        /// How many.
        dropped: u64,
    },
    /// The end of a streamed call, behind all of its updates.
    End {
        /// The call.
        call: CallId,
        /// What is known of it.
        facts: CallFacts,
        /// Its answer.
        result: Answered,
    },
    /// The connection ended; nothing follows.
    Closed,
}

/// How a mailbox treats updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Nobody has read yet: what came first is kept, up to
    /// [`Limits::held_bytes`]. A mailbox begins so.
    New,
    /// Somebody reads: nothing is lost below the hard mark, and reading from
    /// the peer may pause.
    Live,
    /// Nobody reads now: the newest [`Limits::idle_updates`] are kept.
    Idle,
    /// Nobody will read what comes until the current call has ended.
    Discard,
}

/// Counts the items a consumer has taken, without the connection's lock.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<AtomicU64>);

impl Progress {
    /// Tells that an item was taken. Only the consumer calls it.
    pub fn advance(&self) {
        // One writer: a plain store is enough, and cheaper than an atomic add.
        self.0.store(
            self.0.load(Ordering::Relaxed).wrapping_add(1),
            Ordering::Relaxed,
        );
    }

    fn read(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What mailboxes need of their connection.
pub(super) struct MailboxContext<'a> {
    pub(super) limits: &'a Limits,
    pub(super) stats: &'a mut Stats,
    pub(super) wakes: &'a mut Wakes,
}

/// All mailboxes of a connection.
#[derive(Debug, Default)]
pub(super) struct Mailboxes {
    boxes: HashMap<u64, Mailbox>,
    by_session: HashMap<Arc<str>, u64>,
    /// The mailbox looked up last.
    last: Option<(Arc<str>, u64)>,
    next: u64,
    /// How many mailboxes pause reading.
    over: usize,
    /// Bytes charged for all that is queued.
    total: usize,
    /// Updates of sessions that are not known yet.
    held: HashMap<Arc<str>, Vec<(Run, ReceiveSeq)>>,
    held_bytes: usize,
    holds: usize,
    closed: bool,
}

impl Mailboxes {
    /// How many mailboxes ask for a pause.
    pub(super) fn over(&self) -> usize {
        self.over
    }

    /// Opens a mailbox, with what was held for its session and came after
    /// `since`. `None` when the session has one already.
    pub(super) fn open(
        &mut self,
        session: &str,
        since: ReceiveSeq,
        cx: &mut MailboxContext<'_>,
    ) -> Option<(MailboxId, Progress)> {
        if self.by_session.contains_key(session) {
            return None;
        }
        let (held_session, held) = match self.held.remove_entry(session) {
            Some((session, held)) => (session, held),
            None => (Arc::from(session), Vec::new()),
        };
        let id = self.next;
        self.next += 1;
        let progress = Progress::default();
        self.by_session.insert(Arc::clone(&held_session), id);
        let mailbox = Mailbox {
            session: held_session,
            queue: VecDeque::new(),
            queued: 0,
            in_hand: 0,
            updates: 0,
            reading: Reading::New,
            flow: Flow::Lossless,
            counts: MailboxCounts::default(),
            cancelled: false,
            exempt: false,
            over: false,
            retired: false,
            waker: None,
            progress: progress.clone(),
            seen: 0,
            handed: ReceiveSeq::default(),
            newest: ReceiveSeq::default(),
            barriers: Vec::new(),
        };
        self.boxes.insert(id, mailbox);
        for (run, first) in held {
            self.held_bytes -= run.charge;
            if first <= since {
                // Said to an earlier session of the same name.
                cx.stats.updates_unknown_session += u64::from(run.lines);
                continue;
            }
            self.push(id, run, first, cx);
        }
        if let Some(mailbox) = self.boxes.get_mut(&id).filter(|_| self.closed) {
            mailbox.queue.push_back(MailboxEntry::Closed);
        }
        Some((MailboxId(id), progress))
    }

    /// Closes a mailbox. What is queued counts as dropped, and nobody waits for
    /// it any more.
    pub(super) fn close(&mut self, id: MailboxId, cx: &mut MailboxContext<'_>) {
        let Some(mailbox) = self.boxes.remove(&id.0) else {
            return;
        };
        for (_, waker) in mailbox.barriers {
            cx.wakes.push(waker);
        }
        cx.stats.updates_dropped += mailbox.updates;
        self.total -= mailbox.queued;
        self.over -= usize::from(mailbox.over);
        self.unlink(&mailbox.session, id);
    }

    /// Ends a mailbox: its session may get another one, and its consumer comes to
    /// the end behind what is queued.
    pub(super) fn retire(&mut self, id: MailboxId, cx: &mut MailboxContext<'_>) {
        let Some(mailbox) = self.boxes.get_mut(&id.0) else {
            return;
        };
        if std::mem::replace(&mut mailbox.retired, true) {
            return;
        }
        mailbox.queue.push_back(MailboxEntry::Closed);
        cx.wakes.take_from(&mut mailbox.waker);
        for (_, waker) in mailbox.barriers.drain(..) {
            cx.wakes.push(waker);
        }
        mailbox.judge(&mut self.over, cx.limits);
        let session = Arc::clone(&mailbox.session);
        self.unlink(&session, id);
    }

    /// Takes the session from a mailbox, if it is still its own.
    fn unlink(&mut self, session: &Arc<str>, id: MailboxId) {
        if self.by_session.get(session) == Some(&id.0) {
            self.by_session.remove(session);
            self.last = None;
        }
    }

    /// Starts keeping the updates of sessions that are not known yet.
    pub(super) fn hold(&mut self) {
        self.holds += 1;
    }

    /// Ends one hold; with the last one, what nobody asked for is dropped.
    pub(super) fn release(&mut self, cx: &mut MailboxContext<'_>) {
        self.holds -= 1;
        if self.holds == 0 {
            self.held_bytes = 0;
            for run in self.held.drain().flat_map(|(_, runs)| runs) {
                cx.stats.updates_unknown_session += u64::from(run.0.lines);
            }
        }
    }

    /// Delivers a run to the mailbox of its session.
    pub(super) fn deliver(&mut self, run: Run, first: ReceiveSeq, cx: &mut MailboxContext<'_>) {
        cx.stats.updates_received += u64::from(run.lines);
        let known = match &self.last {
            Some((session, id)) if **session == *run.session => Some(*id),
            _ => self.by_session.get(&run.session).copied(),
        };
        let Some(id) = known else {
            self.keep(run, first, cx);
            return;
        };
        if !matches!(&self.last, Some((_, last)) if *last == id) {
            self.last = Some((Arc::clone(&run.session), id));
        }
        self.push(id, run, first, cx);
    }

    /// Keeps a run for a session that may become known.
    fn keep(&mut self, run: Run, first: ReceiveSeq, cx: &mut MailboxContext<'_>) {
        let room =
            self.held.contains_key(&run.session) || self.held.len() < cx.limits.held_sessions;
        if self.holds == 0 || !room || self.held_bytes + run.charge > cx.limits.held_bytes {
            cx.stats.updates_unknown_session += u64::from(run.lines);
            return;
        }
        self.held_bytes += run.charge;
        self.held
            .entry(Arc::clone(&run.session))
            .or_default()
            .push((run, first));
    }

    fn push(&mut self, id: u64, run: Run, first: ReceiveSeq, cx: &mut MailboxContext<'_>) {
        let Some(mailbox) = self.boxes.get_mut(&id) else {
            return;
        };
        mailbox.newest = first.plus(u64::from(run.lines) - 1);
        mailbox.counts.received += u64::from(run.lines);
        if mailbox.reading == Reading::Discard {
            cx.stats.updates_dropped += u64::from(run.lines);
            mailbox.counts.dropped += u64::from(run.lines);
            mailbox.hand_out(mailbox.newest, cx.wakes);
            return;
        }
        mailbox.queued += run.charge;
        self.total += run.charge;
        mailbox.updates += u64::from(run.lines);
        mailbox.queue.push_back(MailboxEntry::Run { run, first });
        self.total -= mailbox.keep_newest(mailbox.flow.depth(), cx.stats);
        self.total -= match mailbox.reading {
            Reading::New => mailbox.keep_bytes(cx.limits.held_bytes, cx.stats),
            Reading::Idle => mailbox.keep_newest(cx.limits.idle_updates, cx.stats),
            Reading::Live | Reading::Discard => 0,
        };
        self.total -= mailbox.keep_bytes(cx.limits.mailbox_hard, cx.stats);
        // Who takes items of what it has in hand stands still no longer.
        mailbox.exempt &= mailbox.progress.read() == mailbox.seen;
        mailbox.judge(&mut self.over, cx.limits);
        cx.wakes.take_from(&mut mailbox.waker);
        if self.total > cx.limits.mailbox_total {
            self.relieve_fullest(cx);
        }
    }

    /// Halves the fullest mailbox.
    fn relieve_fullest(&mut self, cx: &mut MailboxContext<'_>) {
        let Some(mailbox) = self.boxes.values_mut().max_by_key(|mailbox| mailbox.queued) else {
            return;
        };
        let keep = mailbox.queued / 2;
        self.total -= mailbox.keep_bytes(keep, cx.stats);
        mailbox.judge(&mut self.over, cx.limits);
    }

    /// Puts the end of a streamed call behind its updates.
    pub(super) fn end(
        &mut self,
        id: MailboxId,
        call: CallId,
        facts: CallFacts,
        result: Answered,
        cx: &mut MailboxContext<'_>,
    ) {
        let Some(mailbox) = self.boxes.get_mut(&id.0) else {
            return;
        };
        if mailbox.retired {
            // Its consumer came to the end before.
            return;
        }
        mailbox.newest = mailbox.newest.max(facts.response_seq);
        mailbox.queue.push_back(MailboxEntry::End {
            call,
            facts,
            result,
        });
        mailbox.cancelled = false;
        cx.wakes.take_from(&mut mailbox.waker);
        mailbox.judge(&mut self.over, cx.limits);
    }

    /// Notes how far each consumer is, at the start of a pause.
    pub(super) fn mark_progress(&mut self) {
        for mailbox in self.boxes.values_mut().filter(|mailbox| mailbox.over) {
            mailbox.seen = mailbox.progress.read();
        }
    }

    /// Exempts every consumer that has taken nothing since it was marked.
    pub(super) fn exempt_idle(&mut self, cx: &mut MailboxContext<'_>) {
        for mailbox in self.boxes.values_mut().filter(|mailbox| mailbox.over) {
            let progress = mailbox.progress.read();
            if progress == mailbox.seen {
                mailbox.exempt = true;
                cx.stats.exemptions += 1;
                mailbox.judge(&mut self.over, cx.limits);
            }
            mailbox.seen = progress;
        }
    }

    /// Tells every consumer that the connection ended.
    pub(super) fn close_all(&mut self, cx: &mut MailboxContext<'_>) {
        self.closed = true;
        for mailbox in self.boxes.values_mut().filter(|mailbox| !mailbox.retired) {
            mailbox.queue.push_back(MailboxEntry::Closed);
            cx.wakes.take_from(&mut mailbox.waker);
            for (_, waker) in mailbox.barriers.drain(..) {
                cx.wakes.push(waker);
            }
        }
    }

    /// Updates queued or held.
    pub(super) fn queued_updates(&self) -> u64 {
        let held: u64 = self
            .held
            .values()
            .flatten()
            .map(|(run, _)| u64::from(run.lines))
            .sum();
        held + self
            .boxes
            .values()
            .map(|mailbox| mailbox.updates)
            .sum::<u64>()
    }
}

impl MailboxEntry {
    /// Place of its first message on the receive clock.
    fn first(&self) -> Option<ReceiveSeq> {
        match self {
            Self::Run { first, .. } => Some(*first),
            Self::End { facts, .. } => Some(facts.response_seq),
            Self::Gap { .. } | Self::Closed => None,
        }
    }
}
