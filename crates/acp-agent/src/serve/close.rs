//! Sessions closed and deleted.

use std::sync::Arc;

use acp_connection::Context;
use acp_host::HostErrorKind;
use acp_protocol::{
    Request,
    rpc::Fault,
    v1::{CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse},
};
use tokio::sync::watch;

use crate::{
    fault,
    host_call::call_host,
    serve::connection::{ConnectionState, Served, host_id},
    session::Session,
};

impl ConnectionState {
    /// Closes a session: its prompt ends as cancelled, its questions are
    /// withdrawn, the host lets go, and then its id stands for nothing. What was
    /// written stays. Whoever else closes it meanwhile waits for the same end.
    pub(super) async fn close_session(
        self: Arc<Self>,
        params: Result<CloseSessionRequest, Fault>,
        context: Context,
    ) -> Served<CloseSessionResponse> {
        let session = self.live(CloseSessionRequest::METHOD, &params?.session_id)?;
        let mut closed = self.start_close(&session);
        let closed = closed.wait_for(|is_closed| *is_closed);
        // It goes on, whether anybody waits for it or not.
        let closed = context.run_until_cancelled(closed).await;
        closed.ok_or_else(Fault::cancelled)?.map_err(|_| {
            fault::internal(CloseSessionRequest::METHOD, "the session cannot be closed")
        })?;
        Ok((CloseSessionResponse::new(), None))
    }

    /// Begins to close a session, or joins who does.
    pub(super) fn start_close(self: &Arc<Self>, session: &Arc<Session>) -> watch::Receiver<bool> {
        let state = Arc::clone(self);
        session.close(move |session| {
            state.live_sessions.remove(session);
        })
    }

    /// Deletes a session that is not live.
    pub(super) async fn delete_session(
        self: Arc<Self>,
        params: Result<DeleteSessionRequest, Fault>,
        context: Context,
    ) -> Served<DeleteSessionResponse> {
        let method = DeleteSessionRequest::METHOD;
        self.admit(method, &context).await?;
        let params = params?;
        let id = host_id(method, &params.session_id)?;
        // The session is not opened meanwhile, and does not count as live.
        let place = self.live_sessions.reserve(&params.session_id, usize::MAX);
        let _place = place.map_err(|refused| refused.into_fault(method))?;
        let Some(deleter) = &self.agent.deleter else {
            return Err(Fault::method_not_found(method));
        };
        let deleted = context
            .run_until_cancelled(call_host(|| deleter.delete(&id)))
            .await;
        match deleted.ok_or_else(Fault::cancelled)? {
            // It is gone, whoever deleted it.
            Ok(Err(error)) if error.kind() == HostErrorKind::NotFound => {}
            deleted => fault::called(method, deleted)?,
        }
        Ok((DeleteSessionResponse::new(), None))
    }
}
