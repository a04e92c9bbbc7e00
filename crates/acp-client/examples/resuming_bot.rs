//! A bot that goes on where it was: it notes its session in a file, and takes it up again
//! at the next start.
//!
//! ```sh
//! cargo build -p acp-cli
//! cargo run -p acp-client --example resuming_bot -- bot.json "hello" \
//!     target/debug/acp demo-agent --store bot.db
//! ```
//!
//! Run it again with `earlier` in the place of `hello`: it goes on, and the demo agent
//! remembers what was asked. It asks nobody, and refuses
//! what the agent wants to do.

#![expect(clippy::print_stdout, reason = "a terminal is what it is for")]

use std::env;
use std::error::Error;
use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};

use acp_client::{Client, ClientError, ClientOptions, Launch, Policy, Session, TurnEvent};
use acp_protocol::v1::{ContentBlock, SessionUpdate};
use serde::{Deserialize, Serialize};

type Failure = Box<dyn Error + Send + Sync>;

/// What the bot remembers.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    session: String,
    cwd: PathBuf,
}

impl Record {
    fn read(file: &Path) -> Result<Option<Self>, Failure> {
        match fs::read(file) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes it in one step: a bot that is killed meanwhile finds the old one.
    fn write(&self, file: &Path) -> Result<(), Failure> {
        let draft = file.with_extension("draft");
        fs::write(&draft, serde_json::to_vec_pretty(self)?)?;
        fs::rename(draft, file)?;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    tokio::spawn(run()).await?
}

async fn run() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1).collect::<Vec<_>>().into_iter();
    let (Some(file), Some(prompt), Some(program)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("say a file, a prompt and the command of an agent".into());
    };
    let file = PathBuf::from(file);
    let launch = Launch::new(path::absolute(program)?)
        .with_args(arguments)
        .with_inherited_env();
    let options = ClientOptions::new().with_permissions(Policy::reject_all());
    let client = Client::new(launch, options);
    client.dial().await?;

    let mut session = match Record::read(&file)? {
        Some(record) => match take_up(&client, &record).await {
            Ok(session) => {
                println!("[going on with {}]", session.id());
                session
            }
            // It forgot the session, or never keeps any: begin anew.
            Err(error @ (ClientError::Refused { .. } | ClientError::Unsupported { .. })) => {
                println!("[failed to {error}]");
                begin(&client, &file).await?
            }
            Err(error) => return Err(error.into()),
        },
        None => begin(&client, &file).await?,
    };

    let mut turn = session.prompt(prompt).await?;
    let mut answer = String::new();
    while let Some(event) = turn.next().await {
        if let TurnEvent::Update(update) = event
            && let SessionUpdate::AgentMessageChunk(chunk) = update.update
            && let ContentBlock::Text(piece) = chunk.content
        {
            answer.push_str(&piece.text);
        }
    }
    turn.end().await?;
    println!("{answer}");
    client.close().await;
    Ok(())
}

/// Takes a session up again: resumed where the agent knows how to, which is quick, and
/// else loaded, without a look at its history.
async fn take_up(client: &Client, record: &Record) -> Result<Session, ClientError> {
    let session = record.session.as_str();
    match client.resume_session(session, &record.cwd).await {
        Err(ClientError::Unsupported { .. }) => {}
        resumed => return resumed,
    }
    let loading = client.load_session(session, &record.cwd).await?;
    loading.end().await
}

/// Begins a session, and notes it.
async fn begin(client: &Client, file: &Path) -> Result<Session, Failure> {
    let cwd = env::current_dir()?;
    let session = client.new_session(&cwd).await?;
    let record = Record {
        session: session.id().to_string(),
        cwd,
    };
    record.write(file)?;
    Ok(session)
}
