//! Asks an agent one thing, and prints its answer as it comes.
//!
//! ```sh
//! cargo build -p acp-cli
//! cargo run -p acp-client --example one_prompt -- "hello" target/debug/acp demo-agent
//! ```
//!
//! The agent may read files of the current folder, and nothing else: what it wants to do
//! beyond that is refused. The words of `acp demo-agent --help` show more than a greeting.

#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a terminal is what it is for"
)]

use std::env;
use std::error::Error;
use std::io::{self, Write as _};
use std::path;

use acp_client::{Allow, Client, ClientOptions, Launch, Policy, TurnEvent, WorkspaceFiles};
use acp_protocol::v1::{ContentBlock, SessionUpdate};

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    // On a worker, where the connection is: round trips then need no other thread.
    tokio::spawn(run()).await?
}

async fn run() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1).collect::<Vec<_>>().into_iter();
    let (Some(prompt), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err("say a prompt and the command of an agent".into());
    };
    let launch = Launch::new(path::absolute(program)?)
        .with_args(arguments)
        .with_inherited_env();
    let folder = env::current_dir()?;
    let options = ClientOptions::new()
        .with_permissions(Policy::allow(Allow::Reads))
        .with_files(WorkspaceFiles::new());

    let client = Client::new(launch, options);
    client.dial().await?;
    let mut session = client.new_session(folder).await?;
    let mut turn = session.prompt(prompt).await?;
    while let Some(event) = turn.next_merged().await {
        if let TurnEvent::Update(update) = event
            && let SessionUpdate::AgentMessageChunk(chunk) = update.update
            && let ContentBlock::Text(piece) = chunk.content
        {
            print!("{}", piece.text);
            io::stdout().flush()?;
        }
    }
    let end = turn.end().await?;
    println!("\n[{}]", end.stop_reason.as_str());
    client.close().await;
    Ok(())
}
