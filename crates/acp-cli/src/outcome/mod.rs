//! How a run ended, in words and as an exit code.

mod advice;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use acp_client::ClientError;
use acp_harness::turn::{DrivenTurn, HarnessError, StopCause, TimeLimit};
use acp_protocol::rpc::CallError;
use acp_protocol::v1::StopReason;

use crate::exit::Exit;
use crate::show::{one_line, shown};

/// How a run ended.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) exit: Exit,
    pub(crate) stop_reason: Option<StopReason>,
    pub(crate) failure: Option<Failure>,
}

/// What went wrong, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// The end of what the agent wrote to standard error.
    pub(crate) last_words: Option<String>,
    /// How a line of the agent began that is no message.
    pub(crate) noise: Option<Arc<str>>,
}

const ASK_FOR_LESS: &str = "ask for less at once, or raise the limit in the settings of the agent";

impl Outcome {
    /// The agent ended the turn.
    pub(crate) fn of_turn(stop_reason: StopReason) -> Self {
        let (exit, message, hint) = match &stop_reason {
            StopReason::EndTurn => {
                return Self::without_failure(Exit::EndOfTurn, Some(stop_reason));
            }
            StopReason::Cancelled => (
                Exit::Cancelled,
                "the agent cancelled its turn".to_owned(),
                "some do when they are refused something; --allow says what they may do",
            ),
            StopReason::Refusal => (
                Exit::Refusal,
                "the agent refused to go on".to_owned(),
                "ask for something else, or in another way",
            ),
            StopReason::MaxTokens => (
                Exit::Limit,
                "the agent came to its limit of tokens before it was done".to_owned(),
                ASK_FOR_LESS,
            ),
            StopReason::MaxTurnRequests => (
                Exit::Limit,
                "the agent came to its limit of requests before it was done".to_owned(),
                ASK_FOR_LESS,
            ),
            other => (
                Exit::Protocol,
                format!(
                    "the turn ended for a reason that acp does not know: {}",
                    one_line(other.as_str())
                ),
                "look for a newer acp; what the agent said is complete as far as it can be told",
            ),
        };
        Self {
            stop_reason: Some(stop_reason),
            ..Self::of_message(exit, message).with_hint(hint)
        }
    }

    /// A turn that was driven to its end; `stopped` tells whether somebody wanted it to end.
    pub(crate) fn of_driven(driven: DrivenTurn, stopped: bool) -> Self {
        let error = match (driven.cause, driven.answer) {
            (None, Some(Ok(answer))) => return Self::of_turn(answer.stop_reason),
            // Agents answer a cancelled prompt in many ways, and a killed one not at all.
            (Some(cause), answer) => {
                let answer = answer.and_then(Result::ok);
                return Self::cut_short(cause, answer.map(|answer| answer.stop_reason));
            }
            (None, Some(Err(error))) if !stopped => error,
            (None, _) => return Self::interrupted(None),
        };
        error.into()
    }

    /// The turn was ended from our side.
    pub(crate) fn cut_short(cause: StopCause, stop_reason: Option<StopReason>) -> Self {
        match cause {
            StopCause::Stopped => Self::interrupted(stop_reason),
            StopCause::Limit { limit, after } => Self::out_of_time(limit, after, stop_reason),
        }
    }

    /// The user cancelled, however the agent took it.
    pub(crate) fn interrupted(stop_reason: Option<StopReason>) -> Self {
        Self::without_failure(Exit::Cancelled, stop_reason)
    }

    fn without_failure(exit: Exit, stop_reason: Option<StopReason>) -> Self {
        Self {
            exit,
            stop_reason,
            failure: None,
        }
    }

    /// The command line cannot be followed.
    pub(crate) fn usage(message: String, hint: &str) -> Self {
        Self::of_message(Exit::Usage, message).with_hint(hint)
    }

    /// Something failed that the error says.
    pub(crate) fn failed(exit: Exit, error: &dyn Error) -> Self {
        Self::of_message(exit, in_words(error))
    }

    fn of_message(exit: Exit, message: String) -> Self {
        Self {
            exit,
            stop_reason: None,
            failure: Some(Failure {
                message,
                hint: None,
                last_words: None,
                noise: None,
            }),
        }
    }

    /// Another turn took the prompt.
    pub(crate) fn steered() -> Self {
        Self::without_failure(Exit::EndOfTurn, None)
    }

    /// Returns what went wrong; nothing when nothing did.
    pub(crate) fn message(&self) -> &str {
        let failure = self.failure.as_ref();
        failure.map_or("", |failure| &failure.message)
    }

    /// Says what to do about it.
    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        self.with_advice(Some(hint))
    }

    /// Says what to do about it, if something can be done.
    pub(crate) fn with_advice(mut self, hint: Option<impl Into<String>>) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.hint = hint.map(Into::into);
        }
        self
    }

    /// Adds the end of what the agent wrote to standard error.
    fn with_last_words(mut self, text: Option<&str>) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.last_words = text.map(str::to_owned);
        }
        self
    }

    /// The turn took too long, however the agent took its cancel: many answer one as if they
    /// had come to their end (B085).
    fn out_of_time(limit: TimeLimit, bound: Duration, stop_reason: Option<StopReason>) -> Self {
        let hint = match limit {
            TimeLimit::Idle => "an agent may be silent for longer with --idle-timeout",
            _ => "give it more time with --timeout, or ask for less at once",
        };
        let message = format!("failed to end the turn: {limit} {} s", bound.as_secs());
        Self {
            stop_reason,
            ..Self::of_message(Exit::TimedOut, message).with_hint(hint)
        }
    }

    /// Adds what the agent wrote that is no message, where that may be the reason.
    pub(crate) fn with_noise(mut self, noise: Option<Arc<str>>) -> Self {
        let broken = matches!(self.exit, Exit::AgentDied | Exit::Protocol | Exit::TimedOut);
        if let Some(failure) = self.failure.as_mut().filter(|_| broken) {
            failure.noise = noise;
        }
        self
    }
}

/// The machine does not give what it takes to start.
impl From<io::Error> for Outcome {
    fn from(error: io::Error) -> Self {
        Self::failed(Exit::StartFailed, &error)
    }
}

/// The agent could not be brought to where it can be asked.
impl From<HarnessError> for Outcome {
    fn from(error: HarnessError) -> Self {
        let (exit, hint) = match &error {
            HarnessError::Client(error) => return error.into(),
            HarnessError::AuthRequired(wanted) => {
                (Exit::AuthRequired, Some(advice::on_login(wanted)))
            }
            HarnessError::Version(_) => (Exit::StartFailed, Some("update the agent".to_owned())),
            HarnessError::Setting(error) => (Exit::Usage, Some(advice::on_setting(error))),
            HarnessError::TimedOut { .. } => (Exit::TimedOut, None),
            HarnessError::StreamTruncated { .. } => (Exit::AgentDied, None),
            _ => (Exit::StartFailed, None),
        };
        Self::failed(exit, &error)
            .with_advice(hint)
            .with_last_words(error.stderr_tail())
    }
}

/// The client could not go on.
impl From<&ClientError> for Outcome {
    fn from(error: &ClientError) -> Self {
        Self::failed(exit(error), error)
            .with_advice(advice::on_client_error(error))
            .with_last_words(error.stderr_tail())
    }
}

impl From<ClientError> for Outcome {
    fn from(error: ClientError) -> Self {
        (&error).into()
    }
}

/// Puts an error and its causes into one line.
pub(crate) fn in_words(error: &dyn Error) -> String {
    let words = format!("failed to {}", shown(&error.to_string()));
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(words, |words, cause| {
        format!("{words}: {}", shown(&cause.to_string()))
    })
}

fn exit(error: &ClientError) -> Exit {
    match error {
        ClientError::EmptyPrompt
        | ClientError::EmptySessionId
        | ClientError::UnknownLogin { .. }
        | ClientError::UnusablePath { .. }
        | ClientError::Unsupported { .. }
        | ClientError::UnknownMode { .. }
        | ClientError::NotSent {
            source: CallError::TooLarge { .. },
            ..
        } => Exit::Usage,
        ClientError::Spawn(_) => Exit::StartFailed,
        ClientError::AuthRequired { .. } => Exit::AuthRequired,
        ClientError::Died(_) | ClientError::Closed => Exit::AgentDied,
        ClientError::TimedOut { .. }
        | ClientError::StartTimeout { .. }
        | ClientError::LoadTimeout { .. } => Exit::TimedOut,
        ClientError::Refused { .. } => Exit::AgentError,
        _ => Exit::Protocol,
    }
}
