//! The sandbox of `--sandbox`: what an agent and its commands see of this machine.

use std::path::{Path, PathBuf};

use acp_client::{OsSandbox, SandboxError};

use super::args::SandboxLevel;
use crate::agent::Agent;
use crate::exit::Exit;
use crate::outcome::Outcome;

/// Grants the session's folders, and of the home folder what the agent keeps there itself.
pub(super) fn of(
    level: SandboxLevel,
    agent: &Agent,
    cwd: &Path,
    folders: &[PathBuf],
) -> Result<OsSandbox, Outcome> {
    let home = std::env::home_dir().ok_or_else(|| {
        let message = "make a sandbox: there is no home folder to hide".to_owned();
        Outcome::usage(message, "set HOME")
    })?;
    let own = agent.entry.home_paths.iter().map(|path| home.join(path));
    let own: Vec<PathBuf> = own.filter(|path| path.exists()).collect();
    let granted = folders.iter().map(PathBuf::as_path).chain([cwd]);
    let granted = granted.chain(own.iter().map(PathBuf::as_path));
    let mut sandbox = granted.fold(OsSandbox::new(&home), OsSandbox::with_writable);
    if level == SandboxLevel::Offline {
        sandbox = sandbox.without_network();
    }
    sandbox.check().map_err(|error| in_words(&error))?;
    Ok(sandbox)
}

/// Holds an agent, and the program that is asked for its version.
pub(super) fn hold(agent: &mut Agent, sandbox: &OsSandbox, cwd: &Path) {
    agent.launch = agent.launch.clone().with_sandbox(sandbox.clone());
    if let Some((_, launch)) = &mut agent.preflight {
        *launch = launch.clone().with_cwd(cwd).with_sandbox(sandbox.clone());
    }
}

fn in_words(error: &SandboxError) -> Outcome {
    let hint = match error {
        SandboxError::Unsupported { .. } => {
            "see docs/sandbox.md for what it needs; without --sandbox the agent has your rights"
        }
        _ => "choose other folders with --cwd and --add-dir",
    };
    Outcome::failed(Exit::StartFailed, error).with_hint(hint)
}
