//! The marks of the mailboxes bound real memory: what the allocator gave out,
//! and not the length of what is queued.

use std::time::Instant;

use acp_protocol::rpc::{
    AnswerTo, Connection, ConnectionRole, IdSpace, Intake, Limits, Reading, frame,
};
use allocation_counter::measure;
use proptest::prelude::*;

const CHUNK: usize = 16 << 10;
const HARD: usize = 256 << 10;
const TOTAL: usize = 512 << 10;
const HELD: usize = 128 << 10;
/// What all marks together allow, and a little for tables.
const ALLOWED: usize = TOTAL + HELD + (16 << 10);

/// Some lines that are read at once.
#[derive(Clone, Debug)]
struct Read {
    /// What stands before the updates and is not kept: an answer nobody waits
    /// for, of this length.
    before: usize,
    /// Updates, by session and padding.
    updates: Vec<(usize, usize)>,
    /// How often the same is read.
    times: usize,
}

/// Sizes that matter: tiny, near the fourth part of a chunk from which a run
/// shares it, and longer than a chunk.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![
        4 => 0..40_usize,
        3 => 0..CHUNK / 2,
        2 => CHUNK - 1500..CHUNK,
        1 => 0..8 * CHUNK,
    ]
}

fn read() -> impl Strategy<Value = Read> {
    // Three sessions have a mailbox; the others are held.
    let updates = prop::collection::vec((0..5_usize, size()), 1..6);
    let repeats = prop_oneof![3 => Just(1_usize), 1 => 1..60_usize];
    (prop_oneof![Just(0), size()], updates, repeats).prop_map(|(before, updates, times)| Read {
        before,
        updates,
        times,
    })
}

struct Client {
    connection: Connection,
    intake: Intake,
}

impl Client {
    /// A client whose consumers take nothing, and which may not pause.
    fn new() -> Self {
        let limits = Limits::default()
            .with_read_chunk(CHUNK)
            .with_mailbox_soft(HARD / 8)
            .with_mailbox_hard(HARD)
            .with_mailbox_total(TOTAL)
            .with_held_bytes(HELD);
        let mut connection = Connection::new(ConnectionRole::Client, limits.clone());
        for session in ["s0", "s1", "s2"] {
            let (mailbox, _) = connection.open_mailbox(session).unwrap();
            connection.set_reading(mailbox, Reading::Live);
        }
        connection.hold();
        let mut tail = Vec::new();
        frame::call_tail(&mut tail, "session/list", &()).unwrap();
        connection
            .call(IdSpace::Protocol, AnswerTo::Caller, &tail)
            .unwrap();
        Self {
            connection,
            intake: Intake::new(ConnectionRole::Client, &limits),
        }
    }

    /// Takes bytes in as a driver does: into the room there is.
    fn read(&mut self, mut bytes: &[u8], now: Instant) {
        while !bytes.is_empty() {
            let buffer = self.intake.buffer();
            let room = buffer.capacity() - buffer.len();
            let (chunk, rest) = bytes.split_at(room.min(bytes.len()));
            buffer.extend_from_slice(chunk);
            bytes = rest;
            while let Some(inbound) = self.intake.next() {
                self.connection.accept(inbound, now);
            }
        }
    }
}

impl Read {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.before > 0 {
            let text = "j".repeat(self.before);
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"{text}\"}}\n");
            bytes.extend(line.as_bytes());
        }
        for (session, padding) in &self.updates {
            let text = "u".repeat(*padding);
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s{session}\",\"update\":{{\"text\":\"{text}\"}}}}}}\n"
            );
            bytes.extend(line.as_bytes());
        }
        bytes
    }

    /// Longest line, which the reader needs in one piece.
    fn longest(&self) -> usize {
        let updates = self.updates.iter().map(|(_, padding)| *padding);
        updates.chain([self.before]).max().unwrap_or_default() + 200
    }
}

/// Reads it all, and gives the most memory that was in use beyond what the
/// reader itself needs: twice its longest line.
fn most_memory(reads: &[Read]) -> usize {
    let now = Instant::now();
    let mut client = None;
    let mut used = measure(|| client = Some(Client::new())).bytes_current;
    let mut client = client.expect("it was made");
    let mut reader = CHUNK;
    let mut most = 0;
    for read in reads {
        let bytes = read.bytes();
        reader = reader.max(2 * read.longest());
        for _ in 0..read.times {
            used += measure(|| client.read(&bytes, now)).bytes_current;
            let used = usize::try_from(used).expect("no more freed than taken");
            most = most.max(used.saturating_sub(reader));
        }
    }
    let stats = client.connection.stats();
    assert_eq!(
        stats.updates_received,
        stats.updates_delivered
            + stats.updates_dropped
            + stats.updates_unknown_session
            + client.connection.queued_updates()
    );
    most
}

/// The same read many times; the marks are reached, and they hold.
#[track_caller]
fn check(before: usize, updates: &[(usize, usize)], times: usize) {
    let most = most_memory(&[Read {
        before,
        updates: updates.to_vec(),
        times,
    }]);
    // What the reader does not use of its part is missing.
    assert!(most > TOTAL / 4, "the marks were never reached: {most}");
    assert!(most <= ALLOWED, "{most} bytes");
}

#[test]
fn small_updates_of_alternating_sessions_stay_under_the_marks() {
    check(0, &[(0, 0), (1, 0), (2, 0), (3, 0)], 2000);
}

#[test]
fn an_update_alone_in_a_chunk_of_what_nobody_keeps_is_no_cheaper() {
    check(CHUNK - 1500, &[(0, 500)], 2000);
}

#[test]
fn an_update_behind_a_long_line_is_no_cheaper() {
    check(8 * CHUNK, &[(0, CHUNK / 2)], 300);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 30,
        max_shrink_iters: 50,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn queued_updates_take_no_more_memory_than_their_marks_say(
        reads in prop::collection::vec(read(), 1..40)
    ) {
        let most = most_memory(&reads);
        prop_assert!(most <= ALLOWED, "{most} bytes");
    }
}
