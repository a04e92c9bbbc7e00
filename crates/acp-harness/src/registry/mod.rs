//! The agents that are known: what each is started by, needs, and does differently.
//!
//! An agent is a row of a table. The built-in table is a file in the format of the user's
//! own; a user's file adds agents and changes what is said of known ones, and a document
//! of the [official registry](https://agentclientprotocol.com/get-started/registry) can
//! be imported ([`official`]). Nothing is branched on a name: what an agent needs that
//! others do not is data ([`Quirks`], [`Login`]).
//!
//! ```
//! use acp_harness::registry::Registry;
//!
//! let mut registry = Registry::builtin().clone();
//! registry.lay_over(r#"
//!     [agents.codex]
//!     version = "2.7.0"            # another pin
//!
//!     [agents.ada]                 # an agent of one's own
//!     command = "/opt/ada/bin/ada"
//!     args = ["--acp"]
//!     login = { hint = "ada login", keys = ["ADA_API_KEY"] }
//! "#)?;
//! let codex = registry.validate("codex")?;
//! assert_eq!(codex.invocation(), "npx -y @agentclientprotocol/codex-acp@2.7.0");
//! let error = registry.validate("adda").unwrap_err();
//! assert!(error.to_string().contains("known are ada, antigravity,"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The built-in table
//!
#![doc = include_str!("../../agents.md")]
//!
//! # The user's file
//!
//! TOML, one table `[agents.NAME]` for each agent. What it says of a known agent is laid
//! over what is known, member by member (lists as a whole); an agent that is not known
//! needs a `command`; `disabled = true` takes one away. Unknown members are errors. The
//! members are the fields of [`AgentEntry`], with [`login`](AgentEntry::login) and
//! [`quirks`](AgentEntry::quirks) as tables of their own.

mod detect;
mod entry;
mod file;
pub mod official;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;

pub use detect::{NotInstalled, Programs, find_program};
pub use entry::{AgentEntry, AgentOrigin, InvalidEntry, Login, Quirks, UnknownAgent};
pub use file::{AgentTable, RegistryFileError};

use crate::limits::MAX_AGENTS;
use detect::Finder;
pub(crate) use entry::is_name;

/// Knows agents by their names.
///
/// What it found in search paths is remembered, by the value of the path
/// ([`find`](Self::find)); a clone begins without memories.
#[derive(Debug, Default)]
pub struct Registry {
    entries: BTreeMap<String, AgentEntry>,
    finder: Finder,
}

static BUILTIN: LazyLock<Registry> = LazyLock::new(|| {
    let table = include_str!("agents.toml");
    let entries = file::parse(table)
        .and_then(|table| file::lay_over(&BTreeMap::new(), table, &AgentOrigin::BuiltIn))
        .expect("the built-in table is read by a test");
    Registry {
        entries,
        finder: Finder::default(),
    }
});

impl Registry {
    /// Returns the agents this version knows.
    #[must_use]
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    /// Knows no agent.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Lays the user's file over what is known.
    ///
    /// # Errors
    ///
    /// [`RegistryFileError`]; nothing has changed then.
    pub fn lay_over_file(&mut self, path: impl AsRef<Path>) -> Result<(), RegistryFileError> {
        self.lay_over(&file::read(path.as_ref())?)
    }

    /// Lays a table in the format of the user's file over what is known.
    ///
    /// # Errors
    ///
    /// [`RegistryFileError`]; nothing has changed then.
    pub fn lay_over(&mut self, table: &str) -> Result<(), RegistryFileError> {
        self.lay_over_table(file::parse(table)?)
    }

    /// Lays a table that is read already over what is known.
    ///
    /// # Errors
    ///
    /// [`RegistryFileError`]; nothing has changed then.
    pub fn lay_over_table(&mut self, table: AgentTable) -> Result<(), RegistryFileError> {
        self.entries = file::lay_over(&self.entries, table, &AgentOrigin::User)?;
        Ok(())
    }

    /// Takes in an agent, in place of one of the same name.
    ///
    /// # Errors
    ///
    /// [`InvalidEntry`] when it makes no sense, or when there are too many.
    pub fn insert(&mut self, entry: AgentEntry) -> Result<(), InvalidEntry> {
        entry.check()?;
        if self.entries.len() >= MAX_AGENTS && !self.entries.contains_key(&entry.name) {
            return Err(InvalidEntry {
                name: entry.name,
                reason: format!("there are {MAX_AGENTS} already"),
            });
        }
        self.entries.insert(entry.name.clone(), entry);
        Ok(())
    }

    /// Takes in those imported agents that are not known by any of their names, and
    /// returns the names of those that are.
    ///
    /// What is known holds more than an import can: logins and quirks.
    ///
    /// # Errors
    ///
    /// [`InvalidEntry`] when there are too many; those before it were taken in.
    pub fn add(
        &mut self,
        imported: impl IntoIterator<Item = AgentEntry>,
    ) -> Result<Vec<String>, InvalidEntry> {
        let mut known = Vec::new();
        for entry in imported {
            if self.get(&entry.name).is_some() {
                known.push(entry.name);
            } else {
                self.insert(entry)?;
            }
        }
        Ok(known)
    }

    /// Walks over all agents in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &AgentEntry> {
        self.entries.values()
    }

    /// Finds an agent by its name, or else by one of its other ones.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&AgentEntry> {
        self.entries
            .get(name)
            .or_else(|| self.iter().find(|entry| entry.is_called(name)))
    }

    /// Finds an agent, or tells which there are. Starts and reads nothing.
    ///
    /// # Errors
    ///
    /// [`UnknownAgent`] with the names there are.
    pub fn validate(&self, name: &str) -> Result<&AgentEntry, UnknownAgent> {
        self.get(name).ok_or_else(|| UnknownAgent {
            name: acp_text::one_line(name, 80),
            known: self.entries.keys().cloned().collect(),
        })
    }

    /// Returns every variable that holds a key of some agent.
    ///
    /// They are cleared from an environment before one agent gets its own.
    #[must_use]
    pub fn key_variables(&self) -> BTreeSet<&str> {
        let keys = self.iter().flat_map(|entry| &entry.login.keys);
        keys.map(String::as_str).collect()
    }

    /// Finds the programs of an agent in a search path, the value of a `PATH`.
    ///
    /// Found is what this process may execute; relative folders of the path are passed
    /// over. What was found is remembered until [`forget_found`](Self::forget_found).
    ///
    /// # Errors
    ///
    /// [`NotInstalled`] with what is missing and how to get it.
    pub fn find(
        &self,
        entry: &AgentEntry,
        search_path: impl AsRef<OsStr>,
    ) -> Result<Programs, NotInstalled> {
        self.finder.find(entry, search_path.as_ref())
    }

    /// Walks over the agents all of whose programs are there.
    pub fn installed<'a>(
        &'a self,
        search_path: &'a OsStr,
    ) -> impl Iterator<Item = (&'a AgentEntry, Programs)> {
        self.iter()
            .filter_map(move |entry| Some((entry, self.find(entry, search_path).ok()?)))
    }

    /// Forgets what was found in search paths, so that it is looked for anew.
    pub fn forget_found(&self) {
        self.finder.forget();
    }
}

impl Clone for Registry {
    fn clone(&self) -> Self {
        Self {
            entries: self.entries.clone(),
            finder: Finder::default(),
        }
    }
}

/// Finds a built-in agent, or tells which there are. Starts and reads nothing.
///
/// # Errors
///
/// [`UnknownAgent`] with the names there are.
pub fn validate_agent(name: &str) -> Result<&'static AgentEntry, UnknownAgent> {
    Registry::builtin().validate(name)
}

/// Returns the built-in agents that are installed, by this process's `PATH`.
#[must_use]
pub fn detect_installed() -> Vec<&'static AgentEntry> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let registry = Registry::builtin();
    registry
        .iter()
        .filter(|entry| registry.find(entry, &path).is_ok())
        .collect()
}
