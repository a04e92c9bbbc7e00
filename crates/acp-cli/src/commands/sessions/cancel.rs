//! `acp cancel`.

use acp_client::limits::CANCEL_GRACE;
use clap::Args;

use super::find::WhereArgs;
use super::words::names;
use crate::outcome::Outcome;
use crate::sessions::control::{Answer, Ask, Caller, NoAnswer, Running};
use crate::sessions::key::SessionName;
use crate::sessions::limits::CALL_TIMEOUT;

/// What `acp cancel` is told.
#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// The session whose turn is cancelled; needed where several run
    #[arg(long, short, value_name = "NAME")]
    session: Option<SessionName>,

    #[command(flatten)]
    place: WhereArgs,

    /// Cancel all turns that run in sessions of the folder
    #[arg(long, conflicts_with = "session")]
    all: bool,
}

pub(super) async fn cancel(args: &CancelArgs) -> Result<String, Outcome> {
    let found = args.place.sessions()?;
    let sockets = found.store.sockets(&found.folder);
    let mut running = Vec::new();
    for socket in sockets? {
        if let Some(turn) = look(&socket).await?
            && args.session.as_ref().is_none_or(|name| turn.name == *name)
            && args.place.means(&turn.agent)
        {
            running.push((turn, socket));
        }
    }
    if running.is_empty() {
        return Ok("nothing to cancel: no turn runs in a kept session here\n".to_owned());
    }
    if running.len() > 1 && !args.all {
        let there = names(running.iter().map(|(turn, _)| turn.name.as_str()));
        let message = format!("failed to choose a turn: several run here, in {there}");
        return Err(Outcome::usage(message, "--session says which, or --all"));
    }
    let mut said = String::new();
    for (turn, socket) in running {
        let how = cancel_one(&socket).await?;
        said.push_str(&format!("session {}: {how}\n", turn.name));
    }
    Ok(said)
}

/// Asks who runs a turn; `None` when nobody does.
async fn look(socket: &std::path::Path) -> Result<Option<Running>, NoAnswer> {
    match Caller::call_and_ask(socket, &Ask::Look, CALL_TIMEOUT).await? {
        Some((_, Answer::Running(running))) => Ok(Some(running)),
        _ => Ok(None),
    }
}

/// Cancels a turn, waits until it has ended, and says how.
async fn cancel_one(socket: &std::path::Path) -> Result<String, NoAnswer> {
    let asked = Caller::call_and_ask(socket, &Ask::Cancel, CALL_TIMEOUT).await?;
    let Some((mut caller, Answer::Cancelling)) = asked else {
        return Ok("its turn had ended".to_owned());
    };
    match caller.answer(CANCEL_GRACE + CALL_TIMEOUT).await {
        Ok(Answer::Ended(ended)) => Ok(match ended.stop_reason.as_deref() {
            Some("cancelled") | None => "cancelled".to_owned(),
            Some(reason) => format!("its turn ended, with {reason}"),
        }),
        Ok(_) => Ok("cancelled".to_owned()),
        Err(NoAnswer::Gone) => Ok("the process that ran its turn is gone".to_owned()),
        Err(error) => Err(error),
    }
}
