//! Follows symbolic links from root to root.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::roots::{FolderPath, Root, Roots, explain, outside};
use crate::error::ServeError;

/// Links followed for one path: as many as Linux follows.
const MAX_LINKS: usize = 40;

/// Where a path leads.
#[derive(Debug)]
pub(crate) struct Resolved<'a> {
    /// A place that had no link on the way to it, a moment ago.
    pub(crate) place: FolderPath<'a>,
    /// Whether there was something.
    pub(crate) exists: bool,
}

impl Roots {
    /// Follows the links in a path as long as they lead into a root, this one or
    /// another, whether they are relative or absolute. Blocks.
    ///
    /// It gives a spelling and no right: the place is opened by calls that do not
    /// leave the root, so a link that is put in the way meanwhile leads nowhere.
    ///
    /// # Errors
    ///
    /// [`ServeError::OutsideRoots`] when a link leads out,
    /// [`ServeError::DanglingLink`] when one leads to nothing, or in circles.
    pub(crate) fn resolve(&self, path: &Path) -> Result<Resolved<'_>, ServeError> {
        let (root, below) = self.spelled(path).ok_or_else(|| outside(path))?;
        let mut walk = Walk {
            roots: self,
            root,
            done: PathBuf::new(),
            todo: parts(&below),
            from_link: 0,
            links: 0,
        };
        walk.run(path)
    }
}

struct Walk<'a> {
    roots: &'a Roots,
    root: &'a Root,
    /// Below the root, and looked at: no links.
    done: PathBuf,
    todo: VecDeque<OsString>,
    /// How many of the first parts to do were named by a link.
    from_link: usize,
    links: usize,
}

impl<'a> Walk<'a> {
    fn run(&mut self, path: &Path) -> Result<Resolved<'a>, ServeError> {
        while let Some(part) = self.todo.pop_front() {
            let by_link = self.from_link > 0;
            self.from_link = self.from_link.saturating_sub(1);
            if part == ".." {
                if !self.done.pop() {
                    self.leave(path)?;
                }
                continue;
            }
            let next = self.done.join(&part);
            match self.root.dir.symlink_metadata(&next) {
                Ok(metadata) if metadata.is_symlink() => {
                    self.links += 1;
                    if self.links > MAX_LINKS {
                        return Err(dangling(path));
                    }
                    match self.root.dir.read_link_contents(&next) {
                        Ok(target) => self.follow(&target, path)?,
                        // It is none any more: looked at again.
                        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
                            self.todo.push_front(part);
                            self.from_link += usize::from(by_link);
                        }
                        Err(error) => return Err(explain(path, error)),
                    }
                }
                Ok(_) => self.done = next,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if by_link || self.todo.iter().any(|part| part == "..") {
                        return Err(dangling(path));
                    }
                    let mut below = next;
                    below.extend(self.todo.drain(..));
                    return Ok(self.found(below, false));
                }
                Err(error) => return Err(explain(path, error)),
            }
        }
        let below = std::mem::take(&mut self.done);
        Ok(self.found(below, true))
    }

    fn found(&self, below: PathBuf, exists: bool) -> Resolved<'a> {
        let (dir, root) = (&self.root.dir, &self.root.real);
        Resolved {
            place: FolderPath { dir, root, below },
            exists,
        }
    }

    /// Goes on with what a link names.
    fn follow(&mut self, target: &Path, path: &Path) -> Result<(), ServeError> {
        if target.is_absolute() {
            return self.enter(target, path);
        }
        let target = parts(target);
        self.from_link += target.len();
        for part in target.into_iter().rev() {
            self.todo.push_front(part);
        }
        Ok(())
    }

    /// Steps above the root, whose real name is known.
    fn leave(&mut self, path: &Path) -> Result<(), ServeError> {
        let mut outside = self.root.real.clone();
        outside.pop();
        while self.from_link > 0 && self.todo.front().is_some_and(|part| part == "..") {
            self.todo.pop_front();
            self.from_link -= 1;
            outside.pop();
        }
        outside.extend(self.todo.drain(..self.from_link));
        self.from_link = 0;
        self.enter(&outside, path)
    }

    /// Goes on at an absolute path, which must be spelled below a root: what lies
    /// between is not looked at.
    fn enter(&mut self, target: &Path, path: &Path) -> Result<(), ServeError> {
        let (root, below) = self.roots.spelled(target).ok_or_else(|| outside(path))?;
        self.root = root;
        self.done.clear();
        let below = parts(&below);
        self.from_link += below.len();
        for part in below.into_iter().rev() {
            self.todo.push_front(part);
        }
        Ok(())
    }
}

/// The parts of a path; `.` is none.
fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

fn dangling(path: &Path) -> ServeError {
    ServeError::DanglingLink {
        path: path.to_path_buf(),
    }
}
