//! Starts the program for one scenario, reaches it, and sees it off.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use acp_process::{Child, ChildHandle, KillLadder, Launch, Rung};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::agent_socket::Frames;
use super::workspace::TestWorkspace;
use super::{Judge, Seen, Stop, Unseen, Unstartable};
use crate::language::Scenario;
use crate::player::Play;
use acp_recording::PeerSide;

/// The writing half of the socket through which a client reaches our agent.
#[cfg(unix)]
type SocketWriter = tokio::net::unix::OwnedWriteHalf;
#[cfg(not(unix))]
type SocketWriter = tokio::io::Sink;

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
    /// What ends our agent, where a client started it itself.
    pub(super) frames: Option<Frames<SocketWriter>>,
}

/// What the program says comes from here.
pub(super) type Reader = Box<dyn AsyncRead + Send + Unpin>;

/// What it is to hear goes here.
pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Starts a program and reaches it: on its stdin and stdout, or at the door to
/// which a client sends the agent that it starts.
pub(super) async fn start(
    judge: &Judge,
    launch: Launch,
    workspace: &TestWorkspace,
    patience: Duration,
    stop: watch::Receiver<Stop>,
) -> Result<Started, Unstartable> {
    match (&judge.agent, judge.role) {
        (Some(command), PeerSide::Client) => {
            by_socket(launch, command, workspace, patience, stop).await
        }
        _ => {
            let mut child = spawn(launch)?;
            let (Some(stdin), Some(stdout)) = (child.take_stdin(), child.take_stdout()) else {
                return Err(Unstartable("it has no stdin and stdout".to_owned()));
            };
            Ok(Started {
                handle: child.handle(),
                reached: Ok((Box::new(stdout), Box::new(stdin))),
                stop,
                frames: None,
            })
        }
    }
}

#[cfg(unix)]
async fn by_socket(
    launch: Launch,
    command: &[OsString],
    workspace: &TestWorkspace,
    patience: Duration,
    mut stop: watch::Receiver<Stop>,
) -> Result<Started, Unstartable> {
    let unheard = |error: io::Error| Unstartable(format!("wait for the client: {error}"));
    let place = workspace.join("agent.sock");
    let listener = tokio::net::UnixListener::bind(&place).map_err(unheard)?;
    let words = command.iter().map(OsString::as_os_str);
    let words = words.chain([place.as_os_str()]).map(|word| {
        let text = word.to_str();
        text.ok_or_else(|| Unstartable(format!("{} is not UTF-8", word.to_string_lossy())))
    });
    let words = words.collect::<Result<Vec<&str>, Unstartable>>()?;
    let words = serde_json::Value::from(words).to_string();
    let mut child = spawn(launch.with_env("ACP_CHECK_AGENT", words).with_null_stdin())?;
    let handle = child.handle();
    // Its stdout is for people here; nobody may be held up by it.
    if let Some(mut stdout) = child.take_stdout() {
        tokio::spawn(async move { tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await });
    }
    let mut frames = None;
    let reached = tokio::select! {
        biased;
        came = listener.accept() => {
            let (stream, _) = came.map_err(unheard)?;
            let (reader, writer) = stream.into_split();
            let (pipe, framed) = Frames::new(writer);
            frames = Some(framed);
            let (reader, writer): (Reader, Writer) = (Box::new(reader), Box::new(pipe));
            Ok((reader, writer))
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
        frames,
    })
}

#[cfg(not(unix))]
async fn by_socket(
    _: Launch,
    _: &[OsString],
    _: &TestWorkspace,
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
        .map_err(|error| Unstartable(with_causes(&error)))
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |why, cause| format!("{why}: {cause}"))
}

impl Started {
    /// Plays the scenario, and sees the program off.
    pub(super) async fn play(mut self, play: Play, scenario: &Scenario, role: PeerSide) -> Seen {
        let began = Instant::now();
        let by_socket = self.frames.is_some();
        let outcome = match self.reached {
            Err(unseen) => Err(unseen),
            Ok((reader, writer)) => {
                let play = match role {
                    PeerSide::Agent => play.watching(&self.handle),
                    PeerSide::Client => play,
                };
                let most = scenario.header.limit + scenario.header.patience + BEYOND_THE_LIMIT;
                let outcome = tokio::select! {
                    biased;
                    why = stopped(&mut self.stop) => Err(Unseen::Stopped(why)),
                    outcome = timeout(most, play.over(reader, writer)) => {
                        outcome.map(Box::new).map_err(|_| Unseen::Overdue(most))
                    }
                };
                if let Some(frames) = self.frames.take() {
                    let how = outcome.as_ref().ok().and_then(|outcome| outcome.exit_as);
                    // A client that does not read any more does not see the end either.
                    let _ = timeout(END_IS_TOLD, frames.exit(how)).await;
                }
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
            let what = match by_socket {
                true => "its tasks were done",
                false => "its peer had closed",
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
