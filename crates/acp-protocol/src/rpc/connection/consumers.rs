//! What the consumers of updates call, by their mailboxes.

use std::{
    collections::VecDeque,
    task::{Poll, Waker},
};

use super::Connection;
use crate::rpc::{
    NewestSetting, ReceiveSeq,
    mailbox::{
        Flow, MailboxContext, MailboxCounts, MailboxEntry, MailboxId, Mailboxes, Progress, Reading,
        Taking,
    },
};

impl Connection {
    /// Opens the mailbox of a session, with the updates that came before it was
    /// known. `None` when it has one.
    pub fn open_mailbox(&mut self, session: &str) -> Option<(MailboxId, Progress)> {
        self.open_mailbox_since(session, ReceiveSeq::default())
    }

    /// Opens the mailbox of a session as [`open_mailbox`](Self::open_mailbox),
    /// without what came up to `since`: that was said to an earlier session of
    /// the same name.
    pub fn open_mailbox_since(
        &mut self,
        session: &str,
        since: ReceiveSeq,
    ) -> Option<(MailboxId, Progress)> {
        self.with_mailboxes(|mailboxes, cx| mailboxes.open(session, since, cx))
    }

    /// Closes a mailbox; what is queued is dropped.
    pub fn close_mailbox(&mut self, mailbox: MailboxId) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.close(mailbox, cx));
    }

    /// Ends a mailbox: its session may get another one, and its consumer comes to
    /// the end behind what is queued. It has to be closed all the same.
    pub fn retire_mailbox(&mut self, mailbox: MailboxId) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.retire(mailbox, cx));
    }

    /// Starts to keep updates of sessions that are not known yet. Each call
    /// needs its [`release`](Self::release).
    pub fn hold(&mut self) {
        self.mailboxes.hold();
    }

    /// Ends a [`hold`](Self::hold).
    pub fn release(&mut self) {
        self.with_mailboxes(Mailboxes::release);
    }

    /// Takes a batch from a mailbox. What was taken before counts as consumed.
    pub fn poll_take(
        &mut self,
        mailbox: MailboxId,
        batch: &mut VecDeque<MailboxEntry>,
        waker: &Waker,
    ) -> Poll<()> {
        let taking = Taking::Wait(waker);
        self.with_mailboxes(|mailboxes, cx| mailboxes.poll_take(mailbox, batch, taking, cx))
    }

    /// Takes what is there, and does not wait. What was taken before counts as consumed.
    pub fn take_now(&mut self, mailbox: MailboxId, batch: &mut VecDeque<MailboxEntry>) {
        let taking = Taking::Now;
        let _ =
            self.with_mailboxes(|mailboxes, cx| mailboxes.poll_take(mailbox, batch, taking, cx));
    }

    /// Takes what is there for a consumer that still holds what it took before: nothing
    /// counts as consumed.
    pub fn take_ahead(&mut self, mailbox: MailboxId, batch: &mut VecDeque<MailboxEntry>) {
        let taking = Taking::Ahead;
        let _ =
            self.with_mailboxes(|mailboxes, cx| mailboxes.poll_take(mailbox, batch, taking, cx));
    }

    /// Acts on what a consumer said by its [`Progress`].
    pub fn note_progress(&mut self, mailbox: MailboxId) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.note_progress(mailbox, cx));
    }

    /// Waits until everything up to `seq` was received, and what arrived for the mailbox
    /// was consumed; false when it will not be, because the mailbox came to its end.
    pub fn poll_handed(
        &mut self,
        mailbox: MailboxId,
        seq: ReceiveSeq,
        waker: &Waker,
    ) -> Poll<bool> {
        self.mailboxes.poll_handed(mailbox, seq, self.seq, waker)
    }

    /// Tells what happens to updates that come faster than they are read.
    pub fn set_flow(&mut self, mailbox: MailboxId, flow: Flow) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.set_flow(mailbox, flow, cx));
    }

    /// Takes the newest update of each kind that sets something of the session, whatever
    /// becomes of it in its place in the mailbox: at most one of each since this was called
    /// last, in wire order. Nothing once the mailbox is closed.
    pub fn take_settings(&mut self, mailbox: MailboxId) -> Vec<NewestSetting> {
        self.mailboxes.take_settings(mailbox)
    }

    /// What became of the updates of a mailbox; nothing once it is closed.
    #[must_use]
    pub fn mailbox_counts(&self, mailbox: MailboxId) -> MailboxCounts {
        self.mailboxes.counts(mailbox)
    }

    /// Tells that a consumer left updates unread that it had taken: they count as
    /// dropped.
    pub fn leave_updates(&mut self, mailbox: MailboxId, updates: u64) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.leave(mailbox, updates, cx));
    }

    /// Counts an update that was taken and made no sense.
    pub fn count_unreadable(&mut self, mailbox: MailboxId) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.count_unreadable(mailbox, cx));
    }

    /// Tells how a mailbox is read from now on.
    pub fn set_reading(&mut self, mailbox: MailboxId, reading: Reading) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.set_reading(mailbox, reading, cx));
    }

    /// Whether the turn of a mailbox was cancelled and is not answered yet.
    #[must_use]
    pub fn is_cancelling(&self, mailbox: MailboxId) -> bool {
        self.mailboxes.is_cancelled(mailbox)
    }

    /// Whether a call is open that is answered into the mailbox.
    #[must_use]
    pub fn is_streaming(&self, mailbox: MailboxId) -> bool {
        self.calls.any_streamed(mailbox)
    }

    /// Tells that the turn of a mailbox was cancelled: until its end it never
    /// pauses reading.
    pub fn set_cancelled(&mut self, mailbox: MailboxId) {
        self.with_mailboxes(|mailboxes, cx| mailboxes.set_cancelled(mailbox, cx));
    }

    /// Acts on the mailboxes, and wakes the driver where that may end a pause.
    pub(super) fn with_mailboxes<T>(
        &mut self,
        act: impl FnOnce(&mut Mailboxes, &mut MailboxContext<'_>) -> T,
    ) -> T {
        let before = self.mailboxes.over();
        let mut cx = MailboxContext {
            limits: &self.limits,
            received: self.seq,
            stats: &mut self.stats,
            wakes: &mut self.wakes,
        };
        let value = act(&mut self.mailboxes, &mut cx);
        if self.mailboxes.over() < before {
            self.kick_paused();
        }
        value
    }
}
