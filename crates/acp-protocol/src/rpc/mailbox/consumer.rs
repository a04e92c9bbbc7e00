//! What consumers do with their mailboxes.

use std::{
    collections::VecDeque,
    task::{Poll, Waker},
};

use super::{Flow, MailboxContext, MailboxCounts, MailboxEntry, MailboxId, Mailboxes, Reading};
use crate::rpc::{NewestSetting, ReceiveSeq, wake::register};

/// How a consumer takes a batch.
#[derive(Clone, Copy)]
pub(in crate::rpc) enum Taking<'a> {
    /// It comes back for more, and waits where there is nothing.
    Wait(&'a Waker),
    /// It comes back for more.
    Now,
    /// It still has in hand what it took before.
    Ahead,
}

impl Mailboxes {
    /// Takes a batch. Everything taken before counts as consumed, unless the consumer
    /// only looks `ahead`.
    pub(in crate::rpc) fn poll_take(
        &mut self,
        id: MailboxId,
        batch: &mut VecDeque<MailboxEntry>,
        taking: Taking<'_>,
        cx: &mut MailboxContext<'_>,
    ) -> Poll<()> {
        let Some(mailbox) = self.boxes.get_mut(&id.0) else {
            batch.push_back(MailboxEntry::Closed);
            return Poll::Ready(());
        };
        let ahead = matches!(taking, Taking::Ahead);
        if !ahead {
            mailbox.in_hand = 0;
        }
        mailbox.exempt = false;
        let most = mailbox.in_hand + cx.limits.mailbox_batch;
        let before = mailbox.queued;
        while mailbox.in_hand < most {
            let Some(entry) = mailbox.take_front() else {
                break;
            };
            if let MailboxEntry::Run { run, .. } = &entry {
                mailbox.in_hand += run.charge;
                cx.stats.updates_delivered += u64::from(run.lines);
            }
            batch.push_back(entry);
            if mailbox.flow.drops_oldest() {
                // One at a time: what is in hand cannot be dropped any more.
                break;
            }
        }
        self.total = self.total - before + mailbox.queued;
        if !ahead {
            let next = batch
                .iter()
                .chain(&mailbox.queue)
                .find_map(MailboxEntry::first);
            let last = next.map_or(mailbox.newest, ReceiveSeq::before);
            mailbox.hand_out(last, cx);
        }
        mailbox.give_back();
        mailbox.judge(&mut self.over, self.crowded, cx.limits);
        if let Taking::Wait(waker) = taking
            && batch.is_empty()
        {
            register(&mut mailbox.waker, waker);
        }
        self.review(cx);
        match batch.is_empty() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }
    }

    /// Waits until everything up to `seq` was received and consumed; false when it will
    /// not be.
    pub(in crate::rpc) fn poll_handed(
        &mut self,
        id: MailboxId,
        seq: ReceiveSeq,
        received: ReceiveSeq,
        waker: &Waker,
    ) -> Poll<bool> {
        let Some(mailbox) = self.boxes.get_mut(&id.0) else {
            return Poll::Ready(false);
        };
        // A consumer from here on tells us.
        mailbox.progress.watch(true);
        let reached = seq <= received && mailbox.is_consumed(seq);
        if reached || self.closed || mailbox.retired {
            mailbox.progress.watch(!mailbox.barriers.is_empty());
            return Poll::Ready(reached);
        }
        mailbox
            .barriers
            .retain(|(known, of)| *known != seq || !of.will_wake(waker));
        mailbox.barriers.push((seq, waker.clone()));
        if seq > received {
            self.awaited = Some(self.awaited.map_or(seq, |awaited| awaited.min(seq)));
        }
        Poll::Pending
    }

    /// Wakes those who wait for what the consumer says it has consumed.
    pub(in crate::rpc) fn note_progress(&mut self, id: MailboxId, cx: &mut MailboxContext<'_>) {
        if let Some(mailbox) = self.boxes.get_mut(&id.0) {
            mailbox.wake_reached(cx);
        }
    }

    /// Changes what happens to updates that come too fast.
    pub(in crate::rpc) fn set_flow(
        &mut self,
        id: MailboxId,
        flow: Flow,
        cx: &mut MailboxContext<'_>,
    ) {
        let Some(mailbox) = self.boxes.get_mut(&id.0) else {
            return;
        };
        mailbox.flow = flow;
        let before = mailbox.queued;
        mailbox.keep_newest(flow.depth(), cx.stats);
        self.total = self.total - before + mailbox.queued;
        mailbox.judge(&mut self.over, self.crowded, cx.limits);
        self.review(cx);
    }

    /// Takes the newest updates that set something, read or not.
    pub(in crate::rpc) fn take_settings(&mut self, id: MailboxId) -> Vec<NewestSetting> {
        let mailbox = self.boxes.get_mut(&id.0);
        mailbox.map_or_else(Vec::new, |mailbox| mailbox.settings.take())
    }

    /// What became of the updates of a mailbox.
    pub(in crate::rpc) fn counts(&self, id: MailboxId) -> MailboxCounts {
        self.boxes
            .get(&id.0)
            .map_or_else(MailboxCounts::default, |mailbox| mailbox.counts)
    }

    /// Notes that a consumer left updates unread that it had taken.
    pub(in crate::rpc) fn leave(
        &mut self,
        id: MailboxId,
        updates: u64,
        cx: &mut MailboxContext<'_>,
    ) {
        cx.stats.updates_delivered -= updates;
        cx.stats.updates_dropped += updates;
        if let Some(mailbox) = self.boxes.get_mut(&id.0) {
            mailbox.counts.dropped += updates;
        }
    }

    /// Counts an update that was taken and made no sense.
    pub(in crate::rpc) fn count_unreadable(&mut self, id: MailboxId, cx: &mut MailboxContext<'_>) {
        cx.stats.updates_unreadable += 1;
        if let Some(mailbox) = self.boxes.get_mut(&id.0) {
            mailbox.counts.unreadable += 1;
        }
    }

    /// Changes how a mailbox is read.
    pub(in crate::rpc) fn set_reading(
        &mut self,
        id: MailboxId,
        reading: Reading,
        cx: &mut MailboxContext<'_>,
    ) {
        let Some(mailbox) = self.boxes.get_mut(&id.0) else {
            return;
        };
        mailbox.reading = reading;
        let before = mailbox.queued;
        match reading {
            Reading::New | Reading::Live => {}
            Reading::Idle => {
                mailbox.in_hand = 0;
                mailbox.keep_newest(cx.limits.idle_updates, cx.stats);
            }
            Reading::Discard => {
                mailbox.in_hand = 0;
                mailbox.keep_newest(0, cx.stats);
                mailbox.hand_out(mailbox.newest, cx);
            }
        }
        self.total = self.total - before + mailbox.queued;
        mailbox.judge(&mut self.over, self.crowded, cx.limits);
        self.review(cx);
    }

    /// Marks the turn as cancelled until its end came.
    pub(in crate::rpc) fn set_cancelled(&mut self, id: MailboxId, cx: &mut MailboxContext<'_>) {
        let Some(mailbox) = self.boxes.get_mut(&id.0) else {
            return;
        };
        mailbox.cancelled = true;
        mailbox.judge(&mut self.over, self.crowded, cx.limits);
    }

    /// Whether a cancelled turn has not been answered yet.
    pub(in crate::rpc) fn is_cancelled(&self, id: MailboxId) -> bool {
        self.boxes
            .get(&id.0)
            .is_some_and(|mailbox| mailbox.cancelled)
    }
}
