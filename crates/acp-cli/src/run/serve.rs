//! Files and commands that the agent is served, and what is told of them.

use std::future::Future;

use acp_client::{
    AllowProtected, ClientOptions, FolderFiles, LocalTerminals, MissingFiles, OpenFiles,
    OpenTerminals, OsSandbox, ProtectedPaths, ReadFiles, ServeError, ServeTerminals,
    SessionFolders, SessionTerminals, ShellLines, WorkspaceFiles, WriteFiles,
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

/// Offers the agent these files, and terminals, and gives what is told of it. Protected
/// paths are written where this person allows it.
pub(super) fn offer(
    access: Files,
    terminals: bool,
    sandbox: Option<OsSandbox>,
    missing_reads_empty: bool,
    protected: &ProtectedPaths,
    person: Option<impl AllowProtected + Clone>,
    mut options: ClientOptions,
) -> (ClientOptions, mpsc::Receiver<Served>) {
    let (sender, receiver) = mpsc::channel(MAX_WAITING);
    let files = || {
        let mut files = WorkspaceFiles::new().with_protected_paths(protected.clone());
        if let Some(person) = &person {
            files = files.with_protected_writes(person.clone());
        }
        if missing_reads_empty {
            files = files.with_missing_files(MissingFiles::Empty);
        }
        Reported::new(files, &sender)
    };
    options = match access {
        Files::None => options,
        Files::Read => options.with_read_only_files(files()),
        Files::Write => options.with_files(files()),
    };
    if terminals {
        // Whoever may run programs may run a shell.
        let mut terminals = LocalTerminals::new().with_shell_lines(ShellLines::Allow);
        if let Some(sandbox) = sandbox {
            // They are no children of the agent, which is held in one of its own.
            terminals = terminals.with_sandbox(sandbox);
        }
        options = options.with_terminals(Reported::new(terminals, &sender));
    }
    (options, receiver)
}

/// Serves, and reports it.
struct Reported<T> {
    inner: T,
    sender: mpsc::Sender<Served>,
}

impl<T> Reported<T> {
    fn new(inner: T, sender: &mpsc::Sender<Served>) -> Self {
        let sender = sender.clone();
        Self { inner, sender }
    }

    async fn report(&self, served: Served) {
        // Nobody listens any more once the turn is over.
        let _ = self.sender.send(served).await;
    }
}

impl OpenFiles for Reported<WorkspaceFiles> {
    type Files = Reported<FolderFiles>;

    async fn open(&self, folders: &SessionFolders) -> Self::Files {
        Reported::new(self.inner.open(folders).await, &self.sender)
    }
}

impl ReadFiles for Reported<FolderFiles> {
    async fn read(&self, request: ReadTextFileRequest) -> Result<ReadTextFileResponse, ServeError> {
        let path = request.path.clone();
        let result = self.inner.read(request).await;
        self.report(Served::File {
            write: false,
            path,
            error: words(&result),
        })
        .await;
        result
    }
}

impl WriteFiles for Reported<FolderFiles> {
    async fn write(
        &self,
        request: WriteTextFileRequest,
    ) -> Result<WriteTextFileResponse, ServeError> {
        let path = request.path.clone();
        let result = self.inner.write(request).await;
        self.report(Served::File {
            write: true,
            path,
            error: words(&result),
        })
        .await;
        result
    }
}

impl OpenTerminals for Reported<LocalTerminals> {
    type Terminals = Reported<SessionTerminals>;

    async fn open(&self, folders: &SessionFolders) -> Self::Terminals {
        Reported::new(self.inner.open(folders).await, &self.sender)
    }
}

impl ServeTerminals for Reported<SessionTerminals> {
    async fn create(
        &self,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, ServeError> {
        let (command, args) = (request.command.clone(), request.args.clone());
        let cwd = request.cwd.clone();
        let result = self.inner.create(request).await;
        let terminal = result.as_ref().ok();
        self.report(Served::Command {
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
            self.report(Served::CommandEnd {
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
