//! One mailbox: what is queued, and whether it pauses reading.

use std::{collections::VecDeque, sync::Arc, task::Waker};

use super::{Flow, MailboxCounts, MailboxEntry, Progress, Reading};
use crate::rpc::{Limits, ReceiveSeq, Stats, wake::Wakes};

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
    pub(super) seen: u64,
    /// Everything up to here was handed out and consumed.
    pub(super) handed: ReceiveSeq,
    pub(super) newest: ReceiveSeq,
    pub(super) barriers: Vec<(ReceiveSeq, Waker)>,
}

impl Mailbox {
    /// Decides whether the mailbox pauses reading.
    pub(super) fn judge(&mut self, over_count: &mut usize, limits: &Limits) {
        let mark = if self.over {
            limits.mailbox_soft / 2
        } else {
            limits.mailbox_soft
        };
        let live = self.reading == Reading::Live
            && self.flow == Flow::Lossless
            && !(self.cancelled || self.exempt || self.retired);
        let over = live && self.queued + self.in_hand > mark;
        match (self.over, over) {
            (false, true) => *over_count += 1,
            (true, false) => *over_count -= 1,
            _ => {}
        }
        self.over = over;
    }

    /// Drops all but the newest updates, as [`drop_while`](Self::drop_while).
    pub(super) fn keep_newest(&mut self, most: u64, stats: &mut Stats) -> usize {
        let before = self.queued;
        self.drop_while(|mailbox| mailbox.updates.saturating_sub(most), stats);
        before - self.queued
    }

    /// Drops whole runs until no more than this many bytes are queued, as
    /// [`drop_while`](Self::drop_while).
    pub(super) fn keep_bytes(&mut self, most: usize, stats: &mut Stats) -> usize {
        let before = self.queued;
        let all_of_a_run = |mailbox: &Self| u64::from(mailbox.queued > most) * u64::MAX;
        self.drop_while(all_of_a_run, stats);
        before - self.queued
    }

    /// Drops the oldest updates while some are `too_many`, and leaves a gap
    /// where they were. Ends of calls stay.
    pub(super) fn drop_while(&mut self, too_many: impl Fn(&Self) -> u64, stats: &mut Stats) {
        if too_many(self) == 0 {
            return;
        }
        let mut kept = Vec::new();
        let mut gap = 0;
        loop {
            let excess = too_many(self);
            if excess == 0 {
                break;
            }
            match self.queue.pop_front() {
                Some(MailboxEntry::Run { mut run, first }) if excess < u64::from(run.lines) => {
                    run.drop_first(excess);
                    self.updates -= excess;
                    self.counts.dropped += excess;
                    stats.updates_dropped += excess;
                    gap += excess;
                    let first = first.plus(excess);
                    self.queue.push_front(MailboxEntry::Run { run, first });
                }
                Some(MailboxEntry::Run { run, .. }) => {
                    self.queued -= run.charge;
                    self.updates -= u64::from(run.lines);
                    self.counts.dropped += u64::from(run.lines);
                    stats.updates_dropped += u64::from(run.lines);
                    gap += u64::from(run.lines);
                }
                Some(MailboxEntry::Gap { dropped }) => gap += dropped,
                Some(other) => {
                    if gap > 0 {
                        kept.push(MailboxEntry::Gap {
                            dropped: std::mem::take(&mut gap),
                        });
                    }
                    kept.push(other);
                }
                None => break,
            }
        }
        if let Some(MailboxEntry::Gap { dropped }) = self.queue.front_mut() {
            *dropped += std::mem::take(&mut gap);
        }
        if gap > 0 {
            kept.push(MailboxEntry::Gap { dropped: gap });
        }
        for entry in kept.into_iter().rev() {
            self.queue.push_front(entry);
        }
        self.give_back();
    }

    /// Takes the oldest entry; of a run, where only the newest are to be left, its
    /// first update alone.
    pub(super) fn take_front(&mut self) -> Option<MailboxEntry> {
        if self.flow != Flow::Lossless
            && let Some(MailboxEntry::Run { run, first }) = self.queue.front_mut()
            && run.lines > 1
        {
            let taken = MailboxEntry::Run {
                run: run.take_first(),
                first: *first,
            };
            *first = first.plus(1);
            return Some(taken);
        }
        self.queue.pop_front()
    }

    /// Gives memory back that the queue no longer needs: each entry is charged
    /// for its place in it only while it is there.
    pub(super) fn give_back(&mut self) {
        if self.queue.capacity() > QUEUE_KEPT && self.queue.len() < self.queue.capacity() / 4 {
            self.queue.shrink_to(2 * self.queue.len());
        }
    }

    /// Notes that everything up to `through` was consumed or is lost. Who waits
    /// for more than has arrived waits for what has.
    pub(super) fn hand_out(&mut self, through: ReceiveSeq, wakes: &mut Wakes) {
        self.handed = self.handed.max(through);
        let (handed, newest) = (self.handed, self.newest);
        let mut waiting = std::mem::take(&mut self.barriers);
        waiting.retain(|(seq, waker)| {
            let reached = (*seq).min(newest) <= handed;
            if reached {
                wakes.push(waker.clone());
            }
            !reached
        });
        self.barriers = waiting;
    }
}
