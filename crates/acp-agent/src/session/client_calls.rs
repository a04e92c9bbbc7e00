//! What a host may ask its client.

use std::path::Path;

use acp_host::{ClientCallError, ReadTextFile, WriteTextFile};
use acp_protocol::{
    Request,
    rpc::{CallError, ErrorCode},
    v1::{ReadTextFileRequest, WriteTextFileRequest},
};

use crate::{session::SessionCore, wire::path_text};

/// Reads a text file through the client, if it said that it can (R140, R141).
pub(crate) async fn read_text_file(
    core: &SessionCore,
    request: ReadTextFile,
) -> Result<String, ClientCallError> {
    if !core.client.read_text_file {
        return Err(ClientCallError::Unsupported);
    }
    check_absolute(&request.path)?;
    let mut wire = ReadTextFileRequest::new(&core.id, path_text(&request.path));
    wire.line = request.line;
    wire.limit = request.limit;
    Ok(call(core, &wire).await?.content)
}

/// Writes a text file through the client, if it said that it can (R140, R141).
pub(crate) async fn write_text_file(
    core: &SessionCore,
    request: WriteTextFile,
) -> Result<(), ClientCallError> {
    if !core.client.write_text_file {
        return Err(ClientCallError::Unsupported);
    }
    check_absolute(&request.path)?;
    let wire = WriteTextFileRequest::new(&core.id, path_text(&request.path), request.text);
    call(core, &wire).await.map(drop)
}

/// Asks the client something for a session that is not closed. If a turn runs
/// that is cancelled meanwhile, the answer is not wanted any more.
pub(crate) async fn call<R: Request>(
    core: &SessionCore,
    request: &R,
) -> Result<R::Response, ClientCallError> {
    let cancel = core.turns().client_calls()?;
    let call = core.peer().call(request);
    let answer = match cancel {
        Some(cancel) => cancel.run_until_cancelled(call).await,
        None => Some(call.await),
    };
    answer
        .ok_or(ClientCallError::Cancelled)?
        .map_err(client_error)
}

/// Paths on the wire are absolute (R143, R151).
pub(crate) fn check_absolute(path: &Path) -> Result<(), ClientCallError> {
    if path.is_absolute() {
        return Ok(());
    }
    Err(ClientCallError::Failed {
        reason: "the path is not absolute".to_owned(),
    })
}

pub(crate) fn client_error(error: CallError) -> ClientCallError {
    match error {
        CallError::Peer(error) if error.code == ErrorCode::REQUEST_CANCELLED => {
            ClientCallError::Cancelled
        }
        CallError::Peer(error) => ClientCallError::Refused {
            code: error.code.0,
            message: error.message,
        },
        CallError::Cancelled => ClientCallError::Cancelled,
        CallError::Closed(_) => ClientCallError::Closed,
        other => ClientCallError::Failed {
            reason: other.to_string(),
        },
    }
}
