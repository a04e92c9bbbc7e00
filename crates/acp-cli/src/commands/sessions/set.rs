//! `acp set`.

use clap::{Args, Subcommand};
use tokio::time::{Instant, sleep};

use super::find::{Found, WhereArgs};
use crate::outcome::Outcome;
use crate::sessions::busy::NotClaimed;
use crate::sessions::control::{Answer, Ask, Caller};
use crate::sessions::key::SessionName;
use crate::sessions::limits::{CALL_TIMEOUT, LOCK_POLL, SET_TIMEOUT};
use crate::sessions::record::Record;
use crate::sessions::store::Hold;
use crate::sessions::wishes::{Change, NotSet, RememberedSettings};

/// What `acp set` is told.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The session [default: the one of this folder that was used last]
    #[arg(long, short, value_name = "NAME", global = true)]
    session: Option<SessionName>,

    #[command(flatten)]
    place: WhereArgs,

    #[command(subcommand)]
    what: What,
}

/// What is set.
#[derive(Debug, Subcommand)]
enum What {
    #[command(flatten)]
    Change(Change),
    /// Forget what the session was set to; the agent decides from then on
    Clear,
}

pub(super) async fn set(args: &SetArgs) -> Result<String, Outcome> {
    let found = args.place.sessions()?;
    let record = found.last(args.session.as_ref())?;
    let change = match &args.what {
        What::Change(change) => change,
        What::Clear => return clear(&found, record),
    };
    let begun = Instant::now();
    loop {
        if let Some(hold) = hold(&found, record)? {
            remember(&hold, change)?;
            let name = &record.name;
            return Ok(format!(
                "session {name}: {change}, before each turn from now on\n"
            ));
        }
        if let Some(said) = set_live(&found, record, change).await? {
            return Ok(said);
        }
        // It changes hands in this moment.
        if begun.elapsed() > CALL_TIMEOUT {
            return Err(NotClaimed::Busy.into());
        }
        sleep(LOCK_POLL).await;
    }
}

fn hold(found: &Found, record: &Record) -> Result<Option<Hold>, Outcome> {
    Ok(found.store.try_claim(&record.key())?)
}

const OFFERS: &str = "`acp sessions show` shows all that the agent offers";

/// Remembers it for the next turn.
fn remember(hold: &Hold, change: &Change) -> Result<(), Outcome> {
    let record = hold.record();
    let checked = record
        .as_ref()
        .map_or(Ok(()), |record| record.offers.check(change));
    checked.map_err(|error| Outcome::from(error).with_hint(OFFERS))?;
    let mut added = true;
    hold.update(|record| added = record.wishes.add(change))?;
    if !added {
        let change = change.clone();
        return Err(NotSet::TooMany { change }.into());
    }
    Ok(())
}

/// Sets it on the turn that runs; `None` when none runs any more.
async fn set_live(
    found: &Found,
    record: &Record,
    change: &Change,
) -> Result<Option<String>, Outcome> {
    let socket = found.store.socket(&record.key());
    let change = change.clone();
    let name = &record.name;
    let said = format!("session {name}: {change}, now and before each turn to come\n");
    match Caller::call_and_ask(&socket, &Ask::Set { change }, SET_TIMEOUT).await? {
        Some((_, Answer::Set)) => Ok(Some(said)),
        Some((_, Answer::Failed { message })) => Err(Outcome::usage(message, OFFERS)),
        _ => Ok(None),
    }
}

fn clear(found: &Found, record: &Record) -> Result<String, Outcome> {
    let hold = hold(found, record)?;
    let hold = hold.ok_or_else(|| Outcome::from(NotClaimed::Busy))?;
    hold.update(|record| record.wishes = RememberedSettings::default())?;
    let name = &record.name;
    Ok(format!("session {name}: set to nothing any more\n"))
}
