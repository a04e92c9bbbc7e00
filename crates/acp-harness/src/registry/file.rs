//! Tables of agents as text: the built-in one, and the user's own.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use struct_patch::Patch as _;

use super::entry::{AgentEntry, AgentOrigin, EntryPatch, InvalidEntry};
use crate::limits::{MAX_AGENTS, MAX_REGISTRY_FILE};

/// Why a file of agents cannot be used. Nothing of it is, then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryFileError {
    /// The file cannot be read.
    #[error("read the agents of {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The file is larger than anything that is a table of agents.
    #[error("read the agents of {}: it has more than {MAX_REGISTRY_FILE} bytes", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is no table of agents.
    #[error("read a table of agents")]
    Syntax(#[source] toml::de::Error),
    /// There are too many agents.
    #[error("read a table of agents: it has more than {MAX_AGENTS}")]
    TooMany,
    /// An entry of the file makes no sense.
    #[error(transparent)]
    Entry(#[from] InvalidEntry),
}

/// Reads a file whole, if it is not too large.
pub(super) fn read(path: &Path) -> Result<String, RegistryFileError> {
    use io::Read as _;

    let failed = |source| RegistryFileError::Read {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MAX_REGISTRY_FILE + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if text.len() as u64 > MAX_REGISTRY_FILE {
        let path = path.to_owned();
        return Err(RegistryFileError::TooLarge { path });
    }
    Ok(text)
}

/// Lays a table over the entries there are: what it says counts, what it leaves out stays.
///
/// All of it counts or nothing.
pub(super) fn lay_over(
    entries: &BTreeMap<String, AgentEntry>,
    table: AgentTable,
    origin: &AgentOrigin,
) -> Result<BTreeMap<String, AgentEntry>, RegistryFileError> {
    let mut entries = entries.clone();
    for (name, patch) in table.0 {
        if patch.disabled == Some(true) {
            entries.remove(&name);
            continue;
        }
        let known = entries.remove(&name);
        let Some(mut entry) = known.or_else(|| {
            let command = patch.command.as_ref()?;
            Some(AgentEntry::new(&*name, command))
        }) else {
            let reason = "a new agent needs a `command`".to_owned();
            return Err(InvalidEntry { name, reason }.into());
        };
        entry.origin = origin.clone();
        entry.apply(patch);
        entry.check()?;
        entries.insert(name, entry);
    }
    if entries.len() > MAX_AGENTS {
        return Err(RegistryFileError::TooMany);
    }
    Ok(entries)
}

/// Reads the text of a file that holds such a table and nothing else.
pub(super) fn parse(text: &str) -> Result<AgentTable, RegistryFileError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        #[serde(default)]
        agents: AgentTable,
    }
    let file: File = toml::from_str(text).map_err(RegistryFileError::Syntax)?;
    Ok(file.agents)
}

/// Holds what a file says of agents, by their names: what stands below `agents` in the
/// user's file.
///
/// For programs whose own configuration has such a part; unknown members are errors there
/// too. It says nothing until it is laid over a registry
/// ([`lay_over_table`](super::Registry::lay_over_table)).
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct AgentTable(BTreeMap<String, EntryPatch>);

impl AgentTable {
    /// Walks over the names it speaks of.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// The names alone: variables of an agent may hold what nobody shall read.
impl fmt::Debug for AgentTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
