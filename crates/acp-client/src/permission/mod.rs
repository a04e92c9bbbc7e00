//! Consent: what an agent asks before it uses a tool, and who answers.
//!
//! A request can be answered in two places:
//!
//! * by a handler ([`AnswerPermissions`]), as soon as it comes, told after which update
//!   it was asked. A [`Policy`] is one, and so are a closure and [`AskUser`], which asks a
//!   person and does not wait for ever; without any, everything is refused;
//! * by whoever reads the session, as a
//!   [`TurnEvent::Permission`](crate::TurnEvent::Permission) in its place among the
//!   updates ([`ClientOptions::with_permissions_in_stream`](crate::ClientOptions::with_permissions_in_stream)).
//!
//! Either way a request that is open when its turn is cancelled is answered
//! `cancelled` at once (R117), and so is one that comes after the cancel. Every answer
//! is noted in a [`DecisionLog`], with who gave it and, for policies, why.

mod ask_user;
mod decision;
mod handler;
mod journal;
mod policy;
mod request;
mod workspace;

pub use acp_conversation::ToolCallState;
pub use ask_user::AskUser;
pub use decision::{Decision, Reason};
pub use handler::AnswerPermissions;
pub use journal::{Decided, DecidedBy, DecisionLog};
pub use policy::{Allow, Policy};
pub use request::{NotOffered, PendingPermission, PermissionRequest};
pub use workspace::Workspace;

pub(crate) use handler::DynAnswerPermissions;
pub(crate) use journal::Entry;
