//! Terminals whose commands run on this machine.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;

use acp_process::{Environment, ExitStatus, KillLadder, Launch, OsSandbox};
use acp_protocol::v1::{
    CreateTerminalRequest, CreateTerminalResponse, EnvVariable, KillTerminalRequest,
    KillTerminalResponse, ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalExitStatus,
    TerminalId, TerminalOutputRequest, TerminalOutputResponse, WaitForTerminalExitRequest,
    WaitForTerminalExitResponse,
};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::command::{CommandProgram, ShellLines};
use super::running::{CommandHandle, RunningCommand};
use super::{CommandRequest, OpenTerminals, ServeTerminals};
use crate::error::ServeError;
use crate::folders::SessionFolders;
use crate::folders::{Roots, SharedRoots};
use crate::limits::{
    MAX_TERMINAL_OUTPUT, MAX_TERMINALS, TERMINAL_KILL_GRACE, TERMINAL_START_TIMEOUT,
};

/// What a command gets of our environment unless something else is said: enough
/// for tools to find each other and their settings. Keys and tokens are under
/// other names.
const INHERITED: [&str; 16] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
];

/// Runs the commands of an agent on this machine, with the rights of this process.
///
/// A command is a program and its arguments; a shell is used only where
/// [`ShellLines::Allow`] says so. It starts in a folder of its session, which is
/// opened and not only named, reads nothing, and writes both of its outputs into
/// one. Nothing is asked of the user unless [`with_consent`](Self::with_consent)
/// says how: most agents ask for permission before.
///
/// A command leads a process group of its own. When it ends, what it has left in
/// the background lives on, and is ended with the terminal: when that is killed or
/// released, when the session or the connection ends, or whatever holds it is
/// dropped, or this process dies. What leaves its group on purpose (`setsid`) is
/// ended too, on Linux.
#[derive(Clone)]
pub struct LocalTerminals {
    environment: Environment,
    lines: ShellLines,
    max_output: usize,
    max_terminals: usize,
    consent: Option<Consent>,
    sandbox: Option<OsSandbox>,
    roots: Arc<SharedRoots>,
}

type Consent =
    Arc<dyn Fn(CommandRequest) -> Pin<Box<dyn Future<Output = bool> + Send>> + Send + Sync>;

impl LocalTerminals {
    /// Makes terminals, up to 16 in a session and each with the last MiB of its
    /// output, in an environment that tells where programs, home and language are.
    #[must_use]
    pub fn new() -> Self {
        Self {
            environment: Environment::inherited(INHERITED),
            lines: ShellLines::default(),
            max_output: MAX_TERMINAL_OUTPUT,
            max_terminals: MAX_TERMINALS,
            consent: None,
            sandbox: None,
            roots: Arc::default(),
        }
    }

    /// Sets the environment of every command, to which the agent adds.
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self
    }

    /// Says what is done with lines for a shell.
    #[must_use]
    pub fn with_shell_lines(mut self, lines: ShellLines) -> Self {
        self.lines = lines;
        self
    }

    /// Sets how many bytes of an output are kept when the agent does not ask for
    /// fewer. Default 1 MiB.
    #[must_use]
    pub fn with_max_output(mut self, bytes: usize) -> Self {
        self.max_output = bytes;
        self
    }

    /// Sets how many terminals a session has at most, those whose command has ended
    /// included. Default 16.
    #[must_use]
    pub fn with_max_terminals(mut self, terminals: usize) -> Self {
        self.max_terminals = terminals.min(Semaphore::MAX_PERMITS);
        self
    }

    /// Holds every command in a sandbox; one that cannot be held is not run.
    ///
    /// An agent that is held in a sandbox itself is to get the same here: its commands
    /// are children of this process and not of the agent.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: OsSandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Asks before a command is run; false refuses it.
    ///
    /// What was asked about is what runs: the program and the folder are found
    /// before. The future is dropped when the answer is not wanted any more.
    ///
    /// ```
    /// use acp_client::{CommandRequest, LocalTerminals};
    ///
    /// let terminals = LocalTerminals::new().with_consent(async |ask: CommandRequest| {
    ///     ask.program.ends_with("cargo")
    /// });
    /// # drop(terminals);
    /// ```
    #[must_use]
    pub fn with_consent<F, Fut>(mut self, consent: F) -> Self
    where
        F: Fn(CommandRequest) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = bool> + Send + 'static,
    {
        self.consent = Some(Arc::new(move |ask| Box::pin(consent(ask))));
        self
    }
}

impl Default for LocalTerminals {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LocalTerminals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalTerminals")
            .field("environment", &self.environment)
            .field("lines", &self.lines)
            .field("max_output", &self.max_output)
            .field("max_terminals", &self.max_terminals)
            .field("asks", &self.consent.is_some())
            .field("sandbox", &self.sandbox)
            .finish_non_exhaustive()
    }
}

impl OpenTerminals for LocalTerminals {
    type Terminals = SessionTerminals;

    async fn open(&self, folders: &SessionFolders) -> SessionTerminals {
        SessionTerminals {
            options: self.clone(),
            roots: self.roots.open(folders).await,
            cwd: folders.cwd().to_path_buf(),
            places: Arc::new(Semaphore::new(self.max_terminals)),
            running: Mutex::default(),
        }
    }
}

/// The terminals of one session, as [`LocalTerminals`] opens them.
#[derive(Debug)]
pub struct SessionTerminals {
    options: LocalTerminals,
    roots: Arc<Roots>,
    cwd: PathBuf,
    places: Arc<Semaphore>,
    running: Mutex<HashMap<TerminalId, RunningCommand>>,
}

impl SessionTerminals {
    /// Finds the program and the folder, and says how they are to be started.
    async fn prepare(
        &self,
        request: CreateTerminalRequest,
    ) -> Result<(Launch, CommandRequest), ServeError> {
        let environment = extended(&self.options.environment, request.env)?;
        let cwd = request.cwd.map_or_else(|| self.cwd.clone(), PathBuf::from);
        let (roots, lines) = (Arc::clone(&self.roots), self.options.lines);
        let sandbox = self.options.sandbox.clone();
        let found = spawn_blocking(move || {
            // The folder first: what lies outside is not searched.
            let folder = roots.open_dir(&cwd)?;
            let searched = environment.get("PATH");
            let program =
                CommandProgram::find(&request.command, request.args, &cwd, searched, lines)?;
            let mut launch = Launch::new(&program.path)
                .with_args(&program.args)
                .with_environment(environment.clone())
                .with_null_stdin()
                .with_merged_output()
                .with_kept_group()
                .with_kill_ladder(ladder());
            if let Some(sandbox) = sandbox {
                launch = launch.with_sandbox(sandbox);
            }
            let ask = CommandRequest {
                session_id: request.session_id,
                program: program.path,
                args: program.args,
                cwd,
                environment,
            };
            Ok((in_folder(launch, folder, &ask.cwd), ask))
        });
        in_time(found).await?.map_err(io::Error::other)?
    }

    fn view(&self, id: &TerminalId) -> Result<CommandHandle, ServeError> {
        let running = self.running();
        running
            .get(id)
            .map(RunningCommand::view)
            .ok_or(ServeError::NoSuchTerminal)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<TerminalId, RunningCommand>> {
        self.running.lock()
    }
}

impl ServeTerminals for SessionTerminals {
    async fn create(
        &self,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, ServeError> {
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| ServeError::TooManyTerminals {
            limit: self.options.max_terminals,
        })?;
        let most = self.options.max_output;
        let wanted = request.output_byte_limit.map(usize::try_from);
        let limit = wanted.map_or(most, |wanted| {
            wanted.map_or(most, |wanted| wanted.min(most))
        });
        let (launch, ask) = self.prepare(request).await?;
        if let Some(consent) = &self.options.consent
            && !consent(ask).await
        {
            return Err(ServeError::Denied);
        }
        let id = TerminalId::from(random_id()?);
        let running = in_time(RunningCommand::start(launch, limit, place)).await??;
        self.running().insert(id.clone(), running);
        Ok(CreateTerminalResponse::new(id))
    }

    async fn output(
        &self,
        request: TerminalOutputRequest,
    ) -> Result<TerminalOutputResponse, ServeError> {
        let view = self.view(&request.terminal_id)?;
        // In this order: what is said to have ended has said everything.
        let exit = view.exit();
        let (output, cut) = view.output();
        let mut answer = TerminalOutputResponse::new(output, cut);
        answer.exit_status = exit.map(|status| {
            let mut told = TerminalExitStatus::new();
            (told.exit_code, told.signal) = in_words(status);
            told
        });
        Ok(answer)
    }

    async fn wait_for_exit(
        &self,
        request: WaitForTerminalExitRequest,
    ) -> Result<WaitForTerminalExitResponse, ServeError> {
        let mut view = self.view(&request.terminal_id)?;
        let mut answer = WaitForTerminalExitResponse::new();
        (answer.exit_code, answer.signal) = in_words(view.wait().await);
        Ok(answer)
    }

    async fn kill(&self, request: KillTerminalRequest) -> Result<KillTerminalResponse, ServeError> {
        self.view(&request.terminal_id)?.kill().await;
        Ok(KillTerminalResponse::new())
    }

    async fn release(
        &self,
        request: ReleaseTerminalRequest,
    ) -> Result<ReleaseTerminalResponse, ServeError> {
        let running = self.running().remove(&request.terminal_id);
        let running = running.ok_or(ServeError::NoSuchTerminal)?;
        let mut view = running.view();
        drop(running);
        view.gone().await;
        Ok(ReleaseTerminalResponse::new())
    }
}

/// A disk that does not answer must not hold up the agent.
async fn in_time<F: Future>(work: F) -> Result<F::Output, ServeError> {
    let done = timeout(TERMINAL_START_TIMEOUT, work).await;
    Ok(done.map_err(io::Error::from)?)
}

/// Starts it in the folder that was opened.
#[cfg(unix)]
fn in_folder(launch: Launch, folder: cap_std::fs::Dir, _: &Path) -> Launch {
    launch.with_cwd_handle(folder.into_std_file().into())
}

#[cfg(not(unix))]
fn in_folder(launch: Launch, _: cap_std::fs::Dir, named: &Path) -> Launch {
    launch.with_cwd(named)
}

/// There is no input whose end a command could see, so the signals come at once.
fn ladder() -> KillLadder {
    KillLadder::default()
        .with_orderly_eof_grace(std::time::Duration::ZERO)
        .with_abort_eof_grace(std::time::Duration::ZERO)
        .with_interrupt_grace(TERMINAL_KILL_GRACE)
        .with_terminate_grace(TERMINAL_KILL_GRACE)
}

fn extended(base: &Environment, more: Vec<EnvVariable>) -> Result<Environment, ServeError> {
    let mut environment = base.clone();
    for variable in more {
        let set = environment.set(variable.name, variable.value);
        set.map_err(|_| ServeError::Environment)?;
    }
    Ok(environment)
}

/// An id that nobody can guess who was not told it.
fn random_id() -> Result<String, ServeError> {
    let mut bytes = [0; 16];
    let filled = getrandom::fill(&mut bytes);
    filled.map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("term-{:032x}", u128::from_ne_bytes(bytes)))
}

/// The exit code, or the signal.
fn in_words(status: ExitStatus) -> (Option<u32>, Option<String>) {
    let code = status.code().and_then(|code| u32::try_from(code).ok());
    let signal = status.signal().map(|number| match status.signal_name() {
        Some(name) => name.to_owned(),
        None => format!("signal {number}"),
    });
    (code, signal)
}
