//! What the agent asks of files and terminals, looked at before it is served.

use std::future::Future;
use std::path::{Component, Path};
use std::sync::Arc;

use acp_connection::{BoxFuture, Context, IncomingRequest};
use acp_protocol::rpc::Fault;
use acp_protocol::v1::{
    CreateTerminalRequest, KillTerminalRequest, ReadTextFileRequest, ReleaseTerminalRequest,
    SessionId, TerminalId, TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
    methods,
};
use tokio::sync::watch;

use crate::ServeError;
use crate::serve::{find, unless_cancelled};
use crate::session::Registry;
use crate::session::SessionState;
use crate::session::Slot;
use crate::terminal::TerminalTable;

/// Serves one of the methods of files and terminals that are configured.
pub(crate) fn serve(registry: &Registry, request: IncomingRequest) -> Option<BoxFuture> {
    match request.method() {
        methods::FS_READ_TEXT_FILE => request.serve(|read: ReadTextFileRequest, context| {
            let ready = find(registry, &read.session_id).and_then(|session| {
                check_path(&read.path)?;
                check_line(read.line)?;
                Ok((part(session.served().read_files())?, Until::of(&session)))
            });
            async move {
                let (files, until) = ready?;
                until.run(&context, files.read_boxed(read)).await
            }
        }),
        methods::FS_WRITE_TEXT_FILE => request.serve(|write: WriteTextFileRequest, context| {
            let ready = find(registry, &write.session_id).and_then(|session| {
                check_path(&write.path)?;
                Ok((part(session.served().write_files())?, Until::of(&session)))
            });
            async move {
                let (files, until) = ready?;
                until.run(&context, files.write_boxed(write)).await
            }
        }),
        methods::TERMINAL_CREATE => request.serve(|create: CreateTerminalRequest, context| {
            let ready = find(registry, &create.session_id).and_then(|session| {
                if create.command.is_empty() {
                    return Err(Fault::invalid_params("the command is empty"));
                }
                create.cwd.as_deref().map_or(Ok(()), check_path)?;
                if session.slot().borrow().is_cancelling() {
                    // Nothing new is started after the user said stop.
                    return Err(Fault::cancelled());
                }
                Ok((part(session.served().terminals())?, Until::of(&session)))
            });
            async move {
                let (terminals, until) = ready?;
                until.run(&context, terminals.create(create)).await
            }
        }),
        methods::TERMINAL_OUTPUT => request.serve(|output: TerminalOutputRequest, context| {
            let ready = terminal(registry, &output.session_id, &output.terminal_id);
            async move {
                let (terminals, until) = ready?;
                until.run(&context, terminals.output(output)).await
            }
        }),
        methods::TERMINAL_WAIT_FOR_EXIT => {
            request.serve(|wait: WaitForTerminalExitRequest, context| {
                let ready = terminal(registry, &wait.session_id, &wait.terminal_id);
                async move {
                    let (terminals, until) = ready?;
                    until.run(&context, terminals.wait_for_exit(wait)).await
                }
            })
        }
        methods::TERMINAL_KILL => request.serve(|kill: KillTerminalRequest, context| {
            let ready = terminal(registry, &kill.session_id, &kill.terminal_id);
            async move {
                let (terminals, until) = ready?;
                until.run(&context, terminals.kill(kill)).await
            }
        }),
        methods::TERMINAL_RELEASE => request.serve(|release: ReleaseTerminalRequest, context| {
            let ready = terminal(registry, &release.session_id, &release.terminal_id);
            async move {
                let (terminals, until) = ready?;
                until.run(&context, terminals.release(release)).await
            }
        }),
        _ => {
            request.unknown_method();
            None
        }
    }
}

/// Until when a request is served: the next cancel, or the end of its session.
///
/// It does not keep the session open.
struct Until {
    slot: watch::Receiver<Slot>,
    cancels: u64,
}

impl Until {
    fn of(session: &SessionState) -> Self {
        let slot = session.slot().subscribe();
        let cancels = slot.borrow().cancels();
        Self { slot, cancels }
    }

    /// Waits for `answer`, unless nobody wants it any more.
    async fn run<T>(
        mut self,
        context: &Context,
        answer: impl Future<Output = Result<T, ServeError>>,
    ) -> Result<T, Fault> {
        tokio::select! {
            biased;
            // An error means that the session is gone.
            _ = self.slot.wait_for(|slot| slot.cancels() != self.cancels) => Err(Fault::cancelled()),
            answer = unless_cancelled(context, answer) => answer?.map_err(Fault::from),
        }
    }
}

fn terminal(
    registry: &Registry,
    session: &SessionId,
    terminal: &TerminalId,
) -> Result<(Arc<TerminalTable>, Until), Fault> {
    let session = find(registry, session)?;
    if terminal.as_str().is_empty() {
        return Err(Fault::invalid_params("the terminal id is empty"));
    }
    Ok((part(session.served().terminals())?, Until::of(&session)))
}

/// What is configured is there, until the session has ended.
fn part<T>(part: Option<T>) -> Result<T, Fault> {
    part.ok_or_else(|| Fault::not_found("no such session"))
}

fn check_path(text: &str) -> Result<(), Fault> {
    let path = Path::new(text);
    let clean = path
        .components()
        .all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
    if path.is_absolute() && clean && !text.contains('\0') {
        Ok(())
    } else {
        Err(Fault::invalid_params(
            "the path must be absolute and without `..`",
        ))
    }
}

fn check_line(line: Option<u32>) -> Result<(), Fault> {
    if line == Some(0) {
        Err(Fault::invalid_params("lines are counted from 1"))
    } else {
        Ok(())
    }
}
