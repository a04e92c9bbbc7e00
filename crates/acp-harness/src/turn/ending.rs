//! How a turn ended.

use acp_client::{ClientError, Exit, PromptResult};
use acp_protocol::v1::StopReason;

use super::driver::{DrivenTurn, StopCause};
use super::sign_in::SignIn;
use super::{HarnessError, TurnEnding, TurnOutcome};

/// What comes of a turn that was interrupted before the agent got its prompt.
pub(super) fn stopped_before(why: StopCause) -> Result<TurnOutcome, HarnessError> {
    match why {
        StopCause::Stopped => Ok(TurnOutcome::stopped()),
        StopCause::Limit { limit, after } => Err(HarnessError::TimedOut { limit, after }),
    }
}

/// How a turn ended.
pub(super) fn end_of(
    driven: DrivenTurn,
    has_output: bool,
    sign_in: &mut SignIn<'_>,
) -> Result<TurnEnding, HarnessError> {
    let answered = |answer: PromptResult| Ok(TurnEnding::Answered(answer.stop_reason));
    let error = match (driven.cause, driven.answer) {
        (None, Some(Ok(answer))) | (Some(StopCause::Stopped), Some(Ok(answer))) => {
            return answered(answer);
        }
        // Several agents answer a cancel by an error.
        (Some(StopCause::Stopped), Some(Err(ClientError::Refused { .. }))) => {
            return Ok(TurnEnding::Answered(StopReason::Cancelled));
        }
        (Some(StopCause::Stopped) | None, None) | (Some(StopCause::Stopped), Some(Err(_))) => {
            return Ok(TurnEnding::Abandoned);
        }
        (Some(StopCause::Limit { limit, after }), answer) => {
            let abandoned = match answer {
                // It came to its end after all, just then.
                Some(Ok(answer)) if answer.stop_reason != StopReason::Cancelled => {
                    return answered(answer);
                }
                Some(Ok(_) | Err(ClientError::Refused { .. })) => false,
                _ => true,
            };
            if has_output {
                return Ok(TurnEnding::TimedOut {
                    limit,
                    after,
                    abandoned,
                });
            }
            return Err(HarnessError::TimedOut { limit, after });
        }
        (None, Some(Err(error))) => error,
    };
    let error = match error {
        ClientError::Died(death) => HarnessError::StreamTruncated {
            exit: death.exit().map(Exit::status),
            stderr_tail: death.stderr_tail().to_owned(),
        },
        refusal @ ClientError::AuthRequired { .. } => sign_in.still_required(refusal),
        error => error.into(),
    };
    if has_output {
        Ok(TurnEnding::Failed(error))
    } else {
        Err(error)
    }
}
