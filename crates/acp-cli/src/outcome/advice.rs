//! What a user can do about what went wrong.

use acp_client::{ClientError, StartStage};
use acp_harness::model::SettingError;
use acp_harness::turn::AuthRequired;
use acp_protocol::rpc::{CallError, WireError};
use acp_protocol::v1::{AuthMethod, methods};
use acp_text::{Clean, clean};

use crate::show::{one_line, shown};

const IS_IT_AN_AGENT: &str = "is it an agent of the Agent Client Protocol? Many programs are one only with an argument, such as --acp";

/// What to do about an error of the client.
pub(super) fn on_client_error(error: &ClientError) -> Option<String> {
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
        ClientError::Refused { method, error, .. } => {
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
            let modes = offered.iter().map(|mode| one_line(mode.as_str()));
            format!("it has these: {}", Clean::join(modes, &clean!(", ")))
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
pub(super) fn on_login(wanted: &AuthRequired) -> String {
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
pub(super) fn on_setting(error: &SettingError) -> String {
    match error {
        SettingError::NoChoice { setting, .. } => format!("leave --{setting} out"),
        SettingError::NotOffered { setting, .. } => {
            format!("choose one of these with --{setting}")
        }
        _ => "--option takes the id of an option and one of its values".to_owned(),
    }
}

fn login(methods: &[AuthMethod], error: Option<&WireError>) -> String {
    let ways: Vec<Clean<'static>> = methods
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
        hint.push_str(Clean::join(ways, &clean!(", ")).as_str());
    }
    if let Some(error) = error {
        hint.push_str("; it says: ");
        hint.push_str(shown(&error.message).as_str());
    }
    hint
}

/// What an error of the agent carries besides its message.
fn details(error: &WireError) -> Option<String> {
    let data = error.data.as_ref()?.get();
    (!matches!(data, "null" | "{}" | "[]" | "\"\"")).then(|| shown(data).into_string())
}
