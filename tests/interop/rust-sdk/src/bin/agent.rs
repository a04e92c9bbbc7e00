//! An agent on the official Rust SDK: turns that are answered, allowed, cancelled and failed.
//!
//! It has no model, and does by itself what the words of the prompt would make a model do
//! (see `model/src/script.rs`).

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, ContentBlock, ContentChunk, Implementation,
    InitializeRequest, InitializeResponse, NewSessionRequest, NewSessionResponse, PermissionOption,
    PermissionOptionKind, PromptRequest, PromptResponse, RequestPermissionOutcome,
    RequestPermissionRequest, SessionId, SessionNotification, SessionUpdate, StopReason,
    TextContent, ToolCall, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use agent_client_protocol::{Agent, Client, Error, Stdio};
use tokio::sync::watch;
use tokio::time::timeout;

/// The sessions, each with its folder and whether its turn was cancelled.
#[derive(Clone, Default)]
struct Sessions(Arc<Mutex<HashMap<SessionId, Session>>>);

#[derive(Clone)]
struct Session {
    cwd: PathBuf,
    cancelled: watch::Sender<bool>,
}

impl Sessions {
    fn open(&self, cwd: PathBuf) -> SessionId {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = SessionId::new(format!("session-{}", sessions.len() + 1));
        let cancelled = watch::Sender::new(false);
        sessions.insert(id.clone(), Session { cwd, cancelled });
        id
    }

    fn find(&self, id: &SessionId) -> Option<Session> {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(id).cloned()
    }
}

/// One turn, and what it can do.
struct Turn {
    client: ConnectionTo<Client>,
    id: SessionId,
    session: Session,
}

impl Turn {
    fn tell(&self, update: SessionUpdate) -> Result<(), Error> {
        let told = SessionNotification::new(self.id.clone(), update);
        self.client.send_notification(told)
    }

    fn say(&self, text: impl Into<String>) -> Result<(), Error> {
        let text = ContentBlock::Text(TextContent::new(text));
        self.tell(SessionUpdate::AgentMessageChunk(ContentChunk::new(text)))
    }

    fn is_cancelled(&self) -> bool {
        *self.session.cancelled.borrow()
    }

    async fn run(&self, prompt: &str) -> Result<StopReason, Error> {
        let has = |word: &str| prompt.split_whitespace().any(|other| other == word);
        if has("LONG") {
            for number in 0..2000 {
                self.say(format!("w{number:04} "))?;
            }
        } else if has("SLOW") {
            self.count().await?;
        } else if has("USE_TOOL") {
            self.use_tool().await?;
        } else if has("FAIL") {
            return Err(Error::internal_error());
        } else {
            self.say("Hello from mock.")?;
        }
        let cancelled = self.is_cancelled();
        Ok(if cancelled {
            StopReason::Cancelled
        } else {
            StopReason::EndTurn
        })
    }

    async fn count(&self) -> Result<(), Error> {
        let mut cancelled = self.session.cancelled.subscribe();
        for number in 0..100 {
            if self.is_cancelled() {
                break;
            }
            self.say(format!("slow{number} "))?;
            let change = cancelled.wait_for(|cancelled| *cancelled);
            let _ = timeout(Duration::from_millis(200), change).await;
        }
        Ok(())
    }

    /// Writes a file, if it may.
    async fn use_tool(&self) -> Result<(), Error> {
        let call = ToolCall::new("call-1", "Write a file").kind(ToolKind::Edit);
        self.tell(SessionUpdate::ToolCall(call))?;
        let update =
            |status| ToolCallUpdate::new("call-1", ToolCallUpdateFields::new().status(status));
        let options = vec![
            PermissionOption::new("yes", "Allow", PermissionOptionKind::AllowOnce),
            PermissionOption::new("no", "Reject", PermissionOptionKind::RejectOnce),
        ];
        let ask = update(ToolCallStatus::Pending);
        let ask = RequestPermissionRequest::new(self.id.clone(), ask, options);
        let answer = self.client.send_request(ask).block_task().await?.outcome;
        let allowed = match answer {
            RequestPermissionOutcome::Selected(selected) => &*selected.option_id.0 == "yes",
            _ => false,
        };
        if allowed {
            self.tell(SessionUpdate::ToolCallUpdate(update(
                ToolCallStatus::InProgress,
            )))?;
            let file = self.session.cwd.join("mock_shell.txt");
            std::fs::write(file, "mock\n").map_err(|_| Error::internal_error())?;
        }
        let status = if allowed {
            ToolCallStatus::Completed
        } else {
            ToolCallStatus::Failed
        };
        self.tell(SessionUpdate::ToolCallUpdate(update(status)))
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let sessions = Sessions::default();
    let [opened, prompted, cancelled] = [(); 3].map(|()| sessions.clone());
    Agent
        .v1()
        .name("interop")
        .on_receive_request(
            async move |_: InitializeRequest, responder, _| {
                let info = Implementation::new("interop-rust", "0.0.0");
                let agent = InitializeResponse::new(ProtocolVersion::V1)
                    .agent_capabilities(AgentCapabilities::new())
                    .agent_info(info);
                responder.respond(agent)
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, _| {
                responder.respond(NewSessionResponse::new(opened.open(request.cwd)))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, client: ConnectionTo<Client>| {
                let Some(session) = prompted.find(&request.session_id) else {
                    return responder.respond_with_error(Error::invalid_params());
                };
                // A cancel that comes right behind must find the turn begun.
                session.cancelled.send_replace(false);
                let prompt = request.prompt.iter().filter_map(|block| match block {
                    ContentBlock::Text(text) => Some(text.text.as_str()),
                    _ => None,
                });
                let prompt: String = prompt.collect();
                let turn = Turn {
                    client: client.clone(),
                    id: request.session_id,
                    session,
                };
                client.spawn(async move {
                    match turn.run(&prompt).await {
                        Ok(reason) => responder.respond(PromptResponse::new(reason)),
                        Err(error) => responder.respond_with_error(error),
                    }
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |cancel: CancelNotification, _| {
                if let Some(session) = cancelled.find(&cancel.session_id) {
                    session.cancelled.send_replace(true);
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .connect_to(Stdio::new())
        .await
}
