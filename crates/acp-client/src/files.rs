//! Files an agent reads and writes through its client.

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;

use acp_protocol::rpc::Fault;
use acp_protocol::v1::{
    ReadTextFileRequest, ReadTextFileResponse, WriteTextFileRequest, WriteTextFileResponse,
};

/// Serves `fs/read_text_file`.
///
/// Requests reach it only for sessions that are open, with an absolute path and a
/// line number, if any, of at least 1.
pub trait ReadFiles: Send + Sync + 'static {
    /// Reads a text file, or the lines asked for.
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
/// Requests reach it only for sessions that are open, with an absolute path.
pub trait WriteFiles: Send + Sync + 'static {
    /// Writes a text file, and creates it when it does not exist (R145).
    ///
    /// # Errors
    ///
    /// A [`ServeError`], which says what the agent is told.
    fn write(
        &self,
        request: WriteTextFileRequest,
    ) -> impl Future<Output = Result<WriteTextFileResponse, ServeError>> + Send;
}

/// Why serving a request of the agent did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// There is no such thing.
    #[error("find {}", .path.display())]
    NotFound {
        /// What the agent named.
        path: PathBuf,
    },
    /// The path lies outside of what the session may use.
    #[error("use {}: it lies outside the folders of this session", .path.display())]
    OutsideRoots {
        /// What the agent named.
        path: PathBuf,
    },
    /// The user, or a rule of the user, refused.
    #[error("do it: the user refused")]
    Denied,
    /// The system failed; the agent is told no details.
    #[error("serve the agent")]
    Io(#[from] io::Error),
}

impl From<ServeError> for Fault {
    fn from(error: ServeError) -> Self {
        let fault = match &error {
            ServeError::NotFound { .. } => Self::not_found("no such file"),
            ServeError::OutsideRoots { .. } => {
                Self::invalid_params("the path lies outside the folders of this session")
            }
            ServeError::Denied => Self::invalid_request("the user refused"),
            ServeError::Io(_) => Self::internal(),
        };
        fault.with_source(error)
    }
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
