//! How a command line names an agent.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::config::{Flags, Word};
use crate::outcome::Outcome;
use crate::values::time;

/// Which agent is asked, and how it is started.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Agent")]
pub(crate) struct AgentArgs {
    /// Ask this agent; `acp agents` lists those that are known
    #[arg(long, short, value_name = "NAME", conflicts_with = "command")]
    pub(crate) agent: Option<String>,

    /// The folder the agent works in [default: the current one]
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,

    /// Give the agent the usual few variables, those of the network and its own keys,
    /// instead of the whole environment
    #[arg(long)]
    pub(crate) clean_env: bool,

    /// How long the agent may take to start [default: 30, and up to 120 while it
    /// writes to standard error]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) start_timeout: Option<Duration>,

    /// The agent and its arguments, after `--`
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

impl AgentArgs {
    /// Returns what it says of the settings that others may say something of, too.
    pub(crate) fn flags(&self) -> Result<Flags, Outcome> {
        Ok(Flags {
            agent: word("--agent", self.agent.as_deref())?,
            start_timeout: self.start_timeout.map(Into::into),
            command: !self.command.is_empty(),
            ..Flags::default()
        })
    }
}

/// Reads a name that an option gives.
pub(crate) fn word(option: &str, given: Option<&str>) -> Result<Option<Word>, Outcome> {
    let word = given.map(str::parse::<Word>).transpose();
    word.map_err(|unfit| {
        let message = format!("failed to understand {option}: {unfit}");
        Outcome::usage(message, "leave it out, or give it a name")
    })
}
