//! Commands that the client runs for a session.

use derive_setters::Setters;
use std::{fmt, path::PathBuf, sync::Arc};

use crate::{ClientCallError, HostFuture, SecretText};

/// A command that the client runs for a session.
///
/// The handle belongs to one session and one terminal; nobody else can reach
/// it. Dropping it releases the terminal, which ends the command.
#[must_use = "dropping it ends the command"]
pub struct Terminal(Box<dyn TerminalPort>);

impl Terminal {
    /// Wraps what carries the terminal.
    pub fn new(port: impl TerminalPort) -> Self {
        Self(Box::new(port))
    }

    /// The id under which tool calls show the terminal
    /// ([`ToolContent::Terminal`](crate::ToolContent::Terminal)).
    pub fn id(&self) -> &str {
        self.0.id()
    }

    /// What the command wrote so far, and whether it has ended. Does not wait.
    ///
    /// # Errors
    ///
    /// [`ClientCallError`] says what became of the question.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future tells the client that the answer is not wanted.
    pub async fn output(&self) -> Result<TerminalOutput, ClientCallError> {
        self.0.output().await
    }

    /// Waits until the command has ended.
    ///
    /// # Errors
    ///
    /// [`ClientCallError`] says what became of the question.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future tells the client that the answer is not wanted; the
    /// command runs on.
    pub async fn wait(&self) -> Result<TerminalExit, ClientCallError> {
        self.0.wait().await
    }

    /// Ends the command; what it wrote can still be read.
    ///
    /// # Errors
    ///
    /// [`ClientCallError`] says what became of the question.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future tells the client that the answer is not wanted; the
    /// command may have been ended.
    pub async fn kill(&self) -> Result<(), ClientCallError> {
        self.0.kill().await
    }

    /// Ends the command if it runs, and lets the client forget what it wrote.
    ///
    /// # Errors
    ///
    /// [`ClientCallError`] says what became of the question.
    ///
    /// # Cancel safety
    ///
    /// Once asked, the client releases the terminal, whether the future is
    /// dropped or not.
    pub async fn release(self) -> Result<(), ClientCallError> {
        self.0.release().await
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Terminal").field(&self.id()).finish()
    }
}

/// What carries a [`Terminal`].
///
/// The facade implements it. Implement it yourself to test a host without one.
/// Dropping it releases the terminal.
pub trait TerminalPort: Send + Sync + 'static {
    /// The id of the terminal.
    fn id(&self) -> &str;
    /// See [`Terminal::output`].
    fn output(&self) -> HostFuture<'_, Result<TerminalOutput, ClientCallError>>;
    /// See [`Terminal::wait`].
    fn wait(&self) -> HostFuture<'_, Result<TerminalExit, ClientCallError>>;
    /// See [`Terminal::kill`].
    fn kill(&self) -> HostFuture<'_, Result<(), ClientCallError>>;
    /// See [`Terminal::release`].
    fn release(self: Box<Self>) -> HostFuture<'static, Result<(), ClientCallError>>;
}

/// A command to run.
#[derive(Clone, Debug, PartialEq, Eq, Setters)]
#[non_exhaustive]
#[setters(prefix = "with_", into, strip_option)]
pub struct CreateTerminal {
    /// The program.
    pub command: String,
    /// Its arguments.
    #[setters(skip)]
    pub args: Vec<String>,
    /// Variables for its environment.
    #[setters(skip)]
    pub env: Vec<(String, SecretText)>,
    /// The folder in which it runs, an absolute path.
    pub cwd: Option<PathBuf>,
    /// How many bytes of its output are kept, the last ones.
    #[setters(into = false)]
    pub output_byte_limit: Option<u64>,
}

impl CreateTerminal {
    /// Runs a program.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: None,
            output_byte_limit: None,
        }
    }

    /// Sets its arguments.
    #[must_use]
    pub fn with_args<T: Into<String>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.args = args.into_iter().map(Into::into).collect();
        self
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn with_env(mut self, name: impl Into<String>, value: SecretText) -> Self {
        self.env.push((name.into(), value));
        self
    }
}

/// What a command wrote.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TerminalOutput {
    /// What it wrote, as far as it was kept.
    pub text: Arc<str>,
    /// Whether its beginning is missing.
    pub is_truncated: bool,
    /// How it ended, if it has.
    pub exit: Option<TerminalExit>,
}

impl TerminalOutput {
    /// So much was written.
    pub fn new(text: impl Into<Arc<str>>, is_truncated: bool, exit: Option<TerminalExit>) -> Self {
        Self {
            text: text.into(),
            is_truncated,
            exit,
        }
    }
}

impl fmt::Debug for TerminalOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Output holds what users hold secret.
        f.debug_struct("TerminalOutput")
            .field("bytes", &self.text.len())
            .field("is_truncated", &self.is_truncated)
            .field("exit", &self.exit)
            .finish()
    }
}

/// How a command ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TerminalExit {
    /// The code with which it ended by itself.
    pub code: Option<u32>,
    /// The signal that ended it.
    pub signal: Option<String>,
}

impl TerminalExit {
    /// It ended with a code, or by a signal.
    pub fn new(code: Option<u32>, signal: Option<String>) -> Self {
        Self { code, signal }
    }

    /// Whether it ended with 0.
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }
}
