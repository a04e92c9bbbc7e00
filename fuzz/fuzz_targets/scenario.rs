//! Any text as a scenario.
#![no_main]

#[path = "../../crates/acp-mockpeer/tests/checks/scenario.rs"]
mod scenario;

libfuzzer_sys::fuzz_target!(|text: &[u8]| scenario::check(text));
