//! Why a configuration cannot be used.

use crate::exit::Exit;
use crate::outcome::Outcome;
use std::io;
use std::path::{Path, PathBuf};

/// A configuration cannot be used. Nothing of it is, then.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub(crate) struct ConfigError {
    what: String,
    pub(super) hint: String,
    #[source]
    source: Option<io::Error>,
}

impl ConfigError {
    /// Something in a file makes no sense.
    pub(super) fn file(path: &Path, line: Option<usize>, what: impl AsRef<str>) -> Self {
        let what = what.as_ref();
        let place = place(path, line);
        Self::new(
            format!("read {place}: {what}"),
            "correct the file; `acp config --help` lists what may stand in it",
        )
    }

    /// A file cannot be read.
    pub(super) fn unreadable(path: &Path, source: io::Error) -> Self {
        let mut error = Self::new(
            format!("read {}", path.display()),
            "see that it is a file that this user may read, or move it away",
        );
        error.source = Some(source);
        error
    }

    /// A variable of the environment makes no sense. What it says is not shown.
    pub(super) fn variable(name: &str, wanted: impl AsRef<str>) -> Self {
        Self::new(
            format!("read the variable {name}: {}", wanted.as_ref()),
            "set it to that, or unset it",
        )
    }

    /// Something that was chosen is not there.
    pub(super) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            hint: hint.into(),
            source: None,
        }
    }

    /// There is no home, and so no place of the user's own.
    pub(super) fn homeless() -> Self {
        Self::new(
            "find the folder of your configuration: neither XDG_CONFIG_HOME nor HOME says it",
            "set HOME, or XDG_CONFIG_HOME, to an absolute path",
        )
    }

    /// A file is there already.
    pub(super) fn there(path: PathBuf) -> Self {
        Self::new(
            format!("write {}: it is there already", path.display()),
            "change it with your editor; `acp config show` says what is in force",
        )
    }

    /// A file cannot be written.
    pub(super) fn unwritable(path: &Path, source: io::Error) -> Self {
        let mut error = Self::new(
            format!("write {}", path.display()),
            "see that this user may write there",
        );
        error.source = Some(source);
        error
    }
}

/// Says where something stands.
fn place(path: &Path, line: Option<usize>) -> String {
    match line {
        Some(line) => format!("{}, line {line}", path.display()),
        None => path.display().to_string(),
    }
}

impl From<ConfigError> for Outcome {
    fn from(error: ConfigError) -> Self {
        Self::failed(Exit::Usage, &error).with_hint(error.hint.as_str())
    }
}
