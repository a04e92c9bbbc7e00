//! What the peer says: updates, requests, answers, and lines that are neither.

use std::{sync::Arc, time::Instant};

use serde::Deserialize;

use super::{Connection, ConnectionEvent, ConnectionRole};
use crate::rpc::{
    CallError, CloseCause, ErrorCode, Issue, RequestId,
    calls::{Answered, Resolved},
    head::{Attempt, Refused, Shape},
    inbound::Inbound,
    lines::LineFault,
    message::Incoming,
    serving::{Admitted, CancelHit},
};

/// The one notification the connection itself acts on.
const CANCEL_REQUEST: &str = "$/cancel_request";

impl Connection {
    /// Takes in what arrived. Afterwards [`poll_event`](Self::poll_event) gives
    /// what there is to act on.
    pub fn accept(&mut self, inbound: Inbound, now: Instant) {
        if self.closed.is_some() {
            return;
        }
        match inbound {
            Inbound::Updates(run) => {
                let Some(first) = self.seq.advance(u64::from(run.lines)) else {
                    return self.close(CloseCause::SeqOverflow);
                };
                self.with_mailboxes(|mailboxes, cx| mailboxes.deliver(run, first, cx));
            }
            Inbound::Message(message) => match message.shape() {
                Shape::Request => self.accept_request(message),
                Shape::Notification => self.accept_notification(message),
                Shape::Result | Shape::Error => self.accept_answer(message),
            },
            Inbound::Refused(refused) => self.accept_refused(&refused, now),
            Inbound::Lost(LineFault::TooLarge { head }) => self.accept_long_line(&head),
            Inbound::Lost(LineFault::Truncated { read }) => {
                self.close(CloseCause::Truncated { read })
            }
        }
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
        let Some(seq) = self.seq.advance(1) else {
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
        if self.seq.advance(1).is_none() {
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
            Resolved::Streamed(mailbox, call, result) => self.end_stream(mailbox, call, result),
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

    fn accept_refused(&mut self, refused: &Refused, now: Instant) {
        self.stats.ignore(refused.issues);
        if refused.attempt == Attempt::Unknown {
            self.noise = Some(Arc::from(&*refused.beginning));
        }
        match (&refused.id, refused.attempt) {
            (Some(RequestId::Number(id)), Attempt::Answer | Attempt::Unknown)
                if self.calls.is_open(*id) =>
            {
                self.resolve(*id, Err(CallError::MalformedAnswer(refused.issues)));
            }
            (Some(id), Attempt::Call) => {
                self.answer_error(
                    id,
                    ErrorCode::INVALID_REQUEST,
                    &format!("invalid request: {}", refused.issues),
                );
            }
            _ if refused.issues.is_parse_error() && self.role == ConnectionRole::Agent => {
                let told_before = self.parse_error_told;
                let interval = self.limits.parse_error_interval;
                if told_before.is_none_or(|told| now.saturating_duration_since(told) >= interval) {
                    self.parse_error_told = Some(now);
                    self.answer_error(
                        &RequestId::Null,
                        ErrorCode::PARSE,
                        "parse error: one JSON object a line is expected",
                    );
                }
            }
            _ => {}
        }
    }

    /// A line that was too long to read may have held an answer.
    fn accept_long_line(&mut self, head: &[u8]) {
        self.stats.ignore(Issue::OversizedPayload.into());
        let limit = self.limits.max_message;
        match crate::rpc::head::guess(head) {
            Some((Attempt::Call, Some(id))) => {
                self.answer_error(
                    &id,
                    ErrorCode::INVALID_REQUEST,
                    "invalid request: message too large",
                );
            }
            Some((Attempt::Call, None)) => {}
            Some((Attempt::Answer, Some(RequestId::Number(id)))) => {
                self.resolve(id, Err(CallError::AnswerTooLarge { limit }));
            }
            _ => {
                // It cannot be told whose answer is lost: none may wait for ever.
                self.fail_calls(&CallError::AnswerTooLarge { limit });
            }
        }
    }
}
