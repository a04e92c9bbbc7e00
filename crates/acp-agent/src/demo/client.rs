//! What the demo agent has its client do: files and commands.

use std::path::{Component, Path, PathBuf};

use acp_host::{ClientCallError, CreateTerminal, Diff, ToolContent, ToolKind};
use serde_json::json;

use super::{DemoAgent, work::NOTE};
use crate::kit::{RunningCommand, RunningTool, Turn, TurnError};

/// How much of a file it says.
const SAID: usize = 200;

/// What it says of a file that is none of its business (R080).
const OUTSIDE: &str = "That lies outside of my folders.\n";

impl DemoAgent {
    /// Reads a file of the client.
    pub(super) async fn read_file(&self, turn: &Turn, path: &str) -> Result<(), TurnError> {
        let Some(path) = path_in(turn, path) else {
            return self.say(turn, OUTSIDE).await;
        };
        let tool = turn
            .tool("read_file", format!("Read {}", path.display()))
            .kind(ToolKind::Read)
            .location(&path)
            .start()
            .await?;
        let text = match turn.read_text_file(&path).await {
            Ok(text) => text,
            Err(error) => {
                tool.fail(said(&error)?).await?;
                return self.say(turn, "I could not read it.\n").await;
            }
        };
        let beginning: String = text.chars().take(SAID).collect();
        tool.complete(vec![ToolContent::text(beginning)]).await?;
        let lines = text.lines().count();
        self.say(turn, &format!("The file has {lines} lines.\n"))
            .await
    }

    /// Writes a file of the client, if it may.
    pub(super) async fn write_file(&self, turn: &Turn, path: &str) -> Result<(), TurnError> {
        let Some(path) = path_in(turn, path) else {
            return self.say(turn, OUTSIDE).await;
        };
        let tool = turn
            .tool("write_file", format!("Write {}", path.display()))
            .kind(ToolKind::Edit)
            .location(&path)
            .diff(Diff::new(&path, NOTE))
            .announce()
            .await?;
        if !self.may(turn, turn, &tool).await? {
            tool.fail("not allowed").await?;
            return self.say(turn, "Then I leave it.\n").await;
        }
        tool.start().await?;
        if let Err(error) = turn.write_text_file(&path, NOTE).await {
            tool.fail(said(&error)?).await?;
            return self.say(turn, "I could not write it.\n").await;
        }
        tool.complete(vec![ToolContent::Diff(Diff::new(&path, NOTE))])
            .await?;
        self.say(turn, "The file is written.\n").await
    }

    /// Runs a command in a terminal of the client, if it may.
    pub(super) async fn run_command(&self, turn: &Turn, command: &str) -> Result<(), TurnError> {
        let command = or(command, "echo Hello from the terminal");
        let Some((tool, running)) = self.begin_command(turn, command).await? else {
            return Ok(());
        };
        let exit = running.wait().await?;
        let output = running.output().await?;
        tool.complete(vec![running.to_content()]).await?;
        // What a tool shows, the client keeps when the terminal is released.
        running.release().await?;
        let how = match (exit.code, exit.signal) {
            (Some(code), _) => format!("It ended with {code}"),
            (None, Some(signal)) => format!("It was ended by {signal}"),
            (None, None) => "It ended".to_owned(),
        };
        let text = format!("{how} and wrote {} bytes.\n", output.text.len());
        self.say(turn, &text).await
    }

    /// Runs a command, and kills it after a moment. What it wrote until then is
    /// still there, and its terminal is released like every other (R153).
    pub(super) async fn kill_command(&self, turn: &Turn, command: &str) -> Result<(), TurnError> {
        let command = or(command, "sleep 600");
        let Some((tool, running)) = self.begin_command(turn, command).await? else {
            return Ok(());
        };
        self.rest(turn, 10).await?;
        running.kill().await?;
        let output = running.output().await?;
        tool.fail("it took too long").await?;
        running.release().await?;
        let wrote = output.text.len();
        let text = format!("It took too long. Until then it wrote {wrote} bytes.\n");
        self.say(turn, &text).await
    }

    /// Runs a command, if it may; says why not.
    async fn begin_command<'t>(
        &self,
        turn: &'t Turn,
        command: &str,
    ) -> Result<Option<(RunningTool<'t>, RunningCommand<'t>)>, TurnError> {
        let tool = turn
            .tool("run", format!("Run {command}"))
            .kind(ToolKind::Execute)
            .input(&json!({ "command": command }))?
            .announce()
            .await?;
        if !self.may(turn, turn, &tool).await? {
            tool.fail("not allowed").await?;
            self.say(turn, "Then I do not run it.\n").await?;
            return Ok(None);
        }
        tool.start().await?;
        let mut words = command.split_whitespace();
        let program = words.next().unwrap_or_default();
        let request = CreateTerminal::new(program)
            .with_args(words)
            .with_cwd(&turn.setup().cwd)
            .with_output_byte_limit(64 << 10);
        match turn.terminal(request).await {
            Ok(running) => {
                tool.show(vec![running.to_content()]).await?;
                Ok(Some((tool, running)))
            }
            Err(error) => {
                tool.fail(said(&error)?).await?;
                self.say(turn, "You ran nothing.\n").await?;
                Ok(None)
            }
        }
    }
}

/// What was asked for, or else this.
fn or<'a>(asked: &'a str, otherwise: &'a str) -> &'a str {
    if asked.is_empty() { otherwise } else { asked }
}

/// A path that was asked for, or that of the note; none if it lies outside of
/// the session's folders.
fn path_in(turn: &Turn, path: &str) -> Option<PathBuf> {
    let setup = turn.setup();
    let path = without_dots(&setup.cwd.join(or(path, "notes.md")));
    let mut folders = setup.additional_directories.iter().chain([&setup.cwd]);
    let is_inside = folders.any(|folder| path.starts_with(without_dots(folder)));
    is_inside.then_some(path)
}

/// The same path without `.` and `..`. Links are the client's matter.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// What to say of a question that the client did not answer well. That nobody
/// waits any more ends the turn.
fn said(error: &ClientCallError) -> Result<String, TurnError> {
    match error {
        ClientCallError::Cancelled => Err(TurnError::cancelled()),
        ClientCallError::Unsupported => Ok("the client cannot do that".to_owned()),
        other => Ok(other.to_string()),
    }
}
