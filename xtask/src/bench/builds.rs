//! How long builds take, and how much lies beneath each crate.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::write_json;
use crate::workspace::{cargo, root};

#[derive(Serialize)]
struct Build {
    what: String,
    seconds: f64,
    /// Packages beneath the crate, where that is what is told.
    packages: Option<usize>,
}

pub(super) fn run(results: &Path) -> Result<()> {
    let folder = tempfile::tempdir().context("failed to make a folder")?;
    let copy = folder.path().join("workspace");
    copy_tracked(&copy)?;
    let mut all = vec![Build {
        what: "the whole workspace, from clean".to_owned(),
        seconds: build(&copy)?,
        packages: None,
    }];
    for name in crates(&copy)? {
        let source = copy.join("crates").join(&name).join("src/lib.rs");
        let source = match source.exists() {
            true => source,
            false => source.with_file_name("main.rs"),
        };
        let text = fs::read_to_string(&source)?;
        fs::write(&source, format!("{text}\n// One more line.\n"))?;
        all.push(Build {
            what: format!("one more line in {name}"),
            seconds: build(&copy)?,
            packages: Some(beneath(&name)?),
        });
    }
    write_json(&results.join("builds.json"), &all)
}

/// Copies what is tracked: the tree that people work in stays as it is.
fn copy_tracked(to: &Path) -> Result<()> {
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root())
        .output()
        .context("failed to start git")?;
    ensure!(listed.status.success(), "git cannot list the files");
    for file in String::from_utf8(listed.stdout)?.split_terminator('\0') {
        let (from, to) = (root().join(file), to.join(file));
        if !from.is_file() {
            continue;
        }
        fs::create_dir_all(to.parent().context("a file lies in a folder")?)?;
        fs::copy(&from, &to).with_context(|| format!("failed to copy {file}"))?;
    }
    Ok(())
}

fn crates(copy: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(copy.join("crates"))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Builds the workspace, and returns the seconds.
fn build(copy: &Path) -> Result<f64> {
    let started = Instant::now();
    let status = cargo("build --quiet --workspace")
        .current_dir(copy)
        .env("CARGO_TARGET_DIR", target_of(copy))
        .env_remove("CARGO_INCREMENTAL")
        .status()?;
    ensure!(status.success(), "the build ended with {status}");
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{seconds:.1} s");
    Ok(seconds)
}

fn target_of(copy: &Path) -> PathBuf {
    copy.with_file_name("target")
}

/// Counts the packages that a user of the crate builds.
fn beneath(name: &str) -> Result<usize> {
    let line = format!("tree --edges normal --prefix none --package {name}");
    let tree = cargo(&line).stderr(Stdio::inherit()).output()?;
    let status = tree.status;
    ensure!(status.success(), "cargo tree ended with {status}");
    let text = String::from_utf8(tree.stdout)?;
    let packages: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|package| !package.is_empty())
        .collect();
    Ok(packages.len().saturating_sub(1))
}
