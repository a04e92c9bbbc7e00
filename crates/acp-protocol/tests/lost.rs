//! Lines that cannot be read: each is a gap in the session it belongs to, the end of the
//! call it answers, an error for its sender, or noise, and always a number.

use std::{collections::VecDeque, time::Instant};

use acp_protocol::rpc::{
    AnswerTo, CallId, Connection, ConnectionRole, IdSpace, Intake, Issue, Limits, MailboxEntry,
    MailboxId, Reading, frame,
};

/// The id of the first call of a connection.
const FIRST: i64 = 1 << 32;

struct Client {
    connection: Connection,
    intake: Intake,
}

impl Client {
    fn new() -> Self {
        let limits = Limits::default().with_max_message(300).with_max_depth(8);
        Self {
            intake: Intake::new(ConnectionRole::Client, &limits),
            connection: Connection::new(ConnectionRole::Client, limits),
        }
    }

    /// Opens the mailbox of a session, and begins a turn in it.
    fn begin_turn(&mut self, session: &str) -> (MailboxId, CallId) {
        let (mailbox, _) = self.connection.open_mailbox(session).unwrap();
        let call = self.call(AnswerTo::Mailbox(mailbox));
        (mailbox, call)
    }

    fn call(&mut self, to: AnswerTo) -> CallId {
        let mut tail = Vec::new();
        frame::call_tail(&mut tail, "session/prompt", &()).unwrap();
        self.connection.call(IdSpace::Protocol, to, &tail).unwrap()
    }

    fn receive(&mut self, line: &[u8]) {
        self.intake.push(line);
        self.intake.push(b"\n");
        self.take_in();
    }

    fn take_in(&mut self) {
        while let Some(inbound) = self.intake.next() {
            self.connection.accept(inbound, Instant::now());
        }
    }

    fn receive_update(&mut self, session: &str) {
        self.receive(update(session, "{}").as_bytes());
    }

    /// Takes everything: `u` for an update, a number for a gap, `.` for an end with an
    /// answer, `x` for one without, `$` for the end of everything.
    fn drain(&mut self, mailbox: MailboxId) -> String {
        let mut batch = VecDeque::new();
        self.connection.take_now(mailbox, &mut batch);
        let show = |entry: MailboxEntry| match entry {
            MailboxEntry::Run { run, .. } => "u".repeat(run.lines as usize),
            MailboxEntry::Gap { dropped, .. } => dropped.to_string(),
            MailboxEntry::End { result: Ok(_), .. } => ".".to_owned(),
            MailboxEntry::End { .. } => "x".to_owned(),
            MailboxEntry::Closed => "$".to_owned(),
        };
        batch.into_iter().map(show).collect()
    }

    #[track_caller]
    fn assert_accounts(&self) {
        let stats = self.connection.stats();
        assert_eq!(
            stats.updates_received,
            stats.updates_delivered
                + stats.updates_dropped
                + stats.updates_unknown_session
                + self.connection.queued_updates(),
            "{stats:?}"
        );
    }
}

fn update(session: &str, update: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{update}}}}}"#
    )
}

/// An update of the session `a` that is longer than the limit.
fn long() -> String {
    update("a", &format!("\"{}\"", "x".repeat(400)))
}

#[test]
fn an_update_that_cannot_be_read_is_a_gap_in_its_place() {
    let deep = update("a", &format!("{}{}", "[".repeat(20), "]".repeat(20)));
    let versionless = update("a", "{}").replace(r#""jsonrpc":"2.0","#, "");
    let twice = update("a", "{}").replace(r#""jsonrpc""#, r#""method":"x","jsonrpc""#);
    let mut not_utf8 = update("a", "\"?\"").into_bytes();
    let at = not_utf8.iter().position(|byte| *byte == b'?').unwrap();
    not_utf8[at] = 0xff;
    for line in [
        long().as_bytes(),
        deep.as_bytes(),
        versionless.as_bytes(),
        twice.as_bytes(),
        &not_utf8,
        update("a", "{").as_bytes(),
        format!("debug: {}", update("a", "{}")).as_bytes(),
    ] {
        let mut client = Client::new();
        let (a, _) = client.begin_turn("a");
        let (b, _) = client.begin_turn("b");
        client.receive_update("a");
        client.receive(line);
        client.receive(line);
        client.receive_update("a");
        let line = String::from_utf8_lossy(line);
        assert_eq!(client.drain(a), "u2u", "{line}");
        assert_eq!(client.drain(b), "", "{line}");
        assert_eq!(client.connection.stats().updates_dropped, 2, "{line}");
        assert_eq!(client.connection.stats().ignored_total(), 2, "{line}");
        client.assert_accounts();
    }
}

#[test]
fn where_the_session_cannot_be_told_each_turn_has_the_gap() {
    let padding = "x".repeat(400);
    for line in [
        // Out of sight, missing, there twice, no text.
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"update":"{padding}{padding}{padding}","sessionId":"a"}}}}"#
        ),
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"a","update":{},"sessionId":"b"}}"#
            .to_owned()
            .replace(r#"{"sessionId""#, r#"{ "sessionId""#),
        r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":7,"update":{}}}"#
            .to_owned(),
    ] {
        let mut client = Client::new();
        let (a, _) = client.begin_turn("a");
        let (b, _) = client.begin_turn("b");
        let (idle, _) = client.connection.open_mailbox("idle").unwrap();
        client.receive(line.as_bytes());
        assert_eq!(client.drain(a), "1", "{line}");
        assert_eq!(client.drain(b), "1", "{line}");
        assert_eq!(client.drain(idle), "", "{line}");
        // Two gaps, one update.
        assert_eq!(client.connection.stats().updates_dropped, 1, "{line}");
        assert_eq!(client.connection.mailbox_counts(a).dropped, 1, "{line}");
        client.assert_accounts();
    }
    let mut client = Client::new();
    client.receive(br#"{"jsonrpc":"2.0","method":"session/update","params":{"update":{}}}"#);
    assert_eq!(client.connection.stats().updates_unknown_session, 1);
    client.assert_accounts();
}

#[test]
fn a_gap_waits_for_its_session_to_become_known() {
    let mut client = Client::new();
    client.receive(long().as_bytes());
    assert_eq!(client.connection.stats().updates_unknown_session, 1);
    client.connection.hold();
    client.receive_update("a");
    client.receive(long().as_bytes());
    client.receive_update("a");
    client.receive(long().replace(r#""a""#, r#""b""#).as_bytes());
    let (a, _) = client.connection.open_mailbox("a").unwrap();
    assert_eq!(client.drain(a), "u1u");
    client.connection.release();
    client.assert_accounts();
}

#[test]
fn gaps_give_way_with_what_is_around_them() {
    let mut client = Client::new();
    let (a, _) = client.begin_turn("a");
    client.connection.set_reading(a, Reading::Idle);
    for _ in 0..1000 {
        client.receive_update("a");
        client.receive(long().as_bytes());
    }
    assert_eq!(
        client.drain(a),
        format!("{}u1{}", 2 * 488, "u1".repeat(511))
    );
    client.connection.set_reading(a, Reading::Discard);
    client.receive(long().as_bytes());
    assert_eq!(client.drain(a), "");
    client.assert_accounts();
}

#[test]
fn an_answer_that_cannot_be_read_ends_its_call_and_no_other() {
    let padding = "x".repeat(400);
    for answer in [
        format!(r#"{{"jsonrpc":"2.0","id":{FIRST},"result":"{padding}"}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":{FIRST},"error":{{"code":}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":{FIRST},"error":{{"code":"x"}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":{FIRST}}}"#),
        format!(r#"{{"id":{FIRST},"result":{{}}}}"#),
    ] {
        let mut client = Client::new();
        let (a, _) = client.begin_turn("a");
        let (b, _) = client.begin_turn("b");
        client.receive(answer.as_bytes());
        assert_eq!(client.drain(a), "x", "{answer}");
        assert_eq!(client.drain(b), "", "{answer}");
    }
}

#[test]
fn a_log_line_is_noise_whatever_id_it_has() {
    for line in [
        format!(r#"{{"level":"info","id":{FIRST},"msg":"started"}}"#),
        format!(r#"{{"id":{FIRST}}}"#),
        format!(r#"{{"id":{FIRST},"said":{}}}"#, update("a", "{}")),
        format!(r#"["session/update",{FIRST}]"#),
        // Longer than the limit, and no message by its first byte.
        format!("{}: {FIRST}", "progress ".repeat(100)),
    ] {
        let mut client = Client::new();
        let (a, _) = client.begin_turn("a");
        client.receive(line.as_bytes());
        assert_eq!(client.drain(a), "", "{line}");
        assert_eq!(client.connection.stats().ignored_total(), 1, "{line}");
        assert!(
            client.connection.open_call(&FIRST.into()).is_some(),
            "{line}"
        );
    }
}

#[test]
fn the_end_of_the_stream_inside_an_update_is_a_gap() {
    let mut client = Client::new();
    let (a, _) = client.begin_turn("a");
    client.receive_update("a");
    client.intake.push(&update("a", "{}").as_bytes()[..80]);
    client.intake.finish();
    client.take_in();
    assert!(client.connection.closed().is_some());
    assert_eq!(client.drain(a), "u1x$");
    client.assert_accounts();
}

#[test]
fn a_call_that_ends_without_an_answer_has_observed_none() {
    let mut client = Client::new();
    let (a, _) = client.begin_turn("a");
    client.receive_update("a");
    client
        .connection
        .close(acp_protocol::rpc::CloseCause::PeerEof);
    let mut batch = VecDeque::new();
    client.connection.take_now(a, &mut batch);
    let Some(MailboxEntry::End { facts, at, .. }) = batch.get(1) else {
        panic!("{batch:?}")
    };
    assert_eq!((facts.response_seq.get(), at.get()), (0, 1));
}

#[test]
fn an_oversized_line_is_counted_by_its_kind() {
    let mut client = Client::new();
    client.receive(long().as_bytes());
    let stats = client.connection.stats();
    assert_eq!(stats.ignored(Issue::OversizedPayload), 1);
}
