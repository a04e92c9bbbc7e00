//! An agent on its connections: registration, the handshake, and a handler for
//! each method.

mod agent;
mod builder;
mod close;
mod config;
mod connection;
mod failure;
mod handshake;
mod list;
mod live_sessions;
mod login;
mod open;
mod registration;
mod setup;

pub use agent::Agent;
pub use builder::{AgentBuilder, BuildError};
pub use failure::AgentFailure;
