//! `acp config init`: a file in which every setting stands, to be chosen from.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::Settings;
use super::error::ConfigError;
use super::locations::{PROJECT_FILE, Surroundings, repository};

/// Writes the user's own file, and returns where.
pub(crate) fn global(surroundings: &Surroundings) -> Result<PathBuf, ConfigError> {
    let path = surroundings
        .global_file()
        .ok_or_else(ConfigError::homeless)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| ConfigError::unwritable(folder, error))?;
    }
    let text = format!("{OWN_HEAD}{}{OWN_REST}", settings());
    // Keys may come to stand in it.
    write(path, &text, 0o600)
}

/// Writes the file of the project that this folder belongs to, and returns where.
pub(crate) fn project(folder: &Path) -> Result<PathBuf, ConfigError> {
    let folder = folder
        .canonicalize()
        .map_err(|error| ConfigError::unwritable(folder, error))?;
    let root = repository(&folder).unwrap_or(&folder);
    let text = format!("{PROJECT_HEAD}{}", settings());
    write(root.join(PROJECT_FILE), &text, 0o644)
}

/// Every setting, on a line that says nothing yet.
fn settings() -> String {
    let mut text = String::new();
    for row in Settings::of(Vec::new()).rows() {
        let _ = writeln!(
            text,
            "\n# {} ({})\n# {} = {}",
            row.about, row.variable, row.name, row.example
        );
    }
    text
}

/// Writes a file that is not there yet.
fn write(path: PathBuf, text: &str, mode: u32) -> Result<PathBuf, ConfigError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let written = options
        .open(&path)
        .and_then(|mut file| file.write_all(text.as_bytes()));
    match written {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(ConfigError::there(path)),
        Err(error) => Err(ConfigError::unwritable(&path, error)),
    }
}

const OWN_HEAD: &str = "\
# What the acp program does where the command line says nothing. A line counts once its #
# is taken away. `acp config show` says what is in force, `acp config --help` who comes first.
";

const PROJECT_HEAD: &str = "\
# What the acp program does in this project. A line counts once its # is taken away.
#
# Who clones this does not trust it: until they run `acp config trust` here, it can only
# tighten: less in `allow`, `files` and `terminals`, shorter times, and a careful `mode`.
# Any change asks them again.

# More files and folders that an agent writes only when a person allows it.
# protect = [\"infra/prod\", \"*.tfstate\"]
";

const OWN_REST: &str = r#"
# More files and folders that an agent writes only when a person allows it, besides .git,
# .envrc, .vscode and others that run code. A name, or the last names of a path.
# protect = ["infra/prod", "*.tfstate"]

# Agents of a document of the official registry, as agentclientprotocol.com publishes it.
# registry = "~/.config/acp/registry.json"

# An agent of your own, or what is different about a known one.
# [agents.ada]
# command = "/opt/ada/bin/ada"
# args = ["--acp"]
# login = { hint = "ada login", keys = ["ADA_API_KEY"] }

# MCP servers that every session is given.
# [mcp.files]
# command = "mcp-files"
# args = ["--read-only"]
# env_from = { FILES_TOKEN = "MY_FILES_TOKEN" }    # taken from acp's own environment
# [mcp.search]
# url = "https://search.example/mcp"
# headers_from = { Authorization = "MY_SEARCH_AUTH" }
"#;

#[cfg(test)]
mod tests {
    use super::super::file::{ConfigScope, Source};
    use super::*;

    /// The file as it is when every line that can be chosen is.
    fn all_chosen(text: &str) -> String {
        let is_setting = |line: &str| line.starts_with('[') || line.contains(" = ");
        text.lines()
            .map(|line| match line.strip_prefix("# ") {
                Some(rest) if is_setting(rest) => format!("{rest}\n"),
                _ => format!("{line}\n"),
            })
            .collect()
    }

    #[track_caller]
    fn check(text: &str, scope: ConfigScope) -> usize {
        let path = Path::new("file");
        Source::parse(path, scope, text).unwrap();
        let chosen = all_chosen(text);
        if let Err(error) = Source::parse(path, scope, &chosen) {
            panic!("{error}\n{chosen}");
        }
        chosen
            .lines()
            .filter(|line| !line.starts_with('#') && !line.is_empty())
            .count()
    }

    #[test]
    fn what_is_written_can_be_read_as_it_is_and_when_all_of_it_is_chosen() {
        let own = format!("{OWN_HEAD}{}{OWN_REST}", settings());
        assert!(check(&own, ConfigScope::Global) >= 20);
        let project = format!("{PROJECT_HEAD}{}", settings());
        assert_eq!(check(&project, ConfigScope::Project), 12);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_overwritten() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().to_owned();
        let surroundings = Surroundings {
            variable: Box::new(|_| None),
            home: Some(home.clone()),
        };
        let path = global(&surroundings).unwrap();
        assert_eq!(path, home.join(".config/acp/config.toml"));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "agent = \"demo\"\n").unwrap();
        let error = global(&surroundings).unwrap_err();
        assert!(
            error.to_string().ends_with("it is there already"),
            "{error}"
        );
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "agent = \"demo\"\n"
        );
        let inner = home.join("repository/inner");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::create_dir(home.join("repository/.git")).unwrap();
        let path = project(&inner).unwrap();
        assert_eq!(path.file_name().unwrap(), ".acp.toml");
        assert!(path.parent().unwrap().ends_with("repository"));
        assert!(project(&inner).is_err());
    }
}
