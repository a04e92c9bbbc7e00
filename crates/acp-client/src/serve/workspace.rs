//! What the agent asks of files and terminals, checked before it is served.

use std::future::Future;
use std::path::{Component, Path};
use std::sync::Arc;

use acp_connection::{BoxFuture, IncomingRequest};
use acp_protocol::method::Request;
use acp_protocol::rpc::Fault;
use acp_protocol::v1::{
    CreateTerminalRequest, KillTerminalRequest, ReadTextFileRequest, ReleaseTerminalRequest,
    SessionId, TerminalId, TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
    methods,
};

use super::{find, no_such_session, unless_cancelled};
use crate::error::ServeError;
use crate::session::{GateWatch, Sessions};
use crate::terminal::TerminalTable;

/// Serves one of the methods of files and terminals that are configured.
pub(super) fn serve(sessions: &Sessions, request: IncomingRequest) -> Option<BoxFuture> {
    match request.method() {
        methods::FS_READ_TEXT_FILE => route(
            request,
            |read: &ReadTextFileRequest| {
                let session = find(sessions, &read.session_id)?;
                check_path(&read.path)?;
                if read.line == Some(0) {
                    return Err(Fault::invalid_params("lines are counted from 1"));
                }
                let files = session.services.lock().read_files.clone();
                open(files, session.gate.watch())
            },
            |files, read| async move { files.read_boxed(read).await },
        ),
        methods::FS_WRITE_TEXT_FILE => route(
            request,
            |write: &WriteTextFileRequest| {
                let session = find(sessions, &write.session_id)?;
                check_path(&write.path)?;
                let files = session.services.lock().write_files.clone();
                open(files, session.gate.watch())
            },
            |files, write| async move { files.write_boxed(write).await },
        ),
        methods::TERMINAL_CREATE => route(
            request,
            |create: &CreateTerminalRequest| {
                let (terminals, gate) = terminals(sessions, &create.session_id)?;
                if create.command.is_empty() {
                    return Err(Fault::invalid_params("the command is empty"));
                }
                create.cwd.as_deref().map_or(Ok(()), check_path)?;
                match gate.is_cancelling() {
                    // Nothing new is started after the user said stop.
                    true => Err(Fault::cancelled()),
                    false => Ok((terminals, gate)),
                }
            },
            |terminals, create| async move { terminals.create(create).await },
        ),
        methods::TERMINAL_OUTPUT => route(
            request,
            |output: &TerminalOutputRequest| {
                terminal(sessions, &output.session_id, &output.terminal_id)
            },
            |terminals, output| async move { terminals.output(output).await },
        ),
        methods::TERMINAL_WAIT_FOR_EXIT => route(
            request,
            |wait: &WaitForTerminalExitRequest| {
                terminal(sessions, &wait.session_id, &wait.terminal_id)
            },
            |terminals, wait| async move { terminals.wait_for_exit(wait).await },
        ),
        methods::TERMINAL_KILL => route(
            request,
            |kill: &KillTerminalRequest| terminal(sessions, &kill.session_id, &kill.terminal_id),
            |terminals, kill| async move { terminals.kill(kill).await },
        ),
        methods::TERMINAL_RELEASE => route(
            request,
            |release: &ReleaseTerminalRequest| {
                terminal(sessions, &release.session_id, &release.terminal_id)
            },
            |terminals, release| async move { terminals.release(release).await },
        ),
        _ => {
            request.unknown_method();
            None
        }
    }
}

/// Decodes a request, lets `find` check it and find who serves it, and answers with what
/// `work` gives; until the next cancel, the end of the session, or the agent takes it back.
fn route<R, S, Fut>(
    request: IncomingRequest,
    find: impl FnOnce(&R) -> Result<(S, GateWatch), Fault>,
    work: impl FnOnce(S, R) -> Fut + Send + 'static,
) -> Option<BoxFuture>
where
    R: Request,
    S: Send + 'static,
    Fut: Future<Output = Result<R::Response, ServeError>> + Send,
{
    request.serve(|params: R, context| {
        let found = find(&params);
        async move {
            let (service, mut gate) = found?;
            tokio::select! {
                biased;
                () = gate.cancelled() => Err(Fault::cancelled()),
                answer = unless_cancelled(&context, work(service, params)) => Ok(answer??),
            }
        }
    })
}

fn terminal(
    sessions: &Sessions,
    session: &SessionId,
    terminal: &TerminalId,
) -> Result<(Arc<TerminalTable>, GateWatch), Fault> {
    let found = terminals(sessions, session)?;
    match terminal.as_str().is_empty() {
        true => Err(Fault::invalid_params("the terminal id is empty")),
        false => Ok(found),
    }
}

fn terminals(
    sessions: &Sessions,
    session: &SessionId,
) -> Result<(Arc<TerminalTable>, GateWatch), Fault> {
    let session = find(sessions, session)?;
    let terminals = session.services.lock().terminals.clone();
    open(terminals, session.gate.watch())
}

/// What is configured is there, until the session has ended.
fn open<T>(service: Option<T>, gate: GateWatch) -> Result<(T, GateWatch), Fault> {
    service
        .map(|service| (service, gate))
        .ok_or_else(no_such_session)
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
