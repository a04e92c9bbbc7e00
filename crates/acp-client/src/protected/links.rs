//! Where a path leads: links of both kinds.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use super::ProtectedPaths;

/// Links followed for one path: as many as Linux follows.
const MAX_LINKS: usize = 40;

/// Entries of protected folders that are compared with a file of several names.
#[cfg(unix)]
const MAX_COMPARED: usize = 4096;

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

/// Finds a protected path of the folder of work that is another name of this file.
///
/// Most files have one name, and nothing is looked for. Where there is too much to
/// compare, a file of several names counts as protected.
#[cfg(unix)]
pub(super) fn other_name(
    path: &Path,
    cwd: Option<&Path>,
    protected: &ProtectedPaths,
) -> Option<(PathBuf, &'static str)> {
    use std::os::unix::fs::MetadataExt as _;

    let file = path
        .metadata()
        .ok()
        .filter(|file| file.is_file() && file.nlink() > 1)?;
    let same = |other: &Path| {
        let other = other.symlink_metadata();
        other.is_ok_and(|it| (it.dev(), it.ino()) == (file.dev(), file.ino()))
    };
    let mut compared = 0;
    // The folder of work, and the folders between it and the file: each may be a project.
    let folders = path.ancestors().skip(1);
    let folders = folders.take_while(|folder| cwd.is_none_or(|cwd| folder.starts_with(cwd)));
    let folders = cwd.into_iter().chain(folders);
    for folder in folders {
        for (name, reason) in protected.literal() {
            let mut folders = vec![(folder.join(name), 0)];
            while let Some((place, depth)) = folders.pop() {
                compared += 1;
                if compared > MAX_COMPARED {
                    return Some((path.to_owned(), "it has other names, too many to compare"));
                }
                if same(&place) {
                    return Some((place, reason));
                }
                // Hooks and settings lie on top; below them are objects of git.
                if depth < 2 && place.symlink_metadata().is_ok_and(|it| it.is_dir()) {
                    let entries = place.read_dir().into_iter().flatten().flatten();
                    let entries = entries.map(|entry| (entry.path(), depth + 1));
                    folders.extend(entries.take(MAX_COMPARED));
                }
            }
        }
    }
    None
}

#[cfg(not(unix))]
pub(super) fn other_name(
    _: &Path,
    _: Option<&Path>,
    _: &ProtectedPaths,
) -> Option<(PathBuf, &'static str)> {
    None
}
