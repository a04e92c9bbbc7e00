//! The pinned schema: which file it is, and how it is brought again.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::workspace;

/// Options of `cargo xtask schema`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Download the package that `schema/PIN.toml` names, and take the schema from it.
    Fetch,
}

/// What `schema/PIN.toml` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pin {
    /// The package that publishes the schema.
    pub(crate) package: String,
    /// Its version.
    pub(crate) version: String,
    /// Where the schema lies in the package.
    pub(crate) path: String,
    /// Where it lies in the workspace.
    pub(crate) file: String,
    /// The hash of the file.
    pub(crate) sha256: String,
    /// The licence of the package.
    pub(crate) licence: String,
}

impl Pin {
    /// Reads the pin of a workspace.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let path = root.join("schema/PIN.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("read {}", path.display()))
    }

    /// Reads the schema, which must be the pinned one.
    pub(crate) fn schema(&self, root: &Path) -> Result<String> {
        let path = root.join(&self.file);
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        self.verify(text.as_bytes())
            .with_context(|| path.display().to_string())?;
        Ok(text)
    }

    fn verify(&self, content: &[u8]) -> Result<()> {
        let found = Sha256::digest(content)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>();
        if found != self.sha256 {
            bail!(
                "the schema is not the pinned one: its sha256 is {found}, not {}",
                self.sha256
            );
        }
        Ok(())
    }
}

/// Brings the pinned schema.
pub(crate) fn run(args: &Args) -> Result<()> {
    let Action::Fetch = args.action;
    let root = workspace::root();
    let pin = Pin::read(&root)?;
    let folder = tempfile::tempdir().context("make a folder for the package")?;
    let spec = format!("{}@{}", pin.package, pin.version);
    run_in(folder.path(), "npm", &["pack", "--silent", &spec])?;
    let archive = fs::read_dir(folder.path())?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .find(|name| name.ends_with(".tgz"))
        .context("`npm pack` left no archive")?;
    let member = format!("package/{}", pin.path);
    run_in(folder.path(), "tar", &["-xzf", &archive, &member])?;
    let content =
        fs::read(folder.path().join(&member)).with_context(|| format!("read {member}"))?;
    pin.verify(&content).with_context(|| spec)?;
    fs::write(root.join(&pin.file), content).with_context(|| format!("write {}", pin.file))?;
    println!("{}: sha256 {}", pin.file, pin.sha256);
    Ok(())
}

fn run_in(folder: &Path, program: &str, args: &[&str]) -> Result<()> {
    let status = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("start `{program}`, which `schema fetch` needs"))?;
    if !status.success() {
        bail!("`{program} {}` failed: {status}", args.join(" "));
    }
    Ok(())
}
