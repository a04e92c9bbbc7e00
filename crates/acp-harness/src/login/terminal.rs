//! Logging in on a terminal, with a person in front of it.

use std::time::{Duration, SystemTime};

use acp_process::{Child, ExitStatus, Launch, OrphanGuard, TerminalSize};
use acp_protocol::v1::AuthMethodTerminal;
use derive_setters::Setters;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy};
use tokio::time::timeout;

use super::{LoginError, LoginMarker};
use crate::launch::AgentHome;
use crate::limits::TERMINAL_LOGIN_TIMEOUT;

/// Describes a login that runs the agent's own program on a terminal, as the agent said
/// that it can be done.
///
/// It is no matter of a connection: what the person types and sees goes through as it is.
/// Agents tell of such methods only to clients that take them (`with_terminal_logins` of
/// the client's options).
#[derive(Setters, Clone, Debug)]
#[setters(generate = false, prefix = "with_")]
pub struct TerminalLogin {
    launch: Launch,
    method: String,
    /// Says how large the person's terminal is. Default 80 by 24.
    #[setters(generate)]
    size: TerminalSize,
    /// Sets how long it may take. Default 10 minutes.
    #[setters(generate, rename = "with_timeout")]
    bound: Duration,
    /// Writes a marker into this home when it worked.
    #[setters(generate, strip_option, rename = "remembered_in")]
    home: Option<AgentHome>,
}

/// What is typed to say that nothing more will be: ctrl-D.
const END_OF_INPUT: u8 = 0x04;

impl TerminalLogin {
    /// Logs in to the agent that is started so, by this method of its own: its arguments
    /// come behind the others, and its variables in place of those of the same names.
    #[must_use]
    pub fn new(agent: &Launch, method: &AuthMethodTerminal) -> Self {
        let launch = agent.clone().with_args(&method.args);
        let launch = method
            .env
            .iter()
            .fold(launch, |launch, (name, value)| launch.with_env(name, value));
        Self {
            launch: launch.with_kill_ladder(super::kill_ladder()),
            method: method.id.as_str().to_owned(),
            size: TerminalSize::default(),
            bound: TERMINAL_LOGIN_TIMEOUT,
            home: None,
        }
    }

    /// Runs it: what comes from `input` is typed, what is shown goes to `output`. The end
    /// of the input is typed too, as ctrl-D.
    ///
    /// # Errors
    ///
    /// [`LoginError`]; nothing of the program is left by then.
    ///
    /// # Cancel safety
    ///
    /// Dropped while it runs, the program is ended in the background.
    pub async fn run<R, W>(self, input: R, output: W) -> Result<LoginMarker, LoginError>
    where
        R: AsyncRead + Send + Unpin,
        W: AsyncWrite + Send + Unpin,
    {
        let child = self.launch.clone().with_terminal(self.size);
        // A browser that it opens stays open after it.
        let mut child = child.with_orphan_guard(OrphanGuard::Group).spawn()?;
        let handle = child.handle();
        let end = timeout(self.bound, bridge(&mut child, input, output)).await;
        handle.kill().await;
        handle.gone().await;
        match end {
            Err(_) => return Err(LoginError::TimedOut { bound: self.bound }),
            Ok(Err(error)) => return Err(error),
            Ok(Ok(status)) if !status.success() => return Err(LoginError::Failed { status }),
            Ok(Ok(_)) => {}
        }
        let marker = LoginMarker::new(SystemTime::now(), &self.method);
        if let Some(home) = &self.home {
            marker.write(home)?;
        }
        Ok(marker)
    }
}

/// Carries bytes both ways until the program has ended.
async fn bridge<R, W>(
    child: &mut Child,
    mut input: R,
    mut output: W,
) -> Result<ExitStatus, LoginError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let handle = child.handle();
    let (Some(mut stdin), Some(mut stdout)) = (child.take_stdin(), child.take_stdout()) else {
        return Err(LoginError::Cancelled);
    };
    let typing = async {
        // Neither a person who left nor a program that reads no more is an error yet.
        let _ = copy(&mut input, &mut stdin).await;
        let _ = stdin.write_all(&[END_OF_INPUT]).await;
        std::future::pending::<()>().await;
    };
    let showing = async {
        copy(&mut stdout, &mut output).await?;
        output.flush().await
    };
    tokio::select! {
        shown = showing => shown.map_err(|error| LoginError::Terminal(error.into()))?,
        () = typing => {}
    }
    Ok(handle.wait().await.status())
}
