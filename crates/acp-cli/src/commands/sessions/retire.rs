//! `acp sessions close` and `acp sessions delete`.

use acp_client::ClientError;
use clap::Args;

use super::agent::Connected;
use super::find::WhereArgs;
use crate::outcome::{Outcome, in_words};
use crate::sessions::busy::NotClaimed;
use crate::sessions::key::SessionName;
use crate::sessions::record::Record;
use crate::sessions::store::{Hold, Store};

/// What `acp sessions close` and `acp sessions delete` are told.
#[derive(Debug, Args)]
pub(crate) struct RetireArgs {
    /// The session
    name: SessionName,

    #[command(flatten)]
    place: WhereArgs,

    /// Do it here alone, without starting the agent
    #[arg(long)]
    here: bool,
}

impl RetireArgs {
    /// Claims the session; a turn that runs in it is left alone.
    fn claim(&self) -> Result<(Hold, Record), Outcome> {
        let found = self.place.sessions()?;
        let record = found.only(&self.name)?.clone();
        let hold = hold(&found.store, &record)?;
        // It may have changed meanwhile.
        let record = hold.record().unwrap_or(record);
        Ok((hold, record))
    }
}

fn hold(store: &Store, record: &Record) -> Result<Hold, Outcome> {
    let hold = store.try_claim(&record.key());
    let hold = hold.map_err(NotClaimed::from)?;
    hold.ok_or_else(|| Outcome::from(NotClaimed::Busy))
}

pub(super) async fn close(which: &RetireArgs) -> Result<String, Outcome> {
    let (hold, record) = which.claim()?;
    let mut said = format!("session {} is closed", which.name);
    if let (Some(id), false) = (&record.session_id, which.here) {
        match Connected::to(&record).await {
            Ok(agent) => {
                match agent.client().close_session(id.clone()).await {
                    // It has it closed, or does not know how to.
                    Ok(()) | Err(ClientError::Unsupported { .. } | ClientError::Refused { .. }) => {
                    }
                    Err(error) => said.push_str(&untold(&in_words(&error))),
                }
                agent.end().await;
            }
            Err(outcome) => said.push_str(&untold(outcome.message())),
        }
    }
    hold.update(Record::close)?;
    Ok(format!("{said}\n"))
}

fn untold(why: &str) -> String {
    format!("; the agent was not told: {why}")
}

pub(super) async fn delete(which: &RetireArgs) -> Result<String, Outcome> {
    let (hold, record) = which.claim()?;
    let mut said = format!("session {} is deleted", which.name);
    let mut ids = record.session_ids().peekable();
    if ids.peek().is_some() && !which.here {
        let hint = "--here deletes it here alone";
        let agent = Connected::to(&record).await;
        let agent = agent.map_err(|outcome| outcome.with_hint(hint))?;
        let mut result = Ok(());
        for id in ids {
            result = agent.client().delete_session(id.clone()).await;
            if result.is_err() {
                break;
            }
        }
        agent.end().await;
        match result {
            Ok(()) => {}
            Err(ClientError::Unsupported { .. }) => {
                said.push_str(" here; its agent does not know how to, and may remember it")
            }
            Err(error) => return Err(Outcome::from(error).with_hint(hint)),
        }
    }
    hold.delete()?;
    Ok(format!("{said}\n"))
}
