//! `tap`: a transparent stage between a client and its agent, which keeps what is said.

mod file;
mod recorder;

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use acp_process::stdio::{ChildStderr, Stdin, Stdout, protocol_stdio};
use acp_process::{Child, ChildHandle, ExitStatus, Launch, Signal, SpawnError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::cli::{EXIT_FAILED, Misuse, SecretArgs, find_program, say};
use crate::entry::RecordedEvent;
use crate::side::PeerSide;
use recorder::{Recorder, Seen, Source};

/// How much is read at once, and passed on in one piece.
const CHUNK: usize = 64 * 1024;

/// How long the end of stderr is waited for once the agent has ended: a process that it
/// sent out of its group may hold it for ever.
const STDERR_GRACE: Duration = Duration::from_secs(1);

/// Arguments of `tap`.
#[derive(Debug, clap::Args)]
pub struct TapArgs {
    /// The file to make, which must not be there, or a folder that gets a file each time
    #[arg(long, value_name = "PATH")]
    record: PathBuf,
    /// Record everything as it is, secrets too
    #[arg(long, conflicts_with_all = ["secret", "path"])]
    unredacted: bool,
    #[command(flatten)]
    secrets: SecretArgs,
    /// The agent and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// Stands between the client that started us and the agent, until the agent ends.
///
/// Returns the exit code of the agent, or 128 and the number of the signal that ended it.
///
/// # Errors
///
/// [`Misuse`] when the recording cannot be made, or the agent cannot be started.
pub fn run(args: &TapArgs) -> Result<u8, Misuse> {
    let redactor = match args.unredacted {
        true => None,
        false => Some(args.secrets.redactor()?),
    };
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Misuse("expected the agent behind `--`".to_owned()));
    };
    let program = find_program(program)?;
    let (path, file) = file::create(&args.record, &program)?;
    let launch = Launch::new(program)
        .with_args(arguments)
        .with_inherited_env();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let recorder = Recorder::start(file, redactor)?;
    let ended = runtime.block_on(stand_between(launch, recorder.source()));
    // A read of stdin may still hang; it must not hold us.
    runtime.shutdown_background();
    if let Err(error) = recorder.finish() {
        say(format_args!(
            "the recording {} is not whole: {error}",
            path.display()
        ));
    }
    match ended? {
        ExitStatus::Code(code) => Ok(u8::try_from(code).unwrap_or(EXIT_FAILED)),
        // As a shell says it.
        ExitStatus::Signal(signal) => Ok(u8::try_from(128 + signal).unwrap_or(EXIT_FAILED)),
        _ => Ok(EXIT_FAILED),
    }
}

/// The reason why there was nothing to stand between.
#[derive(Debug, thiserror::Error)]
enum TapError {
    #[error("take stdin and stdout")]
    Io(#[from] io::Error),
    #[error("start the agent")]
    Spawn(#[from] SpawnError),
}

async fn stand_between(launch: Launch, seen: Source) -> Result<ExitStatus, TapError> {
    let (stderr, theirs) = io::pipe()?;
    let (stdin, stdout) = protocol_stdio()?;
    #[cfg(unix)]
    let launch = launch.with_stderr_handle(theirs);
    #[cfg(not(unix))]
    drop(theirs);
    let child = launch.spawn()?;
    // Ours is the last end of this pipe that is not the agent's.
    drop(launch);
    let errors = pass_stderr(stderr, seen.clone());
    let status = serve(child, stdin, stdout, &seen).await;
    // What the agent wrote last is passed on before its end is told.
    if let Ok(errors) = errors {
        let joined = tokio::task::spawn_blocking(move || errors.join());
        let _ = tokio::time::timeout(STDERR_GRACE, joined).await;
    }
    let what = match status {
        ExitStatus::Code(code) => RecordedEvent::Exit(code),
        ExitStatus::Signal(signal) => RecordedEvent::Killed(signal),
        _ => return Ok(status),
    };
    seen.tell(Seen::Event(PeerSide::Agent, what)).await;
    Ok(status)
}

/// Passes both directions on until the agent has ended and all it said is out.
async fn serve(mut child: Child, stdin: Stdin, stdout: Stdout, seen: &Source) -> ExitStatus {
    let handle = child.handle();
    let to_agent = child.take_stdin();
    let from_agent = child.take_stdout();
    let asking = async {
        if let Some(to_agent) = to_agent {
            pass(PeerSide::Client, stdin, to_agent, seen).await;
        }
        // The agent ends when it likes; only then are we done.
        std::future::pending::<()>().await;
    };
    let answering = async {
        if let Some(from_agent) = from_agent {
            pass(PeerSide::Agent, from_agent, stdout, seen).await;
        }
        handle.wait().await
    };
    tokio::select! {
        exit = answering => exit.status(),
        () = asking => ExitStatus::Unknown,
        () = pass_signals(&handle) => ExitStatus::Unknown,
    }
}

/// Passes one direction on, byte for byte, and keeps what passes.
///
/// When one end is closed, so is the other.
async fn pass<R, W>(from: PeerSide, mut reader: R, mut writer: W, seen: &Source)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = match reader.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(length) => length,
        };
        let bytes = &chunk[..length];
        // Kept first: nobody can have answered by then, so the order is the true one.
        seen.tell(Seen::Bytes(from, bytes.into())).await;
        let passed = async {
            writer.write_all(bytes).await?;
            writer.flush().await
        };
        if passed.await.is_err() {
            break;
        }
    }
    let _ = writer.shutdown().await;
    seen.tell(Seen::Event(from, RecordedEvent::Close)).await;
}

/// Passes stderr on, on a thread: it may be anything, and writing to it may block.
fn pass_stderr(mut from: io::PipeReader, seen: Source) -> io::Result<thread::JoinHandle<()>> {
    let pass = move || {
        let mut chunk = vec![0; CHUNK];
        let mut stderr = ChildStderr::new();
        while let Ok(length @ 1..) = from.read(&mut chunk) {
            let bytes = &chunk[..length];
            seen.tell_blocking(Seen::Stderr(bytes.into()));
            // Who closed our stderr does not want to know.
            let _ = stderr.pass_on(bytes);
        }
    };
    thread::Builder::new()
        .name("acp-tap-stderr".to_owned())
        .spawn(pass)
}

/// Passes signals on that ask to end, as long as this is polled.
#[cfg(unix)]
async fn pass_signals(agent: &ChildHandle) {
    use tokio::signal::unix::{SignalKind, signal};

    let (Ok(mut hangup), Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::hangup()),
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        return std::future::pending().await;
    };
    loop {
        let signal = tokio::select! {
            _ = hangup.recv() => Signal::Hangup,
            _ = interrupt.recv() => Signal::Interrupt,
            _ = terminate.recv() => Signal::Terminate,
        };
        // An agent that has ended is waited for already.
        let _ = agent.signal(signal);
    }
}

#[cfg(not(unix))]
async fn pass_signals(_: &ChildHandle) {
    std::future::pending().await
}
