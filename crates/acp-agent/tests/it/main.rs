//! The facade, driven by raw lines over a pipe in memory, under a clock that
//! stands still until everybody waits.

mod back_pressure;
mod cancel;
mod client;
mod connection_end;
mod content;
mod demo;
mod handshake;
mod host;
mod kit;
mod new_session;
mod parallel;
mod permission;
mod prompt;
mod secrets;
mod updates;
