//! The short way: a text in, a text out.

use std::path::PathBuf;

use tokio::runtime;

use crate::turn::{Harness, Progress, TurnEnd, TurnError, TurnOutcome, TurnRequest};

/// Why a call did not come to anything.
pub type CallError = TurnError;

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Called {
    /// The last message of the agent; what there is of it, when the call broke off.
    pub report: String,
    /// Why it ended, in a word: the agent's own (`end_turn`, `max_tokens`, `refusal`), or
    /// `timeout` or `error` for one that broke off after there was output.
    pub stop_reason: String,
}

impl From<TurnOutcome> for Called {
    fn from(outcome: TurnOutcome) -> Self {
        if let TurnEnd::Failed(error) = &outcome.end {
            tracing::warn!(error = error as &dyn std::error::Error, "a call broke off");
        }
        Self {
            stop_reason: outcome.stop_reason().to_owned(),
            report: outcome.report,
        }
    }
}

/// Asks an agent that is installed for something, and gives its report.
///
/// `agent` is a name of the built-in table, `cwd` an absolute path. All that the agent says
/// goes to `on_chunk` as it comes, in order and nothing left out; the report is the last
/// message of it.
///
/// The agent gets its own keys out of this process's environment and is offered nothing of
/// this machine. Asked for permission, it is allowed to read, search, fetch and think. For
/// more, and for anything else that can be said about a turn, see [`Harness::run`].
///
/// The future is `Send` and runs on tokio. Elsewhere, see [`call_blocking`].
///
/// ```no_run
/// # async fn example() -> Result<(), acp_harness::CallError> {
/// let asked = "Which tests fail?";
/// let called = acp_harness::call("codex", asked, "/home/ada/project", |chunk| {
///     eprint!("{chunk}");
/// })
/// .await?;
/// println!("{}", called.report);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`CallError`] when nothing came of it; for a name that is not known, before anything is
/// started, with the names there are.
///
/// # Cancel safety
///
/// Dropping the future kills the agent and everything it started.
pub async fn call(
    agent: &str,
    input: &str,
    cwd: impl Into<PathBuf>,
    on_chunk: impl FnMut(&str) + Send,
) -> Result<Called, CallError> {
    let request = TurnRequest::new(agent, input, cwd);
    Harness::new().call(request, on_chunk).await
}

/// Calls an agent as [`call`] does, and blocks this thread until it has answered.
///
/// It needs no runtime and works inside of one, too: the turn runs on a thread of its own.
///
/// # Errors
///
/// As [`call`].
pub fn call_blocking(
    agent: &str,
    input: &str,
    cwd: impl Into<PathBuf>,
    on_chunk: impl FnMut(&str) + Send,
) -> Result<Called, CallError> {
    let request = TurnRequest::new(agent, input, cwd);
    Harness::new().call_blocking(request, on_chunk)
}

impl Harness {
    /// Runs one turn, as [`call`] does, with everything else as the request says.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    ///
    /// # Cancel safety
    ///
    /// As [`run`](Self::run).
    pub async fn call(
        &self,
        request: TurnRequest,
        mut on_chunk: impl FnMut(&str) + Send,
    ) -> Result<Called, CallError> {
        let mut tell = move |event| {
            if let Progress::Message(text) = event {
                on_chunk(&text);
            }
        };
        Ok(self.run_telling(request, &mut tell).await?.into())
    }

    /// Runs one turn as [`call_blocking`] does, with everything else as the request says.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and [`TurnError::Runtime`] when the system gives us no thread
    /// for it.
    pub fn call_blocking(
        &self,
        request: TurnRequest,
        on_chunk: impl FnMut(&str) + Send,
    ) -> Result<Called, CallError> {
        std::thread::scope(|scope| {
            let turn = move || {
                let runtime = runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(TurnError::Runtime)?;
                runtime.block_on(self.call(request, on_chunk))
            };
            let thread = std::thread::Builder::new().name("acp-call".to_owned());
            let thread = thread
                .spawn_scoped(scope, turn)
                .map_err(TurnError::Runtime)?;
            match thread.join() {
                Ok(called) => called,
                // `on_chunk` panicked; it is the caller's panic.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }
}
