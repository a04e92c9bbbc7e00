//! How a turn ended.

use acp_client::{ClientError, Exit, PromptResult};
use acp_protocol::v1::StopReason;

use super::drive::{Cause, Driven};
use super::sign_in::SignIn;
use super::{TurnEnd, TurnError, TurnOutcome};

/// What comes of a turn that was interrupted before the agent got its prompt.
pub(super) fn stopped_before(why: Cause) -> Result<TurnOutcome, TurnError> {
    match why {
        Cause::Stop => Ok(TurnOutcome::stopped()),
        Cause::Limit(limit, after) => Err(TurnError::TimedOut { limit, after }),
    }
}

/// How a turn ended.
pub(super) fn end_of(
    driven: Driven,
    has_output: bool,
    sign_in: &mut SignIn<'_>,
) -> Result<TurnEnd, TurnError> {
    let answered = |answer: PromptResult| Ok(TurnEnd::Answered(answer.stop_reason));
    let error = match (driven.cause, driven.answer) {
        (None, Some(Ok(answer))) | (Some(Cause::Stop), Some(Ok(answer))) => {
            return answered(answer);
        }
        // Several agents answer a cancel by an error.
        (Some(Cause::Stop), Some(Err(ClientError::Refused { .. }))) => {
            return Ok(TurnEnd::Answered(StopReason::Cancelled));
        }
        (Some(Cause::Stop) | None, None) | (Some(Cause::Stop), Some(Err(_))) => {
            return Ok(TurnEnd::Abandoned);
        }
        (Some(Cause::Limit(limit, after)), answer) => {
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
