//! How long a byte of a line takes, by how long the line is and how it comes: one line of
//! `pieces length nanoseconds` for each.

#![allow(
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a program that prints what it measured"
)]

use std::time::Instant;

use acp_protocol::rpc::{ConnectionRole, Inbound, Intake, Limits};

const BEGIN: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""#;
const END: &str = "\"}}}}\n";

fn main() {
    for pieces in [1, 64, 4096, 65536] {
        for length in [1 << 10, 16 << 10, 256 << 10, 4 << 20, 16 << 20] {
            let line = format!("{BEGIN}{}{END}", "x".repeat(length));
            // A short line is done often, or its time is that of the clock.
            let times = ((4 << 20) / length).max(3);
            let each = (0..times).map(|_| once(line.as_bytes(), pieces));
            let least = each.fold(f64::INFINITY, f64::min);
            println!("{pieces} {length} {:.4}", least / line.len() as f64);
        }
    }
}

/// Gives a line in pieces of this length, and returns the nanoseconds until it was read.
fn once(line: &[u8], pieces: usize) -> f64 {
    let mut intake = Intake::new(ConnectionRole::Client, &Limits::default());
    let began = Instant::now();
    let mut found = 0;
    for piece in line.chunks(pieces) {
        intake.push(piece);
        while let Some(Inbound::Message(_) | Inbound::Updates(_)) = intake.next() {
            found += 1;
        }
    }
    let took = began.elapsed().as_nanos() as f64;
    assert_eq!(found, 1, "the line is one message");
    took
}
