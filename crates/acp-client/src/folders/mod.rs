//! The folders a session works in.

mod links;
mod roots;

use std::path::{Path, PathBuf, is_separator};

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
    let clean = text
        .split(is_separator)
        .all(|part| !matches!(part, "." | ".."));
    if Path::new(text).is_absolute() && clean && !text.contains('\0') {
        Ok(())
    } else {
        Err(Fault::invalid_params(
            "the path must be absolute and without `.` and `..`",
        ))
    }
}

/// Checks the path of a file. One that ends in a slash names a folder: the system would
/// refuse it, and the file without the slash is another path than the one that was named.
pub(crate) fn check_file_path(text: &str) -> Result<(), Fault> {
    check_path(text)?;
    match text.ends_with(is_separator) {
        false => Ok(()),
        true => Err(Fault::invalid_params(
            "the path of a file must not end in a slash",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn paths_name_one_thing_in_one_way() {
        for good in ["/a", "/a/b.txt", "/a//b", "/...", "/a/.b"] {
            assert!(check_file_path(good).is_ok(), "{good}");
        }
        for bad in ["", "a", "./a", "/a/..", "/a/../b", "/a/.", "/./a", "/a\0"] {
            assert!(check_path(bad).is_err(), "{bad}");
        }
        for folder in ["/", "/a/", "/a//"] {
            assert!(check_path(folder).is_ok(), "{folder}");
            assert!(check_file_path(folder).is_err(), "{folder}");
        }
    }
}
