//! One mailbox: what is queued, and whether it pauses reading.

use std::{collections::VecDeque, sync::Arc, task::Waker};

use super::{Flow, MailboxContext, MailboxCounts, MailboxEntry, Progress, Reading};
use crate::rpc::{Limits, ReceiveSeq, Stats, setting::NewestSettings};

/// Places of a queue that are kept while they are empty.
const QUEUE_KEPT: usize = 64;

#[derive(Debug)]
pub(super) struct Mailbox {
    pub(super) session: Arc<str>,
    pub(super) queue: VecDeque<MailboxEntry>,
    /// Bytes charged for what is queued.
    pub(super) queued: usize,
    /// Bytes charged for what the consumer took last.
    pub(super) in_hand: usize,
    /// Updates queued.
    pub(super) updates: u64,
    pub(super) reading: Reading,
    pub(super) flow: Flow,
    pub(super) counts: MailboxCounts,
    /// The turn was cancelled and has not ended: its updates never pause.
    pub(super) cancelled: bool,
    /// The consumer stood still: it does not pause reading until it moves.
    pub(super) exempt: bool,
    /// Whether it counts among those that pause reading.
    pub(super) over: bool,
    /// Its session is no longer its own: nothing more comes.
    pub(super) retired: bool,
    pub(super) waker: Option<Waker>,
    pub(super) progress: Progress,
    pub(super) seen: ReceiveSeq,
    /// Everything up to here was handed out and consumed.
    pub(super) handed: ReceiveSeq,
    pub(super) newest: ReceiveSeq,
    pub(super) barriers: Vec<(ReceiveSeq, Waker)>,
    pub(super) settings: NewestSettings,
}

impl Mailbox {
    /// Decides whether the mailbox pauses reading.
    ///
    /// `crowded` says that all mailboxes together hold so much that none spills.
    pub(super) fn judge(&mut self, over_count: &mut usize, crowded: bool, limits: &Limits) {
        let soft = match self.flow {
            Flow::Spill if !crowded => limits.mailbox_spill,
            _ => limits.mailbox_soft,
        };
        let mark = if self.over { soft / 2 } else { soft };
        let live = self.reading == Reading::Live
            && !self.flow.drops_oldest()
            && !(self.cancelled || self.exempt || self.retired);
        let over = live && self.queued + self.in_hand > mark;
        match (self.over, over) {
            (false, true) => *over_count += 1,
            (true, false) => *over_count -= 1,
            _ => {}
        }
        self.over = over;
    }

    /// Queues an entry behind the others.
    pub(super) fn push_back(&mut self, entry: MailboxEntry) {
        self.queued += entry.charge();
        self.updates += entry.updates();
        self.queue.push_back(entry);
    }

    /// Drops all but the newest updates, as [`drop_while`](Self::drop_while).
    pub(super) fn keep_newest(&mut self, most: u64, stats: &mut Stats) {
        self.drop_while(|mailbox| mailbox.updates.saturating_sub(most), stats);
    }

    /// Drops whole runs until no more than this many bytes are queued, as
    /// [`drop_while`](Self::drop_while).
    pub(super) fn keep_bytes(&mut self, most: usize, stats: &mut Stats) {
        let all_of_a_run = |mailbox: &Self| u64::from(mailbox.queued > most) * u64::MAX;
        self.drop_while(all_of_a_run, stats);
    }

    /// Drops the oldest updates while some are `too_many`, and leaves a gap
    /// where they were. Ends of calls stay.
    fn drop_while(&mut self, too_many: impl Fn(&Self) -> u64, stats: &mut Stats) {
        if too_many(self) == 0 {
            return;
        }
        let mut kept = Vec::new();
        let mut gap = Gathered::default();
        loop {
            let excess = too_many(self);
            if excess == 0 {
                break;
            }
            let Some(entry) = self.queue.pop_front() else {
                break;
            };
            self.queued -= entry.charge();
            self.updates -= entry.updates();
            match entry {
                MailboxEntry::Run { mut run, first } if excess < u64::from(run.lines) => {
                    run.drop_first(excess);
                    self.lose(excess, stats);
                    gap.add(excess, first);
                    let first = first.plus(excess);
                    self.push_front(MailboxEntry::Run { run, first });
                }
                MailboxEntry::Run { run, first } => {
                    self.lose(run.lines.into(), stats);
                    gap.add(run.lines.into(), first);
                }
                // It is counted already.
                MailboxEntry::Gap { dropped, first } => gap.add(dropped, first),
                other => {
                    kept.extend(gap.take());
                    kept.push(other);
                }
            }
        }
        if gap.dropped > 0
            && let Some(MailboxEntry::Gap { dropped, first }) = self.queue.front_mut()
        {
            *dropped += gap.dropped;
            *first = gap.first;
        } else {
            kept.extend(gap.take());
        }
        for entry in kept.into_iter().rev() {
            self.push_front(entry);
        }
        self.give_back();
    }

    fn push_front(&mut self, entry: MailboxEntry) {
        self.queued += entry.charge();
        self.updates += entry.updates();
        self.queue.push_front(entry);
    }

    fn lose(&mut self, updates: u64, stats: &mut Stats) {
        self.counts.dropped += updates;
        stats.updates_dropped += updates;
    }

    /// Takes the oldest entry; of a run, where only the newest are to be left, its
    /// first update alone.
    pub(super) fn take_front(&mut self) -> Option<MailboxEntry> {
        if self.flow.drops_oldest()
            && let Some(MailboxEntry::Run { run, first }) = self.queue.front_mut()
            && run.lines > 1
        {
            let taken = MailboxEntry::Run {
                run: run.take_first(),
                first: *first,
            };
            *first = first.plus(1);
            self.updates -= 1;
            return Some(taken);
        }
        let entry = self.queue.pop_front()?;
        self.queued -= entry.charge();
        self.updates -= entry.updates();
        Some(entry)
    }

    /// Gives memory back that the queue no longer needs: each entry is charged
    /// for its place in it only while it is there.
    pub(super) fn give_back(&mut self) {
        if self.queue.capacity() > QUEUE_KEPT && self.queue.len() < self.queue.capacity() / 4 {
            self.queue.shrink_to(2 * self.queue.len());
        }
    }

    /// Everything up to here was consumed or is lost.
    fn handed(&self) -> ReceiveSeq {
        self.handed.max(self.progress.consumed())
    }

    /// Whether everything that arrived up to `seq`, which was received, was consumed.
    pub(super) fn is_consumed(&self, seq: ReceiveSeq) -> bool {
        self.handed() >= seq.min(self.newest)
    }

    /// Notes that everything up to `through` was consumed or is lost.
    pub(super) fn hand_out(&mut self, through: ReceiveSeq, cx: &mut MailboxContext<'_>) {
        self.handed = self.handed.max(through);
        if !self.barriers.is_empty() {
            self.wake_reached(cx);
        }
    }

    /// Wakes those who wait for what was received and consumed.
    pub(super) fn wake_reached(&mut self, cx: &mut MailboxContext<'_>) {
        let barriers = std::mem::take(&mut self.barriers);
        for (seq, waker) in barriers {
            if seq <= cx.received && self.is_consumed(seq) {
                cx.wakes.push(waker);
            } else {
                self.barriers.push((seq, waker));
            }
        }
        self.progress.watch(!self.barriers.is_empty());
    }
}

/// Updates that become one gap.
#[derive(Debug, Default)]
struct Gathered {
    dropped: u64,
    first: ReceiveSeq,
}

impl Gathered {
    fn add(&mut self, dropped: u64, first: ReceiveSeq) {
        if self.dropped == 0 {
            self.first = first;
        }
        self.dropped += dropped;
    }

    fn take(&mut self) -> Option<MailboxEntry> {
        let Self { dropped, first } = std::mem::take(self);
        (dropped > 0).then_some(MailboxEntry::Gap { dropped, first })
    }
}
