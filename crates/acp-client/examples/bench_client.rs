//! A client for a load generator: it does a given number of turns and counts.
//!
//! The agent is on standard input and output, or is started from the command in
//! `BENCH_AGENT_CMD`. The client sends the prompt `BENCH_PROMPT` `BENCH_TURNS` times,
//! counts pieces of text and their bytes (waiting `BENCH_SLOW_US` microseconds for
//! each), and serves one small file. Once it has counted `BENCH_EXPECT` pieces it
//! tells both numbers in a last prompt, and ends.
//!
//! Everything goes through the public interface, on the runtime a user would take.

use std::env;
use std::error::Error;
use std::str::FromStr;
use std::time::Duration;

use acp_client::{Client, ClientOptions, Launch, ReadFiles, ServeError, Session, TurnEvent};
use acp_process::stdio::protocol_stdio;
use acp_protocol::v1::{ContentBlock, ReadTextFileRequest, ReadTextFileResponse, SessionUpdate};

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    // On a worker, where the connection is: round trips then need no other thread.
    tokio::spawn(run()).await?
}

async fn run() -> Result<(), Failure> {
    let options = ClientOptions::new().with_read_files(SmallFile);
    let client = match env::var("BENCH_AGENT_CMD") {
        Ok(command) if !command.is_empty() => Client::new(launch(&command), options),
        _ => {
            let (stdin, stdout) = protocol_stdio()?;
            Client::over(stdin, stdout, options)
        }
    };
    client.dial().await?;
    let mut session = client.new_session("/tmp").await?;
    let mut count = Count::new();
    let prompt = env::var("BENCH_PROMPT").unwrap_or_default();
    for _ in 0..number("BENCH_TURNS", 1) {
        count.turn(&mut session, &prompt).await?;
    }
    let expected = number("BENCH_EXPECT", 0);
    while count.updates < expected {
        let Some(event) = session.updates().next().await else {
            return Err("the agent hung up".into());
        };
        count.add(&event).await;
    }
    let done = format!("DONE {} {}", count.updates, count.bytes);
    count.turn(&mut session, &done).await?;
    client.close().await;
    Ok(())
}

/// What was counted.
struct Count {
    updates: u64,
    bytes: usize,
    wait: Duration,
}

impl Count {
    fn new() -> Self {
        Self {
            updates: 0,
            bytes: 0,
            wait: Duration::from_micros(number("BENCH_SLOW_US", 0)),
        }
    }

    async fn turn(&mut self, session: &mut Session, prompt: &str) -> Result<(), Failure> {
        let mut turn = session.prompt(prompt).await?;
        while let Some(event) = turn.next().await {
            self.add(&event).await;
        }
        turn.end().await?;
        Ok(())
    }

    async fn add(&mut self, event: &TurnEvent) {
        if let TurnEvent::Update(update) = event
            && let SessionUpdate::AgentMessageChunk(chunk) = &update.update
            && let ContentBlock::Text(text) = &chunk.content
        {
            self.updates += 1;
            self.bytes += text.text.len();
            if !self.wait.is_zero() {
                tokio::time::sleep(self.wait).await;
            }
        }
    }
}

/// One file of 64 bytes, whatever it is called.
struct SmallFile;

impl ReadFiles for SmallFile {
    async fn read(&self, _: ReadTextFileRequest) -> Result<ReadTextFileResponse, ServeError> {
        Ok(ReadTextFileResponse::new(
            "The quick brown fox jumps over the lazy dog, and 64 bytes it is.",
        ))
    }
}

fn launch(command: &str) -> Launch {
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    Launch::new(program).with_args(words).with_inherited_env()
}

fn number<T: FromStr>(name: &str, default: T) -> T {
    let given = env::var(name).ok().and_then(|text| text.parse().ok());
    given.unwrap_or(default)
}
