//! Peers in a cache folder, each installed once a version.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{fs, thread};

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
    let line = format!("build --quiet --locked --manifest-path {workspace}/Cargo.toml");
    let mut build = cargo(&line);
    build.arg("--target-dir").arg(folder);
    match refusal(build) {
        None => Installed::Ready(folder.join("debug")),
        Some(reason) => Installed::Refused(reason),
    }
}

fn commands(recipe: &Recipe, folder: &Path) -> Vec<Command> {
    let mut commands = Vec::new();
    let command = |program: &Path, line: &str| {
        let mut command = Command::new(program);
        command.args(line.split_whitespace());
        command
    };
    let python = folder.join("bin/python");
    if !recipe.npm.is_empty() {
        let line =
            "install --ignore-scripts --no-audit --no-fund --save-exact --loglevel=error --prefix";
        let mut npm = command(Path::new("npm"), line);
        npm.arg(folder).args(&recipe.npm);
        commands.push(npm);
        if !recipe.npm_scripts.is_empty() {
            let mut scripts = command(Path::new("npm"), "rebuild --loglevel=error --prefix");
            scripts.arg(folder).args(recipe.npm_scripts.keys());
            commands.push(scripts);
        }
    }
    if !recipe.pip.is_empty() {
        let mut venv = command(Path::new("python3"), "-m venv");
        venv.arg(folder);
        let line = "-m pip install --quiet --disable-pip-version-check";
        let mut pip = command(&python, line);
        pip.args(&recipe.pip);
        commands.extend([venv, pip]);
    }
    if let Some(package) = &recipe.source {
        let source = folder.join("source");
        // The recipe pins the build tools, and they are found without a network.
        let line = "-m pip download --quiet --disable-pip-version-check --no-deps \
                    --no-build-isolation --no-binary=:all: --dest";
        let mut download = command(&python, line);
        download.arg(&source).arg(package);
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
    use crate::interop::recipe;

    #[test]
    fn scripts_of_packages_run_for_those_alone_that_a_recipe_names() {
        let mut named = Vec::new();
        for kind in ["agents", "clients"] {
            let recipes = recipe::load_all(&root().join("tests/interop").join(kind));
            for recipe in recipes.expect("the recipes can be read") {
                let commands = commands(&recipe, Path::new("/install"));
                let npm = commands
                    .iter()
                    .filter(|command| command.get_program() == "npm");
                for command in npm {
                    let args: Vec<_> = command.get_args().collect();
                    match args.first().and_then(|first| first.to_str()) {
                        Some("install") => {
                            assert!(args.iter().any(|arg| *arg == "--ignore-scripts"))
                        }
                        Some("rebuild") => named.extend(recipe.npm_scripts.keys().cloned()),
                        other => panic!("npm {other:?} of {}", recipe.name),
                    }
                }
            }
        }
        named.sort();
        named.dedup();
        assert_eq!(named, ["node", "opencode-ai"]);
    }

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
