//! How a prompt ends, and the answer that the client gets.

use acp_host::{CompactRejectReason, HostError, InputCancelReason, TurnFailure, TurnRejectReason};
use acp_protocol::{
    rpc::Fault,
    v1::{PromptResponse, StopReason},
};

use crate::fault::{self, ErrorData};

/// The answer to a prompt.
pub(crate) type PromptAnswer = Result<PromptResponse, Fault>;

/// How a submission ended, by the words of the host.
#[derive(Debug)]
pub(crate) enum PromptEnd {
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

/// Why a prompt was stopped before its turn ended.
#[derive(Debug)]
pub(crate) enum StopCause {
    /// The client cancelled the turn, or its session is closed.
    Cancelled,
    /// The client cancelled the request.
    Request,
    /// Something went wrong that the turn does not know of.
    Broken(Fault),
}

impl StopCause {
    /// Whether this reason takes the place of another: after a cancelled turn
    /// the answer is always `cancelled` (R120, R121).
    pub(crate) fn outranks(&self, other: &StopCause) -> bool {
        match self {
            StopCause::Cancelled => !matches!(other, StopCause::Cancelled),
            StopCause::Request => matches!(other, StopCause::Broken(_)),
            StopCause::Broken(_) => false,
        }
    }

    /// The answer to the prompt.
    pub(crate) fn answer(self) -> PromptAnswer {
        match self {
            StopCause::Cancelled => Ok(PromptResponse::new(StopReason::Cancelled)),
            StopCause::Request => Err(Fault::cancelled()),
            StopCause::Broken(fault) => Err(fault),
        }
    }
}

impl PromptEnd {
    /// The answer to the prompt, if nobody stopped it.
    pub(crate) fn answer(self) -> PromptAnswer {
        let reason = match self {
            PromptEnd::Done { refused: false } => StopReason::EndTurn,
            PromptEnd::Done { refused: true } => StopReason::Refusal,
            PromptEnd::Interrupted => StopReason::Cancelled,
            PromptEnd::Failed(failure) => return failed(failure),
            PromptEnd::Rejected(reason) => return Err(rejected(reason)),
            PromptEnd::Withdrawn(InputCancelReason::TurnFailed) => {
                return Err(prompt_fault("the turn it waited for failed"));
            }
            PromptEnd::Withdrawn(
                InputCancelReason::Retracted | InputCancelReason::TurnInterrupted,
            ) => StopReason::Cancelled,
            PromptEnd::NotAccepted(fault) => return Err(fault),
            PromptEnd::NotCompacted(CompactRejectReason::Cancelled) => StopReason::Cancelled,
            PromptEnd::NotCompacted(CompactRejectReason::Failed(error)) => {
                return Err(fault::from_host(fault::PROMPT, error));
            }
            PromptEnd::Lost(error) => {
                return Err(match error {
                    Some(error) => fault::from_host(fault::PROMPT, error),
                    None => prompt_fault("the session ended before the turn did"),
                });
            }
        };
        Ok(PromptResponse::new(reason))
    }
}

fn failed(failure: TurnFailure) -> PromptAnswer {
    let fault = match failure {
        TurnFailure::ToolLimit => return Ok(PromptResponse::new(StopReason::MaxTurnRequests)),
        TurnFailure::MaxTokens => return Ok(PromptResponse::new(StopReason::MaxTokens)),
        TurnFailure::Refused => return Ok(PromptResponse::new(StopReason::Refusal)),
        TurnFailure::EmptyResponse => prompt_fault("the model answered with nothing"),
        TurnFailure::ContextOverflow => prompt_fault("the conversation no longer fits the model")
            .with_data(&ErrorData::new("context_overflow")),
        TurnFailure::RateLimited { retry_after } => {
            prompt_fault("the model's provider asks for patience")
                .with_data(&ErrorData::new("rate_limited").retryable(retry_after))
        }
        TurnFailure::AuthRequired => Fault::auth_required(),
        TurnFailure::Other(error) => fault::from_host(fault::PROMPT, error),
        // What a panic says was written for nobody's eyes.
        TurnFailure::Panicked => prompt_fault("the turn failed"),
    };
    Err(fault)
}

fn rejected(reason: TurnRejectReason) -> Fault {
    match reason {
        TurnRejectReason::QueueFull => prompt_fault("the session's queue is full")
            .with_data(&ErrorData::new("queue_full").retryable(None)),
        TurnRejectReason::ShuttingDown => {
            prompt_fault("the session is shutting down").with_data(&ErrorData::new("shutting_down"))
        }
        TurnRejectReason::Internal => prompt_fault("the prompt was refused"),
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

    fn show(answer: PromptAnswer) -> String {
        #[derive(Serialize)]
        struct ClientView(acp_protocol::rpc::WireError);
        match answer {
            Ok(response) => serde_json::to_string(&response).unwrap(),
            Err(fault) => serde_json::to_string(&ClientView(fault.into())).unwrap(),
        }
    }

    #[test]
    fn ends() {
        let check = |end: PromptEnd, want: &str| {
            let shown = show(end.answer());
            assert!(shown.contains(want), "{shown} does not hold {want}");
        };
        check(
            PromptEnd::Done { refused: false },
            r#"{"stopReason":"end_turn"}"#,
        );
        check(
            PromptEnd::Done { refused: true },
            r#"{"stopReason":"refusal"}"#,
        );
        check(PromptEnd::Interrupted, r#"{"stopReason":"cancelled"}"#);
        check(
            PromptEnd::Failed(TurnFailure::ToolLimit),
            r#"{"stopReason":"max_turn_requests"}"#,
        );
        check(
            PromptEnd::Failed(TurnFailure::MaxTokens),
            r#"{"stopReason":"max_tokens"}"#,
        );
        check(
            PromptEnd::Failed(TurnFailure::Refused),
            r#"{"stopReason":"refusal"}"#,
        );
        check(
            PromptEnd::Failed(TurnFailure::EmptyResponse),
            "answered with nothing",
        );
        check(
            PromptEnd::Failed(TurnFailure::ContextOverflow),
            "context_overflow",
        );
        check(PromptEnd::Failed(TurnFailure::AuthRequired), "-32000");
        check(PromptEnd::Failed(TurnFailure::Panicked), "-32603");
        let retry_after = Some(Duration::from_millis(1500));
        check(
            PromptEnd::Failed(TurnFailure::RateLimited { retry_after }),
            r#""data":{"reason":"rate_limited","retryable":true,"retryAfterMs":1500}"#,
        );
        check(
            PromptEnd::Rejected(TurnRejectReason::QueueFull),
            r#""retryable":true"#,
        );
        check(
            PromptEnd::Rejected(TurnRejectReason::ShuttingDown),
            "shutting_down",
        );
        check(PromptEnd::Rejected(TurnRejectReason::Internal), "-32603");
        check(
            PromptEnd::Withdrawn(InputCancelReason::Retracted),
            "cancelled",
        );
        check(
            PromptEnd::Withdrawn(InputCancelReason::TurnInterrupted),
            "cancelled",
        );
        check(
            PromptEnd::Withdrawn(InputCancelReason::TurnFailed),
            "-32603",
        );
        check(PromptEnd::Lost(None), "-32603");
    }

    #[test]
    fn only_public_words_of_the_host_are_told() {
        let private = HostError::internal("canary").with_public_text("no such model");
        for end in [
            PromptEnd::Failed(TurnFailure::Other(HostError::internal("canary"))),
            PromptEnd::Lost(Some(HostError::internal("canary"))),
            PromptEnd::Failed(TurnFailure::Other(private)),
        ] {
            let shown = show(end.answer());
            assert!(!shown.contains("canary"), "{shown}");
        }
        let public = PromptEnd::Failed(TurnFailure::Other(HostError::public("no such model")));
        assert!(show(public.answer()).contains("session/prompt: no such model"));
    }

    #[test]
    fn a_cancelled_turn_outranks_everything() {
        let broken = || StopCause::Broken(Fault::internal());
        assert!(
            StopCause::Cancelled.outranks(&broken())
                && StopCause::Cancelled.outranks(&StopCause::Request)
        );
        assert!(
            StopCause::Request.outranks(&broken())
                && !StopCause::Request.outranks(&StopCause::Cancelled)
        );
        assert!(!broken().outranks(&broken()) && !broken().outranks(&StopCause::Cancelled));
        assert!(!StopCause::Cancelled.outranks(&StopCause::Cancelled));
        assert!(show(StopCause::Cancelled.answer()).contains("cancelled"));
        assert!(show(StopCause::Request.answer()).contains("-32800"));
        assert!(show(broken().answer()).contains("-32603"));
    }
}
