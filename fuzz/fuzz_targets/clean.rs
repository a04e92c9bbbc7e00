//! Any text, whole and in pieces, made fit for a screen.
#![no_main]

#[path = "../../crates/acp-text/tests/checks/clean.rs"]
mod clean;

libfuzzer_sys::fuzz_target!(|input: &[u8]| clean::check(input));
