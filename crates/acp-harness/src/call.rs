//! The short way: a text in, a text out.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use tokio::runtime::{self, Handle, Runtime};
use tokio::sync::{Notify, oneshot};

use crate::limits::CALL_CHUNKS;

use crate::turn::{Harness, HarnessError, TurnEnding, TurnOutcome, TurnProgress, TurnRequest};

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
        if let TurnEnding::Failed(error) = &outcome.end {
            tracing::warn!(error = error.for_log(), "a call broke off");
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
/// The future is `Send` and may be awaited anywhere: where no tokio runtime is, the turn
/// runs on a thread of its own. To wait without being asynchronous, see [`call_blocking`].
///
/// ```no_run
/// # async fn example() -> Result<(), acp_harness::turn::HarnessError> {
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
/// [`HarnessError`] when nothing came of it; for a name that is not known, before anything is
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
) -> Result<Called, HarnessError> {
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
) -> Result<Called, HarnessError> {
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
        on_chunk: impl FnMut(&str) + Send,
    ) -> Result<Called, HarnessError> {
        if Handle::try_current().is_ok() {
            self.call_here(request, on_chunk).await
        } else {
            self.call_elsewhere(request, on_chunk).await
        }
    }

    async fn call_here(
        &self,
        request: TurnRequest,
        mut on_chunk: impl FnMut(&str) + Send,
    ) -> Result<Called, HarnessError> {
        let mut tell = move |event| {
            if let TurnProgress::Message(text) = event {
                on_chunk(&text);
            }
        };
        Ok(self.run_telling(request, &mut tell).await?.into())
    }

    /// Runs one turn as [`call_blocking`] does, with everything else as the request says.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run), and [`HarnessError::Runtime`] when the system gives us no thread
    /// for it.
    pub fn call_blocking(
        &self,
        request: TurnRequest,
        on_chunk: impl FnMut(&str) + Send,
    ) -> Result<Called, HarnessError> {
        thread::scope(|scope| {
            let turn = move || {
                let runtime = runtime().map_err(HarnessError::Runtime)?;
                runtime.block_on(self.call_here(request, on_chunk))
            };
            let thread = named().spawn_scoped(scope, turn);
            let thread = thread.map_err(HarnessError::Runtime)?;
            match thread.join() {
                Ok(called) => called,
                // `on_chunk` panicked; it is the caller's panic.
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    /// Runs a turn on a thread of its own, and hears of it where this is awaited.
    async fn call_elsewhere(
        &self,
        request: TurnRequest,
        mut on_chunk: impl FnMut(&str) + Send,
    ) -> Result<Called, HarnessError> {
        // The thread waits when nobody takes what it hears, and so does the agent.
        let (chunks, heard) = sync_channel::<String>(CALL_CHUNKS);
        let bell = Arc::new(Notify::new());
        // Dropped with this future.
        let (_awaited, given_up) = oneshot::channel::<()>();
        let (done, result) = oneshot::channel();
        let (harness, ring) = (self.clone(), Arc::clone(&bell));
        let turn = move || {
            let tell = move |chunk: &str| {
                // Nobody hears it any more, if that fails.
                let _ = chunks.send(chunk.to_owned());
                ring.notify_one();
            };
            let result = runtime().map_err(HarnessError::Runtime).map(|runtime| {
                runtime.block_on(async {
                    tokio::select! {
                        result = harness.call_here(request, tell) => Some(result),
                        _ = given_up => None,
                    }
                })
            });
            // Nobody waits any more, if that fails.
            let _ = done.send(result);
        };
        named().spawn(turn).map_err(HarnessError::Runtime)?;
        tokio::pin!(result);
        let result = loop {
            let result = tokio::select! {
                biased;
                result = &mut result => Some(result),
                () = bell.notified() => None,
            };
            // What was heard before the end is there by then.
            while let Ok(chunk) = heard.try_recv() {
                on_chunk(&chunk);
            }
            if let Some(result) = result {
                break result;
            }
        };
        match result {
            Ok(Ok(Some(called))) => called,
            Ok(Err(error)) => Err(error),
            Ok(Ok(None)) | Err(_) => {
                let gone = io::Error::other("the thread of the turn is gone");
                Err(HarnessError::Runtime(gone))
            }
        }
    }
}

/// A runtime for one turn.
fn runtime() -> io::Result<Runtime> {
    runtime::Builder::new_current_thread().enable_all().build()
}

fn named() -> thread::Builder {
    thread::Builder::new().name("acp-call".to_owned())
}
