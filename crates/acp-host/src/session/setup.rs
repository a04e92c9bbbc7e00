//! With what a session is set up: folders, tool servers, and the client's abilities.

use derive_setters::Setters;

use crate::SecretText;
use std::path::{Path, PathBuf};

/// With what a session is set up; every value in it has been checked.
#[derive(Clone, Debug, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_")]
pub struct Setup {
    /// The folder in which the session works, whatever the folder of the
    /// process is; relative paths start here.
    pub cwd: PathBuf,
    /// Further folders the session may use, in the client's order and without
    /// doubles. Not empty only if the agent accepts them.
    pub additional_directories: Vec<PathBuf>,
    /// The tool servers the client wants connected, each of a kind that the
    /// agent accepts.
    pub mcp_servers: Vec<McpServer>,
    /// What the client can do.
    pub client: ClientFeatures,
}

impl Setup {
    /// Creates a set-up with a folder and nothing else.
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            additional_directories: Vec::new(),
            mcp_servers: Vec::new(),
            client: ClientFeatures::default(),
        }
    }
}

/// Bytes of the path of a folder (`PATH_MAX` of Linux): no system opens a longer one.
pub const MAX_DIRECTORY: usize = 4096;

/// Why a text cannot name a folder of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DirectoryError {
    /// The text is empty.
    #[error("the path is empty")]
    Empty,
    /// The path is longer than [`MAX_DIRECTORY`].
    #[error("the path has {bytes} bytes; at most {MAX_DIRECTORY} are taken")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The path holds a NUL character, at which the system would cut it.
    #[error("the path holds a NUL character")]
    Nul,
    /// The path does not start at the root.
    #[error("the path is not absolute")]
    NotAbsolute,
    /// The path climbs with `..`.
    #[error("the path holds a `..`")]
    Traversal,
    /// The path is not in its shortest spelling: `//`, `.`, a slash at the end.
    #[error("the path is not in its plain form (no `//`, no `.`, no slash at the end)")]
    NotCanonical,
}

/// Checks a path of a client, and returns it unchanged.
///
/// The check is about the spelling alone: whether the folder exists and where
/// its links lead is not looked at.
///
/// # Errors
///
/// [`DirectoryError`] names the rule that the path breaks. Nothing is ever
/// cleaned in silence.
pub fn check_directory(text: &str) -> Result<PathBuf, DirectoryError> {
    use std::path::Component;

    if text.len() > MAX_DIRECTORY {
        return Err(DirectoryError::TooLong { bytes: text.len() });
    }
    if text.contains('\0') {
        return Err(DirectoryError::Nul);
    }
    if is_plain(text) {
        return Ok(PathBuf::from(text));
    }
    if text.is_empty() {
        return Err(DirectoryError::Empty);
    }
    let path = Path::new(text);
    if !path.is_absolute() {
        return Err(DirectoryError::NotAbsolute);
    }
    if path.components().any(|part| part == Component::ParentDir) {
        return Err(DirectoryError::Traversal);
    }
    let plain: PathBuf = path.components().collect();
    if plain.as_os_str() != path.as_os_str() {
        return Err(DirectoryError::NotCanonical);
    }
    Ok(plain)
}

/// Whether a path is in order at first sight, as nearly all are.
fn is_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut pairs = bytes.windows(2);
    cfg!(unix)
        && bytes.len() > 1
        && bytes.starts_with(b"/")
        && !bytes.ends_with(b"/")
        && pairs.all(|pair| pair[0] != b'/' || !matches!(pair[1], b'/' | b'.'))
}

/// A tool server (Model Context Protocol) that the client wants connected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpServer {
    /// A program that speaks over its standard input and output.
    Stdio(McpStdio),
    /// A server reached over HTTP.
    Http(McpRemote),
    /// A server reached over HTTP with server-sent events.
    Sse(McpRemote),
}

/// A tool server that is started as a program.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_")]
pub struct McpStdio {
    /// The name under which the user knows it; unique in a set-up.
    pub name: String,
    /// The program, an absolute path.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, in the client's order.
    pub env: Vec<(String, SecretText)>,
}

impl McpStdio {
    /// Names a server and its program.
    pub fn new(name: impl Into<String>, command: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
        }
    }
}

/// A tool server that is reached by its address.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_")]
pub struct McpRemote {
    /// The name under which the user knows it; unique in a set-up.
    pub name: String,
    /// The address.
    pub url: String,
    /// Headers to send with each request.
    pub headers: Vec<(String, SecretText)>,
}

impl McpRemote {
    /// Names a server and its address.
    pub fn new(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            url: url.into(),
            headers: Vec::new(),
        }
    }
}

impl McpServer {
    /// The name under which the user knows it.
    pub fn name(&self) -> &str {
        match self {
            Self::Stdio(server) => &server.name,
            Self::Http(server) | Self::Sse(server) => &server.name,
        }
    }
}

/// Which kinds of tool server an agent connects to.
///
/// The protocol asks every agent to take programs (`stdio`), so that is the
/// default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", bool)]
pub struct McpAcceptance {
    /// Programs that speak over their standard input and output.
    pub stdio: bool,
    /// Servers reached over HTTP.
    pub http: bool,
    /// Servers reached over HTTP with server-sent events.
    pub sse: bool,
}

impl Default for McpAcceptance {
    fn default() -> Self {
        Self {
            stdio: true,
            http: false,
            sse: false,
        }
    }
}

impl McpAcceptance {
    /// Accepts no tool server at all.
    pub fn none() -> Self {
        Self {
            stdio: false,
            http: false,
            sse: false,
        }
    }

    /// Whether this server is of an accepted kind.
    pub fn accepts(&self, server: &McpServer) -> bool {
        match server {
            McpServer::Stdio(_) => self.stdio,
            McpServer::Http(_) => self.http,
            McpServer::Sse(_) => self.sse,
        }
    }
}

/// What the client said it can do, once for the connection.
///
/// Everything defaults to "cannot"; what is not listed must not be asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientFeatures {
    /// Reads text files, unsaved text of open editors included.
    pub read_text_file: bool,
    /// Writes text files.
    pub write_text_file: bool,
    /// Runs commands in terminals.
    pub terminal: bool,
    /// Asks the user with forms.
    pub forms: bool,
    /// Sends the user to an address.
    pub urls: bool,
    /// Shows options that are on or off.
    pub boolean_options: bool,
    /// Shows notices.
    pub notices: bool,
    /// Shows how a conversation is compacted.
    pub compaction: bool,
    /// Runs a login in a terminal.
    pub terminal_login: bool,
    /// The client's name, if it gave one.
    pub name: Option<String>,
    /// The client's version, if it gave one.
    pub version: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn directories() {
        use DirectoryError::*;
        let check = |text: &str, want: Result<(), DirectoryError>| {
            assert_eq!(check_directory(text).map(drop), want, "{text:?}");
        };
        check("/", Ok(()));
        check("/home/ada/project", Ok(()));
        check("/home/ada/..hidden", Ok(()));
        check("/home/Ädä/two words", Ok(()));
        check("", Err(Empty));
        check("/home/ada\0/project", Err(Nul));
        check("\0", Err(Nul));
        check("project", Err(NotAbsolute));
        check("./project", Err(NotAbsolute));
        check("~/project", Err(NotAbsolute));
        check("/home/ada/..", Err(Traversal));
        check("/home/../etc", Err(Traversal));
        check("/home//ada", Err(NotCanonical));
        check("//home/ada", Err(NotCanonical));
        check("/home/./ada", Err(NotCanonical));
        check("/home/ada/", Err(NotCanonical));
        check("/home/ada/.", Err(NotCanonical));
    }

    #[test]
    fn secrets_are_never_printed() {
        let server = McpServer::Stdio(
            McpStdio::new("notes", "/usr/bin/notes")
                .with_env(vec![("TOKEN".into(), SecretText::new("canary"))]),
        );
        let setup = Setup::new("/home/ada").with_mcp_servers(vec![server]);
        let printed = format!("{setup:?} {setup:#?}");
        assert!(
            printed.contains("TOKEN") && !printed.contains("canary"),
            "{printed}"
        );
    }

    #[test]
    fn kinds_of_servers() {
        let stdio = McpServer::Stdio(McpStdio::new("a", "/a"));
        let http = McpServer::Http(McpRemote::new("b", "http://127.0.0.1/"));
        let sse = McpServer::Sse(McpRemote::new("c", "http://127.0.0.1/"));
        let accepts = |a: McpAcceptance| [&stdio, &http, &sse].map(|s| a.accepts(s));
        assert_eq!(accepts(McpAcceptance::default()), [true, false, false]);
        assert_eq!(accepts(McpAcceptance::none()), [false, false, false]);
        assert_eq!(
            accepts(McpAcceptance::none().with_http().with_sse()),
            [false, true, true]
        );
    }
}
