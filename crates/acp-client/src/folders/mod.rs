//! The folders a session works in.

mod links;
mod roots;

use std::path::{Path, PathBuf, is_separator};

use acp_protocol::lenient::{self, Forgiven};
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

impl<P: Into<PathBuf>> From<P> for SessionFolders {
    fn from(cwd: P) -> Self {
        Self::new(cwd)
    }
}

/// Checks a path as an agent names it, before it is looked at, and takes out separators
/// that stand twice: of some agents, because they join a folder and a name.
///
/// # Errors
///
/// -32602 for one that is relative, or holds `.`, `..` or NUL: where that leads is not to
/// be seen from its text.
pub(crate) fn clean_path(member: &'static str, text: &mut String) -> Result<(), Fault> {
    let clean = text
        .split(is_separator)
        .all(|part| !matches!(part, "." | ".."));
    if !(Path::new(&*text).is_absolute() && clean && !text.contains('\0')) {
        return Err(Fault::invalid_params(format!(
            "{member}: expected an absolute path without `.` and `..`"
        )));
    }
    // Two at the beginning name a server on Windows, and something of the system's own on
    // others.
    let start = text.find(|c| !is_separator(c)).unwrap_or(text.len());
    let start = if cfg!(windows) { start } else { 0 };
    let mut rest = text.split_off(start);
    let (length, mut before) = (rest.len(), false);
    rest.retain(|c| {
        let follows = std::mem::replace(&mut before, is_separator(c));
        !(follows && before)
    });
    if rest.len() < length {
        lenient::report("request", member, Forgiven::Separator);
    }
    text.push_str(&rest);
    Ok(())
}

/// Checks the path of a file, as [`clean_path`]. One that ends in a slash names a folder:
/// the system would refuse it, and the file without the slash is another path than the one
/// that was named.
pub(crate) fn clean_file_path(member: &'static str, text: &mut String) -> Result<(), Fault> {
    clean_path(member, text)?;
    match text.ends_with(is_separator) {
        false => Ok(()),
        true => Err(Fault::invalid_params(format!(
            "{member}: the path of a file must not end in a slash"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn paths_name_one_thing_in_one_way() {
        let cleaned = |text: &str| {
            let mut text = text.to_owned();
            clean_path("path", &mut text).map(|()| text)
        };
        for (named, expected) in [
            ("/a", "/a"),
            ("/a/b.txt", "/a/b.txt"),
            ("/a//b", "/a/b"),
            ("//a///b//c.txt", "/a/b/c.txt"),
            ("/...", "/..."),
            ("/a/.b", "/a/.b"),
            ("/ä//ö", "/ä/ö"),
            ("/a//", "/a/"),
            ("/", "/"),
        ] {
            let ((), notes) = acp_protocol::lenient::collect(|| {
                assert_eq!(cleaned(named).unwrap(), expected);
            });
            assert_eq!(notes.is_empty(), named == expected, "{named}");
        }
        for bad in [
            "", "a", "./a", "/a/..", "/a/../b", "/a/.", "/./a", "/a/.//b", "/a\0",
        ] {
            let fault = cleaned(bad).unwrap_err();
            assert!(fault.message().starts_with("path: "), "{bad}: {fault}");
        }
        for folder in ["/", "/a/", "/a//"] {
            let mut named = folder.to_owned();
            assert!(clean_file_path("path", &mut named).is_err(), "{folder}");
        }
    }
}
