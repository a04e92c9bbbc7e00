//! What a host may ask its client.

use acp_host::{ClientError, ReadTextFile, WriteTextFile};
use acp_protocol::{
    rpc::{CallError, ErrorCode},
    v1::{ReadTextFileRequest, WriteTextFileRequest},
};

use crate::{session::Core, wire::path_text};

/// Reads a text file through the client, if it said that it can (R140, R141).
pub(crate) async fn read_text_file(
    core: &Core,
    request: ReadTextFile,
) -> Result<String, ClientError> {
    if !core.client.read_text_file {
        return Err(ClientError::Unsupported);
    }
    let mut wire = ReadTextFileRequest::new(&core.id, path_text(&request.path));
    wire.line = request.line;
    wire.limit = request.limit;
    let response = core.peer().call(&wire).await.map_err(client_error)?;
    Ok(response.content)
}

/// Writes a text file through the client, if it said that it can (R140, R141).
pub(crate) async fn write_text_file(
    core: &Core,
    request: WriteTextFile,
) -> Result<(), ClientError> {
    if !core.client.write_text_file {
        return Err(ClientError::Unsupported);
    }
    let wire = WriteTextFileRequest::new(&core.id, path_text(&request.path), request.text);
    core.peer().call(&wire).await.map_err(client_error)?;
    Ok(())
}

pub(crate) fn client_error(error: CallError) -> ClientError {
    match error {
        CallError::Peer(error) if error.code == ErrorCode::REQUEST_CANCELLED => {
            ClientError::Cancelled
        }
        CallError::Peer(error) => ClientError::Refused {
            code: error.code.0,
            message: error.message,
        },
        CallError::Cancelled => ClientError::Cancelled,
        CallError::Closed(_) => ClientError::Closed,
        other => ClientError::Failed {
            reason: other.to_string(),
        },
    }
}
