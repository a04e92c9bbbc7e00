//! Import of the official registry's documents.
//!
//! A document (`registry.json`, or the `agent.json` of one agent) says how each agent is
//! distributed: as an npm package for `npx`, as a Python package for `uvx`, or as an
//! archive with a program for each platform. An [`Importer`] makes entries of it. It
//! installs nothing, and reads nothing from the network: who wants a document from an
//! address brings the function that fetches it ([`Importer::fetch`]).
//!
//! What a document says will be run, once somebody asks for that agent. Import only what
//! you would install from. Still nothing in it can point elsewhere than to a package by
//! its name and version, or into the folder where its archive was unpacked.

mod distribution;

use std::error::Error;
use std::path::{Path, PathBuf};

use derive_setters::Setters;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{AgentEntry, AgentOrigin, RegistryFileError, file, is_name};
use crate::limits::{MAX_AGENTS, MAX_REGISTRY_FILE};
use distribution::{Distributions, NPX, UVX};

/// A way in which an agent is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distribution {
    /// An npm package, run by `npx`.
    Npx,
    /// A Python package, run by `uvx`.
    Uvx,
    /// An archive with a program.
    Binary,
}

/// Makes entries of documents of the official registry.
#[derive(Setters, Clone, Debug)]
#[setters(generate = false, prefix = "with_")]
pub struct Importer {
    /// Imports for a platform as the registry names it, such as `linux-x86_64`.
    #[setters(generate, into)]
    target: String,
    /// Takes the first of these that an agent has, and no other.
    #[setters(generate, into)]
    order: Vec<Distribution>,
    /// Takes previews of those agents that have one.
    #[setters(generate, bool, rename = "with_previews")]
    preview: bool,
    /// Expects archives to be unpacked in `FOLDER/ID/VERSION`. Otherwise their programs
    /// are looked for in the search path.
    #[setters(generate, strip_option, into)]
    binaries: Option<PathBuf>,
}

/// What a document gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// The agents, in the order of the document.
    pub agents: Vec<AgentEntry>,
    /// Those that cannot be used, and why.
    pub skipped: Vec<Skipped>,
}

/// An agent of a document that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Its id, as far as it has one.
    pub id: String,
    /// Why it cannot be used.
    pub reason: String,
}

/// Why nothing can be taken from a document.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] RegistryFileError),
    /// The address is none that can be trusted to give what it gave to others.
    #[error("fetch the registry from {url:?}: an https address is wanted")]
    Address {
        /// The address.
        url: String,
    },
    /// The document could not be fetched.
    #[error("fetch the registry from {url:?}")]
    Fetch {
        /// The address.
        url: String,
        /// What went wrong.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// There is more of it than a registry has.
    #[error("read the registry: it has more than {MAX_REGISTRY_FILE} bytes")]
    TooLarge,
    /// There are more agents than a registry has.
    #[error("read the registry: it has more than {MAX_AGENTS} agents")]
    TooMany,
    /// It is no document of the registry.
    #[error("read the registry")]
    Syntax(#[source] serde_json::Error),
    /// It is of a format that this version does not know.
    #[error("read the registry: its format is {version}, known is 1")]
    Format {
        /// The format it says it has.
        version: String,
    },
}

impl Importer {
    /// Imports for this machine: packages rather than archives, releases rather than
    /// previews.
    #[must_use]
    pub fn new() -> Self {
        Self {
            target: target().to_owned(),
            order: vec![Distribution::Npx, Distribution::Uvx, Distribution::Binary],
            preview: false,
            binaries: None,
        }
    }

    /// Reads a document from a file.
    ///
    /// # Errors
    ///
    /// [`ImportError`] when nothing can be taken from it.
    pub fn read_file(&self, path: impl AsRef<Path>) -> Result<Imported, ImportError> {
        self.read(file::read(path.as_ref())?.as_bytes())
    }

    /// Reads a document from an `https` address, by way of a function that fetches it.
    ///
    /// The function says how long it waits, and whom it trusts.
    ///
    /// # Errors
    ///
    /// [`ImportError`] when nothing can be taken from it.
    ///
    /// # Cancel safety
    ///
    /// As that of the function; nothing else waits.
    pub async fn fetch<F, Fut, E>(&self, url: &str, fetch: F) -> Result<Imported, ImportError>
    where
        F: FnOnce(String) -> Fut,
        Fut: Future<Output = Result<Vec<u8>, E>>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        if !url.starts_with("https://") {
            let url = acp_text::one_line(url, 200);
            return Err(ImportError::Address { url });
        }
        let document = fetch(url.to_owned())
            .await
            .map_err(|error| ImportError::Fetch {
                url: url.to_owned(),
                source: error.into(),
            })?;
        self.read(&document)
    }

    /// Reads a document. An agent that cannot be used keeps no other from being read.
    ///
    /// # Errors
    ///
    /// [`ImportError`] when nothing can be taken from it.
    pub fn read(&self, document: &[u8]) -> Result<Imported, ImportError> {
        if document.len() as u64 > MAX_REGISTRY_FILE {
            return Err(ImportError::TooLarge);
        }
        let parsed: Document<'_> = serde_json::from_slice(document).map_err(ImportError::Syntax)?;
        let agents: Vec<&str> = match (&parsed.agents, &parsed.id) {
            (Some(agents), _) => {
                check_format(parsed.version.as_deref())?;
                agents.iter().map(|agent| agent.get()).collect()
            }
            (None, Some(_)) => vec![std::str::from_utf8(document).unwrap_or_default()],
            (None, None) => {
                let nothing = serde::de::Error::custom("it has neither `agents` nor an `id`");
                return Err(ImportError::Syntax(nothing));
            }
        };
        if agents.len() > MAX_AGENTS {
            return Err(ImportError::TooMany);
        }
        let mut imported = Imported::default();
        for agent in agents {
            match self.agent(agent) {
                Ok(entry) => imported.agents.push(entry),
                Err(skipped) => imported.skipped.push(skipped),
            }
        }
        Ok(imported)
    }

    fn agent(&self, json: &str) -> Result<AgentEntry, Skipped> {
        let id = serde_json::from_str::<Named>(json)
            .ok()
            .and_then(|named| named.id);
        let id = acp_text::one_line(&id.unwrap_or_default(), 80);
        let skip = |reason: String| Skipped {
            id: id.clone(),
            reason,
        };
        let agent: Agent = serde_json::from_str(json).map_err(|error| skip(error.to_string()))?;
        if !is_name(&agent.id) {
            return Err(skip("its id is no name of an agent".to_owned()));
        }
        let (version, distribution) = match agent.preview.as_ref().filter(|_| self.preview) {
            Some(preview) => (&preview.version, &preview.distribution),
            None => (&agent.version, &agent.distribution),
        };
        let mut entry = AgentEntry::new(&*agent.id, "");
        entry.title = acp_text::one_line(&agent.name, 80);
        entry.origin = AgentOrigin::Imported;
        entry.version = Some(version.clone());
        entry.docs = agent.website.or(agent.repository).unwrap_or_default();
        // Whoever runs a package runner to ask for a version fetches the package.
        entry.probe = Vec::new();
        let taken = self.order.iter().find_map(|kind| match kind {
            Distribution::Npx => Some(distribution.npx.as_ref()?.fill(&mut entry, &NPX)),
            Distribution::Uvx => Some(distribution.uvx.as_ref()?.fill(&mut entry, &UVX)),
            Distribution::Binary => {
                let binary = distribution.binary.get(&self.target)?;
                Some(binary.fill(&mut entry, self))
            }
        });
        taken
            .unwrap_or_else(|| Err(format!("it is not distributed for {}", self.target)))
            .map_err(&skip)?;
        entry.check().map_err(|error| skip(error.reason))?;
        Ok(entry)
    }
}

impl Default for Importer {
    fn default() -> Self {
        Self::new()
    }
}

fn check_format(version: Option<&str>) -> Result<(), ImportError> {
    match version {
        None => Ok(()),
        Some(version) if version.split('.').next() == Some("1") => Ok(()),
        Some(version) => Err(ImportError::Format {
            version: acp_text::one_line(version, 40),
        }),
    }
}

/// This machine, as the registry names it.
fn target() -> &'static str {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "linux-x86_64",
        ("linux", "aarch64") => "linux-aarch64",
        ("macos", "x86_64") => "darwin-x86_64",
        ("macos", "aarch64") => "darwin-aarch64",
        ("windows", "x86_64") => "windows-x86_64",
        ("windows", "aarch64") => "windows-aarch64",
        _ => "",
    }
}

#[derive(Deserialize)]
struct Document<'a> {
    version: Option<String>,
    id: Option<String>,
    #[serde(borrow)]
    agents: Option<Vec<&'a RawValue>>,
}

#[derive(Deserialize)]
struct Named {
    id: Option<String>,
}

#[derive(Deserialize)]
struct Agent {
    id: String,
    name: String,
    version: String,
    website: Option<String>,
    repository: Option<String>,
    distribution: Distributions,
    preview: Option<Preview>,
}

#[derive(Deserialize)]
struct Preview {
    version: String,
    distribution: Distributions,
}
