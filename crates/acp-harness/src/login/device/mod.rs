//! Logging in by device code: a command shows an address and a code, a person enters the
//! code there, and the command ends.

mod command;
mod follow;
mod live;

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use acp_process::Child;
use tokio::sync::watch;

pub use command::DeviceCommand;
pub use live::Logins;

use self::follow::follow;
use super::{Challenge, ChallengeScanner, LoginError, LoginMarker};

/// A login that is under way.
///
/// What it asks of the user is kept until somebody looks, so nothing is missed. Dropping
/// this cancels it.
pub struct DeviceLogin {
    stop: Stop,
    state: watch::Receiver<State>,
}

/// How far a login has come. Holds codes: it is shown to nobody.
#[derive(Clone, Default)]
struct State {
    challenge: Option<Challenge>,
    end: Option<Result<LoginMarker, LoginError>>,
}

/// Stops a login, for the first reason that is given.
#[derive(Clone)]
struct Stop(Arc<watch::Sender<Option<LoginError>>>);

/// How a login is called in its marker.
const METHOD: &str = "device code";

impl DeviceLogin {
    /// Waits for what the user is to do; it is the same however often one asks.
    ///
    /// # Errors
    ///
    /// [`LoginError`] when it came to an end before.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn challenge(&self) -> Result<Challenge, LoginError> {
        let mut state = self.state.clone();
        let known = state.wait_for(|state| state.challenge.is_some() || state.end.is_some());
        match known.await.map(|state| state.clone()) {
            Ok(State {
                challenge: Some(challenge),
                ..
            }) => Ok(challenge),
            Ok(State {
                end: Some(Err(error)),
                ..
            }) => Err(error),
            // Who did the work is gone; nobody was logged in without a challenge.
            _ => Err(LoginError::Cancelled),
        }
    }

    /// Waits until the user is logged in. By then the command is gone, and everything
    /// that it started.
    ///
    /// # Errors
    ///
    /// [`LoginError`]
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn end(&self) -> Result<LoginMarker, LoginError> {
        ended(&mut self.state.clone()).await
    }

    /// Cancels it; [`end`](Self::end) tells when it is over.
    pub fn cancel(&self) {
        self.stop.now(LoginError::Cancelled);
    }
}

impl Drop for DeviceLogin {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl fmt::Debug for DeviceLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.borrow();
        f.debug_struct("DeviceLogin")
            .field("challenged", &state.challenge.is_some())
            .field("ended", &state.end.is_some())
            .finish_non_exhaustive()
    }
}

impl Stop {
    fn new() -> Self {
        Self(Arc::new(watch::Sender::new(None)))
    }

    fn now(&self, reason: LoginError) {
        self.0.send_if_modified(|stopped| {
            let first = stopped.is_none();
            if first {
                *stopped = Some(reason);
            }
            first
        });
    }

    fn reason(&self) -> Option<LoginError> {
        self.0.borrow().clone()
    }

    async fn wait(&self) -> LoginError {
        let mut stopped = self.0.subscribe();
        let reason = stopped.wait_for(Option::is_some).await;
        // The sender is ours: it is not gone.
        let reason = reason.ok().and_then(|reason| reason.clone());
        reason.unwrap_or(LoginError::Cancelled)
    }
}

async fn ended(state: &mut watch::Receiver<State>) -> Result<LoginMarker, LoginError> {
    let end = state.wait_for(|state| state.end.is_some()).await;
    let end = end.ok().and_then(|state| state.end.clone());
    end.unwrap_or(Err(LoginError::Cancelled))
}

/// Runs a login to its end; nothing of the command is left by then.
async fn run(
    command: &DeviceCommand,
    stop: &Stop,
    state: &watch::Sender<State>,
) -> Result<LoginMarker, LoginError> {
    if let Some(reason) = stop.reason() {
        return Err(reason);
    }
    let mut child = command.launch.spawn()?;
    let handle = child.handle();
    let end = tokio::select! {
        biased;
        reason = stop.wait() => Err(reason),
        end = watch(command, &mut child, state) => end,
    };
    // One that ended has nothing to lose by this.
    handle.kill().await;
    handle.gone().await;
    end?;
    let marker = LoginMarker::new(SystemTime::now(), METHOD);
    if let Some(home) = &command.home {
        marker.write(home)?;
    }
    Ok(marker)
}

async fn watch(
    command: &DeviceCommand,
    child: &mut Child,
    state: &watch::Sender<State>,
) -> Result<(), LoginError> {
    let handle = child.handle();
    // On a terminal, somebody holds the keyboard, and types nothing.
    let _stdin = child.take_stdin();
    let Some(output) = child.take_stdout() else {
        return Err(LoginError::Cancelled);
    };
    let scanner = match &command.shape {
        Some(shape) => ChallengeScanner::for_shape(shape),
        None => ChallengeScanner::new(),
    };
    let exit = async { handle.wait().await.status() };
    follow(output, exit, scanner, command.bounds, |challenge| {
        state.send_modify(|state| state.challenge = Some(challenge));
    })
    .await
}
