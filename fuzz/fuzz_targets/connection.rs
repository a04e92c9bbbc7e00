//! Any script of bytes from the peer and of what this side does.
#![no_main]

#[path = "../../crates/acp-protocol/tests/checks/mod.rs"]
#[expect(dead_code, reason = "the checks of the other targets")]
mod checks;

libfuzzer_sys::fuzz_target!(|script: &[u8]| checks::connection::check(script));
