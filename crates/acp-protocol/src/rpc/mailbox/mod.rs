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
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

pub(super) use consumer::Taking;
pub use flow::{Flow, MailboxCounts};
use foldhash::HashMap;
use one::Mailbox;

use super::{
    CallFacts, Limits, ReceiveSeq, Stats,
    calls::{Answered, CallId},
    inbound::Run,
    setting::NewestSettings,
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
    /// Updates that were dropped here, or could not be read.
    Gap {
        /// How many.
        dropped: u64,
        /// Place of the first on the receive clock.
        first: ReceiveSeq,
    },
    /// The end of a streamed call, behind all of its updates.
    End {
        /// The call.
        call: CallId,
        /// What is known of it.
        facts: CallFacts,
        /// The place in what was received when it ended.
        at: ReceiveSeq,
        /// Its answer.
        result: Answered,
    },
    /// The connection ended; nothing follows.
    Closed,
}

/// How a mailbox treats updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Nobody has read yet: all that comes is kept, and the newest [`Limits::held_bytes`]
    /// where that is more. A mailbox begins so.
    New,
    /// Somebody reads: nothing is lost below the hard mark, and reading from
    /// the peer may pause.
    Live,
    /// Nobody reads now: the newest [`Limits::idle_updates`] are kept.
    Idle,
    /// Nobody will read what comes until the current call has ended.
    Discard,
}

/// How far a consumer is, told without the connection's lock.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<ProgressCell>);

#[derive(Debug, Default)]
struct ProgressCell {
    /// Everything up to here was consumed.
    consumed: AtomicU64,
    /// Somebody waits for that.
    watched: AtomicBool,
}

impl Progress {
    /// Tells that everything up to `seq` was consumed. Only the consumer calls it, each
    /// time it comes back for more. True where somebody waits: call
    /// [`Connection::note_progress`](super::Connection::note_progress) then.
    ///
    /// A waiter that begins in this very moment may be missed, and is told the next time
    /// the consumer comes back, or at once where that finds nothing more.
    #[must_use]
    pub fn consume(&self, seq: ReceiveSeq) -> bool {
        // One writer: a plain store is enough.
        self.0.consumed.store(seq.get(), Ordering::Relaxed);
        self.0.watched.load(Ordering::Relaxed)
    }

    fn consumed(&self) -> ReceiveSeq {
        ReceiveSeq::new(self.0.consumed.load(Ordering::Relaxed))
    }

    fn watch(&self, watched: bool) {
        self.0.watched.store(watched, Ordering::Relaxed);
    }
}

/// Bytes an entry costs besides its own: its place in the queue, which grows by doubling.
pub(super) const ENTRY_OVERHEAD: usize = 2 * size_of::<MailboxEntry>();

/// What mailboxes need of their connection.
pub(super) struct MailboxContext<'a> {
    pub(super) limits: &'a Limits,
    /// Everything up to here was received.
    pub(super) received: ReceiveSeq,
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
    /// That is so much that no mailbox spills.
    crowded: bool,
    /// Updates of sessions that are not known yet.
    held: HashMap<Arc<str>, Vec<MailboxEntry>>,
    held_bytes: usize,
    holds: usize,
    /// The first place that has not been received and is waited for.
    awaited: Option<ReceiveSeq>,
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
            seen: ReceiveSeq::default(),
            handed: ReceiveSeq::default(),
            newest: ReceiveSeq::default(),
            barriers: Vec::new(),
            settings: NewestSettings::default(),
        };
        self.boxes.insert(id, mailbox);
        for entry in held {
            self.held_bytes -= entry.charge();
            // Updates that came before belong to an earlier session of the same name.
            match entry {
                MailboxEntry::Run { run, first } if first > since => self.push(id, run, first, cx),
                MailboxEntry::Run { run, .. } => {
                    cx.stats.updates_unknown_session += u64::from(run.lines);
                }
                MailboxEntry::Gap { dropped, first } if first > since => {
                    self.push_gap(id, dropped, first, cx);
                }
                _ => {}
            }
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
        self.review(cx);
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
        mailbox.judge(&mut self.over, self.crowded, cx.limits);
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
            for entry in self.held.drain().flat_map(|(_, entries)| entries) {
                cx.stats.updates_unknown_session += entry.updates();
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
            let session = Arc::clone(&run.session);
            if let Err(entry) = self.keep(&session, MailboxEntry::Run { run, first }, cx) {
                cx.stats.updates_unknown_session += entry.updates();
            }
            return;
        };
        if !matches!(&self.last, Some((_, last)) if *last == id) {
            self.last = Some((Arc::clone(&run.session), id));
        }
        self.push(id, run, first, cx);
    }

    /// Notes an update of a session that cannot be read.
    pub(super) fn lose(&mut self, session: &Arc<str>, at: ReceiveSeq, cx: &mut MailboxContext<'_>) {
        cx.stats.updates_received += 1;
        let (dropped, first) = (1, at);
        if let Some(id) = self.by_session.get(session).copied() {
            cx.stats.updates_dropped += 1;
            self.push_gap(id, dropped, first, cx);
            return;
        }
        match self.keep(session, MailboxEntry::Gap { dropped, first }, cx) {
            Ok(()) => cx.stats.updates_dropped += 1,
            Err(_) => cx.stats.updates_unknown_session += 1,
        }
    }

    /// Notes an update that cannot be read and belongs to one of these mailboxes: each
    /// of them has a gap, and the connection counts one.
    pub(super) fn lose_in(
        &mut self,
        mailboxes: &[MailboxId],
        at: ReceiveSeq,
        cx: &mut MailboxContext<'_>,
    ) {
        cx.stats.updates_received += 1;
        match mailboxes {
            [] => cx.stats.updates_unknown_session += 1,
            _ => cx.stats.updates_dropped += 1,
        }
        for mailbox in mailboxes {
            self.push_gap(mailbox.0, 1, at, cx);
        }
    }

    /// Keeps what came for a session that may become known; gives it back where there is
    /// no room for it.
    fn keep(
        &mut self,
        session: &Arc<str>,
        entry: MailboxEntry,
        cx: &mut MailboxContext<'_>,
    ) -> Result<(), MailboxEntry> {
        let room = self.held.contains_key(session) || self.held.len() < cx.limits.held_sessions;
        let charge = entry.charge();
        if self.holds == 0 || !room || self.held_bytes + charge > cx.limits.held_bytes {
            return Err(entry);
        }
        self.held_bytes += charge;
        self.held
            .entry(Arc::clone(session))
            .or_default()
            .push(entry);
        Ok(())
    }

    fn push(&mut self, id: u64, run: Run, first: ReceiveSeq, cx: &mut MailboxContext<'_>) {
        let Some(mailbox) = self.boxes.get_mut(&id) else {
            return;
        };
        mailbox.newest = first.plus(u64::from(run.lines) - 1);
        mailbox.counts.received += u64::from(run.lines);
        if run.sets {
            let most = cx.limits.setting_bytes;
            mailbox.settings.learn(&run.bytes, first, most);
        }
        if mailbox.reading == Reading::Discard {
            cx.stats.updates_dropped += u64::from(run.lines);
            mailbox.counts.dropped += u64::from(run.lines);
            mailbox.hand_out(mailbox.newest, cx);
            return;
        }
        let before = mailbox.queued;
        mailbox.push_back(MailboxEntry::Run { run, first });
        mailbox.keep_newest(mailbox.flow.depth(), cx.stats);
        match mailbox.reading {
            Reading::New => mailbox.keep_bytes(cx.limits.held_bytes, cx.stats),
            Reading::Idle => mailbox.keep_newest(cx.limits.idle_updates, cx.stats),
            Reading::Live | Reading::Discard => {}
        }
        mailbox.keep_bytes(cx.limits.mailbox_hard, cx.stats);
        self.total = self.total - before + mailbox.queued;
        // Who takes items of what it has in hand stands still no longer.
        mailbox.exempt &= mailbox.progress.consumed() == mailbox.seen;
        mailbox.judge(&mut self.over, self.crowded, cx.limits);
        cx.wakes.take_from(&mut mailbox.waker);
        if self.total > cx.limits.mailbox_total {
            self.relieve_fullest(cx);
        }
        self.review(cx);
    }

    /// Judges all mailboxes anew when all of them together hold too much to spill, or no
    /// longer do.
    fn review(&mut self, cx: &mut MailboxContext<'_>) {
        let mark = cx.limits.mailbox_spill.saturating_mul(3) / 2;
        let crowded = self.total > if self.crowded { mark / 2 } else { mark };
        if crowded != self.crowded {
            self.crowded = crowded;
            for mailbox in self.boxes.values_mut() {
                mailbox.judge(&mut self.over, crowded, cx.limits);
            }
        }
    }

    /// Leaves a gap behind what is queued, for updates that are counted as dropped.
    fn push_gap(&mut self, id: u64, dropped: u64, first: ReceiveSeq, cx: &mut MailboxContext<'_>) {
        let Some(mailbox) = self.boxes.get_mut(&id).filter(|mailbox| !mailbox.retired) else {
            return;
        };
        mailbox.newest = first;
        mailbox.counts.received += dropped;
        mailbox.counts.dropped += dropped;
        if mailbox.reading == Reading::Discard {
            mailbox.hand_out(first, cx);
            return;
        }
        if let Some(MailboxEntry::Gap {
            dropped: before, ..
        }) = mailbox.queue.back_mut()
        {
            *before += dropped;
        } else {
            let before = mailbox.queued;
            mailbox.push_back(MailboxEntry::Gap { dropped, first });
            self.total += mailbox.queued - before;
        }
        mailbox.judge(&mut self.over, self.crowded, cx.limits);
        cx.wakes.take_from(&mut mailbox.waker);
    }

    /// Halves the fullest mailbox.
    fn relieve_fullest(&mut self, cx: &mut MailboxContext<'_>) {
        let Some(mailbox) = self.boxes.values_mut().max_by_key(|mailbox| mailbox.queued) else {
            return;
        };
        let before = mailbox.queued;
        mailbox.keep_bytes(before / 2, cx.stats);
        self.total = self.total - before + mailbox.queued;
        mailbox.judge(&mut self.over, self.crowded, cx.limits);
    }

    /// Puts the end of a streamed call behind its updates.
    pub(super) fn end(
        &mut self,
        id: MailboxId,
        at: ReceiveSeq,
        end: MailboxEntry,
        cx: &mut MailboxContext<'_>,
    ) {
        let Some(mailbox) = self.boxes.get_mut(&id.0) else {
            return;
        };
        if mailbox.retired {
            // Its consumer came to the end before.
            return;
        }
        mailbox.newest = mailbox.newest.max(at);
        mailbox.push_back(end);
        mailbox.cancelled = false;
        cx.wakes.take_from(&mut mailbox.waker);
        mailbox.judge(&mut self.over, self.crowded, cx.limits);
    }

    /// Notes how far each consumer is, at the start of a pause.
    pub(super) fn mark_progress(&mut self) {
        for mailbox in self.boxes.values_mut().filter(|mailbox| mailbox.over) {
            mailbox.seen = mailbox.progress.consumed();
        }
    }

    /// Exempts every consumer that has taken nothing since it was marked.
    pub(super) fn exempt_idle(&mut self, cx: &mut MailboxContext<'_>) {
        for mailbox in self.boxes.values_mut().filter(|mailbox| mailbox.over) {
            let consumed = mailbox.progress.consumed();
            if consumed == mailbox.seen {
                mailbox.exempt = true;
                cx.stats.exemptions += 1;
                mailbox.judge(&mut self.over, self.crowded, cx.limits);
            }
            mailbox.seen = consumed;
        }
    }

    /// Whether somebody waits for this place to be received.
    #[inline]
    pub(super) fn is_awaited(&self, received: ReceiveSeq) -> bool {
        self.awaited.is_some_and(|awaited| awaited <= received)
    }

    /// Wakes those who waited for a place that is received now.
    pub(super) fn wake_awaiting(&mut self, cx: &mut MailboxContext<'_>) {
        self.awaited = None;
        for mailbox in self.boxes.values_mut() {
            mailbox.wake_reached(cx);
            let later = mailbox.barriers.iter().map(|(seq, _)| *seq);
            let later = later.filter(|seq| *seq > cx.received);
            self.awaited = self.awaited.into_iter().chain(later).min();
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
            .map(MailboxEntry::updates)
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
            Self::Run { first, .. } | Self::Gap { first, .. } => Some(*first),
            Self::End { at, .. } => Some(*at),
            Self::Closed => None,
        }
    }

    /// Bytes it counts for while it is queued.
    fn charge(&self) -> usize {
        match self {
            Self::Run { run, .. } => run.charge,
            Self::Gap { .. } => ENTRY_OVERHEAD,
            // As many as there are calls, and their answers have a bound of their own.
            Self::End { .. } | Self::Closed => 0,
        }
    }

    /// How many updates it holds.
    fn updates(&self) -> u64 {
        match self {
            Self::Run { run, .. } => u64::from(run.lines),
            _ => 0,
        }
    }
}
