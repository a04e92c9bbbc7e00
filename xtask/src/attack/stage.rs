//! Folders, files and command lines of an attack.

use std::env;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::definition::{Attack, Planted};
use super::play::PlayArgs;
use super::text::Names;

/// The folders of one attack: nothing of the person who runs the battery is in reach by name.
#[derive(Debug)]
pub(super) struct Folders {
    pub(super) scratch: PathBuf,
    home: PathBuf,
    pub(super) project: PathBuf,
    pub(super) marks: PathBuf,
}

impl Folders {
    /// Names the folders below one.
    pub(super) fn of(scratch: &Path) -> Self {
        Self {
            scratch: scratch.to_owned(),
            home: scratch.join("home"),
            project: scratch.join("project"),
            marks: scratch.join("marks"),
        }
    }

    /// Makes them anew.
    fn make(&self) -> Result<()> {
        if self.scratch.exists() {
            fs::remove_dir_all(&self.scratch).context("failed to remove a former attack")?;
        }
        for folder in [&self.home, &self.project, &self.marks] {
            fs::create_dir_all(folder).context("failed to make a folder")?;
        }
        Ok(())
    }

    /// Gives the folders their names in texts.
    pub(super) fn name(&self, names: &mut Names) {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        names.set("scratch", text(&self.scratch));
        names.set("home", text(&self.home));
        names.set("project", text(&self.project));
    }
}

/// Everything that is there when an attack begins.
pub(super) struct Stage {
    pub(super) folders: Folders,
    names: Names,
    /// The words that start the hostile peer.
    peer: Vec<String>,
    stubborn: bool,
    env: Vec<(String, String)>,
}

impl Stage {
    /// Makes folders and files, and runs the commands that have to come before.
    ///
    /// # Errors
    ///
    /// Fails when one of them cannot be had.
    pub(super) fn set(attack: &Attack, acp: &Path, scratch: &Path) -> Result<Self> {
        let folders = Folders::of(scratch);
        folders.make()?;
        let mut names = Names::new(attack.parts.clone());
        folders.name(&mut names);
        names.set("acp", acp.to_string_lossy());
        let own = env::current_exe().context("failed to find this program")?;
        let mut peer = vec![own.to_string_lossy().into_owned()];
        peer.extend(PlayArgs::words(attack, scratch));
        let mut stage = Self {
            folders,
            names,
            peer,
            stubborn: attack.agent.as_ref().is_some_and(|script| script.stubborn),
            env: Vec::new(),
        };
        for (name, value) in &attack.env {
            let value = stage.names.fill(value)?;
            stage.env.push((name.clone(), value));
        }
        for planted in &attack.files {
            let result = stage.plant(planted);
            result.with_context(|| format!("failed to plant {}", planted.path))?;
        }
        for words in &attack.prepare {
            let mut command = stage.command(words)?;
            let output = command.output().with_context(|| format!("{words:?}"))?;
            if !output.status.success() {
                let why = String::from_utf8_lossy(&output.stderr);
                bail!("{words:?} ended with {}: {why}", output.status);
            }
        }
        // Marks of an attacker that came before tell nothing of the attack.
        fs::remove_dir_all(&stage.folders.marks)?;
        fs::create_dir(&stage.folders.marks)?;
        Ok(stage)
    }

    /// Makes a command of words; `<<agent>>` and `<<client>>` stand for several.
    ///
    /// # Errors
    ///
    /// Fails when a word makes no sense.
    pub(super) fn command(&self, words: &[String]) -> Result<Command> {
        let mut all = Vec::new();
        for word in words {
            match word.as_str() {
                "<<agent>>" if self.stubborn => {
                    // Ignored signals stay ignored in the program that takes the shell's place.
                    let script = "trap '' INT TERM HUP; exec \"$@\"";
                    all.extend(["sh", "-c", script, "sh"].map(str::to_owned));
                    all.extend(self.peer.iter().cloned());
                }
                "<<agent>>" => all.extend(self.peer.iter().cloned()),
                "<<client>>" => {
                    all.extend(self.peer.iter().cloned());
                    all.push("--".to_owned());
                }
                word => all.push(self.names.fill(word)?),
            }
        }
        let (program, args) = all.split_first().context("a command has a program")?;
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(&self.folders.project)
            .env_clear()
            .envs(env::var_os("PATH").map(|path| ("PATH", path)))
            .env("LANG", "C.UTF-8")
            .env("HOME", &self.folders.home)
            .envs(self.env.iter().cloned());
        Ok(command)
    }

    /// Returns the path that a data file names.
    ///
    /// # Errors
    ///
    /// Fails when the text makes no sense.
    pub(super) fn path(&self, text: &str) -> Result<PathBuf> {
        Ok(self.folders.project.join(self.names.fill(text)?))
    }

    /// Returns a text of a data file.
    ///
    /// # Errors
    ///
    /// Fails when the text makes no sense.
    pub(super) fn text(&self, text: &str) -> Result<String> {
        self.names.fill(text)
    }

    fn plant(&self, planted: &Planted) -> Result<()> {
        let path = self.path(&planted.path)?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        match (&planted.text, &planted.link) {
            (Some(text), None) => {
                let mut file = std::io::BufWriter::new(fs::File::create(&path)?);
                self.names.write(text, &mut file)?;
                std::io::Write::flush(&mut file)?;
            }
            (None, Some(link)) => symlink(self.names.fill(link)?, &path)?,
            (None, None) => fs::create_dir_all(&path)?,
            (Some(_), Some(_)) => bail!("it is either a file or a link"),
        }
        if let Some(mode) = &planted.mode {
            let mode = u32::from_str_radix(mode, 8).context("rights are octal")?;
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }
}
