//! Files and commands that the agent is served, and what is told of them.

use std::future::Future;

use acp_client::{
    ClientOptions, FolderFiles, LocalTerminals, MissingFiles, OpenFiles, OpenTerminals, ReadFiles,
    ServeError, ServeTerminals, SessionFolders, SessionTerminals, ShellLines, WorkspaceFiles,
    WriteFiles,
};
use acp_protocol::v1::{
    CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReadTextFileRequest, ReadTextFileResponse, ReleaseTerminalRequest, ReleaseTerminalResponse,
    TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
    WaitForTerminalExitResponse, WriteTextFileRequest, WriteTextFileResponse,
};
use tokio::sync::mpsc;

use crate::config::Files;
use crate::show::{Excerpt, Served};

/// Things served that wait to be shown. An agent that does more at once waits until they
/// are: a person may be asked something meanwhile.
const MAX_WAITING: usize = 256;

/// Offers the agent these files, and terminals, and gives what is told of it.
pub(super) fn offer(
    access: Files,
    terminals: bool,
    missing_reads_empty: bool,
    mut options: ClientOptions,
) -> (ClientOptions, mpsc::Receiver<Served>) {
    let (sender, receiver) = mpsc::channel(MAX_WAITING);
    let files = || {
        let mut files = WorkspaceFiles::new();
        if missing_reads_empty {
            files = files.with_missing_files(MissingFiles::Empty);
        }
        Told::new(files, &sender)
    };
    options = match access {
        Files::None => options,
        Files::Read => options.with_read_only_files(files()),
        Files::Write => options.with_files(files()),
    };
    if terminals {
        // Whoever may run programs may run a shell.
        let terminals = LocalTerminals::new().with_shell_lines(ShellLines::Allow);
        options = options.with_terminals(Told::new(terminals, &sender));
    }
    (options, receiver)
}

/// Serves, and tells of it.
struct Told<T> {
    inner: T,
    sender: mpsc::Sender<Served>,
}

impl<T> Told<T> {
    fn new(inner: T, sender: &mpsc::Sender<Served>) -> Self {
        let sender = sender.clone();
        Self { inner, sender }
    }

    async fn tell(&self, served: Served) {
        // Nobody listens any more once the turn is over.
        let _ = self.sender.send(served).await;
    }
}

impl OpenFiles for Told<WorkspaceFiles> {
    type Files = Told<FolderFiles>;

    async fn open(&self, folders: &SessionFolders) -> Self::Files {
        Told::new(self.inner.open(folders).await, &self.sender)
    }
}

impl ReadFiles for Told<FolderFiles> {
    async fn read(&self, request: ReadTextFileRequest) -> Result<ReadTextFileResponse, ServeError> {
        let path = request.path.clone();
        let result = self.inner.read(request).await;
        self.tell(Served::File {
            write: false,
            path,
            error: words(&result),
        })
        .await;
        result
    }
}

impl WriteFiles for Told<FolderFiles> {
    async fn write(
        &self,
        request: WriteTextFileRequest,
    ) -> Result<WriteTextFileResponse, ServeError> {
        let path = request.path.clone();
        let result = self.inner.write(request).await;
        self.tell(Served::File {
            write: true,
            path,
            error: words(&result),
        })
        .await;
        result
    }
}

impl OpenTerminals for Told<LocalTerminals> {
    type Terminals = Told<SessionTerminals>;

    async fn open(&self, folders: &SessionFolders) -> Self::Terminals {
        Told::new(self.inner.open(folders).await, &self.sender)
    }
}

impl ServeTerminals for Told<SessionTerminals> {
    async fn create(
        &self,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, ServeError> {
        let (command, args) = (request.command.clone(), request.args.clone());
        let cwd = request.cwd.clone();
        let result = self.inner.create(request).await;
        let terminal = result.as_ref().ok();
        self.tell(Served::Command {
            terminal: terminal.map(|answer| answer.terminal_id.as_str().to_owned()),
            command,
            args,
            cwd,
            error: words(&result),
        })
        .await;
        result
    }

    fn output(
        &self,
        request: TerminalOutputRequest,
    ) -> impl Future<Output = Result<TerminalOutputResponse, ServeError>> + Send {
        self.inner.output(request)
    }

    async fn wait_for_exit(
        &self,
        request: WaitForTerminalExitRequest,
    ) -> Result<WaitForTerminalExitResponse, ServeError> {
        let (session, terminal) = (request.session_id.clone(), request.terminal_id.clone());
        let result = self.inner.wait_for_exit(request).await;
        if let Ok(end) = &result {
            let output = TerminalOutputRequest::new(session, terminal.clone());
            let output = self.inner.output(output).await;
            self.tell(Served::CommandEnd {
                terminal: terminal.as_str().to_owned(),
                output: output.map_or_else(|_| Excerpt::default(), |it| Excerpt::of(&it.output)),
                exit_code: end.exit_code,
                signal: end.signal.clone(),
            })
            .await;
        }
        result
    }

    fn kill(
        &self,
        request: KillTerminalRequest,
    ) -> impl Future<Output = Result<KillTerminalResponse, ServeError>> + Send {
        self.inner.kill(request)
    }

    fn release(
        &self,
        request: ReleaseTerminalRequest,
    ) -> impl Future<Output = Result<ReleaseTerminalResponse, ServeError>> + Send {
        self.inner.release(request)
    }
}

fn words<T>(result: &Result<T, ServeError>) -> Option<String> {
    result
        .as_ref()
        .err()
        .map(|error| format!("failed to {error}"))
}
