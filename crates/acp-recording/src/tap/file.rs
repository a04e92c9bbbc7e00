//! The file of a recording.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::cli::Misuse;

/// Makes the file, which only its owner can read. Nothing that is there is written over;
/// in a folder, it gets a name of its own.
pub(super) fn create(wanted: &Path, agent: &Path) -> Result<(PathBuf, File), Misuse> {
    let path = match wanted.is_dir() {
        true => wanted.join(name(agent)),
        false => wanted.to_path_buf(),
    };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&path) {
        Ok(file) => Ok((path, file)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            let path = path.display();
            Err(Misuse(format!(
                "--record {path}: it is there already; name another file, or a folder that gets a file each time"
            )))
        }
        Err(error) => Err(Misuse(format!("--record {}: {error}", path.display()))),
    }
}

fn name(agent: &Path) -> String {
    let stem = agent.file_stem().unwrap_or_default().to_string_lossy();
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = since.unwrap_or_default().as_secs();
    format!("{stem}-{seconds}-{}.ndjson", std::process::id())
}
