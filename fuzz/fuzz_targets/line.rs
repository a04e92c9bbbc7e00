//! Any bytes in any chunks: the same lines, and the same arrivals.
#![no_main]

#[path = "../../crates/acp-protocol/tests/checks/mod.rs"]
#[expect(dead_code, reason = "the checks of the other targets")]
mod checks;

libfuzzer_sys::fuzz_target!(|stream: &[u8]| {
    checks::line::check(stream);
    checks::intake::check(stream);
});
