//! Commands of an agent as real processes.
//!
//! Nothing here waits for a time to pass and hopes: tests wait for an output, an exit
//! or a state in `/proc`, with a limit that only a failure reaches.
#![cfg(target_os = "linux")]

#[path = "../support/mod.rs"]
mod agent;
mod commands;
mod endings;
mod support;
mod wire;
