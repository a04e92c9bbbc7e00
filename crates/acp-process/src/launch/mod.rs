//! What is to be started, and how it is to be kept.

mod environment;
mod error;
mod orphan_guard;
mod terminal_size;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use acp_text::Redactor;

use crate::child::KillLadder;
use crate::sandbox::OsSandbox;
use crate::stderr::{DEFAULT_CAPACITY, LineCallback, MAX_CAPACITY};

pub use environment::{Environment, EnvironmentError};
pub use error::{PlatformUnsupported, SpawnError, SpawnSpecError};
pub use orphan_guard::OrphanGuard;
pub use terminal_size::TerminalSize;

/// Describes a child: program, arguments, environment, directory, and how it
/// is watched and ended.
///
/// The program is an absolute path; nothing is looked up in `PATH` and no
/// shell is used. The environment is empty unless something is put into it.
///
/// # Examples
///
/// ```no_run
/// use acp_process::{Environment, Launch};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let mut child = Launch::new("/opt/agents/ada")
///     .with_args(["--stdio"])
///     .with_environment(Environment::inherited(["HOME", "PATH"]))
///     .with_cwd("/home/ada/project")
///     .spawn()?;
/// let (stdin, stdout) = (child.take_stdin(), child.take_stdout());
/// // … speak with it …
/// # drop((stdin, stdout));
/// child.handle().close_and_wait().await.into_result()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Launch {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<OsString>,
    pub(crate) environment: Environment,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) ladder: KillLadder,
    pub(crate) orphan_guard: OrphanGuard,
    pub(crate) sandbox: Option<OsSandbox>,
    pub(crate) new_session: bool,
    pub(crate) terminal: Option<TerminalSize>,
    pub(crate) null_stdin: bool,
    pub(crate) merged_output: bool,
    pub(crate) kept_group: bool,
    #[cfg(unix)]
    pub(crate) cwd_handle: Option<Arc<std::os::fd::OwnedFd>>,
    #[cfg(unix)]
    pub(crate) stderr_handle: Option<Arc<std::os::fd::OwnedFd>>,
    pub(crate) stderr_capacity: usize,
    pub(crate) stderr_redactor: Option<Redactor>,
    pub(crate) stderr_lines: Option<LineCallback>,
    /// The first thing that was wrong with a variable given to `with_env`.
    environment_fault: Option<String>,
}

impl Launch {
    /// Describes a child that runs this program, with no arguments, an empty
    /// environment, and in the current directory.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            environment: Environment::empty(),
            cwd: None,
            ladder: KillLadder::default(),
            orphan_guard: OrphanGuard::default(),
            sandbox: None,
            new_session: false,
            terminal: None,
            null_stdin: false,
            merged_output: false,
            kept_group: false,
            #[cfg(unix)]
            cwd_handle: None,
            #[cfg(unix)]
            stderr_handle: None,
            stderr_capacity: DEFAULT_CAPACITY,
            stderr_redactor: None,
            stderr_lines: None,
            environment_fault: None,
        }
    }

    /// Adds arguments, each passed as it is.
    #[must_use]
    pub fn with_args<I>(mut self, args: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Clears the arguments.
    #[must_use]
    pub fn without_args(mut self) -> Self {
        self.args.clear();
        self
    }

    /// Makes this the complete environment of the child.
    #[must_use]
    pub fn with_environment(mut self, environment: Environment) -> Self {
        self.environment = environment;
        self.environment_fault = None;
        self
    }

    /// Makes everything this process has in its environment the child's.
    #[must_use]
    pub fn with_inherited_env(self) -> Self {
        self.with_environment(Environment::inherited_all())
    }

    /// Sets one variable, in place of an earlier one of the same name.
    ///
    /// An unusable name or value is told by [`Launch::validate`].
    #[must_use]
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        if let Err(fault) = self.environment.set(name, value) {
            self.environment_fault
                .get_or_insert_with(|| fault.to_string());
        }
        self
    }

    /// Starts the child in this directory.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Starts the child in this open directory, wherever it is by then; a path
    /// that is set besides is not entered.
    ///
    /// For a directory that was judged: between a look at a path and its use, the
    /// path can come to mean another directory.
    #[cfg(unix)]
    #[must_use]
    pub fn with_cwd_handle(mut self, directory: std::os::fd::OwnedFd) -> Self {
        self.cwd_handle = Some(Arc::new(directory));
        self
    }

    /// Gives the child `/dev/null` to read.
    #[must_use]
    pub fn with_null_stdin(mut self) -> Self {
        self.null_stdin = true;
        self
    }

    /// Makes the child's stderr the same pipe as its stdout, so that what is
    /// written to both is read in the order in which it was written.
    ///
    /// The tail and the lines of stderr stay empty.
    #[must_use]
    pub fn with_merged_output(mut self) -> Self {
        self.merged_output = true;
        self
    }

    /// Gives the child this open file as its stderr, for whoever wants every byte of it.
    ///
    /// The tail and the lines of stderr stay empty. A pipe stays open until the
    /// launch is dropped too.
    #[cfg(unix)]
    #[must_use]
    pub fn with_stderr_handle(mut self, file: impl Into<std::os::fd::OwnedFd>) -> Self {
        self.stderr_handle = Some(Arc::new(file.into()));
        self
    }

    /// Lets what the leader leaves behind in its group live on until the child is
    /// [ended](crate::ChildHandle::end), as a shell does with its background jobs.
    ///
    /// [`wait`](crate::ChildHandle::wait) tells the exit of the leader when it
    /// happens, [`gone`](crate::ChildHandle::gone) the end of the group. The leader
    /// is not reaped before that, so the group's id stays the child's.
    #[must_use]
    pub fn with_kept_group(mut self) -> Self {
        self.kept_group = true;
        self
    }

    /// Changes how long each step of ending the child may take.
    #[must_use]
    pub fn with_kill_ladder(mut self, ladder: KillLadder) -> Self {
        self.ladder = ladder;
        self
    }

    /// Changes what becomes of the child when this process dies.
    #[must_use]
    pub fn with_orphan_guard(mut self, guard: OrphanGuard) -> Self {
        self.orphan_guard = guard;
        self
    }

    /// Holds the child and all its descendants in a sandbox.
    ///
    /// It leads a session of its own there, and its descendants end with it under
    /// whatever [`OrphanGuard`]. A child that cannot be held is not started.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: OsSandbox) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Makes the child the leader of a session of its own, without a
    /// controlling terminal.
    #[must_use]
    pub fn with_new_session(mut self) -> Self {
        self.new_session = true;
        self
    }

    /// Gives the child a terminal of its own in place of the three pipes, and makes
    /// it the leader of a session that is controlled by it.
    ///
    /// For programs that say nothing, or do something else, where nobody can be
    /// sitting in front of them. What is written to stdin is typed, and shown back
    /// unless the child turns that off; what comes from stdout and stderr is read as
    /// stdout, with the line ends of a terminal, and the tail and the lines of stderr
    /// stay empty. Nothing that is typed ends the input for good, so closing stdin is
    /// a step of the kill ladder that does not help.
    #[must_use]
    pub fn with_terminal(mut self, size: TerminalSize) -> Self {
        self.terminal = Some(size);
        self
    }

    /// Changes how many of the last bytes of stderr are kept: 8 KiB if not
    /// said otherwise, at most 1 MiB.
    #[must_use]
    pub fn with_stderr_tail(mut self, bytes: usize) -> Self {
        self.stderr_capacity = bytes.min(MAX_CAPACITY);
        self
    }

    /// Redacts all that is shown of stderr, by the rules of every redactor that is given.
    #[must_use]
    pub fn with_stderr_redactor(mut self, redactor: &Redactor) -> Self {
        self.stderr_redactor = Some(self.stderr_redactor.unwrap_or_default().and(redactor));
        self
    }

    /// Calls this function with each line of stderr, on a thread of its own.
    ///
    /// Up to 256 lines wait for it; what comes while they do is dropped and
    /// counted. Lines of more than 4 KiB come in pieces. The last lines may
    /// come after the child's exit was told.
    #[must_use]
    pub fn with_stderr_lines<F>(mut self, callback: F) -> Self
    where
        F: Fn(&str) + Send + Sync + 'static,
    {
        self.stderr_lines = Some(Arc::new(callback));
        self
    }

    /// Returns the program.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns the sandbox the child is held in.
    #[must_use]
    pub fn sandbox(&self) -> Option<&OsSandbox> {
        self.sandbox.as_ref()
    }

    /// Returns the arguments.
    #[must_use]
    pub fn args(&self) -> &[OsString] {
        &self.args
    }

    /// Returns the environment the child will have.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns the directory the child starts in, `None` for the current one.
    #[must_use]
    pub fn cwd(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }

    /// Checks everything that can be checked without starting anything.
    ///
    /// # Errors
    ///
    /// [`SpawnSpecError`] with the part that is wrong and why.
    pub fn validate(&self) -> Result<(), SpawnSpecError> {
        check_path("program", &self.program)?;
        if let Some(at) = self.args.iter().position(|arg| holds_nul(arg)) {
            return refuse("args", format!("argument {} holds a NUL", at + 1));
        }
        if let Some(fault) = &self.environment_fault {
            return refuse("environment", fault.clone());
        }
        match &self.cwd {
            Some(cwd) => check_path("cwd", cwd),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Launch {
    /// Shows neither arguments nor values of variables: both carry secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Launch")
            .field("program", &self.program)
            .field("args", &format_args!("({})", self.args.len()))
            .field("environment", &self.environment)
            .field("cwd", &self.cwd)
            .field("ladder", &self.ladder)
            .field("orphan_guard", &self.orphan_guard)
            .finish_non_exhaustive()
    }
}

fn check_path(field: &'static str, path: &Path) -> Result<(), SpawnSpecError> {
    let reason = if path.as_os_str().is_empty() {
        "it is required"
    } else if holds_nul(path.as_os_str()) {
        "it holds a NUL"
    } else if !path.is_absolute() {
        "it is not an absolute path"
    } else if !is_clean(path) {
        "it is not a clean path (no `.`, `..`, double or trailing slash)"
    } else {
        return Ok(());
    };
    refuse(field, reason.to_owned())
}

fn refuse(field: &'static str, reason: String) -> Result<(), SpawnSpecError> {
    Err(SpawnSpecError { field, reason })
}

/// Tells whether a path is written the shortest way, without looking at any
/// file.
fn is_clean(path: &Path) -> bool {
    let mut clean = PathBuf::new();
    for component in path.components() {
        if matches!(component, Component::ParentDir | Component::CurDir) {
            return false;
        }
        clean.push(component);
    }
    clean.as_os_str() == path.as_os_str()
}

fn holds_nul(text: &OsStr) -> bool {
    text.as_encoded_bytes().contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(launch: &Launch, expected: &str) {
        let got = match launch.validate() {
            Ok(()) => "ok".to_owned(),
            Err(error) => format!("{}: {}", error.field, error.reason),
        };
        assert_eq!(got, expected);
    }

    #[cfg(unix)]
    #[test]
    fn validation() {
        let unclean = "it is not a clean path (no `.`, `..`, double or trailing slash)";
        for (path, reason) in [
            ("", "it is required"),
            ("agent", "it is not an absolute path"),
            ("./agent", "it is not an absolute path"),
            ("../agent", "it is not an absolute path"),
            ("/bin/a\0b", "it holds a NUL"),
            ("/bin//agent", unclean),
            ("//bin/agent", unclean),
            ("/bin/./agent", unclean),
            ("/bin/../agent", unclean),
            ("/bin/agent/", unclean),
            ("/bin/agent/.", unclean),
        ] {
            check(&Launch::new(path), &format!("program: {reason}"));
            check(
                &Launch::new("/bin/agent").with_cwd(path),
                &format!("cwd: {reason}"),
            );
        }
        let good = Launch::new("/bin/agent");
        check(&good, "ok");
        check(&Launch::new("/bin/..agent..x/.y"), "ok");
        check(&good.clone().with_cwd("/"), "ok");
        check(&good.clone().with_args(["-c", "a b; c", ""]), "ok");
        check(
            &good.clone().with_args(["a", "b\0"]),
            "args: argument 2 holds a NUL",
        );
        check(
            &good.clone().with_env("A=B", "1").with_env("", "2"),
            "environment: the name \"A=B\" holds `=`",
        );
        check(&good.clone().with_env("A", "1").with_env("A", "2"), "ok");
    }

    #[test]
    fn debug_shows_no_secrets() {
        let launch = Launch::new("/bin/agent")
            .with_args(["--key", "s3cret"])
            .with_env("KEY", "s3cret");
        assert!(!format!("{launch:?}").contains("s3cret"));
    }

    #[test]
    fn redactions_add_up() {
        let launch = Launch::new("/bin/agent")
            .with_stderr_redactor(&Redactor::new().with_secret("once"))
            .with_stderr_redactor(&Redactor::new().with_secret("twice"));
        let redactor = launch.stderr_redactor.unwrap();
        assert_eq!(redactor.redact("once twice"), "[redacted] [redacted]");
    }

    #[test]
    fn arguments_can_be_said_anew() {
        let launch = Launch::new("/bin/agent").with_args(["a"]);
        assert_eq!(launch.without_args().with_args(["b"]).args(), ["b"]);
    }

    #[test]
    fn the_environment_is_empty_unless_filled() {
        assert!(Launch::new("/bin/agent").environment().is_empty());
        assert!(
            !Launch::new("/bin/agent")
                .with_inherited_env()
                .environment()
                .is_empty()
        );
    }
}
