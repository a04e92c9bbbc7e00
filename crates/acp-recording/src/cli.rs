//! What commands around recordings share: arguments, complaints, exit codes.

use std::error::Error;
use std::ffi::OsStr;
use std::fmt::Display;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use acp_text::{Clean, Redactor, ScreenText};

/// Exit code: what was expected did not happen.
pub const EXIT_FAILED: u8 = 1;

/// Exit code: a script, an argument or a variable of the environment is wrong.
pub const EXIT_CONFIG: u8 = 78;

/// The reason why a command cannot be followed, for people.
#[derive(Debug)]
pub struct Misuse(pub String);

impl<E: Error> From<E> for Misuse {
    /// Takes the message of an error with all its causes.
    fn from(error: E) -> Self {
        let mut why = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            why.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Self(why)
    }
}

/// Makes an exit code of what a command returned, and tells people what was wrong.
#[must_use]
pub fn exit_code(done: Result<u8, Misuse>) -> ExitCode {
    done.unwrap_or_else(|Misuse(why)| {
        say(why);
        EXIT_CONFIG
    })
    .into()
}

/// Tells people something on stderr; stdout belongs to the protocol.
pub fn say(what: impl Display) {
    let called = std::env::args_os().next().unwrap_or_default();
    let program = Path::new(&called).file_stem().unwrap_or_default().display();
    let text = format!("{program}: {what}");
    let mut text = ScreenText::from(Clean::new(text.trim_end()));
    text.end_line();
    // A stderr that was closed has no reader to miss it.
    let _ = acp_process::stdio::stderr().write(&text);
}

/// The secrets and paths that are taken out of a recording besides what looks secret.
#[derive(Debug, clap::Args)]
pub struct SecretArgs {
    /// A text that is secret too
    #[arg(long, value_name = "TEXT")]
    secret: Vec<String>,
    /// A path to be replaced by another
    #[arg(long, value_name = "FROM=TO")]
    path: Vec<String>,
}

impl SecretArgs {
    /// Makes a redactor that knows them, and the secrets of this process's environment.
    ///
    /// # Errors
    ///
    /// [`Misuse`] when a path does not say what replaces it.
    pub fn redactor(&self) -> Result<Redactor, Misuse> {
        let mut redactor = crate::redactor();
        for secret in &self.secret {
            redactor = redactor.with_secret(secret.as_str());
        }
        for path in &self.path {
            let Some((from, to)) = path.split_once('=') else {
                return Err(Misuse(format!("--path {path}: expected FROM=TO")));
            };
            redactor = redactor.with_path(from, to);
        }
        Ok(redactor)
    }
}

/// Finds a program as a shell does.
///
/// # Errors
///
/// [`Misuse`] when it is not in `PATH`.
pub fn find_program(program: &OsStr) -> Result<PathBuf, Misuse> {
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
    absolute(&found).map_err(|error| Misuse(format!("find {}: {error}", path.display())))
}

/// Makes a path absolute, and keeps the links in it where that can be done.
///
/// # Errors
///
/// The reason why a path that climbs cannot be followed.
pub fn absolute(path: &Path) -> io::Result<PathBuf> {
    let absolute: PathBuf = std::path::absolute(path)?.components().collect();
    let climbs = |component| matches!(component, Component::ParentDir);
    if absolute.components().any(climbs) {
        return absolute.canonicalize();
    }
    Ok(absolute)
}
