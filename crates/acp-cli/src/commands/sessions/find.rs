//! Finding the session that a command means.

use std::path::{Path, PathBuf};

use clap::Args;

use super::words::names;
use crate::agent::working_folder;
use crate::outcome::Outcome;
use crate::sessions::key::{SessionName, scope_of};
use crate::sessions::record::Record;
use crate::sessions::store::{Listing, Store};
use crate::sessions::target::text_of;

/// Of which folder, and of which agent.
#[derive(Debug, Default, Args)]
pub(crate) struct WhereArgs {
    /// Only sessions of this agent, by the name that `acp sessions list` shows
    #[arg(long, short, value_name = "NAME", global = true)]
    agent: Option<String>,

    /// The folder whose sessions are meant [default: the current one]
    #[arg(long, value_name = "DIR", global = true)]
    cwd: Option<PathBuf>,
}

/// The sessions of a folder.
pub(super) struct Found {
    pub(super) store: Store,
    pub(super) folder: String,
    pub(super) listing: Listing,
}

impl WhereArgs {
    /// Tells whether an agent of this name is meant.
    pub(super) fn means(&self, agent: &str) -> bool {
        self.agent.as_deref().is_none_or(|meant| meant == agent)
    }

    /// Reads the sessions of the folder.
    pub(super) fn sessions(&self) -> Result<Found, Outcome> {
        let cwd = self.cwd.as_deref().unwrap_or(Path::new("."));
        let cwd = working_folder(cwd, "--cwd")?;
        let folder = text_of(scope_of(&cwd))?;
        let store = Store::of_user()?;
        let mut listing = store.list(Some(&folder))?;
        listing
            .records
            .retain(|record| self.means(record.agent.label()));
        Ok(Found {
            store,
            folder,
            listing,
        })
    }
}

impl Found {
    /// Finds the session of a name, or the one that was used last.
    pub(super) fn last(&self, name: Option<&SessionName>) -> Result<&Record, Outcome> {
        let mut records = self.listing.records.iter();
        let found = records.find(|record| name.is_none_or(|name| record.name == *name));
        found.ok_or_else(|| self.none(name))
    }

    /// Finds the only session of a name.
    pub(super) fn only(&self, name: &SessionName) -> Result<&Record, Outcome> {
        let records = self.listing.records.iter();
        let all: Vec<_> = records.filter(|record| record.name == *name).collect();
        match all.as_slice() {
            [] => Err(self.none(Some(name))),
            [one] => Ok(one),
            several => {
                let agents = names(several.iter().map(|record| record.agent.label()));
                Err(Outcome::usage(
                    format!("failed to choose a session: {agents} have one named {name} here"),
                    "say which, with --agent",
                ))
            }
        }
    }

    fn none(&self, name: Option<&SessionName>) -> Outcome {
        let folder = &self.folder;
        let there = names(
            self.listing
                .records
                .iter()
                .map(|record| record.name.as_str()),
        );
        let hint = match there.is_empty() {
            true => "`acp sessions list --all` lists those of all folders; \
                     `acp run --session NAME` begins one"
                .to_owned(),
            false => format!("there are these: {there}"),
        };
        let message = match name {
            Some(name) => format!("failed to find the session {name} of {folder}"),
            None => format!("failed to find a session of {folder}"),
        };
        Outcome::usage(message, &hint)
    }
}
