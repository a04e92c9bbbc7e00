//! The commands of the program, for `acp-mockpeer` and for programs that offer them too.

mod agent;
mod check;
mod client;
mod environment;
mod files;
mod join;
mod replay;
mod rules;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use acp_recording::cli::{EXIT_CONFIG, EXIT_FAILED};
use acp_recording::cli::{Misuse, SecretArgs, exit_code, say};
use acp_recording::tap::TapArgs;
pub use check::{CheckArgs, EXIT_INTERRUPTED, EXIT_UNSTARTABLE, EXIT_USAGE, check};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::runtime::Runtime;

use crate::language::Scenario;
use crate::player::{Play, PlayOutcome, Verdict};
use crate::rules::Check;
use crate::transcription::{Style, transcribe};
use acp_recording::{Recording, RecordingEntry};

/// Exit code: told to die after its first message, the mock agent did.
pub const EXIT_DIED: u8 = 91;

/// What the program can do.
#[derive(Debug, clap::Subcommand)]
#[non_exhaustive]
pub enum MockpeerCommand {
    /// Play an agent on stdin and stdout, for a client under test
    ///
    /// Without a script or a recording it answers every prompt with a short turn.
    /// The variables ACP_MOCK_SCRIPT, ACP_MOCK_EXIT_CODE, ACP_MOCK_MALFORMED_OUTPUT
    /// and ACP_MOCK_DIE_AFTER_INIT change what it does.
    Agent(AgentArgs),
    /// Play a client against an agent that is started for it
    Client(ClientArgs),
    /// Tell whether an agent or a client keeps the rules of the protocol
    Check(CheckArgs),
    /// Stand between a client and its agent, and record what they say
    ///
    /// Give it to the client in the place of the agent. Every byte is passed on as it
    /// is, stderr and signals too; it ends as the agent ends (128 and the number of
    /// the signal that ended it).
    Tap(TapArgs),
    /// Play a recording to a client, or to an agent
    ///
    /// Without a command it is the agent of the recording, on stdin and stdout. With
    /// one it says to that agent what the client said, and tells what went otherwise.
    Replay(ReplayArgs),
    /// Read scenarios and tell what is wrong with their text
    Lint {
        /// Scenarios
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Tell what the protocol demands, and which scenarios of the suite try it
    Rules(RulesArgs),
    /// Write a recording as a scenario, to be edited or played
    Scenario {
        /// A recording
        recording: PathBuf,
        /// Keep what the client said too, word for word
        #[arg(long)]
        exact: bool,
        /// Write the client's part, for agents that answer in their own way
        #[arg(long, conflicts_with = "exact")]
        client: bool,
    },
    /// Take secrets and private paths out of a recording
    Redact(RedactArgs),
}

/// How a side is played.
#[derive(Debug, clap::Args)]
pub struct PlayArgs {
    /// Say what a name of the scenario stands for
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Switch a check off
    #[arg(long, value_name = "CHECK")]
    allow: Vec<String>,
    /// Write the report into a file, not to stderr
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Record the conversation, without secrets
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Record everything as it is, secrets too
    #[arg(long, requires = "record")]
    unredacted: bool,
}

/// Arguments of `agent`.
#[derive(Debug, clap::Args)]
pub struct AgentArgs {
    /// The scenario to play
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    #[command(flatten)]
    play: PlayArgs,
    /// Play the agent of a recording
    #[arg(long, value_name = "FILE", conflicts_with = "script")]
    recording: Option<PathBuf>,
    /// Be the agent that `check --spawn` plays, at this place
    #[arg(long, value_name = "SOCKET", hide = true, conflicts_with_all = ["script", "recording"])]
    join: Option<PathBuf>,
}

/// Arguments of `client`.
#[derive(Debug, clap::Args)]
pub struct ClientArgs {
    /// The scenario to play
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    #[command(flatten)]
    play: PlayArgs,
    /// Play the client of a recording
    #[arg(long, value_name = "FILE", conflicts_with = "script")]
    recording: Option<PathBuf>,
    /// The folder the agent starts in and is told to work in
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The agent and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<std::ffi::OsString>,
}

/// Arguments of `replay`.
#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// A recording
    recording: PathBuf,
    #[command(flatten)]
    play: PlayArgs,
    /// The folder the agent starts in and is told to work in
    #[arg(long, value_name = "DIR", requires = "command")]
    cwd: Option<PathBuf>,
    /// The agent and its arguments
    #[arg(last = true, value_name = "CMD")]
    command: Vec<std::ffi::OsString>,
}

/// Arguments of `rules`.
#[derive(Debug, clap::Args)]
pub struct RulesArgs {
    /// How it is written; markdown is a table of all rules
    #[arg(long, value_enum, default_value = "human")]
    format: rules::Format,
    /// Only these rules
    #[arg(value_name = "RULE")]
    rules: Vec<String>,
}

/// Arguments of `redact`.
#[derive(Debug, clap::Args)]
pub struct RedactArgs {
    /// A recording
    recording: PathBuf,
    #[command(flatten)]
    secrets: SecretArgs,
}

/// Does what a command says; the result is the exit code of the program.
#[must_use]
pub fn run(command: MockpeerCommand) -> ExitCode {
    let done = match command {
        MockpeerCommand::Agent(args) => agent::run(&args),
        MockpeerCommand::Client(args) => client::run(&args),
        MockpeerCommand::Tap(args) => acp_recording::tap::run(&args),
        MockpeerCommand::Replay(args) => replay::run(args),
        MockpeerCommand::Rules(args) => rules::run(&args),
        MockpeerCommand::Check(args) => {
            // What stands before it makes the mock agent of us, too.
            let words: Vec<OsString> = std::env::args_os().skip(1).collect();
            let before = words.iter().take_while(|word| *word != "check");
            let agent = before.map(OsString::as_os_str).chain([OsStr::new("agent")]);
            return check(&args, &agent.collect::<Vec<_>>());
        }
        MockpeerCommand::Lint { files } => files::lint(&files),
        MockpeerCommand::Scenario {
            recording,
            exact,
            client,
        } => {
            let style = match (exact, client) {
                (true, _) => Style::Exact,
                (_, true) => Style::Client,
                _ => Style::Agent,
            };
            files::scenario(&recording, style)
        }
        MockpeerCommand::Redact(args) => files::redact(&args),
    };
    exit_code(done)
}

impl PlayArgs {
    /// Tells people how a play ended.
    fn report(&self, outcome: &PlayOutcome) {
        match &self.report {
            Some(path) => {
                if let Err(error) = std::fs::write(path, outcome.to_string()) {
                    say(format_args!("--report {}: {error}", path.display()));
                }
            }
            None => say(outcome),
        }
    }

    /// Applies what was said of the play.
    fn apply(&self, mut play: Play, scenario: &Scenario) -> Result<Play, Misuse> {
        for setting in &self.set {
            let (name, value) = self::setting(setting)?;
            play = play.with_value(name, value);
        }
        for name in &self.allow {
            let Some(check) = Check::named(name) else {
                return Err(Misuse(format!(
                    "--allow {name}: there are {}",
                    Check::names()
                )));
            };
            play = play.allow(check);
        }
        if let Some(path) = &self.record {
            let mut file = std::fs::File::create(path)
                .map_err(|error| Misuse(format!("--record {}: {error}", path.display())))?;
            let redactor = (!self.unredacted).then(acp_recording::redactor);
            play = play.with_recorder(move |entry: &RecordingEntry| {
                let line = match &redactor {
                    Some(redactor) => entry.redacted(redactor).to_json(),
                    None => entry.to_json(),
                };
                // A full disk ends the recording, not the conversation.
                let _ = writeln!(file, "{line}");
            });
        }
        play.check()
            .map_err(|why| Misuse(format!("{}: {why}", scenario.file)))?;
        Ok(play)
    }
}

/// Reads `NAME=VALUE`.
fn setting(setting: &str) -> Result<(&str, &str), Misuse> {
    let parts = setting.split_once('=');
    let (name, value) =
        parts.ok_or_else(|| Misuse(format!("--set {setting}: expected NAME=VALUE")))?;
    Ok((name.trim_start_matches('$'), value))
}

/// Makes what plays run on; what still blocks a thread at the end must not hold us.
async fn put(to: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> std::io::Result<()> {
    to.write_all(bytes).await?;
    to.flush().await
}

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// Returns the exit code for how a play ended.
fn code_of(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Passed | Verdict::Skipped(_) | Verdict::NotExercised(_) => 0,
        Verdict::Broken(_) => EXIT_CONFIG,
        Verdict::Failed => EXIT_FAILED,
    }
}

/// Writes to stdout; a closed pipe is no failure.
fn print(
    write: impl FnOnce(&mut std::io::StdoutLock<'static>) -> std::io::Result<()>,
) -> Result<u8, Misuse> {
    acp_process::stdio::write_document(write)?;
    Ok(0)
}

/// Waits for a signal that ends programs in good order.
#[cfg(unix)]
async fn told_to_end() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        _ = hangup.recv() => {}
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn told_to_end() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}

/// Reads a script.
fn load(path: &Path) -> Result<Scenario, Misuse> {
    Ok(Scenario::load(path)?)
}

/// Reads a recording as the script of one side.
fn scripted(path: &Path, style: Style) -> Result<Scenario, Misuse> {
    let text = transcribe(&Recording::load(path)?, style);
    Ok(Scenario::parse(&path.display().to_string(), &text)?)
}
