//! The facade, driven by raw lines over a pipe in memory, under a clock that
//! stands still until everybody waits.

mod cancel;
mod client;
mod connection_end;
mod demo;
mod handshake;
mod host;
mod kit;
mod new_session;
mod permission;
mod prompt;
mod updates;
