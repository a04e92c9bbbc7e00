//! The view of a turn that a report and progress events are made of.

use acp_client::{PendingPermission, TurnEvent, Update};
use acp_conversation::Conversation;
use acp_protocol::v1::{PromptResponse, SessionUpdate};

use super::{DrivenTurn, DriverEvent, Observer, StopCause, TurnProgress};
use crate::reader::{self, ReaderEvent};

/// What was read of a turn.
#[derive(Default)]
pub(super) struct Reading {
    pub(super) conversation: Conversation,
}

impl Reading {
    /// Reads an event, and reports progress.
    pub(super) fn take(&mut self, event: DriverEvent, tell: &mut Observer<'_>) {
        match event {
            DriverEvent::Turn(TurnEvent::Update(update)) if !is_replay(&update) => {
                self.read(&update.update, tell);
            }
            DriverEvent::Turn(TurnEvent::Unreadable { .. }) => self.lose(1, tell),
            DriverEvent::Turn(TurnEvent::Gap { dropped }) => self.lose(dropped, tell),
            DriverEvent::Turn(TurnEvent::Permission(pending)) => self.refuse(pending),
            // Updates before the prompt are no part of this turn, and an elicitation is
            // declined by being dropped.
            DriverEvent::Turn(_) => {}
            DriverEvent::Steered(outcome) => tell(TurnProgress::Steered(outcome)),
            DriverEvent::Stopping(cause) => tell(TurnProgress::Stopping {
                limit: match cause {
                    StopCause::Stopped => None,
                    StopCause::Limit { limit, .. } => Some(limit),
                },
            }),
        }
    }

    /// Reads the agent's answer to the prompt.
    pub(super) fn end(&mut self, driven: &DrivenTurn) {
        if let Some(Ok(answer)) = &driven.answer {
            let mut response = PromptResponse::new(answer.stop_reason.clone());
            response.meta = answer.meta.clone();
            self.conversation.end(&response);
        }
    }

    /// Refuses a permission request that no handler answers, and records it.
    fn refuse(&mut self, pending: PendingPermission) {
        let request = pending.request();
        let number = self.conversation.permission(request.raw());
        let answer = request.reject();
        let questions = &mut self.conversation.questions;
        questions.answer_permission(number, &answer);
        pending.reject();
    }

    fn lose(&mut self, updates: u64, tell: &mut Observer<'_>) {
        self.conversation.lose(updates);
        tell(TurnProgress::Lost { updates });
    }

    fn read(&mut self, update: &SessionUpdate, tell: &mut Observer<'_>) {
        let events = reader::read(&mut self.conversation, update);
        let nothing = events.is_empty();
        for event in events {
            tell(match event {
                ReaderEvent::Text(text) => TurnProgress::Message(text),
                ReaderEvent::Reasoning(text) => TurnProgress::Thought(text),
                ReaderEvent::Call(call) => TurnProgress::ToolCall(call),
                ReaderEvent::Result(result) => TurnProgress::ToolResult(result),
            });
        }
        match update {
            SessionUpdate::ToolCallUpdate(update) if nothing => tell(TurnProgress::ToolUpdate {
                id: update.tool_call_id.clone(),
                status: update.status.clone(),
                title: update.title.clone(),
            }),
            SessionUpdate::Plan(plan) => tell(TurnProgress::Plan(plan.clone())),
            SessionUpdate::CurrentModeUpdate(mode) => {
                tell(TurnProgress::Mode(mode.current_mode_id.clone()));
            }
            SessionUpdate::UsageUpdate(usage) => tell(TurnProgress::Usage((**usage).clone())),
            _ => {}
        }
    }
}

/// Tells whether an agent says of an update that it is history: some replay a session
/// after they have loaded it.
fn is_replay(update: &Update) -> bool {
    let meta = update.meta.as_ref();
    meta.and_then(|meta| meta.get("isReplay"))
        .is_some_and(|said| said == true)
}
