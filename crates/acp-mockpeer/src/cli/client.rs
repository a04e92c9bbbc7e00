//! `acp-mockpeer client`.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use acp_transport_stdio::process::Launch;

use super::{ClientArgs, EXIT_CONFIG, EXIT_FAILED, Misuse};
use crate::{Play, Scenario, Style, Verdict};

pub(super) fn run(args: &ClientArgs) -> Result<u8, Misuse> {
    let scenario = scenario(args)?;
    let cwd = match &args.cwd {
        Some(cwd) => clean(cwd),
        None => std::env::current_dir(),
    };
    let cwd = cwd.map_err(|error| Misuse::new(&error))?;
    let play = Play::client(&scenario).with_value("cwd", cwd.to_string_lossy().into_owned());
    let play = args.play.apply(play)?;
    play.check()
        .map_err(|why| Misuse(format!("{}: {why}", scenario.file())))?;
    let Some((program, arguments)) = args.command.split_first() else {
        return Err(Misuse("expected the agent behind `--`".to_owned()));
    };
    let program = find(program)?;
    let launch = Launch::new(program)
        .with_args(arguments)
        .with_inherited_env()
        .with_cwd(cwd);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Misuse::new(&error))?;
    let outcome = runtime
        .block_on(play.against(&launch))
        .map_err(|error| Misuse::new(&error))?;
    args.play.report(&outcome);
    Ok(match outcome.verdict() {
        Verdict::Passed | Verdict::Skipped(_) | Verdict::NotExercised(_) => 0,
        Verdict::Broken(_) => EXIT_CONFIG,
        Verdict::Failed => EXIT_FAILED,
    })
}

fn scenario(args: &ClientArgs) -> Result<Scenario, Misuse> {
    match (&args.script, &args.recording) {
        (Some(script), _) => super::load(script),
        (None, Some(recording)) => super::scripted(recording, Style::Client),
        (None, None) => Err(Misuse(
            "expected --script FILE or --recording FILE".to_owned(),
        )),
    }
}

/// Finds a program as a shell does.
pub(super) fn find(program: &OsStr) -> Result<PathBuf, Misuse> {
    let path = Path::new(program);
    let found = if path.components().count() > 1 {
        Some(path.to_path_buf())
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&folders)
            .map(|folder| folder.join(path))
            .find(|candidate| candidate.is_file())
    };
    let found =
        found.ok_or_else(|| Misuse(format!("find {}: it is not in PATH", path.display())))?;
    clean(&found).map_err(|error| Misuse(format!("find {}: {error}", path.display())))
}

/// Makes a path absolute, and keeps the links in it where that can be done.
pub(super) fn clean(path: &Path) -> io::Result<PathBuf> {
    let absolute: PathBuf = std::path::absolute(path)?.components().collect();
    let climbs = |component| matches!(component, Component::ParentDir);
    if absolute.components().any(climbs) {
        return absolute.canonicalize();
    }
    Ok(absolute)
}
