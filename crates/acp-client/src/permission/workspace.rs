//! Whether a path lies inside the folders a session works in.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use crate::folders::SessionFolders;

/// The folders a session works in, as a permission policy sees them.
///
/// It answers one question about paths an agent *names*. It opens nothing and
/// holds nothing: between the answer and the deed a link can change, so this is
/// consent, not a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    folders: SessionFolders,
}

impl Workspace {
    /// Creates a workspace over folders, which should be absolute. A path is one.
    #[must_use]
    pub fn new(folders: impl Into<SessionFolders>) -> Self {
        Self {
            folders: folders.into(),
        }
    }

    /// Returns the folders as they were given.
    #[must_use]
    pub fn folders(&self) -> &SessionFolders {
        &self.folders
    }

    /// Tells whether `path` names something below one of the folders.
    ///
    /// It must be absolute and free of `..`, lie below a folder as spelled (by the given
    /// or the resolved name of the folder), and still lie below one of them after the
    /// symbolic links of its existing part are followed. The folders themselves are not
    /// inside, nor is what cannot be looked at.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        let plain =
            path.is_absolute() && !path.components().any(|part| part == Component::ParentDir);
        if !plain {
            return false;
        }
        let real = |folder: &Path| folder.canonicalize().ok();
        let roots = self.folders.iter();
        let roots: Vec<_> = roots.filter_map(|root| Some((root, real(root)?))).collect();
        let is_named =
            |(given, real): &(&Path, PathBuf)| is_below(path, given) || is_below(path, real);
        roots.iter().any(is_named)
            && resolve(path).is_some_and(|path| roots.iter().any(|(_, real)| is_below(&path, real)))
    }
}

fn is_below(path: &Path, root: &Path) -> bool {
    path.strip_prefix(root)
        .is_ok_and(|rest| rest.components().next().is_some())
}

/// Follows the links of the longest existing prefix and appends the rest.
///
/// `None` when a link dangles, loops or may not be read.
fn resolve(path: &Path) -> Option<PathBuf> {
    let mut prefix = path.to_path_buf();
    let mut missing: Vec<OsString> = Vec::new();
    loop {
        match prefix.canonicalize() {
            Ok(mut real) => {
                real.extend(missing.iter().rev());
                return Some(real);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // There, yet not to be followed: a link to nowhere. Who writes
                // through it creates a file that we have not judged.
                if prefix.symlink_metadata().is_ok() {
                    return None;
                }
                missing.push(prefix.file_name()?.to_os_string());
                prefix.pop();
            }
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    struct Tree {
        dir: tempfile::TempDir,
    }

    impl Tree {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let tree = Self { dir };
            fs::create_dir_all(tree.path("ws/app/src")).unwrap();
            fs::create_dir_all(tree.path("ws/app-evil")).unwrap();
            fs::create_dir_all(tree.path("outside")).unwrap();
            fs::write(tree.path("ws/app/src/main.rs"), "").unwrap();
            tree
        }

        fn path(&self, below: &str) -> PathBuf {
            self.dir.path().join(below)
        }

        fn holds(&self, below: &str) -> bool {
            Workspace::new(self.path("ws/app")).holds(&self.path(below))
        }
    }

    #[test]
    fn what_is_spelled_below_the_root_is_inside() {
        let tree = Tree::new();
        assert!(tree.holds("ws/app/src/main.rs"));
        assert!(
            tree.holds("ws/app/src/new/deep/file.rs"),
            "need not exist yet"
        );
        assert!(tree.holds("ws/app/./src/main.rs"));
        assert!(tree.holds("ws/app//src/main.rs"));
    }

    #[test]
    fn what_is_beside_above_or_the_root_itself_is_outside() {
        let tree = Tree::new();
        for path in [
            "ws/app",
            "ws/app/",
            "ws",
            "ws/app-evil/x",
            "outside/x",
            "ws/app/../app/x",
        ] {
            assert!(!tree.holds(path), "{path}");
        }
        let workspace = Workspace::new(tree.path("ws/app"));
        assert!(
            !workspace.holds(Path::new("src/main.rs")),
            "relative to what?"
        );
        assert!(!workspace.holds(Path::new("")));
        assert!(!workspace.holds(Path::new("/")));
    }

    #[test]
    fn a_root_that_does_not_exist_holds_nothing() {
        let tree = Tree::new();
        let workspace = Workspace::new(tree.path("gone"));
        assert!(!workspace.holds(&tree.path("gone/file")));
    }

    #[test]
    fn every_folder_of_a_session_counts() {
        let tree = Tree::new();
        let folders = SessionFolders::new(tree.path("ws/app"))
            .with_additional([tree.path("gone"), tree.path("outside")]);
        let workspace = Workspace::new(folders);
        for path in ["ws/app/src/main.rs", "outside/new.rs"] {
            assert!(workspace.holds(&tree.path(path)), "{path}");
        }
        for path in ["outside", "ws/app-evil/x", "gone/x", "outside/../ws/x"] {
            assert!(!workspace.holds(&tree.path(path)), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_may_lead_from_folder_to_folder() {
        let tree = Tree::new();
        std::os::unix::fs::symlink(tree.path("outside"), tree.path("ws/app/out")).unwrap();
        let one = Workspace::new(tree.path("ws/app"));
        let folders = SessionFolders::new(tree.path("ws/app"));
        let both = Workspace::new(folders.with_additional([tree.path("outside")]));
        let path = tree.path("ws/app/out/x");
        assert!(!one.holds(&path) && both.holds(&path));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_before_judging() {
        use std::os::unix::fs::symlink;
        let tree = Tree::new();
        symlink(tree.path("outside"), tree.path("ws/app/out")).unwrap();
        symlink(tree.path("ws/app/src"), tree.path("ws/app/in")).unwrap();
        symlink(tree.path("outside/later"), tree.path("ws/app/dangling")).unwrap();
        symlink(tree.path("ws/app/loop"), tree.path("ws/app/loop")).unwrap();
        assert!(tree.holds("ws/app/in/main.rs"));
        assert!(tree.holds("ws/app/in/new.rs"));
        assert!(!tree.holds("ws/app/out/x"));
        assert!(!tree.holds("ws/app/out"));
        assert!(!tree.holds("ws/app/dangling"));
        assert!(!tree.holds("ws/app/loop"));
        assert!(!tree.holds("ws/app/src/main.rs/below-a-file"));
    }

    #[cfg(unix)]
    #[test]
    fn the_root_may_be_spelled_through_a_link() {
        let tree = Tree::new();
        std::os::unix::fs::symlink(tree.path("ws"), tree.path("link")).unwrap();
        let linked = Workspace::new(tree.path("link/app"));
        assert!(linked.holds(&tree.path("link/app/src/main.rs")));
        assert!(linked.holds(&tree.path("ws/app/src/main.rs").canonicalize().unwrap()));
        assert!(!linked.holds(&tree.path("link/app-evil/x")));
    }
}
