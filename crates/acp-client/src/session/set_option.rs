//! Sets an option of a session, and understands what the agent says of it.

use std::borrow::Cow;

use acp_protocol::method::{Request, Side};
use acp_protocol::mismatch;
use acp_protocol::rpc::CallError;
use acp_protocol::v1::{
    SessionConfigOption, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// `session/set_config_option`, whose answer is looked at before it is decoded: at
/// least one agent answers `{}`, where the schema wants the options.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SetOption(pub(crate) SetSessionConfigOptionRequest);

impl Request for SetOption {
    const METHOD: &'static str = SetSessionConfigOptionRequest::METHOD;
    const SERVED_BY: Side = Side::Agent;
    type Response = Box<RawValue>;
}

/// Reads the options out of an answer; `None` when it says nothing.
pub(crate) fn read_options(
    answer: &RawValue,
) -> Result<Option<Vec<SessionConfigOption>>, CallError> {
    let unread = |_| CallError::Decode {
        method: Cow::Borrowed(SetOption::METHOD),
        source: mismatch::of_result(SetOption::METHOD, answer.get().as_bytes()),
    };
    let told: Option<Map<String, Value>> = serde_json::from_str(answer.get()).map_err(unread)?;
    let options = told.as_ref().and_then(|told| told.get("configOptions"));
    if options.is_none_or(Value::is_null) {
        return Ok(None);
    }
    let told: SetSessionConfigOptionResponse =
        serde_json::from_str(answer.get()).map_err(unread)?;
    Ok(Some(told.config_options))
}
