//! Files and commands that the demo agent asks its client for.

use std::path::{Component, Path, PathBuf};

use acp_host::{ClientCallError, CreateTerminal, Diff, ToolContent, ToolKind};
use serde_json::json;

use super::{DemoAgent, or, work::NOTE};
use crate::kit::{RunningCommand, RunningTool, Turn, TurnError};

/// Characters of a file that the tool call shows.
const MAX_SHOWN: usize = 200;

/// The answer for a file that it must not touch (R080).
const OUTSIDE: &str = "This path is outside the session's folders.\n";

impl DemoAgent {
    /// Reads a file of the client.
    pub(super) async fn read_file(&self, turn: &Turn, path: &str) -> Result<String, TurnError> {
        let Some(path) = path_in(turn, path) else {
            return Ok(OUTSIDE.to_owned());
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
                tool.fail(reason(&error)?).await?;
                return Ok("I could not read the file.\n".to_owned());
            }
        };
        let beginning: String = text.chars().take(MAX_SHOWN).collect();
        tool.complete(vec![ToolContent::text(beginning)]).await?;
        let lines = text.lines().count();
        Ok(format!("The file has {lines} lines.\n"))
    }

    /// Writes a file of the client, if it may.
    pub(super) async fn write_file(&self, turn: &Turn, path: &str) -> Result<String, TurnError> {
        let Some(path) = path_in(turn, path) else {
            return Ok(OUTSIDE.to_owned());
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
            return Ok("You did not allow it, so I wrote nothing.\n".to_owned());
        }
        tool.start().await?;
        if let Err(error) = turn.write_text_file(&path, NOTE).await {
            tool.fail(reason(&error)?).await?;
            return Ok("I could not write the file.\n".to_owned());
        }
        tool.complete(vec![ToolContent::Diff(Diff::new(&path, NOTE))])
            .await?;
        Ok("The file is written.\n".to_owned())
    }

    /// Runs a command in a terminal of the client, if it may.
    pub(super) async fn run_command(
        &self,
        turn: &Turn,
        command: &str,
    ) -> Result<String, TurnError> {
        let command = or(command, "echo Hello from the terminal");
        let (tool, running) = match self.begin_command(turn, command).await? {
            Ok(begun) => begun,
            Err(answer) => return Ok(answer.to_owned()),
        };
        let exit = running.wait().await?;
        let output = running.output().await?;
        tool.complete(vec![running.to_content()]).await?;
        // The client keeps the output that a tool call shows after the release.
        running.release().await?;
        let how = match (exit.code, exit.signal) {
            (Some(code), _) => format!("exited with status {code}"),
            (None, Some(signal)) => format!("was killed by {signal}"),
            (None, None) => "exited".to_owned(),
        };
        let bytes = output.text.len();
        Ok(format!("The command {how} and wrote {bytes} bytes.\n"))
    }

    /// Runs a command, and kills it after a moment. Its output until then is
    /// still there, and its terminal is released like every other (R153).
    pub(super) async fn kill_command(
        &self,
        turn: &Turn,
        command: &str,
    ) -> Result<String, TurnError> {
        let (tool, running) = match self.begin_command(turn, or(command, "sleep 600")).await? {
            Ok(begun) => begun,
            Err(answer) => return Ok(answer.to_owned()),
        };
        self.rest(turn, 10).await?;
        running.kill().await?;
        let output = running.output().await?;
        tool.fail("it took too long").await?;
        running.release().await?;
        let bytes = output.text.len();
        Ok(format!(
            "I killed the command after a moment; it wrote {bytes} bytes.\n"
        ))
    }

    /// Begins a command, if it may; otherwise returns the answer.
    async fn begin_command<'t>(
        &self,
        turn: &'t Turn,
        command: &str,
    ) -> Result<Result<(RunningTool<'t>, RunningCommand<'t>), &'static str>, TurnError> {
        let tool = turn
            .tool("run", format!("Run {command}"))
            .kind(ToolKind::Execute)
            .input(&json!({ "command": command }))?
            .announce()
            .await?;
        if !self.may(turn, turn, &tool).await? {
            tool.fail("not allowed").await?;
            return Ok(Err("You did not allow it, so I ran nothing.\n"));
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
                Ok(Ok((tool, running)))
            }
            Err(error) => {
                tool.fail(reason(&error)?).await?;
                Ok(Err("I could not run the command.\n"))
            }
        }
    }
}

/// The path that the prompt names, or that of the note; `None` outside the
/// session's folders.
fn path_in(turn: &Turn, path: &str) -> Option<PathBuf> {
    let setup = turn.setup();
    let path = without_dots(&setup.cwd.join(or(path, "notes.md")));
    let mut folders = setup.additional_directories.iter().chain([&setup.cwd]);
    let is_inside = folders.any(|folder| path.starts_with(without_dots(folder)));
    is_inside.then_some(path)
}

/// The same path without `.` and `..`. The client resolves links.
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

/// The reason why a request to the client failed. Cancellation ends the turn.
fn reason(error: &ClientCallError) -> Result<String, TurnError> {
    match error {
        ClientCallError::Cancelled => Err(TurnError::cancelled()),
        ClientCallError::Unsupported => Ok("the client cannot do that".to_owned()),
        other => Ok(other.to_string()),
    }
}
