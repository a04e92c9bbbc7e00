//! What is started as the agent.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use acp_client::Launch;

/// The agent's command could not be turned into something to start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LaunchError {
    #[error("find the agent: there is no program {} in the search path", .program.display())]
    NotFound { program: PathBuf },
    #[error("find the agent {}", .program.display())]
    Unusable { program: PathBuf, source: io::Error },
    #[error("find this very program, to start its demo agent")]
    Ourselves { source: io::Error },
}

/// Describes how to start the agent in `cwd`: the command, or this program as its demo
/// agent when there is none.
///
/// Agents get the whole environment, as if started by hand: that is where they find
/// their keys.
pub(crate) fn launch(command: &[OsString], cwd: &Path) -> Result<Launch, LaunchError> {
    let launch = match command {
        [] => {
            let ourselves =
                env::current_exe().map_err(|source| LaunchError::Ourselves { source })?;
            Launch::new(ourselves).with_args(["demo-agent"])
        }
        [program, args @ ..] => Launch::new(find(program)?).with_args(args),
    };
    Ok(launch.with_inherited_env().with_cwd(cwd))
}

/// Finds the program a command names, as a shell would, and spells it in full.
fn find(program: &OsStr) -> Result<PathBuf, LaunchError> {
    let named = Path::new(program);
    let found = which::which(named).map_err(|_| LaunchError::NotFound {
        program: named.into(),
    })?;
    spell_out(&found).map_err(|source| LaunchError::Unusable {
        program: named.into(),
        source,
    })
}

/// Makes a path absolute and clean. The file name stays as it is: programs look at the
/// name they are called by, also when it is a link.
fn spell_out(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(parent.canonicalize()?.join(name)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_search_path() {
        let launch = launch(&["sh".into(), "-c".into(), "exit".into()], Path::new("/")).unwrap();
        assert!(launch.program().is_absolute());
        assert_eq!(launch.program().file_name(), Some(OsStr::new("sh")));
        assert_eq!(launch.args(), ["-c", "exit"]);
        assert_eq!(launch.validate(), Ok(()));
    }

    #[test]
    fn links_keep_their_name_and_dots_go_away() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        let link = real.join("agent");
        std::os::unix::fs::symlink("/bin/sh", &link).unwrap();
        let dotted = real.join("sub/../agent");
        std::fs::create_dir(real.join("sub")).unwrap();
        assert_eq!(find(dotted.as_os_str()).unwrap(), link);
    }

    #[test]
    fn what_is_not_there_is_told_by_its_name() {
        let error = launch(&["no-such-agent-here".into()], Path::new("/")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "find the agent: there is no program no-such-agent-here in the search path"
        );
    }

    #[test]
    fn without_a_command_it_is_the_demo_agent() {
        let launch = launch(&[], Path::new("/")).unwrap();
        assert_eq!(launch.args(), ["demo-agent"]);
        assert_eq!(launch.program(), env::current_exe().unwrap());
    }
}
