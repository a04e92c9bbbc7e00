//! What consumers do with their mailboxes.

use std::{
    collections::VecDeque,
    task::{Poll, Waker},
};

use super::{Flow, MailboxContext, MailboxCounts, MailboxEntry, MailboxId, Mailboxes, Reading};
use crate::rpc::{ReceiveSeq, wake::register};

impl Mailboxes {
    /// Takes a batch. Everything taken before counts as consumed.
    pub(in crate::rpc) fn poll_take(
        &mut self,
        id: MailboxId,
        batch: &mut VecDeque<MailboxEntry>,
        waker: Option<&Waker>,
        cx: &mut MailboxContext<'_>,
    ) -> Poll<()> {
        let Some(mailbox) = self.boxes.get_mut(&id.0) else {
            batch.push_back(MailboxEntry::Closed);
            return Poll::Ready(());
        };
        mailbox.in_hand = 0;
        mailbox.exempt = false;
        let mut last = mailbox.newest;
        while mailbox.in_hand < cx.limits.mailbox_batch {
            let Some(entry) = mailbox.take_front() else {
                break;
            };
            if let MailboxEntry::Run { run, .. } = &entry {
                mailbox.queued -= run.charge;
                self.total -= run.charge;
                mailbox.in_hand += run.charge;
                mailbox.updates -= u64::from(run.lines);
                cx.stats.updates_delivered += u64::from(run.lines);
            }
            batch.push_back(entry);
            if mailbox.flow != Flow::Lossless {
                // One at a time: what is in hand cannot be dropped any more.
                break;
            }
        }
        if let Some(first) = batch
            .iter()
            .chain(&mailbox.queue)
            .find_map(MailboxEntry::first)
        {
            last = first.minus_one();
        }
        mailbox.hand_out(last, cx.wakes);
        mailbox.give_back();
        mailbox.judge(&mut self.over, cx.limits);
        if !batch.is_empty() {
            return Poll::Ready(());
        }
        if let Some(waker) = waker {
            register(&mut mailbox.waker, waker);
        }
        Poll::Pending
    }

    /// Waits until everything up to `seq` was consumed; false when it will not be.
    pub(in crate::rpc) fn poll_handed(
        &mut self,
        id: MailboxId,
        seq: ReceiveSeq,
        waker: &Waker,
    ) -> Poll<bool> {
        match self.boxes.get_mut(&id.0) {
            Some(mailbox)
                if mailbox.handed < seq.min(mailbox.newest)
                    && !(self.closed || mailbox.retired) =>
            {
                mailbox
                    .barriers
                    .retain(|(known, of)| *known != seq || !of.will_wake(waker));
                mailbox.barriers.push((seq, waker.clone()));
                Poll::Pending
            }
            Some(mailbox) => Poll::Ready(mailbox.handed >= seq.min(mailbox.newest)),
            None => Poll::Ready(false),
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
        self.total -= mailbox.keep_newest(flow.depth(), cx.stats);
        mailbox.judge(&mut self.over, cx.limits);
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
        match reading {
            Reading::New | Reading::Live => {}
            Reading::Idle => {
                mailbox.in_hand = 0;
                self.total -= mailbox.keep_newest(cx.limits.idle_updates, cx.stats);
            }
            Reading::Discard => {
                mailbox.in_hand = 0;
                self.total -= mailbox.keep_newest(0, cx.stats);
                mailbox.hand_out(mailbox.newest, cx.wakes);
            }
        }
        mailbox.judge(&mut self.over, cx.limits);
    }

    /// Marks the turn as cancelled until its end came.
    pub(in crate::rpc) fn set_cancelled(&mut self, id: MailboxId, cx: &mut MailboxContext<'_>) {
        let Some(mailbox) = self.boxes.get_mut(&id.0) else {
            return;
        };
        mailbox.cancelled = true;
        mailbox.judge(&mut self.over, cx.limits);
    }

    /// Whether a cancelled turn has not been answered yet.
    pub(in crate::rpc) fn is_cancelled(&self, id: MailboxId) -> bool {
        self.boxes
            .get(&id.0)
            .is_some_and(|mailbox| mailbox.cancelled)
    }
}
