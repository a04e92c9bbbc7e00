//! Peers in a cache folder, each installed once a version.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};

use super::program::{self, Ended};
use super::recipe::Recipe;
use crate::workspace::{cargo, root};

/// How long one package manager may take.
const LIMIT: Duration = Duration::from_secs(600);

/// What became of an installation.
#[derive(Debug)]
pub(super) enum Installed {
    /// The packages are in this folder.
    Ready(PathBuf),
    /// They cannot be had here, for this reason.
    Refused(String),
}

/// Installs every peer, all at the same time, and returns what became of each.
///
/// # Errors
///
/// Fails when the cache folder cannot be written; what a package manager cannot do is
/// told as [`Installed::Refused`].
pub(super) fn install_all(recipes: &[&Recipe], cache: &Path) -> Result<Vec<Installed>> {
    thread::scope(|scope| {
        let start = |recipe| scope.spawn(move || install(recipe, cache));
        let started: Vec<_> = recipes.iter().copied().map(start).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().expect("no panic");
        started.into_iter().map(join).collect()
    })
}

/// Installs the packages of a peer, unless the same ones are there already.
fn install(recipe: &Recipe, cache: &Path) -> Result<Installed> {
    if recipe.rust_sdk {
        return Ok(build("tests/interop/rust-sdk", &cache.join("rust-sdk")));
    }
    if let Some(own) = &recipe.own {
        // Its tests build there as well.
        return Ok(build(own, &root().join(own).join("target")));
    }
    let folder = cache.join(&recipe.name);
    let stamp = folder.join("installed");
    let packages = recipe.npm.iter().chain(&recipe.pip).chain(&recipe.source);
    let wanted = packages.cloned().collect::<Vec<_>>().join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(Installed::Ready(folder));
    }
    eprintln!(
        "interop: installing {} into {}",
        recipe.title,
        folder.display()
    );
    if folder.exists() {
        fs::remove_dir_all(&folder).context("failed to remove a former installation")?;
    }
    fs::create_dir_all(&folder).context("failed to make the folder of an installation")?;
    for command in commands(recipe, &folder) {
        if let Some(reason) = refusal(command) {
            return Ok(Installed::Refused(reason));
        }
    }
    fs::write(&stamp, wanted).context("failed to note an installation")?;
    Ok(Installed::Ready(folder))
}

/// Builds the programs of a workspace into a folder; cargo finds out whether they are there
/// already, and lets one build wait for the other.
fn build(workspace: &str, folder: &Path) -> Installed {
    let mut build = cargo(["build", "--quiet", "--locked"]);
    build
        .arg("--manifest-path")
        .arg(root().join(workspace).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(folder);
    match refusal(build) {
        None => Installed::Ready(folder.join("debug")),
        Some(reason) => Installed::Refused(reason),
    }
}

fn commands(recipe: &Recipe, folder: &Path) -> Vec<Command> {
    let mut commands = Vec::new();
    if !recipe.npm.is_empty() {
        let mut npm = Command::new("npm");
        npm.args([
            "install",
            "--no-audit",
            "--no-fund",
            "--save-exact",
            "--loglevel=error",
        ]);
        npm.arg("--prefix").arg(folder).args(&recipe.npm);
        commands.push(npm);
    }
    if !recipe.pip.is_empty() {
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv"]).arg(folder);
        commands.push(venv);
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ]);
        pip.args(&recipe.pip);
        commands.push(pip);
    }
    if let Some(package) = &recipe.source {
        let source = folder.join("source");
        let mut download = Command::new(folder.join("bin/python"));
        // What builds it is pinned in the recipe, and found without a network.
        download.args([
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
        ]);
        download.args(["--no-deps", "--no-build-isolation", "--no-binary=:all:"]);
        download.arg("--dest").arg(&source).arg(package);
        commands.push(download);
        let mut unpack = Command::new("sh");
        unpack
            .args(["-c", "tar -xzf *.tar.gz --strip-components=1"])
            .current_dir(&source);
        commands.push(unpack);
    }
    commands
}

/// Runs a package manager; says why when it did not do it.
fn refusal(command: Command) -> Option<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match program::run(command, LIMIT, None) {
        Ok(Ended {
            status: Some(status),
            ..
        }) if status.success() => None,
        Ok(Ended {
            status: Some(status),
            stdout,
            stderr,
            ..
        }) => {
            let said = format!("{stdout}\n{stderr}");
            Some(format!("{name} ended with {status}:\n{}", said.trim()))
        }
        Ok(Ended { status: None, .. }) => Some(format!("{name} took more than {LIMIT:?}")),
        Err(error) => Some(format!("{error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_package_manager_says_is_the_reason() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such version >&2; exit 1"]);
        let reason = refusal(command).expect("it did not do it");
        assert_eq!(reason, "sh ended with exit status: 1:\nno such version");
        let missing = refusal(Command::new("/nowhere/npm")).expect("it is not there");
        assert!(
            missing.starts_with("failed to start /nowhere/npm"),
            "{missing}"
        );
        assert_eq!(refusal(Command::new("true")), None);
    }
}
