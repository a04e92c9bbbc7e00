//! What a client is told at the end of its prompt.

use acp_host::{CompactRejectReason, HostError, InputCancelReason, TurnFailure, TurnRejectReason};
use acp_protocol::{
    rpc::Fault,
    v1::{PromptResponse, StopReason},
};

use crate::fault::{self, Reason};

/// How a submission ended, by the words of the host.
#[derive(Debug)]
pub(crate) enum End {
    /// The turn ended well; `refused` says that its last words declined.
    Done { refused: bool },
    /// The turn was interrupted.
    Interrupted,
    /// The turn failed.
    Failed(TurnFailure),
    /// The submission was refused.
    Rejected(TurnRejectReason),
    /// The submission was withdrawn.
    Withdrawn(InputCancelReason),
    /// The submission was not accepted.
    NotAccepted(Fault),
    /// The conversation was not shortened.
    NotCompacted(CompactRejectReason),
    /// No end will come: the host lost track, or let go of its link.
    Lost(Option<HostError>),
}

/// Why nobody waits for the end of a turn any more.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The client cancelled the turn, or its session is closed.
    Cancelled,
    /// The client cancelled the request.
    Request,
    /// Something went wrong that the turn does not know of.
    Broken(Fault),
}

impl Stop {
    /// Whether this reason takes the place of another: after a cancelled turn
    /// the answer is always `cancelled` (R120, R121).
    pub(crate) fn outranks(&self, other: &Stop) -> bool {
        match self {
            Stop::Cancelled => !matches!(other, Stop::Cancelled),
            Stop::Request => matches!(other, Stop::Broken(_)),
            Stop::Broken(_) => false,
        }
    }

    /// The answer to the prompt.
    pub(crate) fn answer(self) -> Result<PromptResponse, Fault> {
        match self {
            Stop::Cancelled => Ok(PromptResponse::new(StopReason::Cancelled)),
            Stop::Request => Err(Fault::cancelled()),
            Stop::Broken(fault) => Err(fault),
        }
    }
}

impl End {
    /// The answer to the prompt, if nobody stopped it.
    pub(crate) fn answer(self) -> Result<PromptResponse, Fault> {
        let reason = match self {
            End::Done { refused: false } => StopReason::EndTurn,
            End::Done { refused: true } => StopReason::Refusal,
            End::Interrupted => StopReason::Cancelled,
            End::Failed(failure) => return failed(failure),
            End::Rejected(reason) => return Err(rejected(reason)),
            End::Withdrawn(InputCancelReason::TurnFailed) => {
                return Err(prompt_fault("the turn it waited for failed"));
            }
            End::Withdrawn(_) => StopReason::Cancelled,
            End::NotAccepted(fault) => return Err(fault),
            End::NotCompacted(
                CompactRejectReason::Interrupted | CompactRejectReason::Cancelled,
            ) => StopReason::Cancelled,
            End::NotCompacted(reason) => return Err(prompt_fault(reason.public_text())),
            End::Lost(error) => {
                return Err(match error {
                    Some(error) => fault::from_host(fault::PROMPT, error),
                    None => prompt_fault("the session ended before the turn did"),
                });
            }
        };
        Ok(PromptResponse::new(reason))
    }
}

fn failed(failure: TurnFailure) -> Result<PromptResponse, Fault> {
    let fault = match failure {
        TurnFailure::ToolLimit => return Ok(PromptResponse::new(StopReason::MaxTurnRequests)),
        TurnFailure::MaxTokens => return Ok(PromptResponse::new(StopReason::MaxTokens)),
        TurnFailure::Refused => return Ok(PromptResponse::new(StopReason::Refusal)),
        TurnFailure::EmptyResponse => prompt_fault("the model answered with nothing"),
        TurnFailure::ContextOverflow => prompt_fault("the conversation no longer fits the model")
            .with_data(&Reason::new("context_overflow")),
        TurnFailure::RateLimited { retry_after } => {
            prompt_fault("the model's provider asks for patience")
                .with_data(&Reason::new("rate_limited").retryable(retry_after))
        }
        TurnFailure::AuthRequired => Fault::auth_required(),
        TurnFailure::Other(error) => fault::from_host(fault::PROMPT, error),
        // What a panic says was written for nobody's eyes.
        TurnFailure::Panicked | _ => prompt_fault("the turn failed"),
    };
    Err(fault)
}

fn rejected(reason: TurnRejectReason) -> Fault {
    match reason {
        TurnRejectReason::QueueFull => prompt_fault("the session's queue is full")
            .with_data(&Reason::new("queue_full").retryable(None)),
        TurnRejectReason::ShuttingDown => {
            prompt_fault("the session is shutting down").with_data(&Reason::new("shutting_down"))
        }
        TurnRejectReason::Internal | _ => prompt_fault("the prompt was refused"),
    }
}

fn prompt_fault(text: &str) -> Fault {
    fault::internal(fault::PROMPT, text)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde::Serialize;

    use super::*;

    fn show(answer: Result<PromptResponse, Fault>) -> String {
        #[derive(Serialize)]
        struct Shown(acp_protocol::rpc::WireError);
        match answer {
            Ok(response) => serde_json::to_string(&response).unwrap(),
            Err(fault) => serde_json::to_string(&Shown(fault.into())).unwrap(),
        }
    }

    #[test]
    fn ends() {
        let check = |end: End, want: &str| {
            let shown = show(end.answer());
            assert!(shown.contains(want), "{shown} does not hold {want}");
        };
        check(End::Done { refused: false }, r#"{"stopReason":"end_turn"}"#);
        check(End::Done { refused: true }, r#"{"stopReason":"refusal"}"#);
        check(End::Interrupted, r#"{"stopReason":"cancelled"}"#);
        check(
            End::Failed(TurnFailure::ToolLimit),
            r#"{"stopReason":"max_turn_requests"}"#,
        );
        check(
            End::Failed(TurnFailure::MaxTokens),
            r#"{"stopReason":"max_tokens"}"#,
        );
        check(
            End::Failed(TurnFailure::Refused),
            r#"{"stopReason":"refusal"}"#,
        );
        check(
            End::Failed(TurnFailure::EmptyResponse),
            "answered with nothing",
        );
        check(
            End::Failed(TurnFailure::ContextOverflow),
            "context_overflow",
        );
        check(End::Failed(TurnFailure::AuthRequired), "-32000");
        check(End::Failed(TurnFailure::Panicked), "-32603");
        let retry_after = Some(Duration::from_millis(1500));
        check(
            End::Failed(TurnFailure::RateLimited { retry_after }),
            r#""data":{"reason":"rate_limited","retryable":true,"retryAfterMs":1500}"#,
        );
        check(
            End::Rejected(TurnRejectReason::QueueFull),
            r#""retryable":true"#,
        );
        check(
            End::Rejected(TurnRejectReason::ShuttingDown),
            "shutting_down",
        );
        check(End::Rejected(TurnRejectReason::Internal), "-32603");
        check(End::Withdrawn(InputCancelReason::Retracted), "cancelled");
        check(
            End::Withdrawn(InputCancelReason::TurnInterrupted),
            "cancelled",
        );
        check(End::Withdrawn(InputCancelReason::TurnFailed), "-32603");
        check(End::Lost(None), "-32603");
    }

    #[test]
    fn only_public_words_of_the_host_are_told() {
        let private = HostError::internal("canary").with_public_text("no such model");
        for end in [
            End::Failed(TurnFailure::Other(HostError::internal("canary"))),
            End::Lost(Some(HostError::internal("canary"))),
            End::Failed(TurnFailure::Other(private)),
        ] {
            let shown = show(end.answer());
            assert!(!shown.contains("canary"), "{shown}");
        }
        let public = End::Failed(TurnFailure::Other(HostError::public("no such model")));
        assert!(show(public.answer()).contains("session/prompt: no such model"));
    }

    #[test]
    fn a_cancelled_turn_outranks_everything() {
        let broken = || Stop::Broken(Fault::internal());
        assert!(Stop::Cancelled.outranks(&broken()) && Stop::Cancelled.outranks(&Stop::Request));
        assert!(Stop::Request.outranks(&broken()) && !Stop::Request.outranks(&Stop::Cancelled));
        assert!(!broken().outranks(&broken()) && !broken().outranks(&Stop::Cancelled));
        assert!(!Stop::Cancelled.outranks(&Stop::Cancelled));
        assert!(show(Stop::Cancelled.answer()).contains("cancelled"));
        assert!(show(Stop::Request.answer()).contains("-32800"));
        assert!(show(broken().answer()).contains("-32603"));
    }
}
