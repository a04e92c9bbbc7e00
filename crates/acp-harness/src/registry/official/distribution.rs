//! The ways in which agents are distributed, as commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Importer;
use crate::registry::AgentEntry;

#[derive(Deserialize)]
pub(super) struct Distributions {
    #[serde(default)]
    pub(super) binary: BTreeMap<String, Binary>,
    pub(super) npx: Option<Package>,
    pub(super) uvx: Option<Package>,
}

#[derive(Deserialize)]
pub(super) struct Binary {
    archive: String,
    sha256: Option<String>,
    cmd: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

#[derive(Deserialize)]
pub(super) struct Package {
    package: String,
    cmd: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// What a package runner is told.
pub(super) struct Runner {
    command: &'static str,
    comes_with: &'static str,
    /// Before everything else.
    first: &'static [&'static str],
    /// Before a package whose command is named apart.
    from: &'static str,
    /// Between the name of a package and its version.
    pin: &'static str,
    is_package: fn(&str) -> bool,
}

pub(super) const NPX: Runner = Runner {
    command: "npx",
    comes_with: "Node.js",
    first: &["-y"],
    from: "--package",
    pin: "@",
    is_package: is_npm_name,
};

pub(super) const UVX: Runner = Runner {
    command: "uvx",
    comes_with: "uv",
    first: &[],
    from: "--from",
    pin: "==",
    is_package: is_python_name,
};

impl Package {
    /// Says in an entry how a runner runs this package, in one version.
    pub(super) fn fill(&self, entry: &mut AgentEntry, runner: &Runner) -> Result<(), String> {
        let (name, pin) = split(&self.package, runner);
        if !(runner.is_package)(name) {
            return Err(format!("{:?} is no name of a package", self.package));
        }
        // A tag (`latest`) is no pin; the version of the agent is one then.
        if let Some(pin) = pin.filter(|pin| pin.starts_with(|c: char| c.is_ascii_digit())) {
            entry.version = Some(pin.to_owned());
        }
        if !entry.version.as_deref().is_some_and(is_version) {
            return Err("its version is none".to_owned());
        }
        let pinned = format!("{name}{}{{version}}", runner.pin);
        let mut args: Vec<String> = runner.first.iter().map(ToString::to_string).collect();
        match &self.cmd {
            None => args.push(pinned),
            Some(cmd) if is_plain(cmd) => {
                args.extend([runner.from.to_owned(), pinned, cmd.clone()]);
            }
            Some(cmd) => return Err(format!("{cmd:?} is no command of a package")),
        }
        args.extend(self.args.iter().cloned());
        runner.command.clone_into(&mut entry.command);
        entry.args = args;
        entry.env = self.env.clone();
        entry.install = format!(
            "install {}, which brings {}; that fetches {name} by itself",
            runner.comes_with, runner.command
        );
        Ok(())
    }
}

impl Binary {
    /// Says in an entry where the program of this archive is.
    pub(super) fn fill(&self, entry: &mut AgentEntry, importer: &Importer) -> Result<(), String> {
        if !self.archive.starts_with("https://") {
            return Err("its archive has no https address".to_owned());
        }
        let version = entry.version.clone().filter(|version| is_version(version));
        let version = version.ok_or("its version is none")?;
        let mut separators = vec!['/'];
        if importer.target.starts_with("windows-") {
            separators.push('\\');
        }
        let steps: Vec<&str> = self
            .cmd
            .split(&separators[..])
            .filter(|step| *step != "." && !step.is_empty())
            .collect();
        let inside = steps.iter().all(|step| is_plain(step));
        let Some(program) = steps
            .last()
            .filter(|_| inside && !self.cmd.starts_with('/'))
        else {
            return Err(format!("{:?} leads out of its archive", self.cmd));
        };
        let sum = self.sha256.as_deref().map_or(String::new(), |sum| {
            format!(" (sha256 {})", acp_text::one_line(sum, 64))
        });
        let archive = acp_text::one_line(&self.archive, 500);
        match &importer.binaries {
            Some(folder) => {
                let folder = folder.join(&entry.name).join(version);
                let command: PathBuf = std::iter::once(folder.as_path())
                    .chain(steps.iter().map(Path::new))
                    .collect();
                entry.install = format!("unpack {archive}{sum} in {}", folder.display());
                entry.command = command
                    .into_os_string()
                    .into_string()
                    .map_err(|_| "the folder of binaries is not UTF-8")?;
            }
            None => {
                entry.install = format!("unpack {archive}{sum} and put {program} on PATH");
                (*program).clone_into(&mut entry.command);
            }
        }
        entry.args.clone_from(&self.args);
        entry.env.clone_from(&self.env);
        Ok(())
    }
}

/// Splits a package into its name and the version it is pinned to.
fn split<'a>(package: &'a str, runner: &Runner) -> (&'a str, Option<&'a str>) {
    // A scope begins with the same sign as a version.
    let pin = package.rfind(runner.pin).filter(|at| *at > 0);
    let at_sign = || package.rfind('@').filter(|at| *at > 0);
    match (pin, at_sign()) {
        (Some(at), _) => (&package[..at], Some(&package[at + runner.pin.len()..])),
        (None, Some(at)) => (&package[..at], Some(&package[at + 1..])),
        (None, None) => (package, None),
    }
}

/// A name alone: no address, no path, no option.
fn is_npm_name(name: &str) -> bool {
    let (scope, name) = match name.strip_prefix('@').map(|rest| rest.split_once('/')) {
        Some(Some((scope, name))) => (Some(scope), name),
        Some(None) => return false,
        None => (None, name),
    };
    scope.into_iter().chain([name]).all(is_plain)
}

/// A name alone, with the extras that are wanted of it.
fn is_python_name(name: &str) -> bool {
    let (name, extras) = match name.strip_suffix(']').map(|rest| rest.split_once('[')) {
        Some(Some((name, extras))) => (name, extras),
        Some(None) => return false,
        None => (name, ""),
    };
    is_plain(name) && (extras.is_empty() || extras.split(',').all(is_plain))
}

/// A word that is no option and no path, of letters and digits and few signs.
fn is_plain(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && word.len() <= 200
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._~-+".contains(c))
}

/// A version that can be part of a path and of an argument.
fn is_version(version: &str) -> bool {
    version.starts_with(|c: char| c.is_ascii_digit())
        && version.len() <= 100
        && version
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
}
