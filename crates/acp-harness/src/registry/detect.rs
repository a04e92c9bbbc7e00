//! Which programs of agents are there.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use super::AgentEntry;
use crate::limits::MAX_SEARCH_PATHS;

/// The programs of one agent, as clean absolute paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    command: PathBuf,
    all: BTreeMap<String, PathBuf>,
}

impl Programs {
    /// Returns the path of the command.
    #[must_use]
    pub fn command(&self) -> &Path {
        &self.command
    }

    /// Returns the path of a program by the name that the entry gives it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Path> {
        self.all.get(name).map(PathBuf::as_path)
    }
}

/// Programs of an agent are not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "find {} for {agent} in {search_path:?}{}",
    .missing.join(" and "),
    hint(.install)
)]
pub struct NotInstalled {
    /// The agent.
    pub agent: String,
    /// The programs that are missing.
    pub missing: Vec<String>,
    /// Where they were looked for.
    pub search_path: OsString,
    /// How the agent is installed.
    pub install: String,
}

fn hint(install: &str) -> String {
    if install.is_empty() {
        String::new()
    } else {
        format!("; to install it: {install}")
    }
}

/// Finds programs, and remembers what it found by the value of the search path.
#[derive(Debug, Default)]
pub(super) struct Finder {
    /// The oldest first.
    memory: Mutex<VecDeque<(OsString, Found)>>,
}

/// What each program name led to.
type Found = BTreeMap<String, Option<PathBuf>>;

impl Finder {
    pub(super) fn find(
        &self,
        entry: &AgentEntry,
        search_path: &OsStr,
    ) -> Result<Programs, NotInstalled> {
        let mut all = BTreeMap::new();
        let mut missing = Vec::new();
        for name in entry.programs() {
            match self.program(name, search_path) {
                Some(path) => {
                    all.insert(name.to_owned(), path);
                }
                None => missing.push(name.to_owned()),
            }
        }
        match all.get(&entry.command) {
            Some(command) if missing.is_empty() => Ok(Programs {
                command: command.clone(),
                all,
            }),
            _ => Err(NotInstalled {
                agent: entry.name.clone(),
                missing,
                search_path: search_path.to_owned(),
                install: entry.install.clone(),
            }),
        }
    }

    pub(super) fn forget(&self) {
        self.memory.lock().clear();
    }

    fn program(&self, name: &str, search_path: &OsStr) -> Option<PathBuf> {
        if let Some(known) = self.with_found(search_path, |found| found.get(name).cloned()) {
            return known;
        }
        // Disks may be slow: nobody waits for this one but who asked.
        let path = find_program(name, search_path);
        self.with_found(search_path, |found| {
            found.insert(name.to_owned(), path.clone());
        });
        path
    }

    /// Works with what was found in a search path.
    fn with_found<T>(&self, search_path: &OsStr, work: impl FnOnce(&mut Found) -> T) -> T {
        let mut memory = self.memory.lock();
        let place = memory.iter().position(|(path, _)| path == search_path);
        let place = place.unwrap_or_else(|| {
            if memory.len() >= MAX_SEARCH_PATHS {
                memory.pop_front();
            }
            memory.push_back((search_path.to_owned(), Found::new()));
            memory.len() - 1
        });
        work(&mut memory[place].1)
    }
}

/// Finds a program that this process may execute, by its absolute path or by its name in a
/// search path, the value of a `PATH`. Parts of it that are relative are left out, and so
/// is a name with a slash in it: what depends on where one stands is nobody's place for
/// programs.
#[must_use]
pub fn find_program(name: &str, search_path: &OsStr) -> Option<PathBuf> {
    let path = Path::new(name);
    if path.is_absolute() {
        return spelled_out(&which::which_in(path, None::<&OsStr>, "/").ok()?);
    }
    if name.contains(std::path::is_separator) {
        return None;
    }
    which::which_in_global(name, Some(search_path))
        .ok()?
        .filter(|path| path.is_absolute())
        .find_map(|path| spelled_out(&path))
}

/// Makes a path clean. The file keeps its name: programs look at what they are called by,
/// also when that is a link.
fn spelled_out(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?.canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use tempfile::TempDir;

    /// A folder with these programs; a name with `!` behind is no program.
    fn folder(names: &[&str]) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in names {
            let path = dir.path().join(name.trim_end_matches('!'));
            std::fs::write(&path, "#!/bin/sh\n").unwrap();
            let mode = if name.ends_with('!') { 0o644 } else { 0o755 };
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        }
        dir
    }

    fn search_path(folders: &[&Path]) -> OsString {
        std::env::join_paths(folders).unwrap()
    }

    fn agent() -> AgentEntry {
        let mut agent = AgentEntry::new("ada", "runner");
        agent.requires = vec!["ada".to_owned()];
        agent.install = "get ada".to_owned();
        agent
    }

    #[test]
    fn every_program_is_found_where_it_comes_first() {
        let (one, two) = (folder(&["runner", "ada!"]), folder(&["ada", "runner"]));
        let path = search_path(&[one.path(), two.path()]);
        let programs = Finder::default().find(&agent(), &path).unwrap();
        let real = |dir: &TempDir, name| dir.path().canonicalize().unwrap().join(name);
        assert_eq!(programs.command(), real(&one, "runner"));
        assert_eq!(programs.get("ada"), Some(&*real(&two, "ada")));
        assert_eq!(programs.get("other"), None);
    }

    #[test]
    fn what_is_missing_is_told_with_what_to_do() {
        let dir = folder(&["runner", "ada!"]);
        std::fs::create_dir(dir.path().join("eve")).unwrap();
        let path = search_path(&[dir.path()]);
        let mut agent = agent();
        agent.requires.push("eve".to_owned());
        let error = Finder::default().find(&agent, &path).unwrap_err();
        assert_eq!(error.missing, ["ada", "eve"]);
        let expected = format!("find ada and eve for ada in {path:?}; to install it: get ada");
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn a_path_is_remembered_until_it_is_forgotten() {
        let dir = folder(&["runner"]);
        let path = search_path(&[dir.path()]);
        let finder = Finder::default();
        assert!(finder.find(&agent(), &path).is_err());
        let later = folder(&["runner", "ada"]);
        std::fs::rename(later.path().join("ada"), dir.path().join("ada")).unwrap();
        assert!(finder.find(&agent(), &path).is_err());
        // The same folder by another value of the path is looked at anew.
        let other = search_path(&[dir.path(), later.path()]);
        assert!(finder.find(&agent(), &other).is_ok());
        finder.forget();
        assert!(finder.find(&agent(), &path).is_ok());
    }

    #[test]
    fn few_paths_are_remembered() {
        let finder = Finder::default();
        for n in 0..100 {
            let path = OsString::from(format!("/no/such/{n}"));
            assert!(finder.find(&agent(), &path).is_err());
        }
        let memory = finder.memory.lock();
        assert_eq!(memory.len(), MAX_SEARCH_PATHS);
        assert_eq!(memory.back().unwrap().0, "/no/such/99");
    }

    #[test]
    fn absolute_commands_need_no_path() {
        let dir = folder(&["runner", "plain!"]);
        let real = dir.path().canonicalize().unwrap();
        let of = |name: &str| AgentEntry::new("ada", real.join(name).to_str().unwrap());
        let finder = Finder::default();
        let found = finder.find(&of("runner"), OsStr::new("")).unwrap();
        assert_eq!(found.command(), real.join("runner"));
        assert!(finder.find(&of("plain"), OsStr::new("")).is_err());
        assert!(finder.find(&of("none"), OsStr::new("")).is_err());
    }

    #[test]
    fn relative_folders_are_passed_over_and_crooked_ones_made_straight() {
        let dir = folder(&["sh"]);
        let real = dir.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("sub")).unwrap();
        symlink(real.join("sh"), real.join("sub/ada")).unwrap();
        let crooked = format!("::.:..:{}/sub//../sub/", real.display());
        let agent = AgentEntry::new("ada", "ada");
        let finder = Finder::default();
        let found = finder.find(&agent, OsStr::new(&crooked)).unwrap();
        assert_eq!(found.command(), real.join("sub/ada"));
        let here = AgentEntry::new("ada", "Cargo.toml");
        assert!(finder.find(&here, OsStr::new(".:")).is_err());
    }
}
