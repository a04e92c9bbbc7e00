//! Real children: started, watched, ended.
//!
//! Nothing here waits for a time to pass and hopes: tests wait for a line, an
//! exit, or a state in `/proc`, with a limit that only a failure reaches.

#![cfg(target_os = "linux")]

mod endings;
mod groups;
mod helper;
mod orphans;
mod sandbox;
mod starting;
mod stderr;
mod stdio;
mod strays;
mod support;
mod terminals;
