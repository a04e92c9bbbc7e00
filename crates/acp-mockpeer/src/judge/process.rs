//! Starts the program for one scenario, reaches it, and sees it off.

use std::ffi::OsString;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use acp_process::{Child, ChildHandle, ChildStdin, KillLadder, Launch, Rung};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::workspace::Room;
use super::{Judge, Seen, Stop, Unseen, Unstartable};
use crate::language::{ExitAs, Scenario};
use crate::player::Play;
use acp_recording::Side;

#[cfg(unix)]
type DoorWriter = super::agent_socket::Frames<tokio::net::unix::OwnedWriteHalf>;

/// How much of stderr is kept.
const STDERR_TAIL: usize = 16 << 10;

/// What a play may take beyond its own limit: a step that writes is bounded by
/// itself, and there may be many.
const BEYOND_THE_LIMIT: Duration = Duration::from_secs(30);

/// How long the end of our agent may take to be told to the client that started it.
const END_IS_TOLD: Duration = Duration::from_secs(2);

/// A program that was started.
pub(super) struct Started {
    pub(super) handle: ChildHandle,
    /// How it is reached; or else why it is not.
    pub(super) reached: Result<(Reader, Writer), Unseen>,
    pub(super) stop: watch::Receiver<Stop>,
    /// It is a client that starts its agent itself.
    by_the_door: bool,
}

/// What the program says comes from here.
pub(super) type Reader = Box<dyn AsyncRead + Send + Unpin>;

/// What it is to hear goes here.
pub(super) enum Writer {
    Stdin(ChildStdin),
    #[cfg(unix)]
    Door(DoorWriter),
}

/// Starts a program and reaches it: on its stdin and stdout, or at the door to
/// which a client sends the agent that it starts.
pub(super) async fn start(
    judge: &Judge,
    launch: Launch,
    room: &Room,
    patience: Duration,
    stop: watch::Receiver<Stop>,
) -> Result<Started, Unstartable> {
    match (&judge.agent, judge.role) {
        (Some(command), Side::Client) => by_the_door(launch, command, room, patience, stop).await,
        _ => {
            let mut child = spawn(launch)?;
            let (Some(stdin), Some(stdout)) = (child.take_stdin(), child.take_stdout()) else {
                return Err(Unstartable("it has no stdin and stdout".to_owned()));
            };
            Ok(Started {
                handle: child.handle(),
                reached: Ok((Box::new(stdout), Writer::Stdin(stdin))),
                stop,
                by_the_door: false,
            })
        }
    }
}

#[cfg(unix)]
async fn by_the_door(
    launch: Launch,
    command: &[OsString],
    room: &Room,
    patience: Duration,
    mut stop: watch::Receiver<Stop>,
) -> Result<Started, Unstartable> {
    let unheard = |error: io::Error| Unstartable(format!("wait for the client: {error}"));
    let place = room.join("agent.sock");
    let listener = tokio::net::UnixListener::bind(&place).map_err(unheard)?;
    let mut words: Vec<&str> = Vec::new();
    for word in command
        .iter()
        .map(OsString::as_os_str)
        .chain([place.as_os_str()])
    {
        words.push(
            word.to_str()
                .ok_or_else(|| Unstartable(format!("{} is not UTF-8", word.to_string_lossy())))?,
        );
    }
    let words = serde_json::Value::from(words).to_string();
    let mut child = spawn(launch.with_env("ACP_CHECK_AGENT", words).with_null_stdin())?;
    let handle = child.handle();
    // Its stdout is for people here; nobody may be held up by it.
    if let Some(mut stdout) = child.take_stdout() {
        tokio::spawn(async move { tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await });
    }
    let reached = tokio::select! {
        biased;
        came = listener.accept() => {
            let (stream, _) = came.map_err(unheard)?;
            let (reader, writer) = stream.into_split();
            let reader: Reader = Box::new(reader);
            Ok((reader, Writer::Door(DoorWriter::new(writer))))
        }
        why = stopped(&mut stop) => Err(Unseen::Stopped(why)),
        exit = handle.wait() => Err(Unseen::NeverCame(
            format!("it ended ({}) and had started no agent", exit.status())
        )),
        () = tokio::time::sleep(patience) => {
            Err(Unseen::NeverCame(format!("it started none within {patience:?}")))
        }
    };
    // One scenario is one conversation: a second agent finds the door closed.
    drop(listener);
    let _ = std::fs::remove_file(&place);
    Ok(Started {
        handle,
        reached,
        stop,
        by_the_door: true,
    })
}

#[cfg(not(unix))]
async fn by_the_door(
    _: Launch,
    _: &[OsString],
    _: &Room,
    _: Duration,
    _: watch::Receiver<Stop>,
) -> Result<Started, Unstartable> {
    Err(Unstartable(
        "a client can start our agent on Unix only".to_owned(),
    ))
}

fn spawn(launch: Launch) -> Result<Child, Unstartable> {
    let ladder = KillLadder::default()
        .with_abort_eof_grace(Duration::from_millis(300))
        .with_interrupt_grace(Duration::from_millis(500))
        .with_terminate_grace(Duration::from_millis(500));
    launch
        .with_kill_ladder(ladder)
        .with_stderr_tail(STDERR_TAIL)
        .spawn()
        .map_err(|error| {
            let mut why = error.to_string();
            let mut cause = std::error::Error::source(&error);
            while let Some(error) = cause {
                why.push_str(&format!(": {error}"));
                cause = error.source();
            }
            Unstartable(why)
        })
}

impl Started {
    /// Plays the scenario, and sees the program off.
    pub(super) async fn play(mut self, play: Play, scenario: &Scenario, role: Side) -> Seen {
        let began = Instant::now();
        let outcome = match self.reached {
            Err(unseen) => Err(unseen),
            Ok((mut reader, mut writer)) => {
                let play = match role {
                    Side::Agent => play.watching(&self.handle),
                    Side::Client => play,
                };
                let most = scenario.header.limit + scenario.header.patience + BEYOND_THE_LIMIT;
                let outcome = tokio::select! {
                    biased;
                    why = stopped(&mut self.stop) => Err(Unseen::Stopped(why)),
                    outcome = timeout(most, play.over(&mut reader, &mut writer)) => {
                        outcome.map(Box::new).map_err(|_| Unseen::Overdue(most))
                    }
                };
                let how = outcome.as_ref().ok().and_then(|outcome| outcome.exit_as());
                writer.end(how).await;
                outcome
            }
        };
        // In an orderly way where the conversation ended in one.
        let exit = match &outcome {
            Ok(outcome) if outcome.passed() => self.handle.close_and_wait().await,
            _ => self.handle.kill().await,
        };
        let mut notes = Vec::new();
        if let Some(rung) = exit.reached().filter(|rung| *rung != Rung::Eof)
            && outcome.as_ref().is_ok_and(|outcome| outcome.passed())
        {
            let what = if self.by_the_door {
                "its tasks were done"
            } else {
                "its peer had closed"
            };
            notes.push(format!("{what}, and it did not end by itself ({rung:?})"));
        }
        Seen {
            outcome,
            exit,
            group: self.handle.pid(),
            notes,
            elapsed: began.elapsed(),
        }
    }
}

impl Writer {
    /// Ends what the program hears; our agent, if the client started it, ends so.
    pub(super) async fn end(self, how: Option<ExitAs>) {
        match self {
            Self::Stdin(_) => {}
            #[cfg(unix)]
            Self::Door(frames) => {
                // Who does not read any more does not see the end either.
                let _ = timeout(END_IS_TOLD, frames.exit(how)).await;
            }
        }
    }
}

impl AsyncWrite for Writer {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Stdin(stdin) => Pin::new(stdin).poll_write(cx, bytes),
            #[cfg(unix)]
            Self::Door(frames) => Pin::new(frames).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Stdin(stdin) => Pin::new(stdin).poll_flush(cx),
            #[cfg(unix)]
            Self::Door(frames) => Pin::new(frames).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Stdin(stdin) => Pin::new(stdin).poll_shutdown(cx),
            #[cfg(unix)]
            Self::Door(frames) => Pin::new(frames).poll_shutdown(cx),
        }
    }
}

/// Waits until all is stopped, and tells why.
pub(super) async fn stopped(stop: &mut watch::Receiver<Stop>) -> String {
    let why = stop.wait_for(Option::is_some).await;
    let why = why.ok().and_then(|why| why.clone());
    match why {
        Some(why) => why.to_string(),
        // Nobody can stop us any more.
        None => std::future::pending().await,
    }
}
