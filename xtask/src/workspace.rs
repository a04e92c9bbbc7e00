//! Where the workspace lies, and how its `cargo` is called.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the folder of the root manifest.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in a folder of the workspace")
        .to_path_buf()
}

/// Returns the folder that cargo builds into.
pub(crate) fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => root().join(folder),
        None => root().join("target"),
    }
}

/// Starts a `cargo` command line in the root of the workspace.
///
/// It is the cargo that runs this program, so a toolchain chosen by the caller stays chosen.
pub(crate) fn cargo(line: &str) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(line.split_whitespace()).current_dir(root());
    command
}

/// Tells whether `cargo NAME` is installed.
pub(crate) fn has_cargo_command(name: &str) -> bool {
    cargo(&format!("{name} --version"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
