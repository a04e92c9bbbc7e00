//! Any bytes in any chunks: the same lines, and the same arrivals.
#![no_main]

#[path = "../../crates/acp-protocol/tests/checks/chunks.rs"]
mod chunks;
#[path = "../../crates/acp-protocol/tests/checks/intake.rs"]
mod intake;
#[path = "../../crates/acp-protocol/tests/checks/line.rs"]
mod line;

libfuzzer_sys::fuzz_target!(|stream: &[u8]| {
    line::check(stream);
    intake::check(stream);
});
