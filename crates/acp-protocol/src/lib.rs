//! The Agent Client Protocol: types generated from its schema, and JSON-RPC 2.0 as a state machine without I/O.
//!
//! * [`v1`] has every type of protocol version 1, and [`v1::methods`] every method.
//!   Nothing that this version does not name is lost: enums and unions keep it as
//!   `Unrecognized`. What the schema allows to be wrong is forgiven, and [`lenient`]
//!   says so.
//! * [`mismatch`] names the member for which a message is refused.
//! * [`rpc`] is the conversation: bytes and instants go in, events and bytes come out.
//!
//! ```
//! use acp_protocol::Request;
//! use acp_protocol::v1::{ContentBlock, PromptRequest, SessionNotification, SessionUpdate};
//!
//! let prompt = PromptRequest::new("session-1", [ContentBlock::text("Tidy up.")]);
//! assert_eq!(PromptRequest::METHOD, "session/prompt");
//! assert!(serde_json::to_string(&prompt)?.starts_with(r#"{"sessionId":"session-1""#));
//!
//! let line = r#"{"sessionId":"session-1","update":{"sessionUpdate":"_weather","sky":"clear"}}"#;
//! let read: SessionNotification = serde_json::from_str(line)?;
//! assert!(matches!(&read.update, SessionUpdate::Unrecognized(other) if other.tag() == "_weather"));
//! assert_eq!(serde_json::to_string(&read)?, line);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! Feature `schemars` (off by default) gives every type `schemars::JsonSchema`.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod codec;
mod ext;
mod json;
pub mod lenient;
pub mod method;
pub mod mismatch;
mod patch;
pub mod rpc;
pub mod v1;

pub use codec::{Meta, Unrecognized};
pub use json::{RawJson, json_length};
pub use method::{Notification, Request};
pub use mismatch::Mismatch;
pub use patch::Patch;
