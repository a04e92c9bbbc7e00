//! An agent that whoever runs the tests has chosen.
//!
//! `ACP_INTEROP_AGENT_PATH` names its program, a bare name as a shell would find it;
//! `ACP_INTEROP_AGENT_ARGS` its arguments, split at white space. It gets the whole
//! environment, as if started by hand, so name none that acts or costs on a prompt that
//! wants nothing. Without the variable nothing is tried; with one that leads nowhere the
//! test fails.

#![expect(
    clippy::print_stderr,
    reason = "that a test did nothing is told to people"
)]

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use acp_client::{Client, ClientOptions, Launch};
use acp_protocol::v1::StopReason;
use tokio::time::timeout;

const PATH: &str = "ACP_INTEROP_AGENT_PATH";
const ARGS: &str = "ACP_INTEROP_AGENT_ARGS";

/// How long everything together may take.
const LIMIT: Duration = Duration::from_secs(60);

/// A prompt that wants nothing.
const INERT: &str = "Please answer with the single word OK, and do nothing else.";

/// Reads which agent was chosen; `None` when none was.
fn chosen(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Launch>, String> {
    let Some(program) = variable(PATH).filter(|program| !program.is_empty()) else {
        return Ok(None);
    };
    let found = which::which(&program).map_err(|error| format!("{PATH}: {error}"))?;
    let found: PathBuf = std::path::absolute(found).map_err(|error| error.to_string())?;
    let args = match variable(ARGS).map(OsString::into_string) {
        None => String::new(),
        Some(Ok(args)) => args,
        Some(Err(_)) => return Err(format!("{ARGS} is no text")),
    };
    let launch = Launch::new(found).with_args(args.split_whitespace());
    Ok(Some(launch.with_inherited_env()))
}

/// Dials, opens a session, sends an inert prompt and cancels what runs no more.
async fn drive(launch: Launch) -> Result<StopReason, String> {
    let text = |error: acp_client::ClientError| format!("failed to {error}");
    let folder = env::temp_dir();
    let client = Client::new(launch.with_cwd(&folder), ClientOptions::new());
    let conversation = async {
        client.dial().await.map_err(text)?;
        let mut session = client.new_session(&folder).await.map_err(text)?;
        let turn = session.prompt(INERT).await.map_err(text)?;
        let stop = turn.end().await.map_err(text)?.stop_reason;
        // Nothing runs, so this has nothing to end and nothing to complain of.
        session.control().cancel();
        Ok(stop)
    };
    let outcome = timeout(LIMIT, conversation).await;
    client.kill().await;
    match outcome {
        Ok(Ok(StopReason::Unrecognized(reason))) => Err(format!("it stopped as {reason:?}")),
        Ok(outcome) => outcome,
        Err(_) => Err(format!("it took more than {} s", LIMIT.as_secs())),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_of_choice_is_driven() {
    match chosen(|name| env::var_os(name)).expect("the variables name an agent") {
        Some(launch) => {
            let stop = drive(launch).await.expect("the agent can be driven");
            eprintln!("it stopped as {}", stop.as_str());
        }
        None => eprintln!("skipped: {PATH} names no agent"),
    }
}

#[test]
fn without_a_name_nothing_is_tried() {
    for unset in [None, Some(OsString::new())] {
        let launch = chosen(|_| unset.clone()).expect("that is no mistake");
        assert!(launch.is_none());
    }
}

#[test]
fn a_name_that_leads_nowhere_is_a_failure() {
    for name in ["no-such-agent-anywhere", "/no/such/agent"] {
        let error = chosen(|_| Some(name.into())).expect_err("there is no such program");
        assert!(error.starts_with(PATH), "{error}");
    }
}

#[test]
fn a_bare_name_is_looked_for_and_arguments_are_split() {
    let variable = |name: &str| match name {
        PATH => Some("sh".into()),
        _ => Some("-c  true\tx".into()),
    };
    let launch = chosen(variable).expect("a shell is there");
    let launch = launch.expect("one was chosen");
    assert!(launch.program().is_absolute());
    assert_eq!(launch.args(), ["-c", "true", "x"]);
}

/// An agent in a few lines of shell, which stops for a reason of choice.
fn shell(reason: &str) -> Launch {
    let script = r#"ok() { read -r line; printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' \
        "$(expr "$line" : '.*"id":\([0-9]*\)')" "$1"; }
        ok '{"protocolVersion":1}'; ok '{"sessionId":"s"}'; ok '{"stopReason":"'$1'"}'; read -r line"#;
    Launch::new("/bin/sh")
        .with_args(["-c", script, "agent", reason])
        .with_inherited_env()
}

#[tokio::test(flavor = "multi_thread")]
async fn any_reason_that_is_defined_will_do() {
    assert_eq!(drive(shell("refusal")).await, Ok(StopReason::Refusal));
    let error = drive(shell("bored")).await.expect_err("that is no reason");
    assert!(error.contains("bored"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_agent_is_a_failure() {
    let error = drive(Launch::new("/bin/true")).await;
    let error = error.expect_err("it says nothing");
    assert!(error.starts_with("failed to"), "{error}");
}
