//! A folder with a workspace in it, and short words for its files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use acp_client::{
    FolderFiles, OpenFiles, ReadFiles, ServeError, SessionFolders, WorkspaceFiles, WriteFiles,
};
use acp_protocol::v1::{ReadTextFileRequest, WriteTextFileRequest};
use tempfile::TempDir;

/// `ws/app` is the workspace; `ws/app-evil` and `out` are not.
pub(crate) struct Tree {
    dir: TempDir,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let tree = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        for folder in ["ws/app/src", "ws/app-evil", "out"] {
            fs::create_dir_all(tree.at(folder)).unwrap();
        }
        for (file, text) in [
            ("ws/app/src/main.rs", "inside"),
            ("ws/app-evil/x", "SECRET"),
            ("out/x", "SECRET"),
        ] {
            tree.put(file, text);
        }
        tree
    }

    pub(crate) fn at(&self, below: &str) -> PathBuf {
        // The real name: on some systems the folder for such things is behind a link.
        self.dir.path().canonicalize().unwrap().join(below)
    }

    pub(crate) fn put(&self, below: &str, text: impl AsRef<[u8]>) {
        fs::write(self.at(below), text).unwrap();
    }

    pub(crate) fn text(&self, below: &str) -> String {
        fs::read_to_string(self.at(below)).unwrap()
    }

    /// Makes a link; the target is taken as it is.
    pub(crate) fn link(&self, below: &str, target: impl AsRef<Path>) {
        symlink(target, self.at(below)).unwrap();
    }

    /// The names in a folder, in order.
    pub(crate) fn names(&self, below: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(below)).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    pub(crate) async fn files(&self) -> Files {
        self.files_by(WorkspaceFiles::new()).await
    }

    pub(crate) async fn files_by(&self, files: WorkspaceFiles) -> Files {
        Files::open(&files, &SessionFolders::new(self.at("ws/app"))).await
    }

    /// Checks that nothing outside was touched.
    pub(crate) fn check_outside(&self) {
        assert_eq!(self.names("out"), ["x"]);
        assert_eq!(self.names("ws/app-evil"), ["x"]);
        assert_eq!(self.text("out/x"), "SECRET");
        assert_eq!(self.text("ws/app-evil/x"), "SECRET");
    }
}

pub(crate) struct Files(FolderFiles);

impl Files {
    pub(crate) async fn open(files: &WorkspaceFiles, folders: &SessionFolders) -> Self {
        Self(files.open(folders).await)
    }

    pub(crate) async fn read(&self, path: impl AsRef<Path>) -> Result<String, String> {
        self.lines(path, None, None).await
    }

    pub(crate) async fn lines(
        &self,
        path: impl AsRef<Path>,
        line: impl Into<Option<u32>>,
        limit: impl Into<Option<u32>>,
    ) -> Result<String, String> {
        let mut request = ReadTextFileRequest::new("s", path.as_ref().to_str().unwrap());
        (request.line, request.limit) = (line.into(), limit.into());
        let answer = self.0.read(request).await;
        answer.map(|answer| answer.content).map_err(brief)
    }

    pub(crate) async fn write(&self, path: impl AsRef<Path>, text: &str) -> Result<(), String> {
        let path = path.as_ref().to_str().unwrap();
        let answer = self
            .0
            .write(WriteTextFileRequest::new("s", path, text))
            .await;
        answer.map(drop).map_err(brief)
    }
}

fn brief(error: ServeError) -> String {
    match error {
        ServeError::NotFound { .. } => "not found".to_owned(),
        ServeError::OutsideRoots { .. } => "outside".to_owned(),
        ServeError::DanglingLink { .. } => "dangling".to_owned(),
        ServeError::NotAFile { .. } => "no file".to_owned(),
        ServeError::NotText { .. } => "no text".to_owned(),
        ServeError::TooLarge { limit, .. } => format!("more than {limit}"),
        ServeError::Protected(found) => format!("protected: {}", found.reason),
        ServeError::Denied => "denied".to_owned(),
        other => format!("{other:?}"),
    }
}

pub(crate) fn ok(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

pub(crate) fn refused<T>(why: &str) -> Result<T, String> {
    Err(why.to_owned())
}
