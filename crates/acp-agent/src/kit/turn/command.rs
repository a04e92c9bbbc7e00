//! A command that the client runs for a turn.

use acp_host::{ClientCallError, Terminal, TerminalExit, TerminalOutput, ToolContent};

use crate::kit::Turn;

/// A command that the client runs for a turn; made by [`Turn::terminal`].
///
/// It ends when this is dropped. What is asked of it is asked for as long as
/// somebody waits for the turn.
#[derive(Debug)]
#[must_use = "dropping it ends the command"]
pub struct RunningCommand<'t> {
    turn: &'t Turn,
    terminal: Terminal,
}

impl<'t> RunningCommand<'t> {
    pub(in crate::kit) fn new(turn: &'t Turn, terminal: Terminal) -> Self {
        Self { turn, terminal }
    }

    /// The id under which tool calls show the terminal.
    pub fn id(&self) -> &str {
        self.terminal.id()
    }

    /// The terminal, for a tool call to show.
    pub fn to_content(&self) -> ToolContent {
        ToolContent::Terminal(self.id().to_owned())
    }

    /// What the command wrote so far, and whether it has ended. Does not wait
    /// for more.
    ///
    /// # Errors
    ///
    /// [`ClientCallError`] says what became of the question.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the client is told that the answer is not wanted.
    pub async fn output(&self) -> Result<TerminalOutput, ClientCallError> {
        self.turn.while_wanted(self.terminal.output()).await
    }

    /// Waits until the command has ended.
    ///
    /// # Errors
    ///
    /// [`ClientCallError`] says what became of the question.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the client is told that the answer is not wanted; the command
    /// runs on.
    pub async fn wait(&self) -> Result<TerminalExit, ClientCallError> {
        self.turn.while_wanted(self.terminal.wait()).await
    }

    /// Ends the command; what it wrote can still be read.
    ///
    /// # Errors
    ///
    /// [`ClientCallError`] says what became of the question.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the command may have been ended.
    pub async fn kill(&self) -> Result<(), ClientCallError> {
        self.turn.while_wanted(self.terminal.kill()).await
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
        self.terminal.release().await
    }

    /// The handle without the turn: for a command that goes on behind it. It is
    /// not cancelled with the turn, and ends when it is dropped.
    pub fn into_terminal(self) -> Terminal {
        self.terminal
    }
}
