//! Which program a command means.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use crate::error::ServeError;

/// What is done with a command that is no program but a line for a shell.
///
/// Several agents put the whole line into `command` and leave `args` empty. A line
/// can hold any number of commands, so whoever allows it allows all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShellLines {
    /// It is refused, with a hint how to ask for a program.
    #[default]
    Refuse,
    /// It is run by `/bin/sh -c`.
    Allow,
}

/// A program and what it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandProgram {
    /// Absolute, and without `.` and `..`.
    pub(super) path: PathBuf,
    pub(super) args: Vec<String>,
}

const SHELL: &str = "/bin/sh";
/// Where programs are when nobody says where.
const DEFAULT_PATH: &str = "/usr/bin:/bin";

impl CommandProgram {
    /// Finds the program as a shell that works in `cwd` would, in `searched` when
    /// it is not named by a path; and if there is none, a shell for the line.
    pub(super) fn find(
        command: &str,
        args: Vec<String>,
        cwd: &Path,
        searched: Option<&OsStr>,
        lines: ShellLines,
    ) -> Result<Self, ServeError> {
        let searched = searched.unwrap_or(OsStr::new(DEFAULT_PATH));
        if let Some(path) = find(command, cwd, searched) {
            return Ok(Self { path, args });
        }
        if !args.is_empty() || !is_line(command) {
            return Err(ServeError::NoSuchProgram {
                program: command.to_owned(),
                searched: searched.to_string_lossy().into_owned(),
            });
        }
        match lines {
            ShellLines::Refuse => Err(ServeError::ShellLine),
            ShellLines::Allow => Ok(Self {
                path: SHELL.into(),
                args: vec!["-c".to_owned(), command.to_owned()],
            }),
        }
    }
}

fn find(command: &str, cwd: &Path, searched: &OsStr) -> Option<PathBuf> {
    if command.contains('/') {
        return runnable(&cwd.join(command));
    }
    std::env::split_paths(searched)
        // What is relative there means whatever folder one happens to be in.
        .filter(|folder| folder.is_absolute())
        .find_map(|folder| runnable(&folder.join(command)))
}

/// Returns a clean name of a program that may be run.
fn runnable(path: &Path) -> Option<PathBuf> {
    if !is_executable(path) {
        return None;
    }
    // A program may be many, told apart by the last part of its name.
    let name = path.file_name()?;
    let folder = path.parent()?;
    if folder.components().any(|part| part == Component::ParentDir) {
        return Some(folder.canonicalize().ok()?.join(name));
    }
    Some(
        folder
            .components()
            .chain([Component::Normal(name)])
            .collect(),
    )
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    path.metadata()
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// Tells whether only a shell would make sense of this.
fn is_line(command: &str) -> bool {
    command.contains(|char: char| char.is_whitespace() || "|&;<>()$`\"'*?\\".contains(char))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for (name, mode) in [
                ("bin/tool", 0o755),
                ("bin/data", 0o644),
                ("other/tool", 0o755),
                ("work/run", 0o755),
                ("work/my tool", 0o755),
            ] {
                let path = tree.at(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, "").unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            }
            fs::create_dir(tree.at("bin/folder")).unwrap();
            symlink("tool", tree.at("bin/many")).unwrap();
            tree
        }

        fn at(&self, below: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(below)
        }

        /// Where the program is, below the tree, with its arguments; or why not.
        fn find(&self, command: &str, args: &[&str], lines: ShellLines) -> String {
            let searched =
                std::env::join_paths([self.at("none"), self.at("bin"), self.at("other")]);
            let args = args.iter().map(ToString::to_string).collect();
            let cwd = self.at("work");
            match CommandProgram::find(command, args, &cwd, searched.ok().as_deref(), lines) {
                Ok(program) => {
                    let path = program
                        .path
                        .strip_prefix(self.at(""))
                        .unwrap_or(&program.path);
                    format!("{} {:?}", path.display(), program.args)
                }
                Err(ServeError::NoSuchProgram { program, .. }) => format!("no {program}"),
                Err(ServeError::ShellLine) => "line".to_owned(),
                Err(other) => panic!("{other}"),
            }
        }
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let tree = Tree::new();
        let absolute = tree.at("other/tool");
        for (command, want) in [
            ("tool", "bin/tool"),
            ("many", "bin/many"),
            ("./run", "work/run"),
            ("./my tool", "work/my tool"),
            (".//./run", "work/run"),
            ("../other/tool", "other/tool"),
            ("../bin/many", "bin/many"),
            (absolute.to_str().unwrap(), "other/tool"),
        ] {
            let got = tree.find(command, &["a b", "|"], ShellLines::Refuse);
            assert_eq!(got, format!("{want} [\"a b\", \"|\"]"), "{command}");
        }
        for command in [
            "run",
            "data",
            "folder",
            "./data",
            "../bin/folder",
            "/no/tool",
            "..",
            ".",
        ] {
            let got = tree.find(command, &[], ShellLines::Allow);
            assert_eq!(got, format!("no {command}"));
        }
    }

    #[test]
    fn a_line_for_a_shell_needs_a_policy() {
        let tree = Tree::new();
        for line in [
            "ls && pwd | head",
            "tool x",
            "a;b",
            "$TOOL",
            "echo\thi",
            "tool>x",
            " tool",
        ] {
            assert_eq!(tree.find(line, &[], ShellLines::Refuse), "line");
            let got = tree.find(line, &[], ShellLines::Allow);
            assert_eq!(got, format!("/bin/sh [\"-c\", {line:?}]"));
            // With arguments it is meant as a program.
            let got = tree.find(line, &["x"], ShellLines::Allow);
            assert_eq!(got, format!("no {line}"));
        }
        assert_eq!(
            tree.find("./my tool", &[], ShellLines::Refuse),
            "work/my tool []"
        );
    }

    #[test]
    fn relative_parts_of_the_search_path_are_passed_over() {
        let tree = Tree::new();
        let find = |searched: Option<&str>, command: &str| {
            let searched = searched.map(OsStr::new);
            let cwd = tree.at("work");
            CommandProgram::find(command, Vec::new(), &cwd, searched, ShellLines::Refuse)
                .map(|program| program.path)
                .ok()
        };
        assert_eq!(find(Some(":.:work"), "run"), None);
        assert_eq!(find(None, "sh"), find(Some("/usr/bin:/bin"), "sh"));
        assert!(find(None, "sh").is_some());
        assert_eq!(find(Some(""), "sh"), None);
    }
}
