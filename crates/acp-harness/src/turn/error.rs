//! Why a turn did not come to anything.

use std::fmt;
use std::io;
use std::time::Duration;

use acp_client::{ClientError, ExitStatus};
use acp_protocol::v1::{AuthMethod, AuthMethodId};

use crate::launch::EnvError;
use crate::model::SettingError;
use crate::record::RecordError;
use crate::registry::{NotInstalled, UnknownAgent};
use crate::version::VersionRejection;

/// Why a turn did not come to anything.
///
/// Messages complete the words "failed to". No text of the agent's standard error is in
/// them; ask [`stderr_tail`](Self::stderr_tail).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// There is no agent of this name. Nothing was started.
    #[error(transparent)]
    UnknownAgent(#[from] UnknownAgent),
    /// Programs of the agent are missing. Nothing was started.
    #[error(transparent)]
    NotInstalled(#[from] NotInstalled),
    /// The agent cannot be started in this environment. Nothing was started.
    #[error(transparent)]
    Env(#[from] EnvError),
    /// The agent's version is not good enough.
    #[error("use this version of the agent")]
    Version(#[from] VersionRejection),
    /// The conversation cannot be claimed, or its session not be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The agent wants a login that nothing here can give it.
    #[error(transparent)]
    AuthRequired(Box<AuthRequired>),
    /// A model, an effort, a mode or an option cannot be had.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The agent went away before it had answered the prompt.
    #[error("read the turn to its end: the agent went away{}", with_status(*.exit))]
    StreamTruncated {
        /// How its process ended; `None` when it runs on without its output, or is no
        /// child of ours.
        exit: Option<ExitStatus>,
        /// The end of what it wrote to standard error.
        stderr_tail: String,
    },
    /// The turn took too long.
    #[error("end the turn: {limit} {} s", .after.as_secs())]
    TimedOut {
        /// Which of the bounds it was.
        limit: TimeLimit,
        /// The bound.
        after: Duration,
    },
    /// There is no thread for the turn to run on.
    #[error("start a thread for the turn")]
    Runtime(#[source] io::Error),
    /// Something else went wrong between us and the agent.
    #[error(transparent)]
    Client(ClientError),
}

impl HarnessError {
    /// The error with its causes, without the words of the agent.
    pub(crate) fn for_log(&self) -> String {
        match self {
            Self::Client(error) => client_error_for_log(error),
            other => chain(other),
        }
    }

    /// Returns the end of what the agent wrote to standard error, where the error is about
    /// an agent that failed. It is redacted of the secrets that the agent was given.
    #[must_use]
    pub fn stderr_tail(&self) -> Option<&str> {
        match self {
            Self::StreamTruncated { stderr_tail, .. } => {
                (!stderr_tail.is_empty()).then_some(stderr_tail)
            }
            Self::Client(error) => error.stderr_tail(),
            _ => None,
        }
    }
}

/// An error of the client with its causes, for the log. What an agent says in an error may
/// quote the prompt, so its code stands for it.
pub(crate) fn client_error_for_log(error: &ClientError) -> String {
    match error {
        ClientError::Refused { method, error, .. } => {
            format!(
                "{method}: the agent answered with an error ({})",
                error.code
            )
        }
        other => chain(other),
    }
}

/// An error and all its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words.push_str(": ");
        words.push_str(&error.to_string());
        cause = error.source();
    }
    words
}

impl From<ClientError> for HarnessError {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

/// The agent wants a login, and none that may be tried helps.
#[derive(Debug, thiserror::Error)]
#[error("log in to {agent}{}", what_to_do(.hint))]
#[non_exhaustive]
pub struct AuthRequired {
    /// The agent.
    pub agent: String,
    /// The ways to log in that it offers.
    pub methods: Vec<AuthMethod>,
    /// Those of them that were tried.
    pub tried: Vec<AuthMethodId>,
    /// What a person does.
    pub hint: String,
    /// What the agent answered last.
    #[source]
    pub source: Option<Box<ClientError>>,
}

/// What bounds a turn in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeLimit {
    /// The agent said nothing for too long, while nothing was owed to it.
    Idle,
    /// The turn took too long in all.
    Total,
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "the agent said nothing for",
            Self::Total => "it took longer than",
        })
    }
}

fn with_status(exit: Option<ExitStatus>) -> String {
    exit.map_or_else(String::new, |status| format!(" ({status})"))
}

fn what_to_do(hint: &str) -> String {
    if hint.is_empty() {
        String::new()
    } else {
        format!(": {hint}")
    }
}

#[cfg(test)]
mod tests {
    use acp_protocol::rpc::{CallError, WireError};
    use acp_protocol::{mismatch, v1::methods};

    use super::*;

    #[test]
    fn the_log_gets_no_words_of_the_agent() {
        let method = methods::SESSION_LOAD;
        let refused = ClientError::Refused {
            method,
            error: WireError::new((-32603).into(), "canary"),
            facts: acp_client::CallFacts::default(),
        };
        assert_eq!(
            HarnessError::Client(refused).for_log(),
            "session/load: the agent answered with an error (-32603)"
        );
        let unread = ClientError::BadAnswer {
            method,
            source: CallError::Decode {
                method: method.into(),
                source: mismatch::of_result(method, br#"["canary"]"#),
            },
            facts: acp_client::CallFacts::default(),
        };
        let words = client_error_for_log(&unread);
        assert!(
            words.ends_with("expected an object, found a list"),
            "{words}"
        );
        assert!(!words.contains("canary"), "{words}");
    }
}
