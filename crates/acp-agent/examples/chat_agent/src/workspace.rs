//! Files and commands: those of the client where it offers them, else those of
//! this machine.

use std::{
    io,
    path::{Component, Path, PathBuf},
    process::Stdio,
};

use acp_agent::{
    host::{ClientCallError, CreateTerminal, ToolContent},
    kit::{RunningTool, Turn, TurnError},
};
use tokio::{
    fs,
    io::{AsyncRead, AsyncReadExt},
    process::Command,
};

/// How much of a file or of the output of a command the model is told.
const MAX_TOLD: usize = 64 << 10;

/// What a turn can reach.
pub(crate) struct Workspace<'t> {
    turn: &'t Turn,
}

/// Why something could not be done.
pub(crate) enum Trouble {
    /// For this reason, which the model is told.
    Told(String),
    /// Nobody wants it any more.
    Ended(TurnError),
}

/// A command that has ended.
pub(crate) struct Ran {
    pub(crate) how: String,
    pub(crate) output: String,
    pub(crate) shown: ToolContent,
}

impl<'t> Workspace<'t> {
    pub(crate) fn new(turn: &'t Turn) -> Self {
        Self { turn }
    }

    /// The absolute path for one that the model names.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.turn.setup().cwd.join(path)
    }

    /// Whether a path stays in the folders of the session, whatever links it
    /// follows on this machine.
    pub(crate) async fn holds(&self, path: &Path) -> bool {
        let setup = self.turn.setup();
        let mut folders = std::iter::once(&setup.cwd).chain(&setup.additional_directories);
        if path.components().any(|part| part == Component::ParentDir) {
            return false;
        }
        let Some(folder) = folders.find(|folder| path.starts_with(folder)) else {
            return false;
        };
        match (fs::canonicalize(path).await, fs::canonicalize(folder).await) {
            (Ok(path), Ok(folder)) => path.starts_with(folder),
            // It is not there, or the client alone can see it.
            _ => true,
        }
    }

    pub(crate) async fn read(&self, path: &Path) -> Result<String, Trouble> {
        let mut text = if self.turn.setup().client.read_text_file {
            self.turn.read_text_file(path).await?
        } else {
            let file = fs::File::open(path).await?;
            let limit = MAX_TOLD as u64 + 1;
            let mut bytes = Vec::new();
            let mut beginning = file.take(limit);
            let reading = beginning.read_to_end(&mut bytes);
            self.turn.run_until_cancelled(reading).await??;
            String::from_utf8_lossy(&bytes).into_owned()
        };
        cut(&mut text);
        Ok(text)
    }

    pub(crate) async fn write(&self, path: &Path, text: &str) -> Result<(), Trouble> {
        if self.turn.setup().client.write_text_file {
            return Ok(self.turn.write_text_file(path, text).await?);
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).await?;
        }
        Ok(fs::write(path, text).await?)
    }

    /// Runs a command line, shows its output while it runs if the client can,
    /// and waits for its end. A cancelled turn ends it.
    pub(crate) async fn run(&self, line: &str, tool: &RunningTool<'_>) -> Result<Ran, Trouble> {
        if self.turn.setup().client.terminal {
            self.run_at_client(line, tool).await
        } else {
            let running = run_here(line, &self.turn.setup().cwd);
            self.turn.run_until_cancelled(running).await?
        }
    }

    async fn run_at_client(&self, line: &str, tool: &RunningTool<'_>) -> Result<Ran, Trouble> {
        let request = CreateTerminal::new("sh")
            .with_args(["-c", line])
            .with_cwd(&self.turn.setup().cwd)
            .with_output_byte_limit(MAX_TOLD as u64);
        let running = self.turn.terminal(request).await?;
        let shown = running.to_content();
        tool.show(vec![shown.clone()]).await?;
        let exit = running.wait().await?;
        let output = running.output().await?;
        running.release().await?;
        let how = match (exit.code, exit.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (None, signal) => format!("ended by {}", signal.as_deref().unwrap_or("a signal")),
        };
        let output = output.text.to_string();
        Ok(Ran { how, output, shown })
    }
}

/// Runs a command line on this machine. Dropped, it ends the command and all
/// that it started.
async fn run_here(line: &str, folder: &Path) -> Result<Ran, Trouble> {
    let mut command = if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.arg("/C");
        command
    } else {
        Command::new("sh")
    };
    #[cfg(unix)]
    command.arg("-c").process_group(0);
    command
        .arg(line)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut group = Group(child.id());
    let (status, stdout, stderr) = tokio::join!(
        async {
            let status = child.wait().await;
            // What it left behind would keep its output open.
            group.kill();
            status
        },
        hear_out(stdout),
        hear_out(stderr),
    );
    let status = status?;
    let how = match status.code() {
        Some(code) => format!("exit code {code}"),
        None => "ended by a signal".to_owned(),
    };
    let output = format!("{}{}", stdout?, stderr?);
    let shown = ToolContent::text(format!("{how}\n{output}"));
    Ok(Ran { how, output, shown })
}

/// A command and all that it started, by the id of its group. It is ended once:
/// later the id may be somebody else's.
struct Group(Option<u32>);

impl Group {
    fn kill(&mut self) {
        let id = self.0.take().and_then(|id| i32::try_from(id).ok());
        #[cfg(unix)]
        if let Some(group) = id.and_then(rustix::process::Pid::from_raw) {
            let kill = rustix::process::Signal::KILL;
            // There may be nobody left.
            let _ = rustix::process::kill_process_group(group, kill);
        }
        // Elsewhere `kill_on_drop` ends the command alone.
        #[cfg(not(unix))]
        let _ = id;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads all of an output, and keeps its beginning.
async fn hear_out(output: Option<impl AsyncRead + Unpin>) -> io::Result<String> {
    let Some(mut output) = output else {
        return Ok(String::new());
    };
    let (mut kept, mut chunk) = (Vec::new(), [0; 8 << 10]);
    loop {
        let read = output.read(&mut chunk).await?;
        if read == 0 {
            break;
        }
        let room = (MAX_TOLD + 1).saturating_sub(kept.len());
        kept.extend_from_slice(&chunk[..read.min(room)]);
    }
    let mut text = String::from_utf8_lossy(&kept).into_owned();
    cut(&mut text);
    Ok(text)
}

/// Leaves the beginning of a long text, and says so.
fn cut(text: &mut String) {
    if text.len() > MAX_TOLD {
        let mut end = MAX_TOLD;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str("\n[the rest is left out]");
    }
}

impl From<ClientCallError> for Trouble {
    fn from(error: ClientCallError) -> Self {
        match error {
            ClientCallError::Cancelled | ClientCallError::Closed => Self::Ended(error.into()),
            other => Self::Told(other.to_string()),
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Told(error.to_string())
    }
}

impl From<TurnError> for Trouble {
    fn from(error: TurnError) -> Self {
        Self::Ended(error)
    }
}
