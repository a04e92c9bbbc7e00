//! The folders of a session as open directories.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use parking_lot::Mutex;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::SessionFolders;
use crate::error::ServeError;
use crate::limits::FOLDERS_TIMEOUT;

/// The folders of a session, opened once.
///
/// What is opened below them stays below them, whatever becomes of the paths that
/// led to them, and of the links inside: paths are only ever opened relative to
/// these directories, by calls that refuse to leave them. A folder that cannot be
/// opened holds nothing.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    roots: Vec<Root>,
}

#[derive(Debug)]
pub(super) struct Root {
    /// As the session names it.
    pub(super) given: PathBuf,
    /// Without links.
    pub(super) real: PathBuf,
    pub(super) dir: Dir,
}

/// A place below a root, which need not exist.
#[derive(Debug)]
pub(crate) struct FolderPath<'a> {
    /// The root.
    pub(crate) dir: &'a Dir,
    /// Its name without links.
    pub(crate) root: &'a Path,
    /// The way from there, without `..`; empty for the root itself.
    pub(crate) below: PathBuf,
}

impl Roots {
    /// Opens what can be opened. Blocks.
    pub(crate) fn open(folders: &SessionFolders) -> Self {
        let open = |folder: &Path| match Root::open(folder) {
            Ok(root) => Some(root),
            Err(error) => {
                tracing::warn!(folder = %folder.display(), error = &error as &dyn std::error::Error, "a folder of the session cannot be used");
                None
            }
        };
        Self {
            roots: folders.iter().filter_map(open).collect(),
        }
    }

    /// Finds the root below which a path is spelled, by its given or its real name,
    /// and of several the innermost. Looks at no file.
    pub(crate) fn place(&self, path: &Path) -> Result<FolderPath<'_>, ServeError> {
        let (root, below) = self.spelled(path).ok_or_else(|| outside(path))?;
        Ok(FolderPath {
            dir: &root.dir,
            root: &root.real,
            below,
        })
    }

    /// Opens a directory below a root, for a command to start in.
    pub(crate) fn open_dir(&self, path: &Path) -> Result<Dir, ServeError> {
        let open = |place: FolderPath<'_>| match place.below.as_os_str().is_empty() {
            // To be searched, not only to be passed on.
            true => place.dir.open_dir("."),
            false => place.dir.open_dir(&place.below),
        };
        let opened = match open(self.place(path)?) {
            Err(error) if may_be_misspelled(&error) => open(self.resolve(path)?.place),
            opened => opened,
        };
        opened.map_err(|error| explain(path, error))
    }

    pub(super) fn spelled(&self, path: &Path) -> Option<(&Root, PathBuf)> {
        let spellings = self
            .roots
            .iter()
            .flat_map(|root| [(root, &root.given), (root, &root.real)]);
        spellings
            .filter_map(|(root, name)| Some((root, name, path.strip_prefix(name).ok()?)))
            .max_by_key(|(_, name, _)| name.components().count())
            .map(|(root, _, below)| (root, below.to_path_buf()))
    }

    /// Tells whether the names of the folders still lead to what was opened.
    #[cfg(unix)]
    fn is_current(&self, folders: &SessionFolders) -> bool {
        use std::os::unix::fs::MetadataExt as _;

        use cap_std::fs::MetadataExt as _;

        let current = |root: &Root| {
            let (Ok(now), Ok(opened)) = (root.given.metadata(), root.dir.dir_metadata()) else {
                return false;
            };
            (now.dev(), now.ino()) == (opened.dev(), opened.ino())
        };
        self.roots.len() == folders.iter().count() && self.roots.iter().all(current)
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "the twin uses it")]
    fn is_current(&self, _: &SessionFolders) -> bool {
        false
    }
}

impl Root {
    fn open(folder: &Path) -> io::Result<Self> {
        if !folder.is_absolute() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Self {
            dir: Dir::open_ambient_dir(folder, ambient_authority())?,
            real: folder.canonicalize()?,
            given: folder.components().collect(),
        })
    }
}

/// Roots that several sessions share, so that a thousand sessions in one folder
/// take one descriptor.
///
/// It keeps none of them open.
#[derive(Debug, Default)]
pub(crate) struct SharedRoots {
    opened: Mutex<HashMap<SessionFolders, Weak<Roots>>>,
}

impl SharedRoots {
    /// Opens the folders, or takes what another session has open.
    ///
    /// Folders that do not answer hold nothing.
    pub(crate) async fn open(self: &Arc<Self>, folders: &SessionFolders) -> Arc<Roots> {
        let (shared, named) = (Arc::clone(self), folders.clone());
        let opening = spawn_blocking(move || shared.open_now(&named));
        match timeout(FOLDERS_TIMEOUT, opening).await {
            Ok(Ok(roots)) => roots,
            Ok(Err(_)) | Err(_) => {
                tracing::warn!(folder = %folders.cwd().display(), "the folders of a session do not open");
                Arc::default()
            }
        }
    }

    /// Blocks, without the lock: one folder that does not answer stops no other.
    fn open_now(&self, folders: &SessionFolders) -> Arc<Roots> {
        let known = self.opened.lock().get(folders).and_then(Weak::upgrade);
        if let Some(roots) = known.filter(|roots| roots.is_current(folders)) {
            return roots;
        }
        let roots = Arc::new(Roots::open(folders));
        let mut opened = self.opened.lock();
        opened.retain(|_, roots| roots.strong_count() > 0);
        opened.insert(folders.clone(), Arc::downgrade(&roots));
        roots
    }
}

/// Tells whether a path may only have been spelled in a way that a look at its links
/// puts right.
pub(crate) fn may_be_misspelled(error: &io::Error) -> bool {
    is_escape(error) || error.kind() == io::ErrorKind::NotFound || is_loop(error)
}

/// Says to the agent what went wrong with a path.
pub(crate) fn explain(path: &Path, error: io::Error) -> ServeError {
    let named = || path.to_path_buf();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            ServeError::NotFound { path: named() }
        }
        io::ErrorKind::InvalidFilename => ServeError::NotFound { path: named() },
        io::ErrorKind::IsADirectory => ServeError::NotAFile { path: named() },
        _ if is_escape(&error) || is_loop(&error) => outside(path),
        _ => ServeError::Io(error),
    }
}

pub(crate) fn outside(path: &Path) -> ServeError {
    ServeError::OutsideRoots {
        path: path.to_path_buf(),
    }
}

/// A path that led out of its root: the one error of this kind that does not come
/// from the system.
fn is_escape(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(_: &io::Error) -> bool {
    false
}
