//! What a program sees: one JSON object a line.

use std::io::{self, Write};
use std::path::Path;

use acp_client::{Decision, ToolFacts};
use acp_protocol::v1::{
    Implementation, PermissionOptionId, PermissionOptionKind, SessionConfigOption, SessionId,
    SessionModeState, StopReason, ToolCallId, ToolKind,
};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::outcome::Outcome;

/// One line of `--json`.
#[derive(Debug, Serialize)]
#[serde(
    tag = "event",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Event<'a> {
    /// The session is open.
    Session {
        session_id: &'a SessionId,
        cwd: &'a Path,
        agent_info: Option<&'a Implementation>,
        modes: Option<&'a SessionModeState>,
        config_options: Option<&'a [SessionConfigOption]>,
    },
    /// The agent sent an update.
    Update {
        /// The parameters as they came.
        params: &'a RawValue,
    },
    /// Updates were lost.
    Gap { dropped: u64 },
    /// The agent asked and was answered.
    Permission {
        tool_call_id: &'a ToolCallId,
        title: Option<&'a str>,
        kind: Option<&'a ToolKind>,
        allowed: bool,
        option_id: Option<&'a PermissionOptionId>,
        option_kind: Option<&'a PermissionOptionKind>,
        reason: String,
    },
    /// The run is over.
    End {
        stop_reason: Option<&'a StopReason>,
        exit_code: u8,
        error: Option<Problem<'a>>,
    },
}

/// What went wrong, and what to do about it.
#[derive(Debug, Serialize)]
pub(crate) struct Problem<'a> {
    message: &'a str,
    hint: Option<&'a str>,
}

impl<'a> Event<'a> {
    /// Tells what was answered to a permission request.
    pub(crate) fn permission(tool: &'a ToolFacts, decision: &'a Decision) -> Self {
        let option = decision.option.as_ref();
        Self::Permission {
            tool_call_id: tool.id(),
            title: tool.title(),
            kind: tool.kind(),
            allowed: decision.allowed,
            option_id: option.map(|option| &option.option_id),
            option_kind: option.map(|option| &option.kind),
            reason: decision.reason.to_string(),
        }
    }

    /// Tells how the run ended.
    pub(crate) fn end(outcome: &'a Outcome) -> Self {
        Self::End {
            stop_reason: outcome.stop_reason.as_ref(),
            exit_code: outcome.exit.code(),
            error: outcome.failure.as_ref().map(|failure| Problem {
                message: &failure.message,
                hint: failure.hint.as_deref(),
            }),
        }
    }

    /// Writes the event as one line, and pushes it out.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acp_client::{Allow, Policy};
    use acp_protocol::v1::{PermissionOption, ToolCallUpdate};

    #[track_caller]
    fn check(event: &Event<'_>, expected: &str) {
        let mut line = Vec::new();
        event.write(&mut line).unwrap();
        assert_eq!(String::from_utf8(line).unwrap(), format!("{expected}\n"));
    }

    #[test]
    fn sessions() {
        check(
            &Event::Session {
                session_id: &"s-1".into(),
                cwd: Path::new("/work"),
                agent_info: Some(&Implementation::new("a", "1")),
                modes: None,
                config_options: Some(&[]),
            },
            r#"{"event":"session","sessionId":"s-1","cwd":"/work","agentInfo":{"name":"a","version":"1"},"modes":null,"configOptions":[]}"#,
        );
    }

    #[test]
    fn updates_are_as_they_came() {
        let params = RawValue::from_string(r#"{ "b":1.0, "a":"\u00e4" }"#.to_owned()).unwrap();
        check(
            &Event::Update { params: &params },
            r#"{"event":"update","params":{ "b":1.0, "a":"\u00e4" }}"#,
        );
        check(&Event::Gap { dropped: 3 }, r#"{"event":"gap","dropped":3}"#);
    }

    #[test]
    fn permissions() {
        let mut tool = ToolFacts::new("t".into());
        tool.learn_update(
            &ToolCallUpdate::new("t")
                .with_kind(ToolKind::Read)
                .with_title("Look"),
        );
        let options = [PermissionOption::new(
            "y",
            "Yes",
            PermissionOptionKind::AllowOnce,
        )];
        let allowed = Policy::new(Allow::Reads, "/").decide(&tool, &options);
        check(
            &Event::permission(&tool, &allowed),
            r#"{"event":"permission","toolCallId":"t","title":"Look","kind":"read","allowed":true,"optionId":"y","optionKind":"allow_once","reason":"read tools are allowed"}"#,
        );
        let unknown = ToolFacts::new("u".into());
        let refused = Policy::new(Allow::None, "/").decide(&unknown, &options);
        check(
            &Event::permission(&unknown, &refused),
            r#"{"event":"permission","toolCallId":"u","title":null,"kind":null,"allowed":false,"optionId":null,"optionKind":null,"reason":"nothing is allowed"}"#,
        );
    }

    #[test]
    fn ends() {
        check(
            &Event::end(&Outcome::of_turn(StopReason::EndTurn)),
            r#"{"event":"end","stopReason":"end_turn","exitCode":0,"error":null}"#,
        );
        check(
            &Event::end(&Outcome::usage("no".to_owned(), "do")),
            r#"{"event":"end","stopReason":null,"exitCode":2,"error":{"message":"no","hint":"do"}}"#,
        );
        check(
            &Event::end(&Outcome::interrupted(None)),
            r#"{"event":"end","stopReason":null,"exitCode":130,"error":null}"#,
        );
    }
}
