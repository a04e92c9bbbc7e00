//! `acp-mockpeer agent`.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use acp_process::stdio::{Stdout, play_stderr, protocol_stdio};
use tokio::io::{AsyncBufReadExt, AsyncWrite, BufReader, DuplexStream};

use super::environment::Environment;
use super::{AgentArgs, EXIT_DIED, EXIT_FAILED, Misuse, say};
use crate::language::{ExitAs, Scenario};
use crate::player::{Play, PlayOutcome, Verdict};
use crate::transcription::Style;
use acp_recording::SignalName;

/// What the mock agent does without a script.
const DEFAULT: &str = include_str!("default-agent.acpt");

/// What it writes first when it is told to write something malformed.
const MALFORMED: &[u8] = b"this line is no message\n";

pub(super) fn run(args: &AgentArgs) -> Result<u8, Misuse> {
    let environment = Environment::read().map_err(Misuse)?;
    if let Some(code) = environment.exit_code {
        return Ok(code);
    }
    if let Some(place) = &args.join {
        return super::join::run(place);
    }
    let scenario = scenario(args, &environment)?;
    let play = Play::agent(&scenario)
        .with_value("version", env!("CARGO_PKG_VERSION"))
        .without_limit()
        .with_process(play_stderr, grandchild);
    let play = args.play.apply(play, &scenario)?;
    let runtime = super::runtime()?;
    let ended = runtime.block_on(serve(args, play, &environment));
    // A read of stdin may still hang; it must not hold us.
    runtime.shutdown_background();
    ended
}

fn scenario(args: &AgentArgs, environment: &Environment) -> Result<Scenario, Misuse> {
    if let Some(script) = &args.script {
        return super::load(script);
    }
    if let Some(recording) = &args.recording {
        return super::scripted(recording, Style::Agent);
    }
    match &environment.script {
        Some(path) => Scenario::load(path)
            .map_err(|error| Misuse(format!("ACP_MOCK_SCRIPT: {}", Misuse::from(error).0))),
        None => Ok(Scenario::parse("default-agent.acpt", DEFAULT)?),
    }
}

async fn serve(args: &AgentArgs, play: Play, environment: &Environment) -> Result<u8, Misuse> {
    let (stdin, mut stdout) = protocol_stdio()?;
    if environment.malformed_output
        && let Err(error) = super::put(&mut stdout, MALFORMED).await
    {
        say(format_args!("write to stdout: {error}"));
        return Ok(EXIT_FAILED);
    }
    let stdout: Box<dyn AsyncWrite + Unpin> = match environment.die_after_init {
        true => Box::new(die_after_a_line(stdout)),
        false => Box::new(stdout),
    };
    tokio::select! {
        outcome = play.over(stdin, stdout) => Ok(end(args, &outcome)),
        signalled = super::told_to_end() => {
            signalled?;
            Ok(0)
        }
    }
}

/// Passes one line on, and ends the process when it is out: not a byte of a second one is.
fn die_after_a_line(mut stdout: Stdout) -> DuplexStream {
    let (ours, theirs) = tokio::io::duplex(64 << 10);
    tokio::spawn(async move {
        let mut line = Vec::new();
        let _ = BufReader::new(theirs).read_until(b'\n', &mut line).await;
        let written = super::put(&mut stdout, &line);
        if written.await.is_ok() && line.ends_with(b"\n") {
            std::process::exit(EXIT_DIED.into());
        }
    });
    ours
}

/// Reports, and ends as the script says.
fn end(args: &AgentArgs, outcome: &PlayOutcome) -> u8 {
    let code = super::code_of(&outcome.verdict);
    // Nobody reads the stderr of an agent that is well.
    if outcome.verdict != Verdict::Passed || args.play.report.is_some() {
        args.play.report(outcome);
    }
    match outcome.exit_as {
        Some(ExitAs::Code(code)) => code,
        Some(ExitAs::By(signal)) => {
            kill_self(signal);
            EXIT_FAILED
        }
        Some(ExitAs::Any) | None => code,
    }
}

/// Ends by the signal with this number, if it is one that scripts may name.
pub(super) fn end_by(number: u8) -> u8 {
    if let Some(signal) = SignalName::numbered(number.into()) {
        kill_self(signal);
    }
    EXIT_FAILED
}

#[cfg(unix)]
fn kill_self(signal: SignalName) {
    use rustix::process::{Signal, getpid, kill_process};

    // Those that tokio was told to catch would be caught: what cannot be
    // caught does for all that end a process in the same way.
    let sent = match Signal::from_named_raw(signal.number()) {
        Some(signal) => kill_process(getpid(), signal),
        None => Err(rustix::io::Errno::INVAL),
    };
    if let Err(error) = sent {
        say(format_args!("send {} to itself: {error}", signal.number()));
    }
}

#[cfg(not(unix))]
fn kill_self(signal: SignalName) {
    say(format_args!("{} cannot be sent here", signal.name()));
}

/// Starts a process that no polite signal ends, with our stdio.
fn grandchild(time: Duration) -> io::Result<()> {
    let seconds = time.as_secs().max(1);
    std::process::Command::new("/bin/sh")
        .arg("-c")
        .arg(format!("trap '' INT TERM HUP; exec sleep {seconds}"))
        .stdin(Stdio::null())
        .spawn()
        .map(drop)
}
