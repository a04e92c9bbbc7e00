//! Serves a product to every client of the Agent Client Protocol.
//!
//! What it promises: each request is answered once; a prompt's answer stands
//! behind the last update of its turn; after a cancel the answer is always
//! `cancelled`; no session waits for another; nothing but an answer of the user
//! allows a tool; and a host that fails, panics or hangs harms nobody but the
//! turn it was asked for.

mod agent;
mod builder;
mod client_calls;
mod connection;
mod content;
mod fault;
mod gate;
mod gate_trip;
mod guard;
mod handshake;
mod limits;
mod link;
mod numbering;
mod outcome;
mod prompt;
mod registry;
mod session;
mod setup;
mod slot;
mod stamp;
mod translate;
mod wire;

pub use acp_host as host;
pub use acp_protocol::rpc::CloseCause;
pub use agent::Agent;
pub use builder::{AgentBuilder, BuildError};
pub use limits::AgentLimits;
