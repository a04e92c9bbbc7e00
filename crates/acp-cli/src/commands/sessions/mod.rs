//! `acp sessions`, `acp set` and `acp cancel`.

mod agent;
mod cancel;
mod find;
mod history;
mod list;
mod retire;
mod set;
mod show;
mod words;

use clap::Subcommand;

use crate::exit::Exit;
use crate::show::{Printed, print};
pub(crate) use cancel::CancelArgs;
pub(crate) use set::SetArgs;

/// What `acp sessions` is told.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions of this folder, the last used first
    List(list::ListArgs),
    /// Show what is known of a session
    Show(show::ShowArgs),
    /// Show what was said in a session, as it is kept here
    ///
    /// It is there also when the agent remembers nothing: of each turn the prompt and the
    /// report, which is the last message of the agent.
    History(history::HistoryArgs),
    /// Close a session: the next turn under its name begins anew
    ///
    /// The agent is told where it knows how to close a session. What was said stays in
    /// the history.
    Close(retire::RetireArgs),
    /// Delete a session and what was said in it
    ///
    /// The agent is asked to delete it too, where it knows how to; if it refuses, nothing
    /// is deleted.
    Delete(retire::RetireArgs),
    /// List the sessions that an agent itself remembers
    Agent(agent::AgentListArgs),
}

/// Does what `acp sessions` was told; if it was told nothing, it lists.
pub(crate) async fn sessions(command: Option<SessionsCommand>) -> Exit {
    let list = || SessionsCommand::List(list::ListArgs::default());
    print(match command.unwrap_or_else(list) {
        SessionsCommand::List(args) => list::list(&args).await,
        SessionsCommand::Show(args) => show::show(&args).await,
        SessionsCommand::History(args) => history::history(&args),
        SessionsCommand::Close(args) => retire::close(&args).await.map(Printed::from),
        SessionsCommand::Delete(args) => retire::delete(&args).await.map(Printed::from),
        SessionsCommand::Agent(args) => agent::list(&args).await,
    })
}

/// Does what `acp set` was told.
pub(crate) async fn set(args: SetArgs) -> Exit {
    print(set::set(&args).await)
}

/// Does what `acp cancel` was told.
pub(crate) async fn cancel(args: CancelArgs) -> Exit {
    print(cancel::cancel(&args).await)
}
