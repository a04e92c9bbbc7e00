//! Files an agent reads and writes through its client.

mod lines;
mod read;
mod workspace;
mod write;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use acp_protocol::v1::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};

pub use workspace::{FolderFiles, MissingFiles, WorkspaceFiles};

use crate::error::ServeError;
use crate::folders::SessionFolders;

/// Serves `fs/read_text_file`.
///
/// Requests reach it only for sessions that are open, with an absolute path without `.`,
/// `..` and double separators, and a line number, if any, of at least 1.
pub trait ReadFiles: Send + Sync + 'static {
    /// Reads a text file, or the lines asked for.
    ///
    /// The future is dropped when the agent takes its request back, the turn is
    /// cancelled or the session ends.
    ///
    /// # Errors
    ///
    /// A [`ServeError`], which says what the agent is told.
    fn read(
        &self,
        request: ReadTextFileRequest,
    ) -> impl Future<Output = Result<ReadTextFileResponse, ServeError>> + Send;
}

/// Serves `fs/write_text_file`.
///
/// Requests reach it only for sessions that are open, with an absolute path without `.`,
/// `..` and double separators.
pub trait WriteFiles: Send + Sync + 'static {
    /// Writes a text file, and creates it when it does not exist (R145).
    ///
    /// The future is dropped as that of [`ReadFiles::read`].
    ///
    /// # Errors
    ///
    /// A [`ServeError`], which says what the agent is told.
    fn write(
        &self,
        request: WriteTextFileRequest,
    ) -> impl Future<Output = Result<WriteTextFileResponse, ServeError>> + Send;
}

/// Gives each session files of its own.
///
/// What it opens is dropped when the session ends.
pub trait OpenFiles: Send + Sync + 'static {
    /// Serves one session.
    type Files: ReadFiles + WriteFiles;

    /// Opens the files of a session that works in these folders, before the agent
    /// hears of the session.
    fn open(&self, folders: &SessionFolders) -> impl Future<Output = Self::Files> + Send;
}

type Boxed<'a, T> = Pin<Box<dyn Future<Output = Result<T, ServeError>> + Send + 'a>>;

/// [`ReadFiles`] behind a pointer.
pub(crate) trait DynReadFiles: Send + Sync + 'static {
    fn read_boxed(&self, request: ReadTextFileRequest) -> Boxed<'_, ReadTextFileResponse>;
}

impl<T: ReadFiles> DynReadFiles for T {
    fn read_boxed(&self, request: ReadTextFileRequest) -> Boxed<'_, ReadTextFileResponse> {
        Box::pin(self.read(request))
    }
}

/// [`WriteFiles`] behind a pointer.
pub(crate) trait DynWriteFiles: Send + Sync + 'static {
    fn write_boxed(&self, request: WriteTextFileRequest) -> Boxed<'_, WriteTextFileResponse>;
}

impl<T: WriteFiles> DynWriteFiles for T {
    fn write_boxed(&self, request: WriteTextFileRequest) -> Boxed<'_, WriteTextFileResponse> {
        Box::pin(self.write(request))
    }
}

/// The files of one session, to read and to write.
pub(crate) type OpenedFiles = (Arc<dyn DynReadFiles>, Arc<dyn DynWriteFiles>);

/// [`OpenFiles`] behind a pointer.
pub(crate) trait DynOpenFiles: Send + Sync + 'static {
    fn open_boxed<'a>(
        &'a self,
        folders: &'a SessionFolders,
    ) -> Pin<Box<dyn Future<Output = OpenedFiles> + Send + 'a>>;
}

impl<T: OpenFiles> DynOpenFiles for T {
    fn open_boxed<'a>(
        &'a self,
        folders: &'a SessionFolders,
    ) -> Pin<Box<dyn Future<Output = OpenedFiles> + Send + 'a>> {
        Box::pin(async move {
            let files = Arc::new(self.open(folders).await);
            (Arc::clone(&files) as _, files as _)
        })
    }
}
