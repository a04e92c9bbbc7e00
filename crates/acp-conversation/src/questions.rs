//! The questions of a conversation, limited in number and bytes.

use std::collections::VecDeque;

use acp_protocol::v1::{
    CreateElicitationRequest, ElicitationAction, ElicitationId, RequestPermissionOutcome,
    RequestPermissionRequest,
};

use crate::limits::{MAX_QUESTION_BYTES, MAX_QUESTIONS};
use crate::question::{QuestionNumber, QuestionOutcome, QuestionState, QuestionSubject};

/// The questions of a conversation, in the order in which they were asked.
///
/// Each has one outcome, the first; an answer that comes later changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Questions {
    kept: VecDeque<QuestionState>,
    asked: u64,
    bytes: usize,
    /// Questions that were dropped to make room: those with an outcome first.
    pub dropped: u64,
}

impl Questions {
    /// Takes in a permission request, and returns its number, by which the answer is
    /// taken in.
    pub fn permission(&mut self, request: &RequestPermissionRequest) -> QuestionNumber {
        self.push(|number| QuestionState::permission(number, request))
    }

    /// Takes in an elicitation, and returns its number, by which the answer is taken in.
    pub fn elicitation(&mut self, request: &CreateElicitationRequest) -> QuestionNumber {
        self.push(|number| QuestionState::elicitation(number, request))
    }

    /// Takes in the answer to a permission request, and returns the question if this is
    /// its first outcome.
    pub fn answer_permission(
        &mut self,
        number: QuestionNumber,
        answer: &RequestPermissionOutcome,
    ) -> Option<&QuestionState> {
        self.close(number, |question| question.permission_outcome(answer))
    }

    /// Takes in the answer to an elicitation, and returns the question if this is its
    /// first outcome.
    pub fn answer_elicitation(
        &mut self,
        number: QuestionNumber,
        answer: &ElicitationAction,
    ) -> Option<&QuestionState> {
        self.close(number, |_| answer.into())
    }

    /// Takes note that the agent withdrew a question, and returns it if it was open.
    pub fn withdraw(&mut self, number: QuestionNumber) -> Option<&QuestionState> {
        self.close(number, |_| QuestionOutcome::Withdrawn)
    }

    /// Takes note that the agent completed what the user agreed to do at an address, and
    /// returns the question if that is new.
    pub fn complete(&mut self, completed: &ElicitationId) -> Option<&QuestionState> {
        let mut newest_first = self.kept.iter_mut().rev();
        newest_first.find_map(|question| match &mut question.subject {
            QuestionSubject::Url {
                id, is_complete, ..
            } if id.as_ref() == Some(completed) && !*is_complete => {
                *is_complete = true;
                Some(&*question)
            }
            _ => None,
        })
    }

    /// Withdraws the permission requests that are open, because the turn that asked them is
    /// over. Elicitations belong to the session.
    pub(crate) fn withdraw_permissions(&mut self) {
        let is_permission =
            |it: &&QuestionState| matches!(it.subject, QuestionSubject::Permission { .. });
        let open = self.open().filter(is_permission);
        for number in open.map(|it| it.number).collect::<Vec<_>>() {
            self.withdraw(number);
        }
    }

    /// Returns a question by its number; `None` when it was dropped.
    #[must_use]
    pub fn get(&self, number: QuestionNumber) -> Option<&QuestionState> {
        self.kept.get(self.position(number)?)
    }

    /// Walks over the questions that are kept.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &QuestionState> + ExactSizeIterator {
        self.kept.iter()
    }

    /// Walks over the questions that have no outcome yet.
    pub fn open(&self) -> impl DoubleEndedIterator<Item = &QuestionState> {
        self.iter().filter(|question| question.outcome.is_none())
    }

    /// Returns the bytes that are kept.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn position(&self, number: QuestionNumber) -> Option<usize> {
        self.kept
            .binary_search_by_key(&number, |question| question.number)
            .ok()
    }

    fn push(&mut self, question: impl FnOnce(QuestionNumber) -> QuestionState) -> QuestionNumber {
        let number = QuestionNumber(self.asked);
        self.asked += 1;
        let question = question(number);
        self.bytes += question.bytes();
        self.kept.push_back(question);
        self.make_room();
        number
    }

    fn close(
        &mut self,
        number: QuestionNumber,
        outcome: impl FnOnce(&QuestionState) -> QuestionOutcome,
    ) -> Option<&QuestionState> {
        let at = self.position(number)?;
        let question = self.kept.get_mut(at)?;
        if question.outcome.is_some() {
            return None;
        }
        self.bytes -= question.bytes();
        question.outcome = Some(outcome(question));
        self.bytes += question.bytes();
        self.make_room();
        self.get(number)
    }

    /// Drops questions, the oldest with an outcome first, then the oldest; never the newest.
    fn make_room(&mut self) {
        while self.kept.len() > 1
            && (self.kept.len() > MAX_QUESTIONS || self.bytes > MAX_QUESTION_BYTES)
        {
            let older = self.kept.iter().take(self.kept.len() - 1);
            let answered = older.enumerate().find(|(_, it)| it.outcome.is_some());
            let at = answered.map_or(0, |(at, _)| at);
            if let Some(gone) = self.kept.remove(at) {
                self.bytes -= gone.bytes();
                self.dropped += 1;
            }
        }
    }
}
