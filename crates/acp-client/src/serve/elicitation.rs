//! How one question comes to its answer.

use std::sync::{Arc, Weak};

use acp_connection::{BoxFuture, IncomingRequest, Peer};
use acp_protocol::rpc::{AnswerTo, Fault, ReceiveSeq, RequestId};
use acp_protocol::v1::{CreateElicitationRequest, CreateElicitationResponse, ElicitationId};

use super::{find, unless_cancelled};
use crate::bounds::count_within;
use crate::elicitation::{
    AskedLink, DynAnswerQuestions, ElicitationAnswer, ElicitationOptions, PendingQuestion, Question,
};
use crate::gate::GateWatch;
use crate::limits::MAX_QUESTION;
use crate::session::{SessionState, Sessions, Waiting, refuse_unread};

pub(super) fn serve(sessions: &Sessions, request: IncomingRequest) -> Option<BoxFuture> {
    let after = request.received_after();
    if let Err(fault) = count_within("the question", request.size(), MAX_QUESTION, "bytes") {
        request.refuse(fault);
        return None;
    }
    request.serve(|asked: CreateElicitationRequest, context| {
        let asked = sessions
            .options
            .elicitation
            .as_ref()
            .ok_or_else(|| Fault::invalid_params("elicitation is not offered"))
            .and_then(|options| AskedQuestion::admit(sessions, options, asked, after));
        async move { unless_cancelled(&context, asked?.answer()).await }
    })
}

/// A question that was taken.
struct AskedQuestion {
    question: Question,
    owner: Owner,
    answerer: Answerer,
    link: Option<AskedLink>,
}

impl AskedQuestion {
    /// Takes a question, or says why it is refused.
    fn admit(
        sessions: &Sessions,
        options: &ElicitationOptions,
        request: CreateElicitationRequest,
        after: ReceiveSeq,
    ) -> Result<Self, Fault> {
        let question = Question::new(request, options.modes, after)?;
        let peer = &sessions.connection.peer;
        let session = match (question.session_id(), question.request_id()) {
            (Some(id), _) => Ok(find(sessions, id)?),
            (None, Some(id)) => match peer.open_call(id) {
                // It belongs to a turn, and ends with the cancel of that.
                Some(AnswerTo::Mailbox(mailbox)) => sessions.reading(mailbox).ok_or(id),
                Some(AnswerTo::Caller) => Err(id),
                None => return Err(no_open_request()),
            },
            (None, None) => return Err(no_open_request()),
        };
        let (owner, answerer) = match session {
            Ok(session) => (
                Owner::Session(session.gate.watch()),
                match &options.in_sessions {
                    Some(handler) => Answerer::Handler(Arc::clone(handler)),
                    None => Answerer::Reader(Arc::downgrade(&session)),
                },
            ),
            Err(id) => (
                Owner::Request(peer.clone(), id.clone()),
                Answerer::Handler(Arc::clone(&options.outside)),
            ),
        };
        let link = match question.link() {
            Some(link) => {
                let answerer = answerer.clone();
                let tell = Arc::new(move |id: &_, at| answerer.tell_end(id, at));
                Some(sessions.links.ask(link.id(), tell)?)
            }
            None => None,
        };
        Ok(Self {
            question,
            owner,
            answerer,
            link,
        })
    }

    /// Gets the answer from whoever is to give it, or `cancel` as soon as the question
    /// is void.
    async fn answer(mut self) -> CreateElicitationResponse {
        let answer = tokio::select! {
            biased;
            () = self.owner.ended() => ElicitationAnswer::cancel(),
            answer = self.answerer.answer(&self.question) => answer,
        };
        if answer.is_accepted()
            && let Some(link) = self.link
        {
            link.agree();
        }
        CreateElicitationResponse::new(answer.into_action(self.question.form().is_some()))
    }
}

/// Answers a question, and is told the end of its link.
#[derive(Clone)]
enum Answerer {
    Handler(Arc<dyn DynAnswerQuestions>),
    /// Whoever reads the session; waiting for them does not keep it open.
    Reader(Weak<SessionState>),
}

impl Answerer {
    async fn answer(&self, question: &Question) -> ElicitationAnswer {
        let reader = match self {
            Self::Handler(handler) => return handler.answer_boxed(question.clone()).await,
            Self::Reader(reader) => reader,
        };
        let session = reader.upgrade();
        let (pending, answer) = PendingQuestion::new(question.clone());
        let ticket = session.and_then(|session| session.waiting.push(Waiting::Question(pending)));
        let Some(ticket) = ticket else {
            return ElicitationAnswer::cancel();
        };
        tokio::select! {
            biased;
            answer = answer => answer.unwrap_or_else(|_| question.refusal()),
            () = refuse_unread(reader, ticket) => question.refusal(),
        }
    }

    /// False when there is nobody to tell any more.
    fn tell_end(&self, link: &ElicitationId, at: ReceiveSeq) -> bool {
        match self {
            Self::Handler(handler) => {
                handler.link_completed(link);
                true
            }
            Self::Reader(session) => session.upgrade().is_some_and(|session| {
                let link = link.clone();
                let waiting = Waiting::LinkCompleted { link, at };
                session.waiting.push(waiting).is_some()
            }),
        }
    }
}

/// What a question belongs to, and therefore ends with.
enum Owner {
    Session(GateWatch),
    Request(Peer, RequestId),
}

impl Owner {
    /// Waits until a question that belongs to it is void.
    async fn ended(&mut self) {
        match self {
            Self::Session(gate) if gate.is_cancelling() => {}
            Self::Session(gate) => gate.cancelled().await,
            Self::Request(peer, id) => peer.call_ended(id).await,
        }
    }
}

fn no_open_request() -> Fault {
    Fault::invalid_params("no request of this id is open")
}
