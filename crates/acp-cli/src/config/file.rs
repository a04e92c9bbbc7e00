//! A file of the configuration: read, bounded, and understood to the line.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

#[cfg(unix)]
use acp_harness::files;
use serde::Deserialize;
use toml::Spanned;

use super::error::ConfigError;
use super::limits::MAX_FILE;
use super::settings::{Document, Origin, Setting};
use super::suggest::suggestion;
use super::trust::FileState;

/// Which of the two files it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfigScope {
    /// The user's own.
    Global,
    /// A project's, which came with what was cloned.
    Project,
}

/// A file that was read.
#[derive(Debug)]
pub(super) struct Source {
    path: PathBuf,
    scope: ConfigScope,
    /// Where each line ends.
    line_ends: Vec<usize>,
    /// The file as it was read; none of a text that is no file.
    pub(super) state: Option<FileState>,
}

/// What a file says of MCP servers.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Mcp(pub(super) BTreeMap<String, McpEntry>);

/// What a file says of one MCP server.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct McpEntry {
    pub(super) command: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    /// Variables that take their value from one of acp's own.
    pub(super) env_from: BTreeMap<String, String>,
    pub(super) url: Option<String>,
    /// Whether the server speaks the older transport, of events that a server sends.
    pub(super) sse: bool,
    pub(super) headers: BTreeMap<String, String>,
    /// Headers that take their value from a variable of acp's own.
    pub(super) headers_from: BTreeMap<String, String>,
}

/// The names alone: variables and headers hold keys.
impl fmt::Debug for Mcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Source {
    /// Reads a file; `None` when there is none.
    ///
    /// A project's file has to be a plain file; the user's own may be a link to one, and
    /// must not be open to everybody's changes, for it names commands.
    pub(super) fn read(
        path: &Path,
        scope: ConfigScope,
    ) -> Result<Option<(Self, Document)>, ConfigError> {
        let (text, metadata) = match read(path, scope) {
            Ok(Some(read)) => read,
            Ok(None) => {
                let what = format!("it has more than {MAX_FILE} bytes");
                return Err(ConfigError::file(path, None, what));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ConfigError::unreadable(path, error)),
        };
        let (mut source, document) = Self::parse(path, scope, &text)?;
        source.state = Some(FileState::new(path, &text, &metadata));
        Ok(Some((source, document)))
    }

    /// Reads the text of a file.
    pub(super) fn parse(
        path: &Path,
        scope: ConfigScope,
        text: &str,
    ) -> Result<(Self, Document), ConfigError> {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let source = Self {
            path: path.to_owned(),
            scope,
            line_ends: ends.map(|(at, _)| at).collect(),
            state: None,
        };
        match toml::from_str(text) {
            Ok(document) => Ok((source, document)),
            Err(error) => {
                let line = error.span().map(|span| source.line(&span));
                Err(ConfigError::file(path, line, in_our_words(error.message())))
            }
        }
    }

    /// Makes a setting of what the file says.
    pub(super) fn setting<T>(&self, said: Spanned<T>) -> Setting<T> {
        let origin = self.origin(&said.span());
        Setting {
            value: said.into_inner(),
            origin,
        }
    }

    /// Says where something stands.
    pub(super) fn origin(&self, span: &Range<usize>) -> Origin {
        let (path, line) = (self.path.clone(), self.line(span));
        match self.scope {
            ConfigScope::Global => Origin::Global { path, line },
            ConfigScope::Project => Origin::Project { path, line },
        }
    }

    /// Refuses something that stands here.
    pub(super) fn refuse(&self, span: &Range<usize>, what: impl AsRef<str>) -> ConfigError {
        ConfigError::file(&self.path, Some(self.line(span)), what)
    }

    /// The line on which something begins, from 1.
    fn line(&self, span: &Range<usize>) -> usize {
        1 + self.line_ends.partition_point(|end| *end < span.start)
    }
}

/// Reads a file whole, and looks at what was opened; `None` when it is too large.
fn read(path: &Path, scope: ConfigScope) -> io::Result<Option<(String, Metadata)>> {
    let named = match scope {
        ConfigScope::Global => path.metadata()?,
        ConfigScope::Project => path.symlink_metadata()?,
    };
    if !named.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    check_opened(scope, &named, &metadata)?;
    let mut text = String::new();
    file.take(MAX_FILE + 1).read_to_string(&mut text)?;
    Ok((text.len() as u64 <= MAX_FILE).then_some((text, metadata)))
}

/// Looks whether it is the file that was named, and nobody else's.
#[cfg(unix)]
fn check_opened(scope: ConfigScope, named: &Metadata, opened: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;

    if (named.dev(), named.ino()) != (opened.dev(), opened.ino()) {
        return Err(io::Error::other("it was replaced while it was read"));
    }
    let everybody = opened.mode() & 0o002 != 0;
    match scope {
        ConfigScope::Global if everybody => Err(io::Error::other(
            "everybody may write to it, and it names commands",
        )),
        ConfigScope::Global if files::is_foreign(opened) => Err(io::Error::other(
            "it belongs to another user, and it names commands",
        )),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn check_opened(_: ConfigScope, _: &Metadata, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Says what is wrong with a file, without the values in it: they may be secret.
pub(super) fn in_our_words(message: &str) -> String {
    let message = message.lines().next().unwrap_or_default();
    let quoted = |text: &str| -> Vec<String> {
        let parts = text.split('`').skip(1).step_by(2);
        parts.map(str::to_owned).collect()
    };
    if let Some(rest) = message.strip_prefix("unknown field ") {
        let mut names = quoted(rest).into_iter();
        let unknown = names.next().unwrap_or_default();
        let known: Vec<_> = names.collect();
        return match suggestion(&unknown, known.iter().map(String::as_str)) {
            Some(meant) => format!("`{unknown}` is not known here; did you mean `{meant}`?"),
            None => format!(
                "`{unknown}` is not known here; known are {}",
                known.join(", ")
            ),
        };
    }
    if let Some(rest) = message.strip_prefix("unknown variant ") {
        let known = quoted(rest).into_iter().skip(1).collect::<Vec<_>>();
        return format!("one of {} is wanted", known.join(", "));
    }
    if message.starts_with("invalid ")
        && let Some((_, wanted)) = message.rsplit_once(", expected ")
    {
        let wanted = match wanted {
            "a boolean" => "true or false",
            other => other,
        };
        return format!("{wanted} is wanted");
    }
    message.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::in_words;
    use expect_test::{Expect, expect};

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let error =
            Source::parse(Path::new("/p/.acp.toml"), ConfigScope::Project, text).unwrap_err();
        expected.assert_eq(&in_words(&error));
    }

    #[test]
    fn what_makes_no_sense_is_told_with_its_line() {
        check(
            "agent = \"claude\"\n\nmodle = \"opus\"\n",
            expect![
                "failed to read /p/.acp.toml, line 3: `modle` is not known here; did you mean `model`?"
            ],
        );
        check(
            "zebra = 1\n",
            expect![
                "failed to read /p/.acp.toml, line 1: `zebra` is not known here; known are agent, model, effort, mode, timeout, idle_timeout, start_timeout, allow, files, terminals, color, protect, registry, mcp, agents"
            ],
        );
        check(
            "allow = \"some\"\n",
            expect![
                "failed to read /p/.acp.toml, line 1: one of none, reads, edits, all is wanted"
            ],
        );
        check(
            "\ntimeout = 0\n",
            expect!["failed to read /p/.acp.toml, line 2: a time is wanted, as 90, 90s, 5m or 1h"],
        );
        check(
            "timeout = \"long\"\n",
            expect!["failed to read /p/.acp.toml, line 1: a time is wanted, as 90, 90s, 5m or 1h"],
        );
        check(
            "mode = \"\"\n",
            expect![
                "failed to read /p/.acp.toml, line 1: a name on one line, of at most 256 bytes is wanted"
            ],
        );
        check(
            "mode = [1]\n",
            expect!["failed to read /p/.acp.toml, line 1: a string is wanted"],
        );
        check(
            "agent = \"a\"\nagent = \"b\"\n",
            expect!["failed to read /p/.acp.toml, line 2: duplicate key"],
        );
        check(
            "agent = claude\n",
            expect![
                "failed to read /p/.acp.toml, line 1: string values must be quoted, expected literal string"
            ],
        );
        check(
            "[agents.ada]\ncommand = \"ada\"\nargz = []\n",
            expect![
                "failed to read /p/.acp.toml, line 3: `argz` is not known here; did you mean `args`?"
            ],
        );
        check(
            "[agents.ada.login]\nkey = []\n",
            expect![
                "failed to read /p/.acp.toml, line 2: `key` is not known here; did you mean `keys`?"
            ],
        );
        check(
            "[mcp.x]\ncomand = \"x\"\n",
            expect![
                "failed to read /p/.acp.toml, line 2: `comand` is not known here; did you mean `command`?"
            ],
        );
    }

    #[test]
    fn values_are_not_shown() {
        check(
            "\n[mcp.x]\nenv = \"s3cret\"\n",
            expect!["failed to read /p/.acp.toml, line 3: a map is wanted"],
        );
        check(
            "[mcp.x]\nenv = { A = [\"s3cret\"] }\n",
            expect!["failed to read /p/.acp.toml, line 2: a string is wanted"],
        );
        check(
            "[agents.ada]\nenv = \"s3cret\"\n",
            expect!["failed to read /p/.acp.toml, line 2: a map is wanted"],
        );
        let (_, document) = Source::parse(
            Path::new("/x"),
            ConfigScope::Global,
            "[mcp.x]\ncommand = \"x\"\nenv = { A = \"s3cret\" }\n\
             [agents.ada]\ncommand = \"ada\"\nenv = { B = \"s3cret\" }\n",
        )
        .unwrap();
        let shown = format!("{document:?}");
        assert!(!shown.contains("s3cret"), "{shown}");
        assert!(shown.contains("ada"), "{shown}");
    }

    #[cfg(unix)]
    #[test]
    fn files_are_plain_and_bounded() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let told = |scope| match Source::read(&path, scope) {
            Ok(found) => format!("{}", found.is_some()),
            Err(error) => in_words(&error).replace(&*path.to_string_lossy(), "FILE"),
        };
        assert_eq!(told(ConfigScope::Global), "false");
        let real = dir.path().join("real");
        std::fs::write(&real, "agent = \"demo\"\n").unwrap();
        symlink(&real, &path).unwrap();
        assert_eq!(told(ConfigScope::Global), "true");
        assert_eq!(
            told(ConfigScope::Project),
            "failed to read FILE: it is no plain file"
        );
        std::fs::set_permissions(&real, PermissionsExt::from_mode(0o666)).unwrap();
        assert_eq!(
            told(ConfigScope::Global),
            "failed to read FILE: everybody may write to it, and it names commands"
        );
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert_eq!(
            told(ConfigScope::Global),
            "failed to read FILE: it is no plain file"
        );
        std::fs::remove_dir(&path).unwrap();
        std::fs::write(&path, "#".repeat(256 * 1024)).unwrap();
        assert_eq!(told(ConfigScope::Project), "true");
        std::fs::write(&path, "#".repeat(256 * 1024 + 1)).unwrap();
        assert_eq!(
            told(ConfigScope::Project),
            "failed to read FILE: it has more than 262144 bytes"
        );
    }
}
