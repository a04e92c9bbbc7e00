//! How a turn ended.

use acp_client::{ClientError, Exit, PromptResult};
use acp_protocol::v1::StopReason;

use super::driver::{DrivenTurn, StopCause};
use super::sign_in::SignIn;
use super::{TurnEnd, TurnError, TurnOutcome};

/// What comes of a turn that was interrupted before the agent got its prompt.
pub(super) fn stopped_before(why: StopCause) -> Result<TurnOutcome, TurnError> {
    match why {
        StopCause::Stopped => Ok(TurnOutcome::stopped()),
        StopCause::Limit { limit, after } => Err(TurnError::TimedOut { limit, after }),
    }
}

/// How a turn ended.
pub(super) fn end_of(
    driven: DrivenTurn,
    has_output: bool,
    sign_in: &mut SignIn<'_>,
) -> Result<TurnEnd, TurnError> {
    let answered = |answer: PromptResult| Ok(TurnEnd::Answered(answer.stop_reason));
    let error = match (driven.cause, driven.answer) {
        (None, Some(Ok(answer))) | (Some(StopCause::Stopped), Some(Ok(answer))) => {
            return answered(answer);
        }
        // Several agents answer a cancel by an error.
        (Some(StopCause::Stopped), Some(Err(ClientError::Refused { .. }))) => {
            return Ok(TurnEnd::Answered(StopReason::Cancelled));
        }
        (Some(StopCause::Stopped) | None, None) | (Some(StopCause::Stopped), Some(Err(_))) => {
            return Ok(TurnEnd::Abandoned);
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
                return Ok(TurnEnd::TimedOut {
                    limit,
                    after,
                    abandoned,
                });
            }
            return Err(TurnError::TimedOut { limit, after });
        }
        (None, Some(Err(error))) => error,
    };
    let error = match error {
        ClientError::Died(death) => TurnError::StreamTruncated {
            exit: death.exit().map(Exit::status),
            stderr_tail: death.stderr_tail().to_owned(),
        },
        refusal @ ClientError::AuthRequired { .. } => sign_in.still_required(refusal),
        error => error.into(),
    };
    if has_output {
        Ok(TurnEnd::Failed(error))
    } else {
        Err(error)
    }
}
