//! Files and terminals of this machine that tell whether they were used.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use acp_client::{
    LocalTerminals, MissingFiles, OpenFiles, OpenTerminals, ReadFiles, ServeError, ServeTerminals,
    SessionFolders, WorkspaceFiles, WriteFiles,
};
use acp_protocol::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse,
    TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
    WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
};

/// How often the agent has asked for what.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calls(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    reads: AtomicUsize,
    writes: AtomicUsize,
    commands: AtomicUsize,
}

impl Calls {
    /// Begins to count anew.
    pub(crate) fn reset(&self) {
        for count in [&self.0.reads, &self.0.writes, &self.0.commands] {
            count.store(0, Relaxed);
        }
    }

    pub(crate) fn reads(&self) -> usize {
        self.0.reads.load(Relaxed)
    }

    pub(crate) fn writes(&self) -> usize {
        self.0.writes.load(Relaxed)
    }

    pub(crate) fn commands(&self) -> usize {
        self.0.commands.load(Relaxed)
    }
}

/// Something that is served, and counted.
pub(crate) struct Watched<T> {
    inner: T,
    calls: Calls,
}

/// The files below the folders of a session.
pub(crate) type WatchedFiles = Watched<WorkspaceFiles>;

/// The commands of this machine.
pub(crate) type WatchedTerminals = Watched<LocalTerminals>;

impl WatchedFiles {
    /// Serves a missing file as an empty one: an agent among ours needs that.
    pub(crate) fn new(calls: &Calls) -> Self {
        Self {
            inner: WorkspaceFiles::new().with_missing_files(MissingFiles::Empty),
            calls: calls.clone(),
        }
    }
}

impl WatchedTerminals {
    pub(crate) fn new(calls: &Calls) -> Self {
        Self {
            inner: LocalTerminals::new(),
            calls: calls.clone(),
        }
    }
}

impl<T: OpenFiles> OpenFiles for Watched<T> {
    type Files = Watched<T::Files>;

    async fn open(&self, folders: &SessionFolders) -> Self::Files {
        Watched {
            inner: self.inner.open(folders).await,
            calls: self.calls.clone(),
        }
    }
}

impl<T: OpenTerminals> OpenTerminals for Watched<T> {
    type Terminals = Watched<T::Terminals>;

    async fn open(&self, folders: &SessionFolders) -> Self::Terminals {
        Watched {
            inner: self.inner.open(folders).await,
            calls: self.calls.clone(),
        }
    }
}

impl<T: ReadFiles> ReadFiles for Watched<T> {
    async fn read(&self, request: ReadTextFileRequest) -> Result<ReadTextFileResponse, ServeError> {
        self.calls.0.reads.fetch_add(1, Relaxed);
        self.inner.read(request).await
    }
}

impl<T: WriteFiles> WriteFiles for Watched<T> {
    async fn write(
        &self,
        request: WriteTextFileRequest,
    ) -> Result<WriteTextFileResponse, ServeError> {
        self.calls.0.writes.fetch_add(1, Relaxed);
        self.inner.write(request).await
    }
}

impl<T: ServeTerminals> ServeTerminals for Watched<T> {
    async fn create(
        &self,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, ServeError> {
        self.calls.0.commands.fetch_add(1, Relaxed);
        self.inner.create(request).await
    }

    async fn output(
        &self,
        request: TerminalOutputRequest,
    ) -> Result<TerminalOutputResponse, ServeError> {
        self.inner.output(request).await
    }

    async fn wait_for_exit(
        &self,
        request: WaitForTerminalExitRequest,
    ) -> Result<WaitForTerminalExitResponse, ServeError> {
        self.inner.wait_for_exit(request).await
    }

    async fn kill(&self, request: KillTerminalRequest) -> Result<KillTerminalResponse, ServeError> {
        self.inner.kill(request).await
    }

    async fn release(
        &self,
        request: ReleaseTerminalRequest,
    ) -> Result<ReleaseTerminalResponse, ServeError> {
        self.inner.release(request).await
    }
}
