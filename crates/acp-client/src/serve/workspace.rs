//! What the agent asks of files and terminals, checked before it is served.

use std::future::Future;

use acp_connection::{BoxFuture, IncomingRequest};
use acp_protocol::method::Request;
use acp_protocol::rpc::Fault;
use acp_protocol::v1::{ReadTextFileRequest, SessionId, WriteTextFileRequest, methods};

use super::{SessionOf, find, no_such_session};
use crate::error::ServeError;
use crate::folders::clean_file_path;
use crate::gate::GateWatch;
use crate::session::{Services, Sessions};

/// Serves one of the methods of files and terminals that are configured.
pub(super) fn serve(sessions: &Sessions, request: IncomingRequest) -> Option<BoxFuture> {
    match request.method() {
        methods::FS_READ_TEXT_FILE => serve_file(
            request,
            |read: &mut ReadTextFileRequest| {
                let found = service(sessions, &read.session_id, |of| of.read_files.clone())?;
                clean_file_path("path", &mut read.path)?;
                match read.line {
                    Some(0) => Err(Fault::invalid_params(
                        "line: expected a number of 1 or more",
                    )),
                    _ => Ok(found),
                }
            },
            |files, read| async move { files.read_boxed(read).await },
        ),
        methods::FS_WRITE_TEXT_FILE => serve_file(
            request,
            |write: &mut WriteTextFileRequest| {
                let found = service(sessions, &write.session_id, |of| of.write_files.clone())?;
                clean_file_path("path", &mut write.path)?;
                Ok(found)
            },
            |files, write| async move { files.write_boxed(write).await },
        ),
        _ => {
            let found = request.decode().and_then(|SessionOf { session_id }| {
                service(sessions, &session_id, |of| of.terminals.clone())
            });
            match found {
                Ok((terminals, gate)) => terminals.serve(request, gate),
                Err(fault) => {
                    request.refuse(fault);
                    None
                }
            }
        }
    }
}

/// Finds what a session is served; what is configured is there until it has ended.
fn service<T>(
    sessions: &Sessions,
    session: &SessionId,
    part: impl FnOnce(&Services) -> Option<T>,
) -> Result<(T, GateWatch), Fault> {
    let session = find(sessions, session)?;
    let found = part(&session.services.lock()).ok_or_else(no_such_session)?;
    Ok((found, session.gate.watch()))
}

fn serve_file<R, S, Fut>(
    request: IncomingRequest,
    find: impl FnOnce(&mut R) -> Result<(S, GateWatch), Fault>,
    work: impl FnOnce(S, R) -> Fut + Send + 'static,
) -> Option<BoxFuture>
where
    R: Request,
    S: Send + 'static,
    Fut: Future<Output = Result<R::Response, ServeError>> + Send,
{
    request.serve(|mut params: R, context| {
        let found = find(&mut params);
        async move {
            let (files, gate) = found?;
            let answer = async { Ok(work(files, params).await?) };
            gate.run(&context, answer).await
        }
    })
}
