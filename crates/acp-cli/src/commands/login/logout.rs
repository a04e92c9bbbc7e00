//! `acp logout`.

use acp_client::ClientError;
use acp_harness::registry::AgentEntry;
use clap::Args;

use super::{chosen, inquiry};
use crate::agent::inquiry::unless_interrupted;
use crate::agent::keys::{KeyFound, Keys};
use crate::config::{Configuration, Word};
use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::show::print;

/// What `acp logout` is told.
#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    /// Log out of this agent [default: the one that is chosen here]
    #[arg(value_name = "AGENT")]
    agent: Option<Word>,
}

/// Logs out: forgets a stored key, and tells the agent, where it can log out.
pub(crate) async fn log_out(args: LogoutArgs) -> Exit {
    print(
        unless_interrupted(carry_out(&args))
            .await
            .unwrap_or_else(Err),
    )
}

async fn carry_out(args: &LogoutArgs) -> Result<String, Outcome> {
    let (configuration, entry) = &chosen(args.agent.as_ref(), "logout")?;
    let name = &entry.name;
    let mut said = Vec::new();
    let keys = Keys::of_user()?;
    let forgotten = keys.forget(entry)?;
    if forgotten {
        said.push(format!("the stored key of {name} is forgotten"));
    }
    match tell(configuration, entry).await {
        Ok(()) => said.push(format!("{name} has logged out")),
        // The key was all there was to forget, as far as acp can tell.
        Err(outcome) if !forgotten => return Err(outcome),
        Err(outcome) => said.extend(outcome.failure.map(|failure| failure.message)),
    }
    if let Ok(KeyFound::Variable(variable)) = keys.find(entry) {
        said.push(format!("{variable} is still set: unset it"));
    }
    Ok(format!("{}\n", said.join("\n")))
}

/// Tells the agent, if it can log out.
async fn tell(configuration: &Configuration, entry: &AgentEntry) -> Result<(), Outcome> {
    let inquiry = inquiry(configuration, entry)?;
    let client = inquiry.client();
    let done = match client.dial().await {
        Ok(_) => client.logout().await,
        Err(error) => Err(error),
    };
    let noise = client.noise();
    inquiry.end().await;
    done.map_err(|error| match error {
        ClientError::Unsupported { .. } => Outcome::usage(
            format!("{} offers no logout to its clients", entry.name),
            "its own program may know how",
        ),
        error => Outcome::from(error).with_noise(noise),
    })
}
