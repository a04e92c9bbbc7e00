//! What the agent asks of the client.

use std::future::Future;
use std::path::{Component, Path};
use std::sync::{Arc, Weak};

use acp_protocol::rpc::{Answer, Fault, ReceiveSeq};
use acp_protocol::v1::{
    CloseSessionRequest, InitializeResponse, NewSessionResponse, ReadTextFileRequest,
    RequestPermissionOutcome, RequestPermissionRequest, RequestPermissionResponse, SessionId,
    ToolKind, WriteTextFileRequest, methods,
};
use acp_transport_stdio::{BoxFuture, Context, Handler, IncomingRequest, Peer};

use crate::connection::AgentCell;
use crate::options::{ClientOptions, PermissionsBy};
use crate::permission::{PendingPermission, PermissionAsk};
use crate::registry::Registry;
use crate::session_state::SessionState;

/// Serves the agent: what is configured, for sessions that are open.
pub(crate) struct Dispatch {
    registry: Arc<Registry>,
    options: Arc<ClientOptions>,
    agent: AgentCell,
}

impl Dispatch {
    pub(crate) fn new(
        registry: Arc<Registry>,
        options: Arc<ClientOptions>,
        agent: AgentCell,
    ) -> Self {
        Self {
            registry,
            options,
            agent,
        }
    }

    fn permission(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let registry = Arc::clone(&self.registry);
        let by = self.options.permissions.clone();
        let after = request.received_after();
        request.serve(move |ask: RequestPermissionRequest, context| {
            let session = find(&registry, &ask.session_id);
            async move {
                let outcome = permit(session?, by, ask, after);
                let outcome = unless_cancelled(&context, outcome).await?;
                Ok(RequestPermissionResponse::new(outcome))
            }
        })
    }

    fn read_file(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let Some(files) = self.options.read_files.clone() else {
            request.unknown_method();
            return None;
        };
        let registry = Arc::clone(&self.registry);
        request.serve(move |read: ReadTextFileRequest, context| {
            let checked = find(&registry, &read.session_id).and_then(|_| {
                check_path(&read.path)?;
                check_line(read.line)
            });
            async move {
                checked?;
                let answer = unless_cancelled(&context, files.read_boxed(read)).await?;
                answer.map_err(Fault::from)
            }
        })
    }

    fn write_file(&self, request: IncomingRequest) -> Option<BoxFuture> {
        let Some(files) = self.options.write_files.clone() else {
            request.unknown_method();
            return None;
        };
        let registry = Arc::clone(&self.registry);
        request.serve(move |write: WriteTextFileRequest, context| {
            let checked = find(&registry, &write.session_id).and_then(|_| check_path(&write.path));
            async move {
                checked?;
                let answer = unless_cancelled(&context, files.write_boxed(write)).await?;
                answer.map_err(Fault::from)
            }
        })
    }
}

impl Handler for Dispatch {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        match request.method() {
            methods::SESSION_REQUEST_PERMISSION => self.permission(request),
            methods::FS_READ_TEXT_FILE => self.read_file(request),
            methods::FS_WRITE_TEXT_FILE => self.write_file(request),
            _ => {
                request.unknown_method();
                None
            }
        }
    }

    /// Closes a session that was opened when nobody waited for it any more.
    fn late_answer(&self, peer: &Peer, answer: &Answer) {
        let Ok(opened) = answer.decode::<NewSessionResponse>() else {
            return;
        };
        if self.agent.get().is_some_and(|agent| closes_sessions(agent)) {
            // Whether it is closed or not, nobody is left to be told.
            if let Ok(call) = peer.start_call(&CloseSessionRequest::new(opened.session_id)) {
                call.detach();
            }
        }
    }
}

/// Tells whether the agent knows how to close a session.
pub(crate) fn closes_sessions(agent: &InitializeResponse) -> bool {
    agent
        .agent_capabilities
        .session_capabilities
        .close
        .is_some()
}

/// Gets the answer to one permission request: from whoever is to give it, or
/// `cancelled` as soon as the turn is.
async fn permit(
    session: Arc<SessionState>,
    by: PermissionsBy,
    request: RequestPermissionRequest,
    after: ReceiveSeq,
) -> RequestPermissionOutcome {
    let mut slot = session.slot().subscribe();
    let cancels = {
        let now = slot.borrow_and_update();
        if now.is_cancelling() {
            return RequestPermissionOutcome::Cancelled;
        }
        now.cancels()
    };
    let asked = Asked {
        session: Arc::downgrade(&session),
        request,
        after,
    };
    // Who waits for an answer does not keep the session open.
    drop(session);
    tokio::select! {
        biased;
        _ = slot.wait_for(|slot| slot.cancels() != cancels) => RequestPermissionOutcome::Cancelled,
        outcome = asked.answer(by) => outcome,
    }
}

struct Asked {
    session: Weak<SessionState>,
    request: RequestPermissionRequest,
    after: ReceiveSeq,
}

impl Asked {
    async fn answer(self, by: PermissionsBy) -> RequestPermissionOutcome {
        match by {
            PermissionsBy::Refusal => self
                .ask()
                .map_or(RequestPermissionOutcome::Cancelled, |ask| ask.reject()),
            PermissionsBy::Handler(handler) => {
                if let Some(session) = self.session.upgrade().filter(|_| self.wants_announcement())
                {
                    session.wait_until_read(self.after).await;
                }
                let Some(ask) = self.ask() else {
                    return RequestPermissionOutcome::Cancelled;
                };
                let offered = ask.clone();
                let outcome = handler.answer_boxed(ask).await;
                if offered.offers(&outcome) {
                    outcome
                } else {
                    tracing::warn!("a permission handler picked an option that was not offered");
                    RequestPermissionOutcome::Cancelled
                }
            }
            PermissionsBy::Reader => {
                let (Some(session), Some(ask)) = (self.session.upgrade(), self.ask()) else {
                    return RequestPermissionOutcome::Cancelled;
                };
                let (pending, verdict) = PendingPermission::new(ask);
                if !session.asks().push(pending) {
                    return RequestPermissionOutcome::Cancelled;
                }
                drop(session);
                verdict.outcome().await
            }
        }
    }

    /// Tells whether the announcement of the tool may say what the request does not.
    fn wants_announcement(&self) -> bool {
        let call = &self.request.tool_call;
        match &call.kind {
            None => true,
            Some(ToolKind::Edit | ToolKind::Delete | ToolKind::Move) => {
                call.locations.is_none() && call.content.is_none()
            }
            Some(_) => false,
        }
    }

    fn ask(&self) -> Option<PermissionAsk> {
        let tool = self
            .session
            .upgrade()?
            .complete_tool(&self.request.tool_call);
        Some(PermissionAsk::new(self.request.clone(), tool, self.after))
    }
}

fn find(registry: &Registry, id: &SessionId) -> Result<Arc<SessionState>, Fault> {
    if id.as_str().is_empty() {
        return Err(Fault::invalid_params("the session id is empty"));
    }
    registry
        .find(id)
        .ok_or_else(|| Fault::not_found("no such session"))
}

fn check_path(path: &str) -> Result<(), Fault> {
    let path = Path::new(path);
    let clean = path
        .components()
        .all(|part| !matches!(part, Component::ParentDir | Component::CurDir));
    if path.is_absolute() && clean {
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

/// Waits for `answer`, or fails as soon as the agent takes its request back.
async fn unless_cancelled<F: Future>(context: &Context, answer: F) -> Result<F::Output, Fault> {
    context
        .run_until_cancelled(answer)
        .await
        .ok_or_else(Fault::cancelled)
}
