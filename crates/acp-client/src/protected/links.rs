//! Where a path leads: links of both kinds.

#[cfg(unix)]
use std::collections::HashMap;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::ProtectedPaths;

/// Links followed for one path: as many as Linux follows.
const MAX_LINKS: usize = 40;

/// Entries of protected folders that are compared with files of several names, for all paths
/// that are looked at together. A repository has some five hundred.
#[cfg(unix)]
const MAX_COMPARED: usize = 16 << 10;

/// Follows the symbolic links of a path, also to what is not there yet, and returns each
/// place on the way to the last, which is without links. A path that leads in circles
/// leads to nothing that can be written, and ends early.
pub(super) fn follow(path: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    let mut done = PathBuf::new();
    let mut todo: VecDeque<OsString> = parts(path);
    let mut links = 0;
    while let Some(part) = todo.pop_front() {
        if part == ".." {
            done.pop();
            continue;
        }
        let next = done.join(&part);
        let Ok(target) = next.read_link() else {
            done = next;
            continue;
        };
        links += 1;
        if links > MAX_LINKS {
            break;
        }
        if target.is_absolute() {
            done = PathBuf::new();
        }
        for part in parts(&target).into_iter().rev() {
            todo.push_front(part);
        }
        let rest = done.iter().map(OsString::from).chain(todo.iter().cloned());
        places.push(rest.collect());
    }
    places.push(done);
    places
}

/// The parts of a path, the root of an absolute one among them.
fn parts(path: &Path) -> VecDeque<OsString> {
    let parts = path.components();
    let named = parts.filter(|part| *part != Component::CurDir);
    named.map(|part| part.as_os_str().to_owned()).collect()
}

/// The files at the protected paths of folders, listed once for all paths that are looked at
/// together.
#[derive(Default)]
pub(super) struct OtherNames {
    /// Of each folder: its protected files, by device and number.
    #[cfg(unix)]
    folders: HashMap<PathBuf, HashMap<FileId, (PathBuf, &'static str)>>,
    #[cfg(unix)]
    compared: usize,
}

/// A file, by the number of its device and its own.
#[cfg(unix)]
type FileId = (u64, u64);

#[cfg(unix)]
impl OtherNames {
    /// Finds a protected path of the folder of work that is another name of this file.
    ///
    /// Most files have one name, and nothing is looked for. Where there is too much to
    /// compare, a file of several names counts as protected.
    pub(super) fn find(
        &mut self,
        path: &Path,
        cwd: Option<&Path>,
        protected: &ProtectedPaths,
    ) -> Option<(PathBuf, &'static str)> {
        use std::os::unix::fs::MetadataExt as _;

        let file = path
            .metadata()
            .ok()
            .filter(|file| file.is_file() && file.nlink() > 1)?;
        let id = (file.dev(), file.ino());
        // The folder of work, and the folders between it and the file: each may be a project.
        let folders = path.ancestors().skip(1);
        let folders = folders.take_while(|folder| cwd.is_none_or(|cwd| folder.starts_with(cwd)));
        for folder in cwd.into_iter().chain(folders) {
            if !self.folders.contains_key(folder) {
                let Some(files) = self.list(folder, protected) else {
                    return Some((path.to_owned(), "it has other names, too many to compare"));
                };
                self.folders.insert(folder.to_owned(), files);
            }
            if let Some(found) = self.folders[folder].get(&id) {
                return Some(found.clone());
            }
        }
        None
    }

    /// Lists the files at the protected paths of a folder; `None` when that is too much.
    fn list(
        &mut self,
        folder: &Path,
        protected: &ProtectedPaths,
    ) -> Option<HashMap<FileId, (PathBuf, &'static str)>> {
        use std::os::unix::fs::MetadataExt as _;

        let mut files = HashMap::new();
        for (name, reason) in protected.literal() {
            let mut places = vec![(folder.join(name), 0)];
            while let Some((place, depth)) = places.pop() {
                self.compared += 1;
                if self.compared > MAX_COMPARED {
                    return None;
                }
                let Ok(found) = place.symlink_metadata() else {
                    continue;
                };
                // Hooks and settings lie on top; below them are objects of git.
                if found.is_dir() && depth < 2 {
                    let entries = place.read_dir().into_iter().flatten().flatten();
                    let entries = entries.map(|entry| (entry.path(), depth + 1));
                    places.extend(entries.take(MAX_COMPARED));
                }
                let id = (found.dev(), found.ino());
                files.entry(id).or_insert((place, reason));
            }
        }
        Some(files)
    }
}

#[cfg(not(unix))]
impl OtherNames {
    pub(super) fn find(
        &mut self,
        _: &Path,
        _: Option<&Path>,
        _: &ProtectedPaths,
    ) -> Option<(PathBuf, &'static str)> {
        None
    }
}
