//! The Agent Client Protocol: types generated from its schema, and JSON-RPC 2.0 as a state machine without I/O.

mod ext;
pub mod lenient;
pub mod method;
mod patch;
pub mod rpc;
pub mod v1;
mod wire;

pub use method::{Notification, Request};
pub use patch::Patch;
pub use wire::{Meta, RawJson, Unrecognized};
