//! A question to the client about a gate, on its own task.

use std::{sync::Arc, time::Duration};

use acp_host::{CommandId, DecisionSource, Gate, GateResponse};
use acp_protocol::rpc::Fault;
use tokio::time::timeout;

use super::{
    SessionCore,
    gate::{self, GateDecision},
};
use crate::{
    fault,
    host_call::call_host,
    turn::{gate_signal::GateSignal, outcome::StopCause, session_turns::SessionTurns},
};

/// A question to the client about a gate that the host opened.
///
/// It ends early when the turn is cancelled (then the gate is closed), or when
/// the gate was resolved elsewhere; `$/cancel_request` tells the client
/// that its answer is not wanted, and what it answers later changes nothing.
pub(super) struct GateRequest {
    core: Arc<SessionCore>,
    command: CommandId,
    gate: Box<Gate>,
    signal: GateSignal,
    is_started: bool,
}

impl GateRequest {
    pub(super) fn new(
        core: Arc<SessionCore>,
        command: CommandId,
        gate: Box<Gate>,
        signal: GateSignal,
    ) -> Self {
        Self {
            core,
            command,
            gate,
            signal,
            is_started: false,
        }
    }

    /// Asks the client and passes its decision on, on a task of its own.
    pub(super) fn start(mut self) {
        self.is_started = true;
        let asking = PendingQuestion::begin(&self.core, &self.command);
        let runtime = self.core.runtime.clone();
        runtime.spawn(async move {
            let decision = self.decide().await;
            // By now the client knows that it is no longer asked.
            drop(asking);
            if let Some(decision) = decision {
                pass_on(&self.core, &self.command, &self.gate, decision).await;
            }
        });
    }

    /// What was decided; nothing if that is not ours to say any more.
    async fn decide(&self) -> Option<GateDecision> {
        let Self {
            core, gate, signal, ..
        } = self;
        Some(tokio::select! {
            biased;
            () = signal.given_up() => {
                if signal.is_resolved() {
                    return None;
                }
                GateDecision::closed(gate, "the turn is cancelled")
            }
            decision = gate::ask(core, gate) => {
                return settle(&mut core.turns(), gate, signal, decision);
            }
            () = expired(core.limits.permission) => {
                core.turns().close_gate(&gate.id);
                GateDecision::closed(gate, "nobody decided in time")
            }
        })
    }
}

impl Drop for GateRequest {
    fn drop(&mut self) {
        // The gate was not opened after all, and may be opened again.
        if !self.is_started {
            self.core.turns().close_gate(&self.gate.id);
        }
    }
}

/// Answers a gate at which the client cannot be asked, on a task of its own: the turn
/// would wait at it for ever.
pub(super) fn decline(core: Arc<SessionCore>, gate: Box<Gate>) {
    tracing::warn!(
        session.id = %core.id,
        gate.id = %gate.id,
        "the client cannot be asked at a gate of the host, so it is declined"
    );
    let runtime = core.runtime.clone();
    runtime.spawn(async move {
        let response = GateDecision::declined(&gate).into_response(&gate);
        let Some(live) = core.live() else { return };
        let call = call_host(|| live.respond_gate(response));
        let _ = timeout(core.limits.deny, call).await;
    });
}

/// The client is being asked. The answer to the prompt waits for the end of
/// that: a question is withdrawn before its turn is over, not behind it.
struct PendingQuestion {
    core: Arc<SessionCore>,
    command: CommandId,
}

impl PendingQuestion {
    fn begin(core: &Arc<SessionCore>, command: &CommandId) -> Self {
        if let Some(prompt) = core.turns().prompt(command) {
            prompt.begin_asking();
        }
        Self {
            core: Arc::clone(core),
            command: command.clone(),
        }
    }
}

impl Drop for PendingQuestion {
    fn drop(&mut self) {
        self.core.turns().end_asking(&self.command);
    }
}

/// What counts of a decision: it may have been given up between the answer and
/// now.
fn settle(
    turns: &mut SessionTurns,
    gate: &Gate,
    signal: &GateSignal,
    decision: GateDecision,
) -> Option<GateDecision> {
    match turns.close_gate(&gate.id) {
        true => Some(decision),
        false if signal.is_resolved() => None,
        false => Some(GateDecision::closed(gate, "the turn is cancelled")),
    }
}

async fn expired(patience: Option<Duration>) {
    match patience {
        Some(patience) => tokio::time::sleep(patience).await,
        None => std::future::pending().await,
    }
}

async fn pass_on(core: &SessionCore, command: &CommandId, gate: &Gate, decision: GateDecision) {
    let GateDecision {
        answer,
        source,
        broken,
    } = decision;
    let is_users = source == DecisionSource::User;
    tracing::debug!(session.id = %core.id, gate.id = %gate.id, ?answer, ?source, "a gate is answered");
    if let Some(fault) = broken {
        stop(core, command, fault);
    }
    let Some(live) = core.live() else { return };
    let response = GateResponse::new(gate.id.clone(), answer, source);
    let responded = timeout(core.limits.deny, call_host(|| live.respond_gate(response))).await;
    if !is_users {
        return;
    }
    let text = "the decision could not be passed on";
    let fault = match responded {
        Ok(Ok(Ok(()))) => return,
        Ok(called) => match fault::called(fault::PROMPT, called) {
            Ok(()) => return,
            Err(cause) => fault::internal(fault::PROMPT, text).with_source(cause),
        },
        Err(elapsed) => fault::internal(fault::PROMPT, text).with_source(elapsed),
    };
    stop(core, command, fault);
}

/// The turn waits for what it will not get: end it.
fn stop(core: &SessionCore, command: &CommandId, fault: Fault) {
    core.turns().stop(Some(command), StopCause::Broken(fault));
}

#[cfg(test)]
mod tests {
    use acp_host::{
        Cancel, EventBody, GateAnswer, PermissionAction, ToolCall, TurnOrigin, Visibility,
    };
    use acp_protocol::v1::{RequestPermissionOutcome, RequestPermissionResponse};

    use super::*;
    use crate::turn::{active_prompt::EventAction, outcome::PromptEnd};

    /// A turns with an open gate.
    fn open() -> (SessionTurns, Box<Gate>, GateSignal) {
        let mut turns = SessionTurns::default();
        let command = CommandId::from("a");
        turns.begin(command.clone(), Cancel::new()).unwrap();
        let turn = Arc::new(TurnOrigin::new("main", "t"));
        let started = EventBody::TurnStarted {
            command: Some(command),
            index: 0,
        };
        let gate = Gate::permission("g", ToolCall::new("t", "edit", "Edit"));
        turns.event(&turn, Visibility::Public, started);
        let opened = EventBody::GateOpened(Box::new(gate));
        let step = turns.event(&turn, Visibility::Public, opened);
        match step {
            EventAction::Ask { gate, signal, .. } => (turns, gate, signal),
            step => panic!("{step:?}"),
        }
    }

    fn approval(gate: &Gate) -> GateDecision {
        let approve = RequestPermissionOutcome::Selected(
            acp_protocol::v1::SelectedPermissionOutcome::new("approve"),
        );
        GateDecision::of_permission(gate, Ok(RequestPermissionResponse::new(approve)))
    }

    fn action(decision: Option<GateDecision>) -> Option<GateAnswer> {
        decision.map(|decision| decision.answer)
    }

    #[test]
    fn an_approval_counts_only_while_its_gate_is_open() {
        let approve = Some(GateAnswer::Permission(PermissionAction::Approve));
        let deny = Some(GateAnswer::Permission(PermissionAction::Deny));
        let (mut turns, gate, signal) = open();
        let settled = settle(&mut turns, &gate, &signal, approval(&gate));
        assert_eq!(action(settled), approve);
        // It counts once.
        let settled = settle(&mut turns, &gate, &signal, approval(&gate));
        assert_eq!(action(settled), deny);

        let (mut turns, gate, signal) = open();
        turns.stop(None, StopCause::Cancelled);
        let settled = settle(&mut turns, &gate, &signal, approval(&gate));
        assert_eq!(action(settled), deny);

        let (mut turns, gate, signal) = open();
        turns.end(&CommandId::from("a"), PromptEnd::Interrupted);
        let settled = settle(&mut turns, &gate, &signal, approval(&gate));
        assert_eq!(action(settled), None, "nobody waits at the gate");
    }
}
