//! Setting the model of a session by a method that is not in the protocol yet.

use std::sync::{Arc, Weak};

use acp_protocol::method::{Request, Side};
use acp_protocol::v1::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Sessions;
use crate::error::ClientError;

/// Shows that an agent knows `session/set_model`, which the protocol has no capability
/// for.
///
/// There is no other way to one than [`Client::set_model_proof`], which reads what the
/// agent said of itself: asking it to see what happens proves nothing, because some
/// answer methods they do not know with an empty success. It holds for the connection
/// it comes from.
///
/// ```compile_fail
/// // Nobody makes one up.
/// let proof = acp_client::SetModelProof::default();
/// ```
///
/// [`Client::set_model_proof`]: crate::Client::set_model_proof
#[derive(Debug, Clone)]
pub struct SetModelProof {
    agent: Weak<Sessions>,
}

impl SetModelProof {
    /// Finds the proof in what the agent said of itself: a key of its `_meta` with a
    /// value other than null.
    pub(crate) fn find(sessions: &Arc<Sessions>, key: &str) -> Result<Self, ClientError> {
        let agent = sessions.connection.agent()?;
        let value = agent.meta.as_ref().and_then(|meta| meta.get(key));
        match value {
            Some(value) if !value.is_null() => Ok(Self {
                agent: Arc::downgrade(sessions),
            }),
            _ => Err(ClientError::SetModelUnsupported),
        }
    }

    /// Checks that it comes from this connection.
    pub(super) fn check(&self, sessions: &Arc<Sessions>) -> Result<(), ClientError> {
        if std::ptr::eq(self.agent.as_ptr(), Arc::as_ptr(sessions)) {
            Ok(())
        } else {
            Err(ClientError::SetModelUnsupported)
        }
    }
}

/// The request. It stays in the crate: the proof is the only way to send one.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetModelRequest {
    pub(crate) session_id: SessionId,
    pub(crate) model_id: String,
}

impl Request for SetModelRequest {
    const METHOD: &'static str = "session/set_model";
    const SERVED_BY: Side = Side::Agent;
    // Nothing stands in it that matters.
    type Response = Box<RawValue>;
}
