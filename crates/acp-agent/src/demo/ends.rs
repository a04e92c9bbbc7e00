//! How turns of the demo agent end, well and badly.

use std::{future::pending, time::Duration};

use acp_host::{HostError, TurnFailure};

use super::{DemoAgent, words::Word};
use crate::kit::{Turn, TurnEnd, TurnError};

impl DemoAgent {
    pub(super) async fn end(
        &self,
        turn: &Turn,
        word: Word,
        rest: &str,
    ) -> Result<TurnEnd, TurnError> {
        match word {
            Word::Refuse => {
                turn.refusal("I would rather not.\n").await?;
                Ok(TurnEnd::Refused)
            }
            Word::Tokens => {
                self.say(turn, "This answer would go on and on and").await?;
                Ok(TurnEnd::MaxTokens)
            }
            Word::Steps => {
                self.say(turn, "There is more to do, but I may not.\n")
                    .await?;
                Ok(TurnEnd::MaxSteps)
            }
            Word::Wait => {
                turn.text("Waiting. ").await?;
                turn.cancelled().await;
                Ok(TurnEnd::Cancelled)
            }
            Word::Deaf => {
                turn.text("La la la. ").await?;
                pending().await
            }
            Word::Fail => Err(failure(rest)),
            Word::Panic => panic!("somebody asked the demo agent to panic"),
            _ => Ok(TurnEnd::Done),
        }
    }
}

fn failure(why: &str) -> TurnError {
    TurnError::failure(match why {
        "busy" => TurnFailure::RateLimited {
            retry_after: Some(Duration::from_secs(1)),
        },
        "login" => TurnFailure::AuthRequired,
        "context" => TurnFailure::ContextOverflow,
        "empty" => TurnFailure::EmptyResponse,
        "secret" => TurnFailure::Other(HostError::internal("nobody reads this")),
        _ => return TurnError::public("you asked for it"),
    })
}
