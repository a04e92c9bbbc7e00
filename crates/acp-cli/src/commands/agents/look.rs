//! What can be known of agents without starting them.

use std::env;
use std::path::Path;

use acp_client::Launch;
use acp_harness::registry::{AgentEntry, NotInstalled, Programs, Registry};
use acp_harness::version::{ChildRunner, Probe, Version, VersionRejection};
use tokio::task::JoinSet;

use crate::agent::Agent;
use crate::agent::keys::{KeyFound, Keys};

/// What is known of one agent.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) entry: AgentEntry,
    pub(crate) programs: Result<Programs, NotInstalled>,
    pub(crate) version: SeenVersion,
    /// `None` where it could not be looked at.
    pub(crate) key: Option<KeyFound>,
}

/// What is known of an agent's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SeenVersion {
    /// Its program told it.
    Told(Version),
    /// Its program told it, and it is too old.
    TooOld { found: Version, minimum: Version },
    /// Its program said something else.
    Said(String),
    /// It was asked, and did not tell.
    Silent(String),
    /// It is fetched in this version when it is started.
    Fetched(String),
    /// It is not installed, or cannot be asked.
    Unknown,
}

impl SeenVersion {
    /// Says it in a word or two.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Told(version) => version.to_string(),
            Self::TooOld { found, minimum } => format!("{found} (needs {minimum})"),
            Self::Said(text) => text.clone(),
            Self::Silent(_) => "no answer".to_owned(),
            Self::Fetched(version) => format!("{version} (fetched)"),
            Self::Unknown => "-".to_owned(),
        }
    }
}

/// Looks at these agents, at all of them at once; each version is waited for as long as
/// the harness does.
pub(crate) async fn look(
    registry: &Registry,
    entries: impl IntoIterator<Item = &AgentEntry>,
    keys: Option<&Keys>,
) -> Vec<Seen> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut asked = JoinSet::new();
    let mut seen: Vec<Seen> = Vec::new();
    for entry in entries {
        let programs = registry.find(entry, &path);
        let mut version = SeenVersion::Unknown;
        if let Ok(found) = &programs {
            match question(registry, entry, found) {
                Some((probe, command)) => {
                    let place = seen.len();
                    asked.spawn(async move {
                        let forever = std::future::pending();
                        let told = probe.run(&ChildRunner, &command, forever).await;
                        (place, told)
                    });
                }
                None => version = fetched(entry),
            }
        }
        seen.push(Seen {
            key: keys.and_then(|keys| keys.find(entry).ok()),
            entry: entry.clone(),
            programs,
            version,
        });
    }
    while let Some(told) = asked.join_next().await {
        if let Ok((place, told)) = told {
            seen[place].version = judged(told, seen[place].entry.min_version);
        }
    }
    seen
}

/// How an agent is asked for its version; `None` when it cannot be.
fn question(
    registry: &Registry,
    entry: &AgentEntry,
    programs: &Programs,
) -> Option<(Probe, Launch)> {
    if entry.probe.is_empty() {
        return None;
    }
    let agent = Agent::of_entry(registry, entry, None, Path::new("/"), false).ok()?;
    let command = Launch::new(programs.command())
        .with_args(&entry.probe)
        .with_environment(agent.launch.environment().clone());
    Some((Probe::new(Version::new(0, 0, 0)), command))
}

fn fetched(entry: &AgentEntry) -> SeenVersion {
    let args = entry.args.iter();
    let fetches = args.into_iter().any(|arg| arg.contains("{version}"));
    match &entry.version {
        Some(version) if fetches => SeenVersion::Fetched(version.clone()),
        _ => SeenVersion::Unknown,
    }
}

fn judged(told: Result<Version, VersionRejection>, minimum: Option<Version>) -> SeenVersion {
    match (told, minimum) {
        (Ok(found), Some(minimum)) if found < minimum => SeenVersion::TooOld { found, minimum },
        (Ok(found), _) => SeenVersion::Told(found),
        (Err(VersionRejection::Unparseable { said, .. }), _) => SeenVersion::Said(said),
        (Err(error), _) => SeenVersion::Silent(error.to_string()),
    }
}
