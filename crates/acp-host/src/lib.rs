//! The traits that an engine implements to become an agent of the Agent Client
//! Protocol, and the values they exchange.
//!
//! The crate promises to know nothing of the wire and nothing of a runtime: it
//! holds traits, the values they exchange, and one small signal
//! ([`Cancel`]). `acp-agent` serves what implements them.
//!
//! | you have | implement |
//! |---|---|
//! | sessions | [`SessionHost`], and [`LiveSession`] for what it makes |
//! | sessions that can be taken up again | [`SessionResumer`], [`SessionLoader`] |
//! | a list of sessions; sessions to remove | [`SessionCatalog`], [`SessionDeleter`] |
//! | a mode, a model, anything to set | [`ConfigCatalog`], [`ConfigController`] |
//! | a login | [`Authenticator`], [`LogoutHandler`] |
//! | a conversation that can be shortened | [`LiveSession::compact`] |
//!
//! | a session has to report or to ask | it calls |
//! |---|---|
//! | text, tools, plans, ends of turns | [`ClientLink::emit`] with an [`EventBody`] |
//! | commands, its title, notices, its options | the same, [`of the session`](HostEvent::of_session) |
//! | decisions to leave to the user | the same with a [`Gate`]; [`respond_gate`](LiveSession::respond_gate) brings the answer |
//! | files of the client | [`ClientLink::read_text_file`], [`ClientLink::write_text_file`] |
//! | commands to run at the client | [`ClientLink::create_terminal`] |
//! | errors that the client may read | [`HostError::public`] |
//!
//! If what you have is "a function that answers a prompt", take the kit of
//! `acp-agent` instead: it implements these traits for you.
//!
//! ```
//! use std::sync::{Arc, OnceLock};
//! use acp_host::*;
//!
//! struct EchoHost;
//! struct EchoSession { id: SessionId, link: OnceLock<ClientLink> }
//!
//! impl SessionHost for EchoHost {
//!     type Session = EchoSession;
//!
//!     async fn new_session(&self, _setup: Setup) -> Result<EchoSession, HostError> {
//!         let id = SessionId::new("echo-1").map_err(HostError::internal)?;
//!         Ok(EchoSession { id, link: OnceLock::new() })
//!     }
//! }
//!
//! impl LiveSession for EchoSession {
//!     fn id(&self) -> &SessionId { &self.id }
//!
//!     async fn attach(&self, link: ClientLink) -> Result<(), HostError> {
//!         self.link.set(link).map_err(|_| HostError::public("attached twice"))
//!     }
//!
//!     async fn submit(&self, submission: Submission) -> Result<(), HostError> {
//!         let link = self.link.get().ok_or_else(|| HostError::public("not attached"))?;
//!         let turn = Arc::new(TurnOrigin::new("main", submission.command.as_str()));
//!         let text = submission.content.iter().filter_map(Block::as_text).collect::<String>();
//!         let said = [
//!             EventBody::TurnStarted { command: Some(submission.command), index: 0 },
//!             EventBody::Delta(Delta::Text(text)),
//!             EventBody::TurnDone,
//!         ];
//!         for (number, body) in (0..).zip(said) {
//!             let event = HostEvent::new(Arc::clone(&turn), number, body);
//!             link.emit(event).await.map_err(HostError::internal)?;
//!         }
//!         Ok(())
//!     }
//!
//!     async fn respond_gate(&self, _response: GateResponse) -> Result<(), HostError> {
//!         Err(HostError::public("no gate is open"))
//!     }
//!
//!     async fn interrupt(&self) -> bool { false }
//! }
//! ```

mod cancel;
mod client;
mod config;
mod error;
mod event;
mod id;
mod json;
mod secret;
mod session;

pub use cancel::{Cancel, Cancelled, RunUntilCancelled};
pub use client::terminal::{CreateTerminal, Terminal, TerminalExit, TerminalOutput, TerminalPort};
pub use client::{
    ClientCallError, ClientLink, EmitError, HostFuture, Offer, Port, ReadTextFile, WriteTextFile,
};
pub use config::{
    ConfigCatalog, ConfigCategory, ConfigChange, ConfigChoice, ConfigController, ConfigKind,
    ConfigOption, ConfigValue,
};
pub use error::{HostError, HostErrorKind};
pub use event::compaction::{CompactRejectReason, Compaction, CompactionStatus};
pub use event::content::{Block, Media, PromptContent, Resource, ResourceBody, ResourceLink};
pub use event::form::{FormValueError, OpenUrl, UserForm};
pub use event::form_field::{FieldKind, FormField, FormOption, FormValue, TextFormat, TextRule};
pub use event::gate::{
    Control, DecisionSource, Gate, GateAnswer, GateKind, GateResponse, PermissionAction,
};
pub use event::session_info::{Notice, NoticeSeverity, SessionInfo, SlashCommand};
pub use event::tool::{
    Diff, PlanEntry, PlanPriority, PlanStatus, ToolCall, ToolContent, ToolEnd, ToolKind,
    ToolLocation, ToolProgress,
};
pub use event::{
    ContextUse, Cost, Delta, EventBody, HostEvent, InputCancelReason, TurnFailure, TurnOrigin,
    TurnRejectReason, Visibility,
};
pub use id::{CommandId, GateId, LoopId, SessionId, SessionIdError, ToolId, TurnId};
pub use json::Json;
pub use secret::SecretText;
pub use session::auth::{AuthKind, AuthMethod, Authenticator, LogoutHandler};
pub use session::catalog::{
    CatalogEntry, CatalogOrder, CatalogPosition, CatalogQuery, Replay, RestoredSession,
    SessionCatalog, SessionDeleter, SessionLoader, SessionResumer,
};
pub use session::dynamic;
pub use session::setup::{
    ClientFeatures, DirectoryError, MAX_DIRECTORY, McpAcceptance, McpRemote, McpServer, McpStdio,
    Setup, check_directory,
};
pub use session::{LiveSession, SessionHost, Submission};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
