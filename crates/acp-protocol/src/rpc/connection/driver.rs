//! What the driver of a connection calls: the task that reads and writes.

use std::{task::Waker, time::Instant};

use super::{Connection, ConnectionEvent, DriverTask};
use crate::rpc::{mailbox::Mailboxes, wake::register};

impl Connection {
    /// Tells that the driver is awake, and what it has to do. Output is taken
    /// into `buffer`, which has to be empty, where one is given.
    pub fn look(&mut self, buffer: Option<&mut Vec<u8>>, now: Instant) -> DriverTask {
        self.driver.asleep = false;
        self.driver.paused = false;
        self.close_if_finished();
        if let Some(buffer) = buffer {
            self.take_due(buffer, now);
        }
        self.pace.pass(now);
        self.pace.tell(&self.limits);
        DriverTask {
            event: self.events.pop_front(),
            closed: self.closed.clone(),
            may_read: self.may_read(now),
            last_words: self.last_words.clone(),
            timeout: self.next_timeout(),
        }
    }

    /// Lets the driver sleep until there is something to do. `blocked` says
    /// that it waits for the writer, so output need not wake it; `was_reading`,
    /// that it waits for the reader.
    ///
    /// Gives false when there is something to do already: look again.
    pub fn park(&mut self, waker: &Waker, blocked: bool, was_reading: bool, now: Instant) -> bool {
        let may_read = self.may_read(now);
        if self.closed.is_some()
            || !self.events.is_empty()
            || (!blocked && self.is_due())
            || (may_read && !was_reading)
            || self.has_finished()
        {
            return false;
        }
        self.driver.asleep = !blocked;
        self.driver.holds = self.pace.waits();
        self.driver.paused = !may_read;
        register(&mut self.driver.waker, waker);
        true
    }

    /// Tells whether the driver may read. It stops while a consumer is full,
    /// unless this side waits for something that only reading can bring.
    ///
    /// Behind the end of the peer's stream there is nothing to read.
    pub fn may_read(&mut self, now: Instant) -> bool {
        if self.ending.is_some() {
            return false;
        }
        let paused = self.mailboxes.over() > 0
            && self.closed.is_none()
            && self.last_words.is_none()
            && !self.calls.any_plain()
            && !self.credit.anyone_waits();
        match (paused, &self.pause) {
            (true, None) => {
                self.stats.pauses += 1;
                self.mailboxes.mark_progress();
                self.pause = Some(self.limits.patience.map(|patience| now + patience));
            }
            (false, Some(_)) => self.pause = None,
            _ => {}
        }
        !paused
    }

    /// When [`handle_timeout`](Self::handle_timeout) wants to be called.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Instant> {
        let pause = self.pause.flatten();
        let ending = self.ending_timeout();
        pause
            .into_iter()
            .chain(self.pace.timeout())
            .chain(ending)
            .min()
    }

    /// Exempts consumers that have not moved since the pause began, lets data go
    /// that waited for more of it, and ends what goes on too long behind the end of
    /// the peer's stream.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.pace.pass(now);
        self.pass_ending(now);
        let (Some(Some(until)), Some(patience)) = (self.pause, self.limits.patience) else {
            return;
        };
        if until <= now {
            self.pause = Some(Some(now + patience));
            self.with_mailboxes(Mailboxes::exempt_idle);
        }
    }

    /// Takes all bytes that wait to be written, in exchange for an empty
    /// buffer. False when there are none.
    pub fn take_output(&mut self, buffer: &mut Vec<u8>) -> bool {
        debug_assert!(buffer.is_empty(), "only an empty buffer is taken");
        self.credit.yielded = false;
        if self.out.is_empty() {
            return false;
        }
        std::mem::swap(&mut self.out, buffer);
        self.in_flight = buffer.len();
        true
    }

    /// Takes the bytes that are to be written now, as
    /// [`take_output`](Self::take_output). Data may have to wait for more of it.
    pub fn take_due(&mut self, buffer: &mut Vec<u8>, now: Instant) -> bool {
        self.pace.pass(now);
        let takes = self.is_due() && self.take_output(buffer);
        if takes {
            self.pace.wrote(now, &self.limits);
        }
        takes
    }

    /// Whether there is output that is to be written now.
    pub(super) fn is_due(&self) -> bool {
        !self.out.is_empty()
            && (!self.pace.waits() || self.is_worth_a_write() || self.closed.is_some())
    }

    /// Whether data waits no longer for more of it.
    pub(super) fn is_worth_a_write(&self) -> bool {
        let limits = &self.limits;
        self.out.len() >= limits.outgoing_yield.min(limits.outgoing_credit)
    }

    /// Bytes that wait to be taken.
    #[must_use]
    pub fn queued(&self) -> usize {
        self.out.len()
    }

    /// Tells how many of the taken bytes are still to be written.
    pub fn wrote(&mut self, left: usize) {
        self.in_flight = left;
        if self.unwritten() < self.limits.outgoing_credit {
            self.credit.wake_next(&mut self.wakes);
        }
    }

    /// The next thing to act on.
    pub fn poll_event(&mut self) -> Option<ConnectionEvent> {
        self.events.pop_front()
    }

    /// Wakes the driver if it sleeps: there is data, which may wait for more.
    pub(super) fn kick_for_data(&mut self) {
        if !self.driver.holds || self.is_due() {
            self.kick();
        }
    }

    /// Wakes the driver if it sleeps: there is output that waits for nothing.
    pub(super) fn hurry(&mut self) {
        self.pace.hurry();
        self.kick();
    }

    /// Wakes the driver if it sleeps.
    pub(super) fn kick(&mut self) {
        if self.driver.asleep {
            self.kick_for_event();
        }
    }

    /// Wakes the driver even where it waits for the writer alone: there is an
    /// event.
    pub(super) fn kick_for_event(&mut self) {
        self.driver.asleep = false;
        if let Some(waker) = &self.driver.waker {
            self.wakes.push(waker.clone());
        }
    }

    /// Wakes the driver if it does not read: a pause may have ended.
    pub(super) fn kick_paused(&mut self) {
        if std::mem::take(&mut self.driver.paused) {
            self.kick_for_event();
        }
    }
}
