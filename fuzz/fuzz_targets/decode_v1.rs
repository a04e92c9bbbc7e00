//! Any JSON as the parameters and the result of every method.
#![no_main]

#[path = "../../crates/acp-protocol/tests/checks/decode_v1.rs"]
mod decode_v1;
#[path = "../../crates/acp-protocol/tests/definitions/mod.rs"]
#[rustfmt::skip]
mod definitions;

libfuzzer_sys::fuzz_target!(|text: &[u8]| decode_v1::check(text));
