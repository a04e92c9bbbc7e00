//! Runs one turn through the harness, in the current folder, and tells what came of it.
//!
//! The harness knows the agent by its name, as everybody does; its row is laid over with the
//! command and the variables that are given here. What came of the turn is one JSON object on
//! standard output: who started this knows what to expect of the agent.

#![expect(
    clippy::print_stdout,
    reason = "this is a program, and its output is its result"
)]

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use acp_client::Decided;
use acp_harness::record::SessionRecords;
use acp_harness::registry::{AgentEntry, Registry};
use acp_harness::transcript::{Speaker, Transcript};
use acp_harness::turn::{
    Harness, Opened, ProgressReceiver, StopHandle, TurnEnding, TurnOutcome, TurnProgress,
    TurnRequest, progress,
};
use acp_protocol::v1::PermissionOptionKind;
use clap::Parser;
use serde_json::{Value, json};

/// How long the turn may take: less than its caller waits, so that it ends by itself.
const TOTAL: Duration = Duration::from_secs(90);

/// Run one turn through the harness, and tell what came of it.
#[derive(Debug, Parser)]
struct Args {
    /// The name under which the harness knows the agent.
    #[arg(long, value_name = "NAME")]
    agent: String,
    /// A variable that the agent gets; its value is the one it has here. May be repeated.
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// The session mode in which the agent asks before it acts, if its row does not say so.
    #[arg(long, value_name = "ID")]
    asking_mode: Option<String>,
    /// Where the session of the conversation is recorded.
    #[arg(long, value_name = "DIR")]
    records: PathBuf,
    /// The conversation that the turn is part of.
    #[arg(long, value_name = "KEY")]
    conversation: String,
    /// What was said to the agent before, should it not remember. May be repeated.
    #[arg(long, value_name = "TEXT")]
    said: Vec<String>,
    /// The text of the agent at which the turn is stopped.
    #[arg(long, value_name = "TEXT")]
    stop_at: Option<String>,
    /// What the agent is asked.
    prompt: String,
    /// The agent and its arguments.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Args::parse()).await {
        Ok(told) => {
            println!("{told}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{}", json!({"error": chain(error.as_ref())}));
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> Result<Value, Box<dyn Error>> {
    let mut registry = Registry::builtin().clone();
    let entry = entry(&registry, &args)?;
    registry.insert(entry)?;
    let mut history = Transcript::new();
    for said in &args.said {
        history.push(Speaker::User, said);
    }
    let stop = StopHandle::new();
    let (sender, receiver) = progress();
    let request = TurnRequest::new(args.agent, args.prompt, env::current_dir()?)
        .in_conversation(SessionRecords::in_folder(args.records), args.conversation)
        .with_history(history)
        .with_total_timeout(TOTAL)
        .with_progress(sender)
        .with_stop(&stop);
    let harness = Harness::with_registry(registry);
    let (outcome, stopped) = tokio::join!(
        harness.run(request),
        stop_at(receiver, &stop, args.stop_at.as_deref()),
    );
    Ok(told(&outcome?, stopped.map(|at| at.elapsed())))
}

/// Lays what is given over what is known of the agent.
fn entry(registry: &Registry, args: &Args) -> Result<AgentEntry, Box<dyn Error>> {
    let (program, rest) = args.command.split_first().ok_or("no agent is given")?;
    let known = registry.get(&args.agent).cloned();
    let mut entry = known.unwrap_or_else(|| AgentEntry::new(&args.agent, program));
    entry.command.clone_from(program);
    entry.args = rest.to_vec();
    entry.os_args.clear();
    // These are about the command that it is started by elsewhere.
    entry.requires.clear();
    entry.probe.clear();
    for name in &args.env {
        let value = env::var(name).map_err(|error| format!("{name}: {error}"))?;
        entry.env.insert(name.clone(), value);
    }
    if args.asking_mode.is_some() {
        entry.quirks.asking_mode.clone_from(&args.asking_mode);
    }
    Ok(entry)
}

/// Hears what happens to the end, and stops the turn at a text; tells when that was.
async fn stop_at(
    mut progress: ProgressReceiver,
    stop: &StopHandle,
    text: Option<&str>,
) -> Option<Instant> {
    let (mut said, mut stopped) = (String::new(), None);
    while let Some(event) = progress.next().await {
        if let (TurnProgress::Message(piece), Some(text), None) = (event, text, stopped) {
            said.push_str(&piece);
            if said.contains(text) {
                stop.stop();
                stopped = Some(Instant::now());
            }
        }
    }
    stopped
}

fn told(outcome: &TurnOutcome, after_stop: Option<Duration>) -> Value {
    let failure = match &outcome.end {
        TurnEnding::Failed(error) => Some(chain(error)),
        _ => None,
    };
    json!({
        "report": outcome.report,
        "said": outcome.said,
        "whole": outcome.report_is_whole,
        "empty": outcome.is_empty(),
        "stop": outcome.stop_reason(),
        "failure": failure,
        "opened": outcome.opened.map(|opened| match opened {
            Opened::Resumed => "resumed",
            Opened::Loaded => "loaded",
            _ => "new",
        }),
        "session": outcome.session_id.as_ref().map(|id| id.as_str()),
        "handed_on": outcome.history.kept,
        "allowed": outcome.decisions.iter().filter(|decided| allows(decided)).count(),
        "refused": outcome.decisions.iter().filter(|decided| !allows(decided)).count(),
        "after_stop_ms": after_stop.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
    })
}

fn allows(decided: &Decided) -> bool {
    let kind = decided.option.as_ref().map(|option| &option.kind);
    matches!(
        kind,
        Some(PermissionOptionKind::AllowOnce | PermissionOptionKind::AllowAlways)
    )
}

/// Writes an error with its causes.
fn chain(error: &dyn Error) -> String {
    let mut text = format!("failed to {error}");
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(agent: &str, more: &[&str]) -> Args {
        let words = ["interop-turn", "--agent", agent, "--records", "records"];
        let rest = ["--conversation", "a", "Say hello", "--", "node", "agent.js"];
        Args::parse_from(words.iter().chain(more).chain(&rest))
    }

    #[test]
    fn what_is_known_of_an_agent_stays_but_for_its_command() {
        let registry = Registry::builtin();
        let known = registry.get("codex").expect("codex is built in");
        let entry = entry(registry, &parsed("codex", &[])).expect("the entry makes sense");
        assert_eq!(entry.invocation(), "node agent.js");
        assert_eq!(entry.programs().collect::<Vec<_>>(), ["node"]);
        assert_eq!(entry.login, known.login);
        assert_eq!(entry.quirks, known.quirks);
        assert_eq!(entry.min_version, known.min_version);
    }

    #[test]
    fn an_agent_that_nobody_knows_is_what_is_given() {
        let args = parsed("nobody-knows", &["--asking-mode", "ask"]);
        let entry = entry(Registry::builtin(), &args).expect("the entry makes sense");
        assert_eq!(entry.quirks.asking_mode.as_deref(), Some("ask"));
        let args = parsed("nobody-knows", &["--env", "NO_SUCH_VARIABLE_HERE"]);
        assert!(super::entry(Registry::builtin(), &args).is_err());
    }
}
