//! How a turn ends, well or badly.

use std::{borrow::Cow, error::Error, fmt};

use acp_host::{ClientCallError, EmitError, EventBody, HostError, TurnFailure};

use crate::kit::HistoryError;

/// How a turn ended well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnEnd {
    /// The agent has said what it had to say.
    #[default]
    Done,
    /// The answer grew longer than the model may write.
    MaxTokens,
    /// The turn asked for more steps than it may.
    MaxSteps,
    /// The model declined.
    Refused,
    /// The user no longer wants the turn, as the agent found out by itself. A
    /// turn that the client has cancelled ends so in any case.
    Cancelled,
}

impl TurnEnd {
    pub(in crate::kit) fn into_event(self) -> EventBody {
        match self {
            Self::Done => EventBody::TurnDone,
            Self::MaxTokens => EventBody::TurnFailed(TurnFailure::MaxTokens),
            Self::MaxSteps => EventBody::TurnFailed(TurnFailure::ToolLimit),
            Self::Refused => EventBody::TurnFailed(TurnFailure::Refused),
            Self::Cancelled => EventBody::TurnInterrupted,
        }
    }
}

/// Why a turn ended badly.
///
/// Every error becomes one by `?`. Its text stays in this process, and the
/// client reads that the agent failed; the public part of a [`HostError`] stays
/// public. Use [`public`](TurnError::public) for words that the client may
/// read.
///
/// It does not implement [`std::error::Error`] itself: no other error could
/// become one by `?` then.
pub struct TurnError(Why);

enum Why {
    Cancelled,
    Closed,
    Failed(TurnFailure),
}

impl TurnError {
    /// The client cancelled the turn.
    pub fn cancelled() -> Self {
        Self(Why::Cancelled)
    }

    /// The turn failed, in words that the client may read.
    pub fn public(text: impl Into<Cow<'static, str>>) -> Self {
        Self::failure(TurnFailure::Other(HostError::public(text)))
    }

    /// The turn failed for a reason that clients know.
    pub fn failure(failure: TurnFailure) -> Self {
        Self(Why::Failed(failure))
    }

    /// Whether the client cancelled the turn.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0, Why::Cancelled)
    }

    pub(in crate::kit) fn into_event(self) -> EventBody {
        match self.0 {
            Why::Cancelled | Why::Closed => EventBody::TurnInterrupted,
            Why::Failed(failure) => EventBody::TurnFailed(failure),
        }
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for TurnError {
    fn from(error: E) -> Self {
        let any: &(dyn Error + 'static) = &error;
        match (
            any.downcast_ref::<EmitError>(),
            any.downcast_ref::<ClientCallError>(),
        ) {
            (Some(EmitError::Cancelled), _) | (_, Some(ClientCallError::Cancelled)) => {
                return Self(Why::Cancelled);
            }
            (Some(EmitError::Closed | EmitError::Ended), _)
            | (_, Some(ClientCallError::Closed)) => {
                return Self(Why::Closed);
            }
            (Some(EmitError::TooLarge), _) => {
                return Self::public("an update was larger than a message may be");
            }
            _ => {}
        }
        let boxed: Box<dyn Error + Send + Sync> = Box::new(error);
        let error = match boxed.downcast::<HistoryError>() {
            Ok(known) => HostError::from(*known),
            Err(other) => other
                .downcast::<HostError>()
                .map_or_else(HostError::internal, |known| *known),
        };
        Self::failure(TurnFailure::Other(error))
    }
}

impl fmt::Debug for TurnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Why::Cancelled => f.write_str("Cancelled"),
            Why::Closed => f.write_str("Closed"),
            Why::Failed(failure) => f.debug_tuple("Failed").field(failure).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(error: impl Error + Send + Sync + 'static) -> TurnError {
        let by_question_mark = || -> Result<(), TurnError> { Err(error)? };
        by_question_mark().unwrap_err()
    }

    #[test]
    fn errors_become_turn_errors() {
        assert!(fail(EmitError::Cancelled).is_cancelled());
        assert!(fail(ClientCallError::Cancelled).is_cancelled());
        assert!(matches!(fail(EmitError::Closed).0, Why::Closed));

        let host_error = |error: TurnError| match error.0 {
            Why::Failed(TurnFailure::Other(error)) => error,
            _ => panic!("another failure"),
        };
        let foreign = host_error(fail(std::io::Error::other("canary")));
        assert_eq!(foreign.public_text(), None);
        assert_eq!(foreign.private_cause().unwrap().to_string(), "canary");
        let own = host_error(fail(HostError::public("no such model")));
        assert_eq!(own.public_text(), Some("no such model"));
    }
}
