//! The configuration: what is chosen where the command line says nothing.
//!
//! Five may say something, the strongest first: the command line, the environment, the
//! file of the project, the user's own file, and the program itself. Of each setting the
//! strongest that says it counts, and [`Setting::origin`] tells who it was. A command that
//! takes settings as flags makes those flags optional and without a default of clap's,
//! hands what was given to [`load()`] as [`Flags`], and then asks the [`Configuration`]
//! alone:
//!
//! ```text
//! let flags = Flags { agent: args.agent, timeout: args.timeout.map(Time::from), ..Flags::default() };
//! let configuration = config::load(&cwd, flags)?;
//! for warning in configuration.warnings() { /* tell the user, on standard error */ }
//! match &configuration.agent.value { Agent::Known(name) => …, Agent::Demo => …, … }
//! ```
//!
//! A project's file comes with what was cloned, so it may be careful and nothing else
//! ([`project`]), unless the user trusts it as it is ([`trust`]). Model, effort and
//! mode go with the agent that the same one names: they do not count where somebody
//! stronger chooses another agent.

#[cfg(any(test, fuzzing))]
pub(crate) mod check;
mod error;
mod file;
pub(crate) mod init;
pub(crate) mod limits;
mod load;
mod locations;
mod mcp;
mod project;
mod settings;
pub(crate) mod show;
mod suggest;
#[cfg(test)]
mod tests;
pub(crate) mod trust;
mod value;

use std::path::{Path, PathBuf};

use acp_client::ProtectedPaths;
use acp_harness::Registry;
use acp_protocol::v1::McpServer;
use serde::Serialize;

pub(crate) use error::ConfigError;
pub(crate) use locations::{Surroundings, repository};
use mcp::McpServers;
pub(crate) use project::Note;
pub(crate) use settings::{Flags, Origin, Setting, Settings};
pub(crate) use trust::Trust;
pub(crate) use value::{AllowLevel, Colour, Files, Time, Word};

/// What is in force in a folder.
pub(crate) struct Configuration {
    /// The settings, each with who said it.
    pub(crate) settings: Settings,
    /// The agent that is used.
    pub(crate) agent: Setting<Agent>,
    /// The agents that are known: built in, of files, imported.
    pub(crate) registry: Registry,
    /// What was said and does not count.
    pub(crate) notes: Vec<Note>,
    /// The user's own file; none where there is no home.
    pub(crate) global: Option<FileFound>,
    /// The file of the project, if it has one.
    pub(crate) project: Option<FileFound>,
    /// The paths that no policy lets an agent write.
    pub(crate) protected: ProtectedPaths,
    mcp: McpServers,
    surroundings: Surroundings,
}

/// The agent that is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Agent {
    /// The one that is built in, where nobody chose any.
    Demo,
    /// One of the registry, by the name it has there.
    Known(String),
    /// The command that stands on the command line.
    Command,
}

/// A file of the configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FileFound {
    /// Where it is, or would be.
    pub(crate) path: PathBuf,
    /// Whether it is there.
    #[serde(rename = "exists")]
    pub(crate) there: bool,
    /// Whether it may say everything.
    #[serde(serialize_with = "is_trusted", rename = "trusted")]
    pub(crate) trust: Trust,
    /// The tables that a project's file has.
    #[serde(skip)]
    adds: Vec<&'static str>,
}

fn is_trusted<S: serde::Serializer>(trust: &Trust, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(*trust == Trust::Trusted)
}

impl FileFound {
    /// Says where it is, and whether it is trusted.
    pub(crate) fn with_trust(&self) -> String {
        format!("{} ({})", self.path.display(), self.trust)
    }
}

/// Finds what is in force in a folder, with these flags.
///
/// # Errors
///
/// [`ConfigError`] when somebody says what makes no sense; nothing is in force then.
pub(crate) fn load(folder: &Path, flags: Flags) -> Result<Configuration, ConfigError> {
    load::load(folder, flags, Surroundings::of_process())
}

impl Configuration {
    /// Returns what the user should be told before anything is done, one line each: what a
    /// project wanted and may not have, and how it could.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let denied = self.notes.iter().filter(|note| note.denied);
        let mut warnings: Vec<_> = denied.map(ToString::to_string).collect();
        let was_denied = !warnings.is_empty();
        let project = self.project.as_ref();
        warnings.extend(project.and_then(|project| project.trust_hint(was_denied)));
        warnings
    }

    /// Says in one line what the project's file changes; `None` where it changes nothing.
    pub(crate) fn project_changes(&self) -> Option<String> {
        let project = self.project.as_ref()?;
        let rows = self.settings.rows().into_iter();
        let set = rows.filter(|row| matches!(row.origin, Origin::Project { .. }));
        let mut changes: Vec<_> = set
            .map(|row| format!("{} = {}", row.name, row.value))
            .collect();
        let counts = |table: &&&str| project.trust == Trust::Trusted || **table == "protect";
        let tables = project.adds.iter().filter(counts);
        changes.extend(tables.map(|table| format!("its own `{table}`")));
        let path = project.path.display();
        (!changes.is_empty()).then(|| format!("{path} sets {}", changes.join(", ")))
    }

    /// Finds an agent by one of its names.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] with what may be meant.
    pub(crate) fn find(&self, name: &str) -> Result<Agent, ConfigError> {
        let word = name.parse().ok();
        let found = word.and_then(|word| load::find(&word, &self.registry));
        found.ok_or_else(|| load::unknown(name, "", &self.registry))
    }

    /// Returns the MCP servers that sessions are given.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] when a program or a variable is not there.
    pub(crate) fn mcp_servers(&self) -> Result<Vec<McpServer>, ConfigError> {
        self.mcp.servers(&*self.surroundings.variable)
    }

    /// Walks over the names of those servers, and who said them.
    pub(crate) fn mcp_names(&self) -> impl Iterator<Item = (&str, &Origin)> {
        self.mcp.names()
    }
}

impl FileFound {
    /// Says how a project's file could be trusted, where something was denied to it or it
    /// was trusted before.
    fn trust_hint(&self, was_denied: bool) -> Option<String> {
        let path = self.path.display();
        match &self.trust {
            Trust::Changed(what) => Some(format!(
                "{path} is not trusted any more: {what} has changed. Read it, then run `acp \
                 config trust`"
            )),
            Trust::Never if was_denied => Some(format!(
                "if you trust {path}, read it, then run `acp config trust`"
            )),
            Trust::Unsafe(why) if was_denied => Some(format!("{path} cannot be trusted: {why}")),
            _ => None,
        }
    }
}
