//! Any form of an agent, and any answer to it.
#![no_main]

#[path = "../../crates/acp-client/tests/checks/form.rs"]
mod form;

libfuzzer_sys::fuzz_target!(|input: &[u8]| form::check(input));
