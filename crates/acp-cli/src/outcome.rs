//! How a run ended, in words and as an exit code.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use acp_client::{ClientError, StartStage};
use acp_harness::model::SelectError;
use acp_harness::turn::{AuthRequired, TimeLimit, TurnError};
use acp_protocol::rpc::{CallError, WireError};
use acp_protocol::v1::{AuthMethod, StopReason, methods};

use crate::config::ConfigError;
use crate::exit::Exit;
use crate::run::AgentError;
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

const IS_IT_AN_AGENT: &str = "is it an agent of the Agent Client Protocol? Many programs are one only with an argument, such as --acp";

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

    /// Says what to do instead of what is said usually.
    pub(crate) fn advise(&mut self, hint: &str) {
        if let Some(failure) = &mut self.failure {
            failure.hint = Some(hint.to_owned());
        }
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

    /// Says what to do instead.
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
            TurnError::AuthRequired(wanted) => (Exit::AuthRequired, Some(wanted_login(wanted))),
            TurnError::Version(_) => (Exit::StartFailed, Some("update the agent".to_owned())),
            TurnError::Setting(error) => (Exit::Usage, Some(other_setting(error))),
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
            hint: hint(error),
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

fn hint(error: &ClientError) -> Option<String> {
    Some(match error {
        ClientError::Spawn(_) => "check that it is a program this user may run".to_owned(),
        ClientError::AuthRequired { methods, error, .. } => login(methods, Some(error)),
        ClientError::Died(_) => IS_IT_AN_AGENT.to_owned(),
        ClientError::StartTimeout { stage, .. } if *stage != StartStage::Spawn => {
            format!("{IS_IT_AN_AGENT}; if it is only slow, give it time with --start-timeout")
        }
        ClientError::TimedOut { .. } | ClientError::StartTimeout { .. } => {
            "give it more time with --start-timeout".to_owned()
        }
        ClientError::VersionMismatch { got } if *got > 1 => "look for a newer acp".to_owned(),
        ClientError::VersionMismatch { .. } => "look for a newer version of the agent".to_owned(),
        ClientError::BadAnswer { method, .. } if *method == methods::INITIALIZE => {
            IS_IT_AN_AGENT.to_owned()
        }
        ClientError::BadAnswer { .. } => {
            "tell the makers of the agent; its answer breaks the protocol".to_owned()
        }
        ClientError::Refused { method, error } => {
            let advice = match *method {
                methods::INITIALIZE => IS_IT_AN_AGENT,
                _ => "the agent says no more than this; its settings or its own log may",
            };
            match details(error) {
                Some(details) => format!("the agent adds: {details}"),
                None => advice.to_owned(),
            }
        }
        ClientError::UnknownMode { offered, .. } => {
            let modes: Vec<String> = offered.iter().map(|mode| one_line(mode.as_str())).collect();
            format!("it has these: {}", modes.join(", "))
        }
        ClientError::Unsupported { capability } => without(capability).to_owned(),
        ClientError::NotSent {
            source: CallError::TooLarge { .. },
            ..
        } => "shorten the prompt".to_owned(),
        _ => return None,
    })
}

/// What to do about something that the agent does not offer.
fn without(capability: &str) -> &'static str {
    match capability {
        "mcpCapabilities.http" | "mcpCapabilities.sse" => {
            "give it the server as a command, with --mcp"
        }
        "sessionCapabilities.additionalDirectories" => {
            "leave --add-dir out, or work in a folder above with --cwd"
        }
        _ => "leave out what asks for it",
    }
}

/// What to do about a login that the agent insists on.
fn wanted_login(wanted: &AuthRequired) -> String {
    let (methods, error) = match wanted.source.as_deref() {
        Some(ClientError::AuthRequired { methods, error, .. }) => (methods.as_slice(), Some(error)),
        Some(ClientError::Refused { error, .. }) => (wanted.methods.as_slice(), Some(error)),
        _ => (wanted.methods.as_slice(), None),
    };
    let hint = login(methods, error);
    if wanted.hint.is_empty() {
        return hint;
    }
    format!("`acp login {}` may help; else {hint}", wanted.agent)
}

/// What to do about a model, an effort or a mode that cannot be had.
fn other_setting(error: &SelectError) -> String {
    let setting = match error {
        SelectError::NoChoice { setting, .. } => {
            return format!("leave --{setting} out");
        }
        SelectError::NotOffered { setting, .. } => setting,
        _ => return "choose another".to_owned(),
    };
    format!("choose one of these with --{setting}")
}

fn login(methods: &[AuthMethod], error: Option<&WireError>) -> String {
    let ways: Vec<String> = methods
        .iter()
        .filter_map(|method| match method {
            AuthMethod::Agent(way) => Some(way.name.as_str()),
            AuthMethod::Terminal(way) => Some(way.name.as_str()),
            _ => None,
        })
        .map(one_line)
        .collect();
    let mut hint =
        "log in with the agent's own program, or set its key in the environment, then try again"
            .to_owned();
    if !ways.is_empty() {
        hint.push_str("; it knows these ways: ");
        hint.push_str(&ways.join(", "));
    }
    if let Some(error) = error {
        hint.push_str("; it says: ");
        hint.push_str(&shown(&error.message));
    }
    hint
}

/// What an error of the agent carries besides its message.
fn details(error: &WireError) -> Option<String> {
    let data = error.data.as_ref()?.get();
    (!matches!(data, "null" | "{}" | "[]" | "\"\"")).then(|| shown(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    use acp_protocol::rpc::ErrorCode;
    use acp_protocol::v1::{AuthMethodAgent, SessionModeId};

    #[test]
    fn each_stop_reason_has_its_own_exit_code() {
        let cases = [
            ("end_turn", Exit::EndOfTurn),
            ("max_tokens", Exit::Limit),
            ("max_turn_requests", Exit::Limit),
            ("refusal", Exit::Refusal),
            ("cancelled", Exit::Cancelled),
            ("error", Exit::Protocol),
        ];
        for (reason, exit) in cases {
            let outcome = Outcome::of_turn(StopReason::from(reason));
            assert_eq!(outcome.exit, exit, "{reason}");
            assert_eq!(outcome.stop_reason.unwrap().as_str(), reason);
            assert_eq!(
                outcome.failure.is_none(),
                exit == Exit::EndOfTurn,
                "{reason}"
            );
        }
    }

    #[track_caller]
    fn check(error: &ClientError, exit: Exit, message: &str, hint: &str) {
        let outcome = Outcome::of_error(error);
        assert_eq!(outcome.exit, exit);
        let failure = outcome.failure.unwrap();
        assert_eq!(failure.message, message);
        assert_eq!(failure.hint.unwrap_or_default(), hint);
    }

    #[test]
    fn errors_say_what_to_do_next() {
        let method = methods::SESSION_NEW;
        check(
            &ClientError::AuthRequired {
                method,
                methods: vec![AuthMethodAgent::new("key", "API key").into()],
                error: WireError::new(ErrorCode::AUTH_REQUIRED, "Not\nlogged in"),
            },
            Exit::AuthRequired,
            "failed to open a session: the agent wants a login first",
            "log in with the agent's own program, or set its key in the environment, then try again; \
             it knows these ways: API key; it says: Not logged in",
        );
        check(
            &ClientError::VersionMismatch { got: 2 },
            Exit::Protocol,
            "failed to agree on a protocol version: the agent speaks 2, this client 1",
            "look for a newer acp",
        );
        check(
            &ClientError::StartTimeout {
                stage: StartStage::FirstByte,
                after: Duration::from_secs(30),
                stderr_tail: String::new(),
            },
            Exit::TimedOut,
            "failed to hear the first byte of the agent within 30 s",
            "is it an agent of the Agent Client Protocol? Many programs are one only with an argument, such as --acp; \
             if it is only slow, give it time with --start-timeout",
        );
        check(
            &ClientError::UnknownMode {
                mode: SessionModeId::from("fly"),
                offered: vec!["ask".into(), "code".into()],
            },
            Exit::Usage,
            "failed to set the mode fly: the agent has no such mode",
            "it has these: ask, code",
        );
    }

    #[test]
    fn errors_of_the_agent_show_their_details() {
        let refused = |data: &str| ClientError::Refused {
            method: methods::SESSION_PROMPT,
            error: {
                let mut error = WireError::new(ErrorCode(500), "Internal error");
                error.data = serde_json::value::RawValue::from_string(data.to_owned()).ok();
                error
            },
        };
        let message = "failed to run a turn: the agent answered Internal error (500)";
        check(
            &refused(r#"{"details":"no such model"}"#),
            Exit::AgentError,
            message,
            r#"the agent adds: {"details":"no such model"}"#,
        );
        check(
            &refused("{}"),
            Exit::AgentError,
            message,
            "the agent says no more than this; its settings or its own log may",
        );
    }

    #[test]
    fn causes_follow_in_the_same_line() {
        let cause = serde_json::from_str::<u8>("x").unwrap_err();
        let error = ClientError::BadAnswer {
            method: methods::SESSION_NEW,
            source: CallError::Decode {
                method: methods::SESSION_NEW.into(),
                source: std::sync::Arc::new(cause),
            },
        };
        check(
            &error,
            Exit::Protocol,
            "failed to open a session: the answer makes no sense: decode the result of session/new: \
             expected value at line 1 column 1",
            "tell the makers of the agent; its answer breaks the protocol",
        );
    }
}
