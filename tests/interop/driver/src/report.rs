//! What is told of each check: one JSON object a line, on standard output.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a program, and its output is its result"
)]

use std::error::Error;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use acp_client::ClientError;
use acp_protocol::v1::StopReason;
use serde_json::{Value, json};
use tokio::time::timeout;

/// How long one check may take; agents that start slowly are started within some of them.
const PATIENCE: Duration = Duration::from_secs(90);

/// Why a check did not succeed.
#[derive(Debug)]
pub(crate) enum Trouble {
    Failed(String),
    /// The agent does not offer what is needed, in these words.
    Absent(String),
}

/// How a check went.
pub(crate) type Outcome = Result<(), Trouble>;

impl From<ClientError> for Trouble {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Unsupported { capability } => {
                Self::Absent(format!("{capability} is not advertised"))
            }
            other => Self::Failed(chain(&other)),
        }
    }
}

/// Makes a failure of a few words.
pub(crate) fn failed(what: impl Into<String>) -> Trouble {
    Trouble::Failed(what.into())
}

/// Makes an absence of a few words.
pub(crate) fn absent(what: impl Into<String>) -> Trouble {
    Trouble::Absent(what.into())
}

/// Fails with a few words unless something is true.
pub(crate) fn expect(truth: bool, what: impl Into<String>) -> Outcome {
    if truth { Ok(()) } else { Err(failed(what)) }
}

/// Fails unless a turn ended for this reason.
pub(crate) fn ended(reason: &StopReason, expected: &StopReason) -> Outcome {
    expect(
        reason == expected,
        format!("stop reason {}", reason.as_str()),
    )
}

/// Fails unless the agent refused something.
pub(crate) fn refused<T>(answer: Result<T, ClientError>, what: &str) -> Outcome {
    match answer {
        Err(ClientError::Refused { .. }) => Ok(()),
        Err(other) => Err(other.into()),
        Ok(_) => Err(failed(format!("{what} was accepted"))),
    }
}

/// Does the work of a check within its time, and tells how it went.
pub(crate) async fn check(name: &str, work: impl Future<Output = Outcome>) {
    let started = Instant::now();
    let outcome = match timeout(PATIENCE, work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(failed(format!(
            "it took more than {} s",
            PATIENCE.as_secs()
        ))),
    };
    tell(&line(name, outcome, started.elapsed()));
}

/// Tells that everything was tried.
pub(crate) fn end() {
    tell(&json!({"end": true}));
}

/// Says something that is for people.
pub(crate) fn complain(text: &str) {
    eprintln!("{text}");
}

fn tell(line: &Value) {
    println!("{line}");
}

fn line(name: &str, outcome: Outcome, time: Duration) -> Value {
    match outcome {
        Ok(()) => json!({"check": name, "ms": u64::try_from(time.as_millis()).unwrap_or(u64::MAX)}),
        Err(Trouble::Failed(what)) => json!({"check": name, "failed": what}),
        Err(Trouble::Absent(what)) => json!({"check": name, "absent": what}),
    }
}

/// Writes an error with its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = format!("failed to {error}");
    let mut cause = error.source();
    while let Some(next) = cause {
        // Writing into a string cannot fail.
        let _ = write!(text, ": {next}");
        cause = next.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_what_became_of_a_check() {
        let time = Duration::from_millis(12);
        let passed = line("new", Ok(()), time);
        assert_eq!(passed, json!({"check": "new", "ms": 12}));
        let failed = line("new", Err(failed("no")), time);
        assert_eq!(failed, json!({"check": "new", "failed": "no"}));
        let capability = "sessionCapabilities.list";
        let absent = line(
            "list",
            Err(ClientError::Unsupported { capability }.into()),
            time,
        );
        let what = "sessionCapabilities.list is not advertised";
        assert_eq!(absent, json!({"check": "list", "absent": what}));
    }

    #[test]
    fn only_a_refusal_is_one() {
        assert!(refused(Ok(()), "it").is_err());
        assert!(refused::<()>(Err(ClientError::Closed), "it").is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_without_an_end_is_given_up() {
        let begun = tokio::time::Instant::now();
        check("never", std::future::pending()).await;
        assert_eq!(begun.elapsed().as_secs(), PATIENCE.as_secs());
    }
}
