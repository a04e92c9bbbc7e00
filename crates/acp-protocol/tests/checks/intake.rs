//! What arrives does not depend on the chunks it arrives in.

use acp_protocol::rpc::{ConnectionRole, Inbound, Intake, Limits};

use super::chunks::{self, Chunking};

/// Longest line. Over a KiB, so that of each longer line the same head is kept.
pub(crate) const MAX_MESSAGE: usize = 1100;

/// Checks any stream of bytes, on both sides.
///
/// # Panics
///
/// When two ways to cut the stream bring different things.
pub(crate) fn check(stream: &[u8]) {
    for role in [ConnectionRole::Client, ConnectionRole::Agent] {
        let whole = arrivals(role, stream, Chunking::Whole);
        for chunking in Chunking::ALL {
            assert_eq!(arrivals(role, stream, chunking), whole, "{chunking:?}");
        }
    }
}

/// Everything that arrives, one line each. Runs are taken apart: how many
/// updates arrive together is what chunks do decide.
pub(crate) fn arrivals(role: ConnectionRole, stream: &[u8], chunking: Chunking) -> Vec<String> {
    let limits = Limits::default()
        .with_max_message(MAX_MESSAGE)
        .with_read_chunk(256);
    let mut intake = Intake::new(role, &limits);
    let mut arrivals = Vec::new();
    for chunk in chunks::of(stream, chunking) {
        intake.push(chunk);
        take(&mut intake, &mut arrivals);
    }
    intake.finish();
    take(&mut intake, &mut arrivals);
    assert!(intake.next().is_none(), "more after the end");
    arrivals
}

fn take(intake: &mut Intake, arrivals: &mut Vec<String>) {
    while let Some(inbound) = intake.next() {
        match inbound {
            Inbound::Updates(run) => {
                assert!(run.charge >= run.bytes.len(), "{run:?}");
                let before = arrivals.len();
                let lines = run.bytes.split(|byte| *byte == b'\n');
                for line in lines.filter(|line| !line.trim_ascii().is_empty()) {
                    let line = line.strip_suffix(b"\r").unwrap_or(line).escape_ascii();
                    arrivals.push(format!("update of {:?}: {line}", run.session));
                }
                assert_eq!(arrivals.len() - before, run.lines as usize);
            }
            Inbound::Message(message) => arrivals.push(format!(
                "{:?} {:?} {:?}: {}",
                message.shape(),
                message.id(),
                message.method(),
                message.line()
            )),
            other => arrivals.push(format!("{other:?}")),
        }
    }
}
