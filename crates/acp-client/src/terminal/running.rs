//! One command, from its start until nobody asks for it any more.

use std::io;
use std::sync::Arc;

use acp_process::{ChildHandle, ChildStdout, Ending, ExitStatus, Launch};
use parking_lot::Mutex;
use tokio::io::AsyncReadExt as _;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::spawn_blocking;

use super::ring::OutputRing;
use crate::error::ServeError;

/// How much is read of an output at once.
const PIECE: usize = 16 * 1024;
/// How much is read at the exit: as much as a pipe can hold. Somebody whom the
/// command left behind may write on for ever.
const MAX_LAST_READ: usize = 1024 * 1024;

/// A command that was started; dropping it ends the command in the background.
#[derive(Debug)]
pub(super) struct RunningCommand {
    view: CommandHandle,
    _place: OwnedSemaphorePermit,
}

/// What can be asked of a command. It does not keep it running.
#[derive(Debug, Clone)]
pub(super) struct CommandHandle {
    child: ChildHandle,
    output: Arc<Mutex<OutputRing>>,
    exited: watch::Receiver<Option<ExitStatus>>,
}

impl RunningCommand {
    /// Starts a command, of whose output at most `limit` bytes are kept.
    ///
    /// Dropped while it waits, what was started is ended.
    pub(super) async fn start(
        launch: Launch,
        limit: usize,
        place: OwnedSemaphorePermit,
    ) -> Result<Self, ServeError> {
        let spawned = spawn_blocking(move || launch.spawn()).await;
        let mut child = spawned.map_err(io::Error::other)??;
        let output = Arc::new(Mutex::new(OutputRing::new(limit)));
        let (exit, exited) = watch::channel(None);
        let view = CommandHandle {
            child: child.handle(),
            output: Arc::clone(&output),
            exited,
        };
        if let Some(stdout) = child.take_stdout() {
            tokio::spawn(listen(stdout, child.handle(), output, exit));
        }
        Ok(Self {
            view,
            _place: place,
        })
    }

    pub(super) fn view(&self) -> CommandHandle {
        self.view.clone()
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        self.view.child.end(Ending::Abort);
    }
}

impl CommandHandle {
    /// Returns the output so far, and whether something of it was dropped.
    pub(super) fn output(&self) -> (String, bool) {
        let output = self.output.lock();
        (output.text(), output.is_cut())
    }

    /// Returns how the command ended, `None` while it runs. What it had written is
    /// in the output by then.
    pub(super) fn exit(&self) -> Option<ExitStatus> {
        *self.exited.borrow()
    }

    /// Waits for the command to end, whatever it has left behind.
    pub(super) async fn wait(&mut self) -> ExitStatus {
        let exited = self.exited.wait_for(Option::is_some).await;
        // An error means that nobody listens any more: the runtime goes down.
        exited
            .ok()
            .and_then(|exited| *exited)
            .unwrap_or(ExitStatus::Unknown)
    }

    /// Ends the command and what it has left behind in its group, and waits for it.
    pub(super) async fn kill(&mut self) {
        self.child.end(Ending::Abort);
        self.gone().await;
    }

    /// Waits until the command and its group are no more.
    pub(super) async fn gone(&mut self) {
        self.child.gone().await;
        self.wait().await;
    }
}

/// Keeps what a command writes, and tells its exit behind what was written before.
async fn listen(
    mut stdout: ChildStdout,
    child: ChildHandle,
    output: Arc<Mutex<OutputRing>>,
    exit: watch::Sender<Option<ExitStatus>>,
) {
    let mut buffer = vec![0; PIECE];
    let mut open = true;
    let ended = loop {
        tokio::select! {
            read = stdout.read(&mut buffer), if open => open = keep(read, &buffer, &output),
            ended = child.wait() => break ended,
        }
    };
    open = drain(&mut stdout, &mut buffer, &output);
    if !open {
        output.lock().finish();
    }
    exit.send_replace(Some(ended.status()));
    // Background jobs write on.
    while open {
        tokio::select! {
            read = stdout.read(&mut buffer) => open = keep(read, &buffer, &output),
            () = child.gone() => {
                drain(&mut stdout, &mut buffer, &output);
                break;
            }
        }
    }
    output.lock().finish();
}

/// Keeps what was read; false at the end.
fn keep(read: io::Result<usize>, buffer: &[u8], output: &Mutex<OutputRing>) -> bool {
    match read {
        Ok(count @ 1..) => {
            output.lock().push(&buffer[..count]);
            true
        }
        Ok(0) | Err(_) => false,
    }
}

/// Keeps what the pipe holds at this moment; false at its end.
fn drain(stdout: &mut ChildStdout, buffer: &mut [u8], output: &Mutex<OutputRing>) -> bool {
    let mut drained = 0;
    while drained < MAX_LAST_READ {
        match stdout.try_read(buffer) {
            Ok(count @ 1..) => {
                output.lock().push(&buffer[..count]);
                drained += count;
            }
            Ok(0) => return false,
            Err(error) => return error.kind() == io::ErrorKind::WouldBlock,
        }
    }
    true
}
