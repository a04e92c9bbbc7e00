//! Any script of bytes from the peer and of what this side does.
#![no_main]

#[path = "../../crates/acp-protocol/tests/checks/connection/mod.rs"]
mod connection;

libfuzzer_sys::fuzz_target!(|script: &[u8]| connection::check(script));
