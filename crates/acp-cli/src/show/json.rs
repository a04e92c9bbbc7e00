//! What a program sees: one JSON object a line, as `run-events.schema.json` describes.

use std::io::{self, Write};
use std::path::Path;

use acp_client::{Decision, Question};
use acp_conversation::ToolCallState;
use acp_harness::turn::Opened;
use acp_protocol::v1::{
    AuthMethodId, Implementation, PermissionOption, PermissionOptionId, PermissionOptionKind,
    SessionConfigOption, SessionId, SessionModeState, StopReason, ToolCallId, ToolKind,
};
use acp_text::ScreenWriter;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Served;
use super::{Answered, Ending};
use crate::sessions::{OpeningKind, SessionOpening};

/// The schema of the events, as it is published.
pub(crate) const SCHEMA: &str = include_str!("run-events.schema.json");

/// How every line begins: with the version of the format. What is added to it later does
/// not change the number; who reads it passes over what it does not know.
const VERSION: &str = r#"{"v":1,"#;

/// One line of `--json`.
#[derive(Debug, Serialize)]
#[serde(
    tag = "event",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Event<'a> {
    /// A login is tried, or was.
    Login {
        method: &'a AuthMethodId,
        /// `None` while it is being tried.
        succeeded: Option<bool>,
    },
    /// The session is open.
    Session {
        session_id: &'a SessionId,
        /// How it came to be.
        opened: &'static str,
        cwd: &'a Path,
        /// What the agent is called here.
        agent: &'a str,
        agent_info: Option<&'a Implementation>,
        modes: Option<&'a SessionModeState>,
        config_options: Option<&'a [SessionConfigOption]>,
    },
    /// The session is kept, and this is how it goes on.
    Kept {
        name: &'a str,
        agent: &'a str,
        /// `begun`, `resumed`, `loaded`, or `handed_on`: a new one was told what was said.
        opened: &'a str,
        /// Messages that a new one was told.
        handed_on: usize,
        /// Why it is a new one, in the words of the agent.
        refusal: Option<&'a str>,
    },
    /// A turn that runs took the prompt.
    Steered {},
    /// The agent sent an update.
    Update {
        /// The parameters as they came.
        params: &'a RawValue,
        /// Why they cannot be read, if they cannot.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// Updates were lost.
    Gap { dropped: u64 },
    /// The agent asked for permission and was answered.
    Permission {
        tool_call_id: &'a ToolCallId,
        title: Option<&'a str>,
        kind: Option<&'a ToolKind>,
        allowed: bool,
        option_id: Option<&'a PermissionOptionId>,
        option_kind: Option<&'a PermissionOptionKind>,
        by: &'static str,
        reason: String,
    },
    /// The agent asked a question and was answered.
    Question {
        message: &'a str,
        tool_call_id: Option<&'a ToolCallId>,
        /// The fields of the form; `None` for a link.
        fields: Option<Vec<&'a str>>,
        /// The address; `None` for a form.
        url: Option<&'a str>,
        action: &'static str,
        by: &'static str,
    },
    /// The agent read or wrote a file through us.
    File {
        operation: &'static str,
        path: &'a str,
        error: Option<&'a str>,
    },
    /// The agent started a command through us.
    Command {
        terminal_id: Option<&'a str>,
        command: &'a str,
        args: &'a [String],
        cwd: Option<&'a str>,
        error: Option<&'a str>,
    },
    /// The agent was told how a command ended.
    CommandEnd {
        terminal_id: &'a str,
        exit_code: Option<u32>,
        signal: Option<&'a str>,
    },
    /// This program has something to say.
    Notice { message: &'a str },
    /// The run is over.
    End {
        session_id: Option<&'a SessionId>,
        stop_reason: Option<&'a StopReason>,
        exit_code: u8,
        /// The last message of the agent.
        report: Option<&'a str>,
        report_is_whole: bool,
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
    /// Tells what a policy answered to a permission request.
    pub(crate) fn permission(tool: &'a ToolCallState, decision: &'a Decision) -> Self {
        let option = decision.option.as_ref();
        let reason = decision.reason.to_string();
        Self::permitted(tool, decision.allowed, option, "policy", reason)
    }

    /// Tells what a person answered to a permission request; `None` when they answered by
    /// none of the options.
    pub(crate) fn chosen(tool: &'a ToolCallState, option: Option<&'a PermissionOption>) -> Self {
        let allowed = option.is_some_and(|option| {
            matches!(
                option.kind,
                PermissionOptionKind::AllowOnce | PermissionOptionKind::AllowAlways
            )
        });
        let reason = "somebody was asked".to_owned();
        Self::permitted(tool, allowed, option, "person", reason)
    }

    fn permitted(
        tool: &'a ToolCallState,
        allowed: bool,
        option: Option<&'a PermissionOption>,
        by: &'static str,
        reason: String,
    ) -> Self {
        Self::Permission {
            tool_call_id: &tool.id,
            title: tool.title.as_deref(),
            kind: tool.kind.as_ref(),
            allowed,
            option_id: option.map(|option| &option.option_id),
            option_kind: option.map(|option| &option.kind),
            by,
            reason,
        }
    }

    /// Tells what was answered to a question; not with what, which is nobody else's.
    pub(crate) fn question(question: &'a Question, answered: Answered) -> Self {
        let (action, by) = match answered {
            Answered::Accepted { by } => ("accept", by),
            Answered::Declined { by } => ("decline", by),
            Answered::Cancelled { by } => ("cancel", by),
        };
        Self::Question {
            message: question.message(),
            tool_call_id: question.tool_call_id(),
            fields: question.form().map(|form| {
                form.schema()
                    .properties
                    .keys()
                    .map(|name| &**name)
                    .collect()
            }),
            url: question.link().map(|link| link.url()),
            action,
            by: by.as_str(),
        }
    }

    /// Tells what was served to the agent.
    pub(crate) fn served(served: &'a Served) -> Self {
        match served {
            Served::File { write, path, error } => Self::File {
                operation: if *write { "write" } else { "read" },
                path,
                error: error.as_deref(),
            },
            Served::Command {
                terminal,
                command,
                args,
                cwd,
                error,
            } => Self::Command {
                terminal_id: terminal.as_deref(),
                command,
                args,
                cwd: cwd.as_deref(),
                error: error.as_deref(),
            },
            Served::CommandEnd {
                terminal,
                exit_code,
                signal,
                ..
            } => Self::CommandEnd {
                terminal_id: terminal,
                exit_code: *exit_code,
                signal: signal.as_deref(),
            },
        }
    }

    /// Tells how a kept session goes on.
    pub(crate) fn kept(told: &'a SessionOpening) -> Self {
        let (opened, handed_on, refusal) = match &told.kind {
            OpeningKind::Begun => ("begun", 0, None),
            OpeningKind::Resumed => ("resumed", 0, None),
            OpeningKind::Loaded => ("loaded", 0, None),
            OpeningKind::HandedOn { messages, refusal } => {
                ("handed_on", *messages, refusal.as_deref())
            }
        };
        Self::Kept {
            name: &told.name,
            agent: &told.agent,
            opened,
            handed_on,
            refusal,
        }
    }

    /// Tells how the run ended.
    pub(crate) fn end(ending: &'a Ending<'a>) -> Self {
        let outcome = ending.outcome;
        Self::End {
            session_id: ending.session,
            stop_reason: outcome.stop_reason.as_ref(),
            exit_code: outcome.exit.code(),
            report: ending.report.map(|report| &*report.text),
            report_is_whole: ending.is_whole,
            error: outcome.failure.as_ref().map(|failure| Problem {
                message: &failure.message,
                hint: failure.hint.as_deref(),
            }),
        }
    }

    /// Writes the event as one line, and pushes it out.
    pub(super) fn write(&self, out: &mut ScreenWriter<impl Write>) -> io::Result<()> {
        let event = serde_json::to_string(self)?;
        let mut line = String::with_capacity(VERSION.len() + event.len());
        line.push_str(VERSION);
        // Every event is an object, and has members.
        line.push_str(&event[1..]);
        line.push('\n');
        out.write_json(&line)?;
        out.flush()
    }
}

/// How a session came to be, in a word.
pub(crate) fn opened(opened: Opened) -> &'static str {
    match opened {
        Opened::Resumed => "resumed",
        Opened::Loaded => "loaded",
        _ => "new",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;
    use acp_client::{Allow, Policy};
    use acp_conversation::Conversation;
    use acp_protocol::v1::{SessionUpdate, ToolCallUpdate};

    #[track_caller]
    fn check(event: &Event<'_>, expected: &str) {
        let mut line = Vec::new();
        event.write(&mut ScreenWriter::to_file(&mut line)).unwrap();
        assert_eq!(String::from_utf8(line).unwrap(), format!("{expected}\n"));
    }

    #[test]
    fn updates_stay_as_they_were_written() {
        let params = RawValue::from_string(r#"{ "b":1.0, "a":"\u00e4" }"#.to_owned()).unwrap();
        check(
            &Event::Update {
                params: &params,
                error: None,
            },
            r#"{"v":1,"event":"update","params":{ "b":1.0, "a":"\u00e4" }}"#,
        );
        // But for what acts on the terminal of somebody who looks at it.
        let hostile = "{\"a\":\"\u{9b}2J\u{202e}\",\r\"b\":1}";
        let params = RawValue::from_string(hostile.to_owned()).unwrap();
        check(
            &Event::Update {
                params: &params,
                error: None,
            },
            r#"{"v":1,"event":"update","params":{"a":"\u009b2J\u202e", "b":1}}"#,
        );
        check(
            &Event::Gap { dropped: 3 },
            r#"{"v":1,"event":"gap","dropped":3}"#,
        );
    }

    #[test]
    fn permissions() {
        let tool = ToolCallUpdate::new("t")
            .with_kind(ToolKind::Read)
            .with_title("Look");
        let tool = ToolCallState::from(&tool);
        let options = [PermissionOption::new(
            "y",
            "Yes",
            PermissionOptionKind::AllowOnce,
        )];
        let allowed = Policy::new(Allow::Reads, "/").decide(&tool, &options);
        check(
            &Event::permission(&tool, &allowed),
            r#"{"v":1,"event":"permission","toolCallId":"t","title":"Look","kind":"read","allowed":true,"optionId":"y","optionKind":"allow_once","by":"policy","reason":"read tools are allowed"}"#,
        );
        let unknown = ToolCallState::new("u".into());
        let refused = Policy::new(Allow::None, "/").decide(&unknown, &options);
        check(
            &Event::permission(&unknown, &refused),
            r#"{"v":1,"event":"permission","toolCallId":"u","title":null,"kind":null,"allowed":false,"optionId":null,"optionKind":null,"by":"policy","reason":"nothing is allowed"}"#,
        );
        check(
            &Event::chosen(&unknown, Some(&options[0])),
            r#"{"v":1,"event":"permission","toolCallId":"u","title":null,"kind":null,"allowed":true,"optionId":"y","optionKind":"allow_once","by":"person","reason":"somebody was asked"}"#,
        );
    }

    #[test]
    fn what_is_served() {
        check(
            &Event::served(&Served::File {
                write: true,
                path: "/a".to_owned(),
                error: None,
            }),
            r#"{"v":1,"event":"file","operation":"write","path":"/a","error":null}"#,
        );
        check(
            &Event::served(&Served::CommandEnd {
                terminal: "t".to_owned(),
                exit_code: Some(1),
                signal: None,
                output: super::super::Excerpt::default(),
            }),
            r#"{"v":1,"event":"command_end","terminalId":"t","exitCode":1,"signal":null}"#,
        );
    }

    #[test]
    fn ends() {
        let mut conversation = Conversation::new();
        let session = SessionId::from("s");
        conversation.update(&SessionUpdate::agent_text("Done."));
        let check_end = |outcome: &Outcome, report, session, expected| {
            let ending = Ending {
                outcome,
                report,
                is_whole: report.is_none_or(|report| report.is_whole()),
                session,
            };
            check(&Event::end(&ending), expected);
        };
        check_end(
            &Outcome::of_turn(StopReason::EndTurn),
            conversation.turn.report(),
            Some(&session),
            r#"{"v":1,"event":"end","sessionId":"s","stopReason":"end_turn","exitCode":0,"report":"Done.","reportIsWhole":true,"error":null}"#,
        );
        check_end(
            &Outcome::usage("no".to_owned(), "do"),
            None,
            None,
            r#"{"v":1,"event":"end","sessionId":null,"stopReason":null,"exitCode":2,"report":null,"reportIsWhole":true,"error":{"message":"no","hint":"do"}}"#,
        );
    }
}
