//! Splitting a stream into lines: the same whatever the chunks, and as a
//! splitter says that has the whole stream at once.

use acp_protocol::rpc::{FoundLines, Limits, LineBlock, LineDecoder, LineFault};

use super::chunks::{self, Chunking};

/// One outcome of reading a line.
#[derive(Debug, PartialEq)]
enum CallOutcome {
    Line(Vec<u8>),
    /// Too long; the line that was lost.
    TooLarge(Vec<u8>),
}

/// Checks any stream of bytes.
///
/// # Panics
///
/// When the decoder disagrees with itself or with the plain splitter.
pub(crate) fn check(stream: &[u8]) {
    for max_message in [8, 1100, 32 << 20] {
        let limits = Limits::default()
            .with_max_message(max_message)
            .with_read_chunk(64);
        let expected = split(stream, max_message);
        for chunking in Chunking::ALL {
            let found = decode(stream, chunking, &limits);
            assert_eq!(found.len(), expected.len(), "{chunking:?}: {found:?}");
            for (found, expected) in found.iter().zip(&expected) {
                assert_same(found, expected, max_message);
            }
        }
    }
}

/// The rules, for a stream that is there as a whole.
fn split(stream: &[u8], max_message: usize) -> Vec<CallOutcome> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    stream
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| line.len() > max_message || !line.trim_ascii().is_empty())
        .map(|line| {
            if line.len() > max_message {
                CallOutcome::TooLarge(line.to_vec())
            } else {
                CallOutcome::Line(line.to_vec())
            }
        })
        .collect()
}

fn decode(stream: &[u8], chunking: Chunking, limits: &Limits) -> Vec<CallOutcome> {
    let mut decoder = LineDecoder::new(limits);
    let mut outcomes = Vec::new();
    for chunk in chunks::of(stream, chunking) {
        decoder.push(chunk);
        while let Some(found) = decoder.next_block() {
            match found {
                FoundLines::Block(block) => drain(block, &mut outcomes),
                FoundLines::Fault(fault) => outcomes.push(lost(fault)),
            }
        }
    }
    if let Some(block) = decoder.finish() {
        drain(block, &mut outcomes);
    }
    outcomes
}

fn drain(mut block: LineBlock, outcomes: &mut Vec<CallOutcome>) {
    while let Some(line) = block.next_line() {
        outcomes.push(match line {
            Ok(line) => {
                let bytes = block.bytes(line.start, line.end);
                assert_eq!(bytes, &*block.share(line.start, line.end));
                CallOutcome::Line(bytes.to_vec())
            }
            Err(fault) => lost(fault),
        });
    }
}

fn lost(fault: LineFault) -> CallOutcome {
    match fault {
        LineFault::TooLarge { head } => CallOutcome::TooLarge(head.to_vec()),
        other => panic!("the decoder does not tell {other:?}"),
    }
}

/// Of a line that is too long, its first KiB is known; or less, where less was
/// there when it became too long.
fn assert_same(found: &CallOutcome, expected: &CallOutcome, max_message: usize) {
    match (found, expected) {
        (CallOutcome::TooLarge(head), CallOutcome::TooLarge(line)) => {
            let head = head.strip_suffix(b"\r").unwrap_or(head);
            assert!(line.starts_with(head), "no head of its line");
            assert!(head.len() >= line.len().min(max_message).min(1023));
            assert!(head.len() <= 1024);
        }
        _ => assert_eq!(found, expected),
    }
}
