//! What this side says: notifications, calls, answers.

use std::{
    task::{Poll, Waker, ready},
    time::Instant,
};

use super::Connection;
use crate::rpc::{
    CallError, CallFacts, CloseCause, ErrorCode, ReceiveSeq, RequestId, SendError, WireError,
    calls::{Abandoned, AnswerTo, Answered, CallId, CallOutcome, IdSpace, OnDrop},
    credit::{Lane, Ticket},
    frame,
    mailbox::{MailboxEntry, MailboxId, Reading},
    serving::CancelWatch,
    watches::CallWatch,
};

impl Connection {
    /// Queues a notification if there is room now, and `None` if it has to
    /// wait. `frame` is what [`frame::notification`] wrote; it may be exchanged
    /// for another buffer.
    pub fn try_notify(&mut self, frame: &mut Vec<u8>) -> Option<Result<(), SendError>> {
        if let Err(error) = self.check_send(frame) {
            return Some(Err(error));
        }
        if !self.has_room() {
            return None;
        }
        self.append(frame);
        self.kick_for_data();
        Some(Ok(()))
    }

    /// Queues a notification as [`try_notify`](Self::try_notify); `write` appends it,
    /// whole, to what is queued. For short ones: the connection is busy meanwhile.
    pub fn try_write(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Option<Result<(), SendError>> {
        if let Some(cause) = self.unsendable() {
            return Some(Err(SendError::Closed(cause.clone())));
        }
        if !self.has_room() {
            return None;
        }
        let before = self.out.len();
        write(&mut self.out);
        if let Err(error) = self.check_length(self.out.len() - before) {
            self.out.truncate(before);
            return Some(Err(error));
        }
        self.kick_for_data();
        Some(Ok(()))
    }

    /// Whether a notification would be queued now by who does not wait in line. What
    /// is long is best not written before that is known.
    pub fn has_room(&mut self) -> bool {
        self.has_room_for(None) && !self.lets_driver_run()
    }

    /// Lends the buffer of what is queued, if nothing is, to write a long message in it
    /// while the connection is let go; an empty one otherwise. `None` when there is no
    /// room. [`try_notify`](Self::try_notify) gives it back.
    ///
    /// So long messages take turns in two buffers, this one and that of the driver,
    /// whoever writes them.
    pub fn lend_buffer(&mut self) -> Option<Vec<u8>> {
        if self.unsendable().is_none() && !self.has_room() {
            return None;
        }
        Some(match self.out.is_empty() {
            true => std::mem::take(&mut self.out),
            false => Vec::new(),
        })
    }

    /// Waits until there is room and it is this sender's turn, as
    /// [`poll_notify`](Self::poll_notify) does, which it comes before.
    pub fn poll_room(
        &mut self,
        lane: Lane,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<(), SendError>> {
        if let Some(cause) = self.unsendable() {
            let error = SendError::Closed(cause.clone());
            self.stop_waiting(ticket.take());
            return Poll::Ready(Err(error));
        }
        if self.has_room_for(ticket.as_ref()) {
            return Poll::Ready(Ok(()));
        }
        if self.credit.is_cancelled(lane) {
            self.stop_waiting(ticket.take());
            return Poll::Ready(Err(SendError::Cancelled));
        }
        self.credit.wait(lane, ticket, waker);
        // Whoever waits to send may be what a paused peer waits for.
        self.kick_paused();
        Poll::Pending
    }

    /// Queues a notification once there is room, as
    /// [`try_notify`](Self::try_notify).
    ///
    /// Keep `ticket` between polls, and give it back with
    /// [`stop_waiting`](Self::stop_waiting) when the wait is given up.
    pub fn poll_notify(
        &mut self,
        lane: Lane,
        ticket: &mut Option<Ticket>,
        frame: &mut Vec<u8>,
        waker: &Waker,
    ) -> Poll<Result<(), SendError>> {
        if let Err(error) = self.check_send(frame) {
            self.stop_waiting(ticket.take());
            return Poll::Ready(Err(error));
        }
        ready!(self.poll_room(lane, ticket, waker))?;
        if ticket.is_none() && self.lets_driver_run() {
            self.wakes.push(waker.clone());
            return Poll::Pending;
        }
        if let Some(ticket) = ticket.take() {
            self.credit.leave(ticket, true);
        }
        self.append(frame);
        self.kick_for_data();
        if self.unwritten() < self.limits.outgoing_credit {
            self.credit.wake_next(&mut self.wakes);
        }
        Poll::Ready(Ok(()))
    }

    /// Whether there is room, and it is this sender's turn.
    fn has_room_for(&self, ticket: Option<&Ticket>) -> bool {
        self.unwritten() < self.limits.outgoing_credit && self.credit.is_next(ticket)
    }

    /// Once for each buffer, a sender steps back when a write is worth its
    /// while: so the driver runs even where everything shares one thread.
    fn lets_driver_run(&mut self) -> bool {
        let steps_back = self.out.len() >= self.limits.outgoing_yield && !self.credit.yielded;
        if steps_back {
            self.credit.yielded = true;
            self.kick();
        }
        steps_back
    }

    /// Gives up a place in the line for room.
    pub fn stop_waiting(&mut self, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            self.credit.leave(ticket, false);
            if self.unwritten() < self.limits.outgoing_credit {
                self.credit.wake_next(&mut self.wakes);
            }
        }
    }

    /// Queues a notification at once. For what must not wait, as a cancel.
    ///
    /// # Errors
    ///
    /// [`SendError::Closed`] and [`SendError::TooLarge`].
    pub fn notify_now(&mut self, frame: &mut Vec<u8>) -> Result<(), SendError> {
        self.check_send(frame)?;
        self.append(frame);
        self.hurry();
        self.check_flood();
        Ok(())
    }

    /// Opens a lane: senders that belong together.
    pub fn open_lane(&mut self) -> Lane {
        self.credit.open_lane()
    }

    /// Cancels a lane: who waits in it, or would have to, gets
    /// [`SendError::Cancelled`].
    pub fn cancel_lane(&mut self, lane: Lane) {
        self.credit.cancel_lane(lane, &mut self.wakes);
    }

    /// Closes a lane.
    pub fn close_lane(&mut self, lane: Lane) {
        self.credit.close_lane(lane);
    }

    /// Queues a call. `tail` is what [`frame::call_tail`] wrote.
    ///
    /// From here on the call is open until its outcome was taken with
    /// [`poll_outcome`](Self::poll_outcome), came out of a mailbox, or was
    /// [abandoned](Self::abandon). A call that is answered to a mailbox makes it
    /// [`Reading::Live`].
    ///
    /// # Errors
    ///
    /// [`CallError::Closed`], also behind the end of the peer's stream: nothing can
    /// answer then; [`CallError::TooLarge`], [`CallError::TooManyCalls`]. Nothing was
    /// queued then.
    pub fn call(&mut self, space: IdSpace, to: AnswerTo, tail: &[u8]) -> Result<CallId, CallError> {
        if let Some(cause) = self.unsendable().or(self.input_ended()) {
            return Err(CallError::Closed(cause.clone()));
        }
        // 20 digits, and the terminator does not count.
        if frame::CALL_HEAD.len() + 20 + tail.len() - 1 > self.limits.max_message {
            return Err(CallError::TooLarge {
                limit: self.limits.max_message,
            });
        }
        let call = self.calls.open(space, to, &self.limits)?;
        self.out.extend_from_slice(frame::CALL_HEAD);
        frame::integer(&mut self.out, call.0);
        self.out.extend_from_slice(tail);
        self.hurry();
        match to {
            // The answer can only come if the driver reads.
            AnswerTo::Caller => self.kick_paused(),
            // From here on updates may come; none of them may find nobody reading.
            AnswerTo::Mailbox(mailbox) => self.set_reading(mailbox, Reading::Live),
        }
        self.check_flood();
        Ok(call)
    }

    /// Waits for the outcome of a call and takes it.
    pub fn poll_outcome(&mut self, call: CallId, waker: &Waker) -> Poll<CallOutcome> {
        self.calls.poll(call, waker)
    }

    /// Stops waiting for a call. Its late answer is recognised for
    /// [`Limits::zombie_life`](crate::rpc::Limits::zombie_life).
    pub fn abandon(&mut self, call: CallId, on_drop: OnDrop, now: Instant) {
        let report = on_drop == OnDrop::Report;
        let abandoned = self
            .calls
            .abandon(call, report, now, &self.limits, &mut self.wakes);
        if self.unsendable().is_some() {
            return;
        }
        match abandoned {
            Abandoned::Answered(Ok(answer)) => {
                self.events
                    .push_back(super::ConnectionEvent::LateAnswer(call, answer));
                self.kick_for_event();
            }
            Abandoned::Unanswered if on_drop != OnDrop::Forget => self.send_cancel_request(call),
            _ => {}
        }
    }

    /// Asks the peer to give a call up, and goes on waiting for its answer. Does nothing
    /// for a call that was answered.
    pub fn cancel_call(&mut self, call: CallId) {
        if self.closed.is_none() && self.calls.is_open(call.0) {
            self.send_cancel_request(call);
        }
    }

    fn send_cancel_request(&mut self, call: CallId) {
        let mut frame = Vec::with_capacity(80);
        let params = CancelParams { request_id: call.0 };
        if frame::notification(&mut frame, "$/cancel_request", &params).is_ok() {
            self.append(&mut frame);
            self.hurry();
        }
    }

    /// Tells where the answer of a call goes, as long as the call is open. The id is
    /// the one that the peer knows.
    #[must_use]
    pub fn open_call(&self, id: &RequestId) -> Option<AnswerTo> {
        match id {
            RequestId::Number(id) => self.calls.destination(*id),
            RequestId::Text(_) | RequestId::Null => None,
        }
    }

    /// Waits until a call is not open any more: it was answered, abandoned, or the
    /// connection ended.
    ///
    /// Keep `watch` between polls, and give it back with
    /// [`stop_watching`](Self::stop_watching) when the wait is given up.
    pub fn poll_call_ended(
        &mut self,
        id: &RequestId,
        watch: &mut Option<CallWatch>,
        waker: &Waker,
    ) -> Poll<()> {
        match id {
            RequestId::Number(id) => self.calls.poll_ended(*id, watch, waker),
            RequestId::Text(_) | RequestId::Null => Poll::Ready(()),
        }
    }

    /// Gives up the wait for the end of a call.
    pub fn stop_watching(&mut self, watch: Option<CallWatch>) {
        if let Some(watch) = watch {
            self.calls.stop_watching(&watch);
        }
    }

    /// Answers a request. `frame` is what [`frame::result`] or
    /// [`frame::error`] wrote; one that is too long becomes an error.
    ///
    /// A second answer to the same request is ignored.
    pub fn respond(&mut self, id: &RequestId, frame: &mut Vec<u8>) {
        let Some(open) = self.serving.take(id, &mut self.wakes) else {
            return;
        };
        if self.closed.is_none() {
            if frame.len() > self.limits.max_message + 1 {
                self.answer_error(id, ErrorCode::INTERNAL, "response too large");
            } else {
                self.append(frame);
                self.hurry();
            }
            self.check_flood();
        }
        if let Some(next) = self.serving.finish(open, &self.limits) {
            self.events
                .push_back(super::ConnectionEvent::Request(next, self.seq));
            self.kick_for_event();
        }
    }

    /// Answers a request with a fixed error.
    pub fn respond_error(&mut self, id: &RequestId, error: &WireError) {
        let mut buffer = Vec::with_capacity(128);
        frame::error(&mut buffer, id, error);
        self.respond(id, &mut buffer);
    }

    /// Waits until a request was cancelled, or is no longer open. Any number may wait.
    ///
    /// Keep `watch` between polls, and give it back with
    /// [`stop_watching_request`](Self::stop_watching_request) when the wait is given up.
    pub fn poll_cancelled(
        &mut self,
        id: &RequestId,
        watch: &mut Option<CancelWatch>,
        waker: &Waker,
    ) -> Poll<()> {
        self.serving.poll_cancelled(id, watch, waker)
    }

    /// Gives up the wait for the cancellation of a request.
    pub fn stop_watching_request(&mut self, id: &RequestId, watch: Option<CancelWatch>) {
        if let Some(watch) = watch {
            self.serving.stop_watching(id, &watch);
        }
    }

    /// Tells whether a request was cancelled, or is no longer open.
    #[must_use]
    pub fn is_cancelled(&self, id: &RequestId) -> bool {
        self.serving.is_cancelled(id)
    }

    /// Fails every open call.
    pub(super) fn fail_calls(&mut self, error: &CallError) {
        for (mailbox, call) in self.calls.fail(error, &mut self.wakes) {
            // No answer was observed.
            self.end_stream(mailbox, call, ReceiveSeq::default(), Err(error.clone()));
        }
    }

    /// Puts the end of a streamed call behind all that was received.
    pub(super) fn end_stream(
        &mut self,
        mailbox: MailboxId,
        call: CallId,
        response_seq: ReceiveSeq,
        result: Answered,
    ) {
        let at = self.seq;
        let facts = CallFacts {
            write_admitted: true,
            response_seq,
        };
        let end = MailboxEntry::End {
            call,
            facts,
            at,
            result,
        };
        self.with_mailboxes(|boxes, cx| boxes.end(mailbox, at, end, cx));
    }

    /// Queues an error answer outside the table of open requests.
    pub(super) fn answer_error(&mut self, id: &RequestId, code: ErrorCode, message: &str) {
        let mut buffer = Vec::with_capacity(128);
        frame::error(&mut buffer, id, &WireError::new(code, message));
        self.append(&mut buffer);
        self.hurry();
        self.check_flood();
    }

    fn check_send(&self, frame: &[u8]) -> Result<(), SendError> {
        if let Some(cause) = self.unsendable() {
            return Err(SendError::Closed(cause.clone()));
        }
        self.check_length(frame.len())
    }

    fn check_length(&self, length: usize) -> Result<(), SendError> {
        let limit = self.limits.max_message;
        if length > limit + 1 {
            return Err(SendError::TooLarge { limit });
        }
        Ok(())
    }

    fn append(&mut self, frame: &mut Vec<u8>) {
        if self.mute.is_some() {
            return;
        }
        let is_large = frame.len() >= self.limits.outgoing_yield;
        if self.out.is_empty() && (is_large || self.out.capacity() < frame.len()) {
            // Handed over, not copied.
            std::mem::swap(&mut self.out, frame);
        } else {
            self.out.extend_from_slice(frame);
        }
    }

    /// Cuts off a peer that makes this side queue without end.
    fn check_flood(&mut self) {
        let limit = self.limits.outgoing_hard.max(self.limits.max_message);
        if self.unwritten() > limit + self.limits.outgoing_credit {
            self.close(CloseCause::Flooded);
        }
    }
}

#[derive(serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct CancelParams {
    request_id: i64,
}
