//! The round trip of a gate, on its own task.

use std::sync::Arc;

use acp_host::{CommandId, DecisionSource, Gate, GateResponse};
use tokio::time::timeout;

use crate::{
    fault,
    gate::{self, Decision},
    guard::guard,
    outcome::Stop,
    run::GateSignal,
    session::Core,
};

/// Asks the client and passes its decision on.
///
/// It ends early when the turn is cancelled (then the gate is closed), or when
/// the gate was resolved elsewhere; the client is told by `$/cancel_request`
/// that its answer is not wanted, and what it answers later changes nothing.
pub(crate) async fn run(core: Arc<Core>, command: CommandId, gate: Box<Gate>, signal: GateSignal) {
    let patience = core.limits.permission;
    let decision = tokio::select! {
        biased;
        () = signal.given_up() => {
            if signal.is_resolved() {
                return;
            }
            Decision::closed(&gate, "the turn is cancelled")
        }
        decision = gate::ask(&core, &gate) => {
            // It may have been given up between the answer and now.
            match core.slot().close_gate(&gate.id) {
                true => decision,
                false if signal.is_resolved() => return,
                false => Decision::closed(&gate, "the turn is cancelled"),
            }
        }
        () = expired(patience) => {
            core.slot().close_gate(&gate.id);
            Decision::closed(&gate, "nobody decided in time")
        }
    };
    pass_on(&core, &command, &gate, decision).await;
}

async fn expired(patience: Option<std::time::Duration>) {
    match patience {
        Some(patience) => tokio::time::sleep(patience).await,
        None => std::future::pending().await,
    }
}

async fn pass_on(core: &Core, command: &CommandId, gate: &Gate, decision: Decision) {
    let Decision {
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
    let responded = timeout(core.limits.deny, guard(|| live.respond_gate(response))).await;
    if is_users && !matches!(responded, Ok(Ok(Ok(())))) {
        stop(
            core,
            command,
            fault::internal(fault::PROMPT, "the decision could not be passed on"),
        );
    }
}

/// The turn waits for what it will not get: end it.
fn stop(core: &Core, command: &CommandId, fault: acp_protocol::rpc::Fault) {
    let after = core.slot().stop(Some(command), Stop::Broken(fault));
    after.run();
}
