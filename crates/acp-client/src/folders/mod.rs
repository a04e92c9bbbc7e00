//! The folders a session works in.

mod links;
mod roots;

use std::path::{Component, Path, PathBuf};

use acp_protocol::rpc::Fault;

pub(crate) use roots::{FolderPath, Roots, SharedRoots, explain, may_be_misspelled};

/// The folders a session works in: its working directory, and others if it was
/// given any.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionFolders {
    cwd: PathBuf,
    additional: Vec<PathBuf>,
}

impl SessionFolders {
    /// Names the folders of a session that works in `cwd`, an absolute path.
    #[must_use]
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self {
            cwd: cwd.into(),
            additional: Vec::new(),
        }
    }

    /// Adds folders, absolute paths.
    #[must_use]
    pub fn with_additional<P: Into<PathBuf>>(
        mut self,
        folders: impl IntoIterator<Item = P>,
    ) -> Self {
        self.additional.extend(folders.into_iter().map(Into::into));
        self
    }

    /// Returns the working directory.
    #[must_use]
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// Walks over all of them, the working directory first.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        let additional = self.additional.iter().map(PathBuf::as_path);
        std::iter::once(self.cwd()).chain(additional)
    }
}

/// Checks a path as an agent names it, before it is looked at.
pub(crate) fn check_path(text: &str) -> Result<(), Fault> {
    let path = Path::new(text);
    let clean = path
        .components()
        .all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
    if path.is_absolute() && clean && !text.contains('\0') {
        Ok(())
    } else {
        Err(Fault::invalid_params(
            "the path must be absolute and without `..`",
        ))
    }
}
