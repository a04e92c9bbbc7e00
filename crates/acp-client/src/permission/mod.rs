//! Consent: what an agent asks before it uses a tool, and who answers.
//!
//! A request can be answered in two places:
//!
//! * by a handler ([`AnswerPermissions`]), as soon as it comes. A [`Policy`] is one,
//!   and so is a closure; without any, everything is refused;
//! * by whoever reads the session, as a
//!   [`TurnEvent::Permission`](crate::TurnEvent::Permission) in its place among the
//!   updates ([`ClientOptions::with_permissions_in_stream`](crate::ClientOptions::with_permissions_in_stream)).
//!
//! Either way a request that is open when its turn is cancelled is answered
//! `cancelled` at once (R117), and so is one that comes after the cancel.

mod decision;
mod facts;
mod handler;
mod pending;
mod policy;
mod workspace;

pub use decision::{Decision, Reason};
pub use facts::ToolFacts;
pub use handler::AnswerPermissions;
pub use pending::{NotOffered, PendingPermission, PermissionAsk};
pub use policy::{Allow, Policy};
pub use workspace::Workspace;

pub(crate) use facts::KnownTools;
pub(crate) use handler::DynAnswerPermissions;
