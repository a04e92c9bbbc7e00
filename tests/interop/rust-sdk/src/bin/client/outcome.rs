//! How a conversation went, and how that is told.

use std::time::{Duration, Instant};

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::StopReason;
use serde_json::json;
use tokio::time::timeout;

/// How long one conversation may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Why a conversation did not come to its end.
pub(crate) enum Trouble {
    Failed(String),
    /// The agent does not offer what is needed.
    Absent(&'static str),
}

pub(crate) type Outcome = Result<(), Trouble>;

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Failed(error.to_string())
    }
}

pub(crate) fn expect(truth: bool, what: impl Into<String>) -> Outcome {
    truth
        .then_some(())
        .ok_or_else(|| Trouble::Failed(what.into()))
}

pub(crate) fn offered(truth: bool, what: &'static str) -> Outcome {
    truth.then_some(()).ok_or(Trouble::Absent(what))
}

pub(crate) fn refused<T>(answer: Result<T, Error>, what: &str) -> Outcome {
    expect(answer.is_err(), format!("{what} was accepted"))
}

pub(crate) fn ended(reason: StopReason, expected: StopReason) -> Outcome {
    expect(reason == expected, format!("stop reason {reason:?}"))
}

pub(crate) async fn check(name: &str, work: impl Future<Output = Outcome>) {
    let started = Instant::now();
    let outcome = timeout(PATIENCE, work).await;
    let ms = started.elapsed().as_millis();
    let line = match outcome {
        Ok(Ok(())) => json!({"check": name, "ms": ms}),
        Ok(Err(Trouble::Failed(why))) => json!({"check": name, "failed": why}),
        Ok(Err(Trouble::Absent(what))) => {
            json!({"check": name, "absent": format!("{what} is not advertised")})
        }
        Err(_) => json!({"check": name, "failed": format!("it took more than {PATIENCE:?}")}),
    };
    println!("{line}");
}
