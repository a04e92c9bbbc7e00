//! How one question comes to its answer.

use std::sync::{Arc, Weak};

use acp_connection::Peer;
use acp_protocol::rpc::{AnswerTo, Fault, ReceiveSeq, RequestId};
use acp_protocol::v1::{
    CompleteElicitationNotification, CreateElicitationRequest, CreateElicitationResponse,
    ElicitationId,
};
use tokio::sync::watch;

use super::LinkStats;
use super::links::{AskedLink, Links};
use crate::elicitation::QuestionsBy;
use crate::elicitation::Scope;
use crate::elicitation::{Answer, DynAnswerQuestions, Elicitation, PendingQuestion, Question};
use crate::serve::find;
use crate::session::Ask;
use crate::session::Registry;
use crate::session::SessionState;
use crate::session::Slot;

/// What is known of the questions of one connection.
#[derive(Default)]
pub(crate) struct Elicitations {
    links: Arc<Links>,
}

impl Elicitations {
    /// Takes a question, or says why it is refused.
    pub(crate) fn admit(
        &self,
        options: &Elicitation,
        peer: &Peer,
        registry: &Registry,
        request: CreateElicitationRequest,
        after: ReceiveSeq,
    ) -> Result<AskedQuestion, Fault> {
        let question = Question::new(request, options.modes, after)?;
        let inside = |session| {
            let by = match &options.in_sessions {
                QuestionsBy::Handler(handler) => Answerer::Handler(Arc::clone(handler)),
                QuestionsBy::Reader => Answerer::Reader(Arc::downgrade(&session)),
            };
            (by, Place::of_session(&session))
        };
        let outside = |id: &RequestId| {
            let by = Answerer::Handler(Arc::clone(&options.outside));
            (by, Place::Request(peer.clone(), id.clone()))
        };
        let (by, place) = match question.scope() {
            Scope::Session(id, _) => inside(find(registry, id)?),
            Scope::Request(id) => match peer.open_call(id) {
                // It belongs to a turn, whose cancel it must hear.
                Some(AnswerTo::Mailbox(mailbox)) => match registry.reading(mailbox) {
                    Some(session) => inside(session),
                    None => outside(id),
                },
                Some(AnswerTo::Caller) => outside(id),
                None => return Err(Fault::invalid_params("no request of this id is open")),
            },
        };
        let link = match question.link() {
            Some(link) => Some(self.links.ask(link.id(), by.clone())?),
            None => None,
        };
        Ok(AskedQuestion {
            question,
            place,
            by,
            link,
        })
    }

    /// Takes the word of the agent that a link came to its end.
    pub(crate) fn complete(&self, end: &CompleteElicitationNotification, at: ReceiveSeq) {
        let id = &end.elicitation_id;
        let told = self.links.end(id).is_some_and(|by| by.tell_end(id, at));
        if !told {
            tracing::debug!("the agent told the end of a link that nobody waits for");
        }
        self.links.count(told);
    }

    pub(crate) fn link_stats(&self) -> LinkStats {
        self.links.stats()
    }
}

/// Who answers a question, and is told the end of its link.
#[derive(Clone)]
pub(super) enum Answerer {
    Handler(Arc<dyn DynAnswerQuestions>),
    /// Whoever reads the session; waiting for them does not keep it open.
    Reader(Weak<SessionState>),
}

impl Answerer {
    async fn answer(self, question: &Question) -> Answer {
        match self {
            Self::Handler(handler) => {
                let answer = handler.answer_boxed(question.clone()).await;
                match question.check(&answer) {
                    Ok(()) => answer,
                    Err(faults) => {
                        tracing::warn!(
                            faults = faults.len(),
                            "an answer does not fit its question and is not sent"
                        );
                        Answer::cancel()
                    }
                }
            }
            Self::Reader(session) => {
                let (pending, verdict) = PendingQuestion::new(question.clone());
                let queued = session
                    .upgrade()
                    .is_some_and(|session| session.asks().push(Ask::Question(pending)));
                if queued {
                    verdict.await.unwrap_or_else(|_| question.refusal())
                } else {
                    Answer::cancel()
                }
            }
        }
    }

    /// False when there is nobody to tell any more.
    fn tell_end(self, link: &ElicitationId, at: ReceiveSeq) -> bool {
        match self {
            Self::Handler(handler) => {
                handler.link_completed(link);
                true
            }
            Self::Reader(session) => session.upgrade().is_some_and(|session| {
                let link = link.clone();
                session.asks().push(Ask::LinkCompleted { link, at })
            }),
        }
    }
}

/// What a question belongs to, and therefore ends with.
enum Place {
    Session {
        slot: watch::Receiver<Slot>,
        /// How many cancels there were when it was asked; `None` when its turn was
        /// cancelled already.
        cancels: Option<u64>,
    },
    Request(Peer, RequestId),
}

impl Place {
    fn of_session(session: &SessionState) -> Self {
        let mut slot = session.slot().subscribe();
        let now = *slot.borrow_and_update();
        let cancels = (!now.is_cancelling()).then(|| now.cancels());
        Self::Session { slot, cancels }
    }

    /// Waits until a question that belongs to it is void.
    async fn ended(&mut self) {
        match self {
            Self::Session { slot, cancels } => {
                if let Some(cancels) = *cancels {
                    // An error means that the session is gone.
                    let _ = slot.wait_for(|slot| slot.cancels() != cancels).await;
                }
            }
            Self::Request(peer, id) => peer.call_ended(id).await,
        }
    }
}

/// A question that was taken.
pub(crate) struct AskedQuestion {
    question: Question,
    place: Place,
    by: Answerer,
    link: Option<AskedLink>,
}

impl AskedQuestion {
    /// Gets the answer from whoever is to give it, or `cancel` as soon as the question
    /// is void.
    pub(crate) async fn answer(mut self) -> CreateElicitationResponse {
        let answer = tokio::select! {
            biased;
            () = self.place.ended() => Answer::cancel(),
            answer = self.by.answer(&self.question) => answer,
        };
        if answer.is_accepted()
            && let Some(link) = self.link
        {
            link.agree();
        }
        CreateElicitationResponse::new(answer.into_action(self.question.form().is_some()))
    }
}
