//! Which session is meant: its folder, its agent and its name.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use acp_text::{Redactor, is_secret_name};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::limits::MAX_NAME;
use crate::config::repository;

/// Where a session belongs: no two have the same folder, agent and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionKey {
    /// The folder, as [`scope_of`] finds it.
    pub(crate) folder: String,
    pub(crate) agent: AgentId,
    pub(crate) name: SessionName,
}

/// Hexadecimal digits of the hash of a folder, and of an agent and a name: 48 and 56 bits.
/// That is short enough for the path of a socket, and a record says what it is of, so that
/// a chance meeting is noticed.
const FOLDER_DIGITS: usize = 12;
const REST_DIGITS: usize = 14;

impl SessionKey {
    /// A session of the demo agent in a folder that is not there.
    #[cfg(test)]
    pub(crate) fn of_demo(name: &str) -> Self {
        Self {
            folder: "/home/ada/project".to_owned(),
            agent: AgentId::Demo,
            name: name.parse().expect("it is a name"),
        }
    }

    /// Returns the name of its files: it says nothing of the session, and leads nowhere
    /// else.
    pub(crate) fn stem(&self) -> String {
        let rest = digits([&self.agent.identity(), self.name.as_str()], REST_DIGITS);
        format!("{}-{rest}", stem_of_folder(&self.folder))
    }
}

/// Returns how the names of all files of a folder's sessions begin.
pub(super) fn stem_of_folder(folder: &str) -> String {
    digits([folder], FOLDER_DIGITS)
}

fn digits<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>, digits: usize) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // The length keeps parts apart that are the same when written in a row.
        let part = part.as_ref();
        hash.update(part.len().to_be_bytes());
        hash.update(part);
    }
    let mut all = format!("{:x}", hash.finalize());
    all.truncate(digits);
    all
}

/// Finds the folder that the sessions of `cwd` belong to: the nearest one above that is
/// the root of a repository, or else `cwd` itself.
pub(crate) fn scope_of(cwd: &Path) -> PathBuf {
    repository(cwd).unwrap_or(cwd).to_owned()
}

/// What a user calls a session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct SessionName(String);

impl SessionName {
    /// The session that `--continue` begins where there is none.
    pub(crate) fn default_name() -> Self {
        Self("default".to_owned())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for SessionName {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let fits = name.chars().count() <= MAX_NAME;
        let plain = name.trim() == name && !name.is_empty() && !name.contains(char::is_control);
        match fits && plain && !name.starts_with('-') {
            true => Ok(Self(name.to_owned())),
            false => Err(format!(
                "a name has 1 to {MAX_NAME} characters, none of which controls a terminal, \
                 no blank at its ends and no dash at its beginning"
            )),
        }
    }
}

impl TryFrom<String> for SessionName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        name.parse()
    }
}

impl From<SessionName> for String {
    fn from(name: SessionName) -> Self {
        name.0
    }
}

/// The agent of a session, and how it was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum AgentId {
    /// The demo agent of this program.
    Demo,
    /// One that is known by its name.
    Named { name: String },
    /// One that was given as a command.
    Command {
        /// The file name of its program.
        label: String,
        /// A hash of the whole command.
        digest: String,
        /// The command; `None` when something in it looks like a secret, or is no text.
        argv: Option<Vec<String>>,
    },
}

/// Hexadecimal digits of the hash of a command.
const COMMAND_DIGITS: usize = 32;

impl AgentId {
    /// Describes a command.
    pub(crate) fn of_command<S: AsRef<std::ffi::OsStr>>(argv: &[S]) -> Self {
        let args = argv.iter().map(|arg| arg.as_ref().as_encoded_bytes());
        let digest = digits(args, COMMAND_DIGITS);
        let program = argv.first().map(AsRef::as_ref).unwrap_or_default();
        let label = Path::new(program).file_name().unwrap_or(program);
        let redactor = Redactor::new().hiding_addresses();
        let plain = |arg: &S| {
            let arg = arg.as_ref().to_str()?;
            (redactor.redact(arg) == arg).then(|| arg.to_owned())
        };
        let all: Option<Vec<String>> = argv.iter().map(plain).collect();
        // A name and the value behind it may look like a secret only together.
        let argv = all.filter(|all| {
            let is_plain = |between: &&str| {
                let line = all.join(between);
                redactor.redact(&line) == line
            };
            [" ", "="].iter().all(is_plain) && !all.iter().any(|arg| precedes_secret(arg))
        });
        Self::Command {
            label: label.to_string_lossy().into_owned(),
            digest,
            argv,
        }
    }

    /// Returns what people call it.
    pub(crate) fn label(&self) -> &str {
        match self {
            Self::Demo => "demo",
            Self::Named { name } => name,
            Self::Command { label, .. } => label,
        }
    }

    /// Returns what tells it from every other one.
    fn identity(&self) -> String {
        match self {
            Self::Demo => "demo".to_owned(),
            Self::Named { name } => format!("named {name}"),
            Self::Command { digest, .. } => format!("command {digest}"),
        }
    }

    /// Tells whether both are the same agent.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

/// Tells whether an argument is a flag whose value may be a secret, whatever that looks
/// like, or a header that holds one.
fn precedes_secret(arg: &str) -> bool {
    let name = arg.split(['=', ':', ' ']).next().unwrap_or(arg);
    let is_flag = name.starts_with('-');
    let bare = name.trim_start_matches('-').to_ascii_lowercase();
    // Of a header nobody knows which hold secrets, so none is kept.
    let is_header = name == "-H" || (is_flag && matches!(&*bare, "header" | "headers"));
    let is_secret = matches!(
        &*bare,
        "key" | "bearer" | "auth" | "authorization" | "cookie" | "credential" | "credentials"
    );
    is_header
        || (is_secret && (is_flag || arg.len() > name.len()))
        || (is_flag && is_secret_name(&bare))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(folder: &str, agent: AgentId, name: &str) -> String {
        let (folder, name) = (folder.to_owned(), name.parse().unwrap());
        SessionKey {
            folder,
            agent,
            name,
        }
        .stem()
    }

    #[test]
    fn folder_agent_and_name_tell_sessions_apart() {
        let named = |name: &str| AgentId::Named {
            name: name.to_owned(),
        };
        let all = [
            key("/a", AgentId::Demo, "x"),
            key("/a", named("demo"), "x"),
            key("/a", named("codex"), "x"),
            key("/a", AgentId::of_command(&["codex"]), "x"),
            key("/a", AgentId::of_command(&["codex", ""]), "x"),
            key("/b", AgentId::Demo, "x"),
            key("/a", AgentId::Demo, "y"),
        ];
        for (n, stem) in all.iter().enumerate() {
            assert_eq!(stem.len(), FOLDER_DIGITS + 1 + REST_DIGITS);
            let folder = if n == 5 { "/b" } else { "/a" };
            assert!(stem.starts_with(&stem_of_folder(folder)));
            assert!(!all[..n].contains(stem), "{n}");
        }
        assert_eq!(key("/a", named("codex"), "x"), all[2]);
    }

    #[test]
    fn a_repository_is_one_folder() {
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("src/deep");
        std::fs::create_dir_all(&inner).unwrap();
        assert_eq!(scope_of(&inner), inner);
        std::fs::create_dir(dir.path().join(".git")).unwrap();
        assert_eq!(scope_of(&inner), dir.path());
        // In a worktree and a submodule it is a file.
        std::fs::write(dir.path().join("src/.git"), "gitdir: x").unwrap();
        assert_eq!(scope_of(&inner), dir.path().join("src"));
    }

    #[test]
    fn names_fit_a_line() {
        for good in ["x", "fix the build", "päckchen", "a/b"] {
            assert_eq!(good.parse::<SessionName>().unwrap().as_str(), good);
        }
        let long = "x".repeat(MAX_NAME + 1);
        for bad in ["", " x", "x ", "-x", "a\nb", "\u{1b}[m", &long] {
            assert!(bad.parse::<SessionName>().is_err(), "{bad:?}");
        }
    }

    #[track_caller]
    fn kept(argv: &[&str], is_kept: bool) {
        match AgentId::of_command(argv) {
            AgentId::Command { argv: kept, .. } if is_kept => assert_eq!(kept.unwrap(), argv),
            AgentId::Command { argv: kept, .. } => assert_eq!(kept, None, "{argv:?}"),
            other => unreachable!("{other:?}"),
        }
    }

    #[test]
    fn commands_are_kept_without_secrets() {
        kept(&["/opt/my-agent", "--acp", "--model", "large"], true);
        kept(&["my-agent", "--token=sk-abcdefghijklmnop"], false);
        kept(&["my-agent", "--api-key", "abcdefghijklmnop1234"], false);
        kept(&["my-agent", "https://user:pass@example.com/"], false);
        kept(&["my-agent", "-H", "Authorization: Bearer abc"], false);
        kept(&["my-agent", "-H", "X-Team: 7"], false);
        kept(&["my-agent", "--header=X-Api: 7"], false);
        kept(&["my-agent", "-H", "Authorization: hunter2"], false);
        kept(&["my-agent", "-HAuthorization: hunter2"], false);
        kept(&["my-agent", "Authorization: Basic YTpi"], false);
        kept(&["my-agent", "-H", "Cookie: a=b"], false);
        for flag in [
            "--bearer",
            "--key",
            "--auth",
            "--token",
            "--password",
            "--pat",
        ] {
            kept(&["my-agent", flag, "hunter2"], false);
            kept(&["my-agent", &format!("{flag}=hunter2")], false);
        }
        kept(&["my-agent", "-u", "ada:hunter2"], false);
        kept(&["env", "API_KEY=hunter2", "my-agent"], false);
        kept(&["my-agent", "-h", "--keyboard", "us", "key"], true);
        assert_eq!(AgentId::of_command(&["/opt/my-agent"]).label(), "my-agent");
    }
}
