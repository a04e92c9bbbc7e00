//! What the machine has.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use acp_client::Launch;
use acp_harness::limits::PROBE_TIMEOUT;
use acp_harness::version::{ChildRunner, ProbeEnd, RunProbe};
use tokio::task::JoinSet;

use super::report::Check;
use crate::config::{Configuration, FileFound};
use crate::show::one_line;

/// Programs that agents are started by, or work with, and what for.
const TOOLS: &[(&str, &str)] = &[
    ("git", "agents look at a project's history with it"),
    ("node", "agents that are npm packages run on it"),
    (
        "npx",
        "agents that are npm packages are fetched and started by it",
    ),
    (
        "uvx",
        "agents that are Python packages are fetched and started by it",
    ),
];

/// Looks for the programs that many agents need, and asks each for its version.
pub(super) async fn tools() -> Vec<Check> {
    let mut asked = JoinSet::new();
    for (place, (name, _)) in TOOLS.iter().enumerate() {
        if let Some(path) = find(name) {
            asked.spawn(async move { (place, version(&path).await, path) });
        }
    }
    let mut checks: Vec<_> = TOOLS
        .iter()
        .map(|(name, what_for)| Check::note(name, format!("not installed; {what_for}")))
        .collect();
    while let Some(told) = asked.join_next().await {
        if let Ok((place, version, path)) = told {
            let path = path.display();
            checks[place] = match version {
                Ok(version) => Check::well(TOOLS[place].0, format!("{path}, {version}")),
                Err(reason) => {
                    Check::note(TOOLS[place].0, format!("{path} does not work: {reason}"))
                }
            };
        }
    }
    checks
}

/// Says which files are in force.
pub(super) fn configuration(configuration: &Configuration) -> Check {
    let global = configuration.global.as_ref().filter(|file| file.there);
    let project = configuration.project.as_ref();
    let mut files = Vec::new();
    files.extend(global.map(|file| file.path.display().to_string()));
    files.extend(project.map(FileFound::with_trust));
    let check = |said: String| Check::well("configuration", said);
    match files.is_empty() {
        true => check("no file; acp config init writes one".to_owned()),
        false => check(format!(
            "{}; acp config show says what is in force",
            files.join(", ")
        )),
    }
}

/// Says which agents are installed.
pub(super) fn agents(configuration: &Configuration) -> Check {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = configuration.registry.installed(&path);
    let names: Vec<_> = installed.map(|(entry, _)| entry.name.clone()).collect();
    match names.is_empty() {
        true => Check::note("agents", "none of those that are known is installed")
            .next("acp agents says how each is installed"),
        false => Check::well("agents", format!("installed: {}", names.join(", "))),
    }
}

/// Finds a program in an absolute folder of the search path.
fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = which::which_in_global(name, Some(path.as_os_str() as &OsStr)).ok()?;
    found.into_iter().find(|path| path.is_absolute())
}

/// Asks a program for its version, in its own words.
async fn version(path: &Path) -> Result<String, String> {
    let command = Launch::new(path)
        .with_args(["--version"])
        .with_inherited_env();
    let ran = tokio::time::timeout(PROBE_TIMEOUT, ChildRunner.run(&command));
    match ran.await {
        Ok(ProbeEnd::Printed { stdout }) => {
            let text = String::from_utf8_lossy(&stdout);
            Ok(one_line(text.lines().next().unwrap_or_default()).into_string())
        }
        Ok(ProbeEnd::Failed { reason }) => Err(reason),
        Ok(_) => Err("it says nothing".to_owned()),
        Err(_) => Err(format!("no answer within {} s", PROBE_TIMEOUT.as_secs())),
    }
}
