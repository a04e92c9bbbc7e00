//! The facade, driven by raw lines over a pipe in memory, under a clock that
//! stands still until everybody waits.

mod back_pressure;
mod cancel;
mod capabilities;
mod client;
mod client_calls;
mod connection_end;
mod content;
mod demo;
mod ending;
mod establish;
mod everything;
mod forms;
mod handshake;
mod host;
mod kit;
mod kit_history;
mod kit_memory;
mod kit_questions;
mod kit_sessions;
mod kit_turn;
mod list;
mod login;
mod model;
mod new_session;
mod news;
mod parallel;
mod permission;
mod prompt;
mod registry;
mod secrets;
mod settings;
mod storm;
mod thirty_lines;
mod updates;
