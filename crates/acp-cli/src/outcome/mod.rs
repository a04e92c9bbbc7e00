//! How a run ended, in words and as an exit code.

mod advice;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use acp_client::ClientError;
use acp_harness::turn::{TimeLimit, TurnError};
use acp_protocol::rpc::CallError;
use acp_protocol::v1::StopReason;

use crate::agent::AgentError;
use crate::config::ConfigError;
use crate::exit::Exit;
use crate::sessions::{NotClaimed, NotSet};
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
                return Self {
                    exit: Exit::EndOfTurn,
                    stop_reason: Some(stop_reason),
                    failure: None,
                };
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
            exit,
            stop_reason: Some(stop_reason),
            failure: Some(Failure::new(message, hint)),
        }
    }

    /// The user cancelled, however the agent took it.
    pub(crate) fn interrupted(stop_reason: Option<StopReason>) -> Self {
        Self {
            exit: Exit::Cancelled,
            stop_reason,
            failure: None,
        }
    }

    /// The command line cannot be followed.
    pub(crate) fn usage(message: String, hint: &str) -> Self {
        Self::failed(Exit::Usage, Failure::new(message, hint))
    }

    /// The configuration cannot be used.
    pub(crate) fn of_config(error: &ConfigError) -> Self {
        Self::usage(in_words(error), error.hint())
    }

    /// A login did not succeed.
    pub(crate) fn of_login(exit: Exit, error: &dyn Error, hint: &str) -> Self {
        Self::failed(exit, Failure::new(in_words(error), hint))
    }

    /// The machine does not give what it takes to start.
    pub(crate) fn not_started(error: &dyn Error) -> Self {
        Self::failed(
            Exit::StartFailed,
            Failure {
                message: in_words(error),
                hint: None,
                last_words: None,
                noise: None,
            },
        )
    }

    /// Another turn took the prompt.
    pub(crate) fn steered() -> Self {
        Self {
            exit: Exit::EndOfTurn,
            stop_reason: None,
            failure: None,
        }
    }

    /// The session is not to be had.
    pub(crate) fn not_claimed(error: &NotClaimed) -> Self {
        let (exit, hint) = match error {
            NotClaimed::Store(_) => (Exit::StartFailed, None),
            NotClaimed::Busy => (
                Exit::Busy,
                Some("--if-busy wait waits for it; `acp cancel` cancels it"),
            ),
            NotClaimed::StillBusy { .. } => (
                Exit::Busy,
                Some("--busy-timeout waits for longer; `acp cancel` cancels it"),
            ),
            NotClaimed::Untold(_) => (
                Exit::AgentError,
                Some("look at what it does before you say it again"),
            ),
        };
        let failure = Failure {
            message: in_words(error),
            hint: hint.map(str::to_owned),
            last_words: None,
            noise: None,
        };
        Self::failed(exit, failure)
    }

    /// The process that runs a turn does not answer.
    pub(crate) fn no_answer(error: &dyn Error) -> Self {
        let hint = "the turn goes on; look for the process that runs it";
        Self::failed(Exit::TimedOut, Failure::new(in_words(error), hint))
    }

    /// Returns what went wrong; nothing when nothing did.
    pub(crate) fn message(&self) -> &str {
        let failure = self.failure.as_ref();
        failure.map_or("", |failure| &failure.message)
    }

    /// Says what to do instead of what is said usually.
    pub(crate) fn with_hint(mut self, hint: &str) -> Self {
        if let Some(failure) = &mut self.failure {
            failure.hint = Some(hint.to_owned());
        }
        self
    }

    /// Something cannot be set.
    pub(crate) fn not_set(error: &NotSet) -> Self {
        match error {
            NotSet::Failed(error) => Self::of_turn_error(error),
            NotSet::NotKept { .. } | NotSet::TooMany { .. } => {
                let exit = match error {
                    NotSet::TooMany { .. } => Exit::Usage,
                    _ => Exit::Protocol,
                };
                let hint = "`acp set clear` forgets what the session is set to";
                Self::failed(exit, Failure::new(in_words(error), hint))
            }
        }
    }

    /// There is no agent to start.
    pub(crate) fn no_agent(error: &AgentError) -> Self {
        let (exit, hint) = match error {
            AgentError::Unknown(_) => (
                Exit::Usage,
                "an agent that is not known is started by its command, behind --",
            ),
            AgentError::NotInstalled(_) => {
                (Exit::StartFailed, "`acp agents` lists those that are there")
            }
            AgentError::Env(_) => (Exit::StartFailed, "unset it, then try again"),
            _ => (
                Exit::StartFailed,
                "check the spelling, or give the full path; the command of the agent stands after --",
            ),
        };
        Self::failed(exit, Failure::new(in_words(error), hint))
    }

    /// The agent could not be brought to where it can be asked.
    pub(crate) fn of_turn_error(error: &TurnError) -> Self {
        let (exit, hint) = match error {
            TurnError::Client(error) => return Self::of_error(error),
            TurnError::AuthRequired(wanted) => (Exit::AuthRequired, Some(advice::on_login(wanted))),
            TurnError::Version(_) => (Exit::StartFailed, Some("update the agent".to_owned())),
            TurnError::Setting(error) => (Exit::Usage, Some(advice::on_setting(error))),
            TurnError::Option(_) => (
                Exit::Usage,
                Some("--option takes the id of an option and one of its values".to_owned()),
            ),
            TurnError::TimedOut { .. } => (Exit::TimedOut, None),
            TurnError::StreamTruncated { .. } => (Exit::AgentDied, None),
            _ => (Exit::StartFailed, None),
        };
        let failure = Failure {
            message: in_words(error),
            hint,
            last_words: error.stderr_tail().map(str::to_owned),
            noise: None,
        };
        Self::failed(exit, failure)
    }

    /// The turn took too long, however the agent took its cancel: many answer one as if they
    /// had come to their end (B085).
    pub(crate) fn out_of_time(
        limit: TimeLimit,
        bound: Duration,
        stop_reason: Option<StopReason>,
    ) -> Self {
        let hint = match limit {
            TimeLimit::Idle => "an agent may be silent for longer with --idle-timeout",
            _ => "give it more time with --timeout, or ask for less at once",
        };
        let message = format!("failed to end the turn: {limit} {} s", bound.as_secs());
        Self {
            stop_reason,
            ..Self::failed(Exit::TimedOut, Failure::new(message, hint))
        }
    }

    /// The client could not go on.
    pub(crate) fn of_error(error: &ClientError) -> Self {
        let failure = Failure {
            message: in_words(error),
            hint: advice::on_client_error(error),
            last_words: error.stderr_tail().map(str::to_owned),
            noise: None,
        };
        Self::failed(exit(error), failure)
    }

    /// Adds what the agent wrote that is no message, where that may be the reason.
    pub(crate) fn with_noise(mut self, noise: Option<Arc<str>>) -> Self {
        let broken = matches!(self.exit, Exit::AgentDied | Exit::Protocol | Exit::TimedOut);
        if let Some(failure) = self.failure.as_mut().filter(|_| broken) {
            failure.noise = noise;
        }
        self
    }

    fn failed(exit: Exit, failure: Failure) -> Self {
        Self {
            exit,
            stop_reason: None,
            failure: Some(failure),
        }
    }
}

impl Failure {
    fn new(message: String, hint: &str) -> Self {
        Self {
            message,
            hint: Some(hint.to_owned()),
            last_words: None,
            noise: None,
        }
    }
}

/// Puts an error and its causes into one line.
pub(crate) fn in_words(error: &dyn Error) -> String {
    let mut words = format!("failed to {}", shown(&error.to_string()));
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push_str(": ");
        words.push_str(&shown(&error.to_string()));
        cause = error.source();
    }
    words
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
