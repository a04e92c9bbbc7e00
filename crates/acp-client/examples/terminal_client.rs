//! A small client for people: it reads prompts from the terminal, shows what the agent
//! does, and asks before the agent may do it.
//!
//! ```sh
//! cargo build -p acp-cli
//! cargo run -p acp-client --example terminal_client -- target/debug/acp demo-agent
//! ```
//!
//! Say `ask` to the demo agent to be asked; `acp demo-agent --help` lists more words.
//! Ctrl-C cancels a turn, also while it asks. `/mode NAME` changes the mode,
//! `/quit` ends.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a terminal is what it is for"
)]

use std::env;
use std::error::Error;
use std::io::{self, BufRead as _, Write as _};
use std::path;
use std::thread;

use acp_client::{
    Client, ClientOptions, Launch, LocalTerminals, PendingPermission, Session, TurnEvent,
    WorkspaceFiles,
};
use acp_protocol::v1::{ContentBlock, SessionUpdate};
use tokio::signal::ctrl_c;
use tokio::sync::mpsc;

type Failure = Box<dyn Error + Send + Sync>;

/// Lines that the user types.
type Input = mpsc::Receiver<String>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    tokio::spawn(run()).await?
}

async fn run() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1).collect::<Vec<_>>().into_iter();
    let program = arguments.next().ok_or("say the command of an agent")?;
    let launch = Launch::new(path::absolute(program)?)
        .with_args(arguments)
        .with_inherited_env();
    // Every question comes out of the turn, in its place among the updates.
    let options = ClientOptions::new()
        .with_permissions_in_stream()
        .with_files(WorkspaceFiles::new())
        .with_terminals(LocalTerminals::new())
        .with_notices();
    let client = Client::new(launch, options);
    let agent = client.dial().await?;
    if let Some(info) = &agent.agent_info {
        println!("{} {}", info.name, info.version);
    }
    let mut session = client.new_session(env::current_dir()?).await?;
    let mut input = typed_lines();
    while let Some(line) = ask("> ", &mut input).await? {
        match line.trim() {
            "" => {}
            "/quit" => break,
            other => match other.strip_prefix("/mode ") {
                Some(mode) => match session.control().set_mode(mode.trim()).await {
                    Ok(()) => println!("the mode is {}", mode.trim()),
                    Err(error) => println!("failed to {error}"),
                },
                None => turn(&mut session, other, &mut input).await?,
            },
        }
    }
    client.close().await;
    Ok(())
}

/// Runs a turn to its end.
async fn turn(session: &mut Session, prompt: &str, input: &mut Input) -> Result<(), Failure> {
    let mut turn = session.prompt(prompt).await?;
    loop {
        let event = tokio::select! {
            event = turn.next_merged() => event,
            pressed = ctrl_c() => {
                pressed?;
                // Go on reading: the agent says when it has stopped.
                turn.cancel();
                continue;
            }
        };
        match event {
            None => break,
            Some(TurnEvent::Update(update) | TurnEvent::Earlier(update)) => show(&update.update)?,
            Some(TurnEvent::Permission(pending)) => tokio::select! {
                consent = consent(pending, input) => consent?,
                pressed = ctrl_c() => {
                    pressed?;
                    turn.cancel();
                }
            },
            Some(TurnEvent::Gap { dropped }) => println!("[{dropped} updates were dropped]"),
            Some(_) => {}
        }
    }
    match turn.end().await {
        Ok(end) => println!("\n[{}]", end.stop_reason.as_str()),
        // The agent refused, or its answer makes no sense; the next turn may do better.
        Err(error) => println!("\nfailed to {error}"),
    }
    Ok(())
}

/// Asks the user whether a tool may run. Without an answer it may not.
async fn consent(pending: PendingPermission, input: &mut Input) -> Result<(), Failure> {
    let ask = pending.request();
    println!(
        "\n{}",
        ask.tool().title.as_deref().unwrap_or("The agent asks")
    );
    for path in &ask.tool().paths {
        println!("  touches {path}");
    }
    let options: Vec<_> = ask.options().to_vec();
    for (number, option) in options.iter().enumerate() {
        println!("  {}) {}", number + 1, option.name);
    }
    let answer = self::ask("which? ", input).await?.unwrap_or_default();
    let chosen = answer
        .trim()
        .parse::<usize>()
        .ok()
        .and_then(|number| options.get(number.checked_sub(1)?));
    match chosen {
        Some(option) => pending.select(&option.option_id)?,
        None => pending.reject(),
    }
    Ok(())
}

fn show(update: &SessionUpdate) -> io::Result<()> {
    match update {
        SessionUpdate::AgentMessageChunk(chunk) => {
            if let ContentBlock::Text(piece) = &chunk.content {
                print!("{}", piece.text);
            }
        }
        SessionUpdate::ToolCall(call) => println!("\n* {}", call.title),
        SessionUpdate::ToolCallUpdate(change) => {
            if let Some(status) = &change.status {
                println!("  {}", status.as_str());
            }
        }
        SessionUpdate::Plan(plan) => {
            for entry in &plan.entries {
                println!("- {}", entry.content);
            }
        }
        _ => {}
    }
    io::stdout().flush()
}

/// Asks for a line; `None` at the end of the input.
async fn ask(question: &str, input: &mut Input) -> io::Result<Option<String>> {
    print!("{question}");
    io::stdout().flush()?;
    Ok(input.recv().await)
}

/// Reads the terminal on a thread of its own: it cannot be read without blocking one.
fn typed_lines() -> Input {
    let (typed, input) = mpsc::channel(1);
    thread::spawn(move || {
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if typed.blocking_send(line).is_err() {
                break;
            }
        }
    });
    input
}
