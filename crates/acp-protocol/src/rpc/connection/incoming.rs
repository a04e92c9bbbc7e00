//! What the peer says: updates, requests, answers, and lines that are neither.

use std::{sync::Arc, time::Instant};

use serde::Deserialize;

use super::{Connection, ConnectionEvent, ConnectionRole};
use crate::{
    method::MethodKind,
    rpc::{
        CallError, CloseCause, ErrorCode, Issue, ReceiveSeq, RequestId,
        calls::{Answered, Resolved},
        head::{self, Attempt, Guess, LostUpdate, Refused, Shape},
        inbound::Inbound,
        lines::LineFault,
        mailbox::Mailboxes,
        message::Incoming,
        serving::{Admitted, CancelHit},
    },
    v1::methods,
};

/// The one notification the connection itself acts on.
const CANCEL_REQUEST: &str = "$/cancel_request";

impl Connection {
    /// Takes in what arrived. Afterwards [`poll_event`](Self::poll_event) gives
    /// what there is to act on.
    pub fn accept(&mut self, inbound: Inbound, now: Instant) {
        if self.closed.is_some() || self.input_ended().is_some() {
            return;
        }
        match inbound {
            Inbound::Updates(run) => {
                let Some(first) = self.advance(u64::from(run.lines)) else {
                    return self.close(CloseCause::SeqOverflow);
                };
                self.with_mailboxes(|mailboxes, cx| mailboxes.deliver(run, first, cx));
            }
            Inbound::Message(message) => match message.shape() {
                Shape::Request => self.accept_request(message),
                Shape::Notification => self.accept_notification(message),
                Shape::Result | Shape::Error => self.accept_answer(message),
            },
            Inbound::Refused(refused) => self.accept_refused(refused, now),
            Inbound::Lost(LineFault::TooLarge { head }) => self.accept_long_line(&head, now),
            Inbound::Lost(LineFault::Truncated { read, head }) => {
                if let Some(update) = self.lost_update(&head) {
                    self.lose_update(&update);
                }
                self.end_input(CloseCause::Truncated { read }, now);
            }
        }
    }

    /// Advances the receive clock, as [`ReceiveSeq::advance`].
    #[inline]
    fn advance(&mut self, count: u64) -> Option<ReceiveSeq> {
        let first = self.seq.advance(count);
        if self.mailboxes.is_awaited(self.seq) {
            self.with_mailboxes(Mailboxes::wake_awaiting);
        }
        first
    }

    fn accept_request(&mut self, request: Incoming) {
        let Some(id) = request.id().cloned() else {
            return;
        };
        self.stats.requests_received += 1;
        match self.serving.admit(request, &self.limits) {
            Admitted::Start(request) => self
                .events
                .push_back(ConnectionEvent::Request(request, self.seq)),
            Admitted::Parked => {}
            Admitted::Duplicate => {
                self.answer_error(
                    &id,
                    ErrorCode::INVALID_REQUEST,
                    "a request with this id is open",
                );
            }
            Admitted::Overloaded => {
                self.stats.requests_overloaded += 1;
                self.answer_error(
                    &id,
                    ErrorCode::INTERNAL,
                    "overloaded: too many requests are open",
                );
            }
            Admitted::TooLarge => {
                self.stats.requests_overloaded += 1;
                self.answer_error(
                    &id,
                    ErrorCode::INTERNAL,
                    "overloaded: the requests that are open leave no room for one of this size",
                );
            }
        }
    }

    fn accept_notification(&mut self, notification: Incoming) {
        let Some(seq) = self.advance(1) else {
            return self.close(CloseCause::SeqOverflow);
        };
        if notification.method() == CANCEL_REQUEST {
            self.cancel_request(&notification);
        } else {
            self.events
                .push_back(ConnectionEvent::Notification(notification, seq));
        }
    }

    /// R054, R056: a running request is told, a parked one is answered.
    fn cancel_request(&mut self, notification: &Incoming) {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Params {
            request_id: RequestId,
        }
        let hit = match notification.decode::<Params>() {
            Ok(Params { request_id }) => (
                self.serving.cancel(&request_id, &mut self.wakes),
                request_id,
            ),
            Err(_) => (CancelHit::Nothing, RequestId::Null),
        };
        match hit {
            (CancelHit::Running, _) => {}
            (CancelHit::Parked, id) => {
                self.answer_error(&id, ErrorCode::REQUEST_CANCELLED, "request cancelled")
            }
            (CancelHit::Nothing, _) => self.stats.cancels_unmatched += 1,
        }
    }

    fn accept_answer(&mut self, response: Incoming) {
        if self.advance(1).is_none() {
            return self.close(CloseCause::SeqOverflow);
        }
        let Some(id) = response.id().cloned() else {
            return;
        };
        match id {
            RequestId::Number(id) => {
                let answer = response.into_answer();
                let result = if answer.is_error() {
                    Err(answer.decode().map_or_else(
                        |_| CallError::MalformedAnswer(Issue::MalformedErrorObject.into()),
                        CallError::Peer,
                    ))
                } else {
                    Ok(answer)
                };
                self.resolve(id, result);
            }
            RequestId::Text(text) => match text.parse() {
                Ok(id) if self.calls.is_open(id) => self.resolve(id, Err(CallError::IdTypeChanged)),
                _ => self.stats.responses_unmatched += 1,
            },
            RequestId::Null => self.stats.responses_unmatched += 1,
        }
    }

    fn resolve(&mut self, id: i64, result: Answered) {
        match self.calls.resolve(id, self.seq, result, &mut self.wakes) {
            Resolved::Caller => {}
            Resolved::Streamed(mailbox, call, result) => {
                self.end_stream(mailbox, call, self.seq, result)
            }
            Resolved::Late(report) => {
                self.stats.responses_late += 1;
                if let Some((call, Ok(answer))) = report {
                    self.events
                        .push_back(ConnectionEvent::LateAnswer(call, answer));
                }
            }
            Resolved::Unmatched => self.stats.responses_unmatched += 1,
        }
    }

    fn accept_refused(&mut self, refused: Refused, now: Instant) {
        self.stats.ignore(refused.issues);
        if let Some(update) = &refused.update {
            return self.lose_update(update);
        }
        let Refused {
            issues,
            id,
            attempt,
            beginning,
            ..
        } = refused;
        match (attempt, id) {
            // With the version and an id, and nothing else: that is no log of a program.
            (Attempt::Unknown, Some(RequestId::Number(id)))
                if issues.contains(Issue::AmbiguousShape) && self.calls.is_open(id) =>
            {
                self.resolve_lost(id, CallError::MalformedAnswer(issues));
            }
            (Attempt::Answer, Some(RequestId::Number(id))) if self.calls.is_open(id) => {
                self.resolve_lost(id, CallError::MalformedAnswer(issues));
            }
            (Attempt::Answer, _) => {}
            (Attempt::Call, None) if !issues.contains(Issue::InvalidIdType) => {
                // R014: without an id it is a notification, which is never answered.
            }
            (Attempt::Call, id) => {
                let id = id.unwrap_or(RequestId::Null);
                let message = format!("invalid request: {issues}");
                self.answer_error(&id, ErrorCode::INVALID_REQUEST, &message);
            }
            (Attempt::Unknown, Some(id))
                if issues.contains(Issue::AmbiguousShape)
                    && id != RequestId::Null
                    && self.role == ConnectionRole::Agent =>
            {
                self.answer_error(
                    &id,
                    ErrorCode::INVALID_REQUEST,
                    "invalid request: no method",
                );
            }
            (Attempt::Unknown, _) => {
                self.noise = Some(Arc::from(&*beginning));
                match issues.is_parse_error() {
                    true => self.answer_noise(
                        ErrorCode::PARSE,
                        "parse error: one JSON object a line is expected",
                        now,
                    ),
                    false => self.answer_noise(
                        ErrorCode::INVALID_REQUEST,
                        "invalid request: one request, notification or response a line is expected",
                        now,
                    ),
                }
            }
        }
    }

    /// Answers a line that names no call. An agent does, for each of the two codes once
    /// in [`Limits::parse_error_interval`](crate::rpc::Limits::parse_error_interval); a
    /// client does not: agents print.
    fn answer_noise(&mut self, code: ErrorCode, message: &str, now: Instant) {
        if self.role == ConnectionRole::Client {
            return;
        }
        let told = match code {
            ErrorCode::PARSE => &mut self.noise_answered.parse,
            _ => &mut self.noise_answered.invalid,
        };
        let interval = self.limits.parse_error_interval;
        if told.is_some_and(|told| now.saturating_duration_since(told) < interval) {
            self.stats.errors_withheld += 1;
            return;
        }
        *told = Some(now);
        self.answer_error(&RequestId::Null, code, message);
    }

    /// A line that was too long to read may have held anything.
    fn accept_long_line(&mut self, head: &[u8], now: Instant) {
        self.stats.ignore(Issue::OversizedPayload.into());
        let error = CallError::AnswerTooLarge {
            limit: self.limits.max_message,
        };
        let too_large = "invalid request: message too large";
        match head::guess(head) {
            Some(Guess {
                attempt: Attempt::Call,
                id: Some(id),
                ..
            }) => self.answer_error(&id, ErrorCode::INVALID_REQUEST, too_large),
            Some(Guess {
                attempt: Attempt::Answer,
                id: Some(RequestId::Number(id)),
                ..
            }) => self.resolve_lost(id, error),
            guess => {
                let method = guess.as_ref().and_then(|guess| guess.method);
                if let Some(update) = self.lost_update(head) {
                    self.lose_update(&update);
                } else if method.is_some_and(is_request) {
                    self.answer_noise(ErrorCode::INVALID_REQUEST, too_large, now);
                } else if guess.is_none_or(|guess| guess.attempt != Attempt::Call)
                    && head.trim_ascii_start().starts_with(b"{")
                {
                    // It cannot be told whose answer is lost: none may wait for ever.
                    self.fail_calls(&error);
                }
            }
        }
    }

    /// The update that a lost line was meant to be, on a side that takes updates.
    fn lost_update(&self, head: &[u8]) -> Option<LostUpdate> {
        (self.role == ConnectionRole::Client).then(|| head::lost_update(head))?
    }

    /// Leaves a gap where an update cannot be read: in its session, or in each that a
    /// turn runs in where nobody knows which is meant.
    fn lose_update(&mut self, update: &LostUpdate) {
        let Some(at) = self.advance(1) else {
            return self.close(CloseCause::SeqOverflow);
        };
        let mailboxes = match &update.session {
            Some(_) => Vec::new(),
            None => self.calls.streamed_into(),
        };
        self.with_mailboxes(|boxes, cx| match &update.session {
            Some(session) => boxes.lose(session, at, cx),
            None => boxes.lose_in(&mailboxes, at, cx),
        });
    }

    /// Ends a call whose answer came and cannot be read.
    fn resolve_lost(&mut self, id: i64, error: CallError) {
        match self.advance(1) {
            Some(_) => self.resolve(id, Err(error)),
            None => self.close(CloseCause::SeqOverflow),
        }
    }
}

/// Whether a method is one that is answered. An extension may be a notification.
fn is_request(method: &str) -> bool {
    let known = methods::ALL.iter().find(|known| known.name == method);
    known.is_some_and(|known| known.kind == MethodKind::Request)
}
