//! Any text with a secret planted in it, whole and in pieces.
#![no_main]

#[path = "../../crates/acp-text/tests/checks/redact.rs"]
mod redact;

libfuzzer_sys::fuzz_target!(|input: &[u8]| redact::check(input));
