use acp_client::{CallFacts, StartStage};
use acp_protocol::rpc::{ErrorCode, WireError};
use acp_protocol::v1::{AuthMethodAgent, SessionModeId, methods};

use super::*;

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
    let outcome = Outcome::from(error);
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
            facts: CallFacts::default(),
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
        facts: CallFacts::default(),
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
    let error = ClientError::BadAnswer {
        method: methods::SESSION_NEW,
        source: CallError::Decode {
            method: methods::SESSION_NEW.into(),
            source: acp_protocol::mismatch::of_result(methods::SESSION_NEW, b"{}"),
        },
        facts: CallFacts::default(),
    };
    check(
        &error,
        Exit::Protocol,
        "failed to open a session: the answer makes no sense: decode the result of session/new: \
         sessionId: expected a string, found nothing",
        "tell the makers of the agent; its answer breaks the protocol",
    );
}
