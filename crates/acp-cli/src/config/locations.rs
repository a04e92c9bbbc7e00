//! Where the files of the configuration are.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the program knows of its surroundings, so that tests can bring their own.
pub(crate) struct Surroundings {
    pub(super) variable: Box<Variable>,
    pub(super) home: Option<PathBuf>,
}

/// Reads a variable of the environment.
pub(super) type Variable = dyn Fn(&str) -> Option<OsString> + Send + Sync;

/// The name of a project's file.
pub(super) const PROJECT_FILE: &str = ".acp.toml";

/// What tells that a folder is the root of a repository.
const ROOTS: &[&str] = &[".git", ".hg", ".jj"];

impl Surroundings {
    /// Takes those of this process.
    pub(crate) fn of_process() -> Self {
        Self {
            variable: Box::new(|name| std::env::var_os(name)),
            home: std::env::home_dir(),
        }
    }

    /// Returns where the user's own file is: `$XDG_CONFIG_HOME/acp/config.toml`, or
    /// `~/.config/acp/config.toml`, on macOS too; on Windows `%APPDATA%\acp\config.toml`.
    pub(super) fn global_file(&self) -> Option<PathBuf> {
        let folder = self.folder("XDG_CONFIG_HOME", Some("APPDATA"), ".config")?;
        Some(folder.join("config.toml"))
    }

    /// Returns the folder of this program among those that a variable names; without the
    /// variable on Windows the one in `windows`, where there is one, elsewhere below the home.
    pub(crate) fn folder(
        &self,
        variable: &str,
        windows: Option<&str>,
        below_home: &str,
    ) -> Option<PathBuf> {
        let absolute = |name| {
            let path = (self.variable)(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let folder = absolute(variable).or_else(|| match windows.filter(|_| cfg!(windows)) {
            Some(windows) => absolute(windows),
            None => Some(self.absolute_home()?.join(below_home)),
        })?;
        Some(folder.join("acp"))
    }

    /// Spells out a path that may begin with `~/`; `None` when it is not absolute then.
    pub(super) fn spell_out(&self, path: &Path) -> Option<PathBuf> {
        let path = match path.strip_prefix("~") {
            Ok(rest) => self.absolute_home()?.join(rest),
            Err(_) => path.to_owned(),
        };
        path.is_absolute().then_some(path)
    }

    fn absolute_home(&self) -> Option<&Path> {
        self.home.as_deref().filter(|home| home.is_absolute())
    }
}

/// Finds the file of the project that a folder belongs to: the nearest one between the
/// folder and the root of its repository. Outside of a repository only the folder itself
/// counts, so that nobody else's file is found, say in a folder for temporary files.
pub(super) fn project_file(folder: &Path) -> Option<PathBuf> {
    let root = repository(folder).unwrap_or(folder);
    folder
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .map(|folder| folder.join(PROJECT_FILE))
        .find(|file| file.symlink_metadata().is_ok())
}

/// Finds the root of the repository that a folder belongs to.
pub(crate) fn repository(folder: &Path) -> Option<&Path> {
    let is_root = |folder: &&Path| {
        let mut marks = ROOTS.iter().map(|mark| folder.join(mark));
        marks.any(|mark| mark.symlink_metadata().is_ok())
    };
    folder.ancestors().find(is_root)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[track_caller]
    fn check(variables: &[(&str, &str)], home: Option<&str>, expected: Option<&str>) {
        let variables: Vec<_> = variables
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        let surroundings = Surroundings {
            variable: Box::new(move |name| {
                let found = variables.iter().find(|(other, _)| other == name);
                found.map(|(_, value)| value.into())
            }),
            home: home.map(PathBuf::from),
        };
        let found = surroundings.global_file();
        assert_eq!(found.as_deref(), expected.map(Path::new));
    }

    #[test]
    fn the_users_own_file() {
        let home = Some("/home/ada");
        check(&[], home, Some("/home/ada/.config/acp/config.toml"));
        check(
            &[("XDG_CONFIG_HOME", "/etc/ada")],
            home,
            Some("/etc/ada/acp/config.toml"),
        );
        // What is no absolute path says nothing.
        for nothing in ["", "config"] {
            check(
                &[("XDG_CONFIG_HOME", nothing)],
                home,
                Some("/home/ada/.config/acp/config.toml"),
            );
        }
        check(&[], None, None);
        check(&[], Some("ada"), None);
    }

    #[test]
    fn the_nearest_file_up_to_the_root_of_the_repository_counts() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        let inner = top.join("repository/a/b");
        std::fs::create_dir_all(&inner).unwrap();
        let write = |folder: &str| std::fs::write(top.join(folder).join(PROJECT_FILE), "").unwrap();
        write("");
        // Outside of a repository only the folder itself.
        assert_eq!(project_file(&inner), None);
        assert_eq!(project_file(top), Some(top.join(PROJECT_FILE)));
        std::fs::create_dir(top.join("repository/.git")).unwrap();
        assert_eq!(project_file(&inner), None);
        write("repository");
        let at_root = top.join("repository").join(PROJECT_FILE);
        assert_eq!(project_file(&inner), Some(at_root));
        write("repository/a");
        let nearer = top.join("repository/a").join(PROJECT_FILE);
        assert_eq!(project_file(&inner), Some(nearer));
    }
}
