//! What a mailbox owes its consumer, and who waits until updates were consumed.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Poll, Wake, Waker},
    time::{Duration, Instant},
};

use acp_protocol::rpc::{
    AnswerTo, CloseCause, Connection, ConnectionEvent, ConnectionRole, Flow, IdSpace, Intake,
    Limits, MailboxEntry, MailboxId, OnDrop, Progress, Reading, ReceiveSeq, frame,
};

/// Remembers whether it was woken.
#[derive(Default)]
struct Bell(AtomicBool);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Client {
    connection: Connection,
    intake: Intake,
    bell: Arc<Bell>,
}

impl Client {
    fn new(limits: Limits) -> Self {
        Self {
            intake: Intake::new(ConnectionRole::Client, &limits),
            connection: Connection::new(ConnectionRole::Client, limits),
            bell: Arc::default(),
        }
    }

    fn open(&mut self, session: &str) -> MailboxId {
        self.open_watched(session).0
    }

    fn open_watched(&mut self, session: &str) -> (MailboxId, Progress) {
        let (mailbox, progress) = self.connection.open_mailbox(session).unwrap();
        self.connection.set_reading(mailbox, Reading::Live);
        (mailbox, progress)
    }

    fn receive_update(&mut self, session: &str) {
        self.receive_updates(session, 1);
    }

    /// Receives updates that arrive together.
    fn receive_updates(&mut self, session: &str, count: usize) {
        for number in 0..count {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"{session}\",\"update\":{{\"n\":{number}}}}}}}\n"
            );
            self.intake.push(line.as_bytes());
        }
        self.take_in();
    }

    fn take_in(&mut self) {
        while let Some(inbound) = self.intake.next() {
            self.connection.accept(inbound, Instant::now());
        }
    }

    fn take(&mut self, mailbox: MailboxId) {
        self.connection.take_now(mailbox, &mut VecDeque::new());
    }

    fn wait(&mut self, mailbox: MailboxId, seq: ReceiveSeq) -> Poll<bool> {
        let waker = Waker::from(Arc::clone(&self.bell));
        self.connection.poll_handed(mailbox, seq, &waker)
    }

    #[track_caller]
    fn assert_woken(&mut self, mailbox: MailboxId, seq: ReceiveSeq) {
        self.connection.take_wakes().wake();
        assert!(self.bell.0.load(Ordering::Relaxed), "nobody woke it");
        assert!(self.wait(mailbox, seq).is_ready());
    }
}

#[test]
fn updates_of_other_sessions_are_not_waited_for() {
    let mut client = Client::new(Limits::default());
    let mailbox = client.open("mine");
    client.receive_update("mine");
    client.receive_update("other");
    let seq = client.connection.received();
    assert!(client.wait(mailbox, seq).is_pending());
    client.take(mailbox);
    client.take(mailbox); // the first batch is consumed
    client.assert_woken(mailbox, seq);
}

#[test]
fn a_place_that_has_not_been_received_is_waited_for() {
    let mut client = Client::new(Limits::default());
    let mailbox = client.open("mine");
    let next = client.connection.received().plus(2);
    assert!(client.wait(mailbox, next).is_pending());
    client.receive_update("mine");
    client.take(mailbox);
    client.take(mailbox);
    assert!(client.wait(mailbox, next).is_pending(), "one is to come");
    // Whatever it is.
    client.receive_update("other");
    client.assert_woken(mailbox, next);

    let never = next.plus(1);
    assert!(client.wait(mailbox, never).is_pending());
    client.connection.close(CloseCause::PeerEof);
    client.connection.take_wakes().wake();
    assert_eq!(client.wait(mailbox, never), Poll::Ready(false));
}

#[test]
fn what_is_taken_ahead_is_not_consumed() {
    let mut client = Client::new(Limits::default());
    let mailbox = client.open("mine");
    client.receive_update("mine");
    client.take(mailbox);
    let seq = client.connection.received();
    for _ in 0..2 {
        client.connection.take_ahead(mailbox, &mut VecDeque::new());
        assert!(client.wait(mailbox, seq).is_pending());
    }
    client.take(mailbox);
    client.assert_woken(mailbox, seq);
}

#[test]
fn who_waits_is_told_in_the_middle_of_a_batch() {
    let mut client = Client::new(Limits::default());
    let (mailbox, progress) = client.open_watched("mine");
    client.receive_updates("mine", 3);
    client.take(mailbox);
    let first = ReceiveSeq::default().plus(1);
    assert!(client.wait(mailbox, first).is_pending());
    assert!(progress.consume(first), "somebody waits");
    client.connection.note_progress(mailbox);
    client.assert_woken(mailbox, first);
    assert!(!progress.consume(first), "nobody waits");
}

#[test]
fn a_mailbox_that_closes_lets_everybody_go() {
    let mut client = Client::new(Limits::default());
    let mailbox = client.open("mine");
    client.receive_update("mine");
    let seq = client.connection.received();
    assert!(client.wait(mailbox, seq).is_pending());
    client.connection.close_mailbox(mailbox);
    client.assert_woken(mailbox, seq);
}

#[test]
fn updates_that_nobody_will_read_are_not_waited_for() {
    let mut client = Client::new(Limits::default());
    let mailbox = client.open("mine");
    client.receive_update("mine");
    let seq = client.connection.received();
    assert!(client.wait(mailbox, seq).is_pending());
    client.connection.set_reading(mailbox, Reading::Discard);
    client.assert_woken(mailbox, seq);

    client.receive_update("mine");
    let seq = client.connection.received();
    assert!(client.wait(mailbox, seq).is_ready(), "discarded at once");
}

#[test]
fn between_turns_exactly_the_newest_are_kept() {
    let mut client = Client::new(Limits::default().with_idle_updates(5));
    let mailbox = client.open("mine");
    client.connection.set_reading(mailbox, Reading::Idle);
    client.receive_updates("mine", 3);
    client.receive_updates("mine", 9);
    let mut batch = VecDeque::new();
    client.connection.take_now(mailbox, &mut batch);
    let [
        MailboxEntry::Gap {
            dropped: 7,
            first: gap,
        },
        MailboxEntry::Run { run, first },
    ] = batch.make_contiguous()
    else {
        panic!("{batch:?}")
    };
    assert_eq!((gap.get(), run.lines, first.get()), (1, 5, 8));
    let text = std::str::from_utf8(&run.bytes).unwrap();
    assert!(text.lines().next().unwrap().contains("{\"n\":4}"), "{text}");
    assert_eq!(text.lines().count(), 5);
    assert_eq!(client.connection.stats().updates_dropped, 7);
}

#[test]
fn a_consumer_that_moves_again_counts_again_at_once() {
    let limits = Limits::default().with_mailbox_soft(1000);
    let patience = limits.patience.unwrap();
    let mut client = Client::new(limits);
    let (mailbox, progress) = client.open_watched("mine");
    client.receive_updates("mine", 20);
    client.take(mailbox);
    let now = Instant::now();
    assert!(!client.connection.may_read(now));
    client.connection.handle_timeout(now + patience);
    assert!(
        client.connection.may_read(now + patience),
        "it stands still"
    );
    client.receive_update("mine");
    assert!(
        client.connection.may_read(now + patience),
        "it stands still"
    );
    // It takes an item of what it has in hand.
    assert!(!progress.consume(client.connection.received()));
    client.receive_update("mine");
    let later = now + patience + Duration::from_secs(1);
    assert!(!client.connection.may_read(later), "it is slow, not stuck");
}

#[test]
fn a_mailbox_that_spills_pauses_at_its_own_mark_or_when_all_are_crowded() {
    let limits = Limits::default()
        .with_mailbox_soft(1000)
        .with_mailbox_spill(10_000);
    let mut client = Client::new(limits);
    let names = ["a", "b", "c"];
    let boxes = names.map(|name| client.open(name));
    for mailbox in boxes {
        client.connection.set_flow(mailbox, Flow::Spill);
    }
    let now = Instant::now();
    client.receive_updates("a", 40);
    assert!(client.connection.may_read(now), "it spills");
    client.receive_updates("a", 80);
    assert!(!client.connection.may_read(now), "over its mark");
    client.take(boxes[0]);
    client.take(boxes[0]);
    assert!(client.connection.may_read(now));
    // None of them is over its own mark, and all together are over theirs.
    for name in names {
        client.receive_updates(name, 60);
    }
    assert!(!client.connection.may_read(now), "crowded");
    for mailbox in boxes {
        client.take(mailbox);
        client.take(mailbox);
    }
    assert!(client.connection.may_read(now));
    assert_eq!(client.connection.stats().updates_dropped, 0);
}

#[test]
fn a_cancelled_turn_pauses_nothing_until_its_end() {
    let mut client = Client::new(Limits::default().with_mailbox_soft(1000));
    let mailbox = client.open("mine");
    let mut prompt = Vec::new();
    frame::call_tail(&mut prompt, "session/prompt", &()).unwrap();
    let to = AnswerTo::Mailbox(mailbox);
    client
        .connection
        .call(IdSpace::Protocol, to, &prompt)
        .unwrap();
    client.connection.set_cancelled(mailbox);
    client.receive_updates("mine", 20);
    let now = Instant::now();
    assert!(client.connection.may_read(now));
    let answer = b"{\"jsonrpc\":\"2.0\",\"id\":4294967296,\"result\":{}}\n";
    client.intake.push(answer);
    client.take_in();
    assert!(!client.connection.may_read(now), "the turn has ended");
}

impl Client {
    /// Takes everything: how many updates, in a gap or not, and whether the end came.
    fn drain(&mut self, mailbox: MailboxId) -> (u64, u64, bool) {
        let mut batch = VecDeque::new();
        self.connection.take_now(mailbox, &mut batch);
        let (mut updates, mut dropped, mut closed) = (0, 0, false);
        for entry in batch {
            match entry {
                MailboxEntry::Run { run, .. } => updates += u64::from(run.lines),
                MailboxEntry::Gap { dropped: gap, .. } => dropped += gap,
                MailboxEntry::Closed => closed = true,
                MailboxEntry::End { .. } => {}
            }
        }
        (updates, dropped, closed)
    }
}

#[test]
fn what_comes_before_anybody_reads_is_kept_by_bytes_and_not_by_number() {
    let mut client = Client::new(
        Limits::default()
            .with_idle_updates(5)
            .with_held_bytes(20_000),
    );
    client.connection.hold();
    client.receive_updates("mine", 50);
    let (mailbox, _) = client.connection.open_mailbox("mine").unwrap();
    client.receive_updates("mine", 50);
    assert_eq!(client.drain(mailbox), (100, 0, false));
    // Still nobody reads, but there is an end to it.
    for _ in 0..50 {
        client.receive_updates("mine", 50);
    }
    let (kept, dropped, _) = client.drain(mailbox);
    assert!(kept > 50 && dropped > 50, "{kept} kept, {dropped} dropped");
    assert_eq!(kept + dropped, 50 * 50);
}

#[test]
fn what_was_said_to_an_earlier_session_of_the_name_is_not_for_the_next() {
    let mut client = Client::new(Limits::default());
    client.connection.hold();
    client.receive_updates("mine", 3);
    let since = client.connection.received();
    client.receive_updates("mine", 2);
    let (mailbox, _) = client.connection.open_mailbox_since("mine", since).unwrap();
    assert_eq!(client.drain(mailbox), (2, 0, false));
    assert_eq!(client.connection.stats().updates_unknown_session, 3);
    assert_eq!(client.connection.queued_updates(), 0);
}

#[test]
fn a_mailbox_that_is_retired_is_read_to_its_end_and_its_session_is_free() {
    let mut client = Client::new(Limits::default().with_mailbox_soft(1));
    let first = client.open("mine");
    client.receive_updates("mine", 3);
    let seq = client.connection.received();
    assert!(client.wait(first, seq).is_pending());
    assert!(!client.connection.may_read(Instant::now()), "it pauses");
    client.connection.retire_mailbox(first);
    client.connection.retire_mailbox(first);
    client.assert_woken(first, seq);
    assert!(client.connection.may_read(Instant::now()), "no longer");
    let second = client.open("mine");
    client.receive_updates("mine", 2);
    assert_eq!(client.drain(first), (3, 0, true));
    // Closing the first takes nothing from the second.
    client.connection.close_mailbox(first);
    client.receive_update("mine");
    assert_eq!(client.drain(second), (3, 0, false));
}

#[test]
fn a_call_that_opens_something_is_reported_when_nobody_waits_for_it() {
    for answered in [false, true] {
        let mut client = Client::new(Limits::default());
        let mut tail = Vec::new();
        frame::call_tail(&mut tail, "session/new", &()).unwrap();
        let call = client
            .connection
            .call(IdSpace::Protocol, AnswerTo::Caller, &tail)
            .unwrap();
        let answer = |client: &mut Client| {
            let id = 1_u64 << 32;
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
            client.intake.push(line.as_bytes());
            client.take_in();
        };
        let mut output = Vec::new();
        client.connection.take_output(&mut output);
        if answered {
            answer(&mut client);
        }
        client
            .connection
            .abandon(call, OnDrop::Report, Instant::now());
        output.clear();
        client.connection.take_output(&mut output);
        assert_eq!(
            String::from_utf8_lossy(&output).contains("$/cancel_request"),
            !answered,
            "who has answered is told nothing"
        );
        if !answered {
            answer(&mut client);
        }
        let event = client.connection.poll_event();
        assert!(
            matches!(event, Some(ConnectionEvent::LateAnswer(late, _)) if late == call),
            "{event:?}"
        );
    }
}

#[test]
fn a_mailbox_that_drops_the_oldest_keeps_exactly_the_newest_and_never_pauses() {
    let mut client = Client::new(Limits::default().with_mailbox_soft(1));
    let mailbox = client.open("mine");
    client
        .connection
        .set_flow(mailbox, Flow::DropOldest { depth: 512 });
    client.receive_updates("mine", 512);
    assert!(client.connection.may_read(Instant::now()));
    assert_eq!(client.connection.mailbox_counts(mailbox).dropped, 0);
    client.receive_update("mine");
    assert_eq!(client.connection.mailbox_counts(mailbox).dropped, 1);

    // What is taken makes room for one each.
    assert_eq!(client.drain(mailbox), (0, 1, false), "the gap");
    assert_eq!(client.drain(mailbox), (1, 0, false));
    client.receive_update("mine");
    assert_eq!(client.connection.mailbox_counts(mailbox).dropped, 1);
    client.receive_updates("mine", 2);
    let counts = client.connection.mailbox_counts(mailbox);
    assert_eq!((counts.received, counts.dropped), (516, 3));

    // The oldest is the one that goes: the places of the rest have no hole.
    let mut next = client.connection.received().get() - 511;
    assert_eq!(client.drain(mailbox), (0, 2, false));
    let mut batch = VecDeque::new();
    loop {
        client.connection.take_now(mailbox, &mut batch);
        let Some(MailboxEntry::Run { run, first }) = batch.pop_front() else {
            break;
        };
        assert_eq!((first.get(), run.lines), (next, 1));
        assert_eq!(run.bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
        next += 1;
    }
    assert_eq!(next, client.connection.received().get() + 1);
    assert_eq!(client.connection.queued_updates(), 0);
}

#[test]
fn choosing_to_drop_the_oldest_drops_them_and_ends_a_pause() {
    let mut client = Client::new(Limits::default().with_mailbox_soft(1));
    let mailbox = client.open("mine");
    client.receive_updates("mine", 9);
    assert!(!client.connection.may_read(Instant::now()));
    client
        .connection
        .set_flow(mailbox, Flow::DropOldest { depth: 2 });
    assert!(client.connection.may_read(Instant::now()));
    assert_eq!(client.connection.mailbox_counts(mailbox).dropped, 7);
    // And back: the peer waits again.
    client.connection.set_flow(mailbox, Flow::Lossless);
    client.receive_update("mine");
    assert!(!client.connection.may_read(Instant::now()));
}

#[test]
fn what_was_taken_and_left_unread_counts_as_dropped() {
    let mut client = Client::new(Limits::default());
    let mailbox = client.open("mine");
    client.receive_updates("mine", 5);
    client.take(mailbox);
    client.connection.leave_updates(mailbox, 2);
    let stats = client.connection.stats();
    assert_eq!((stats.updates_delivered, stats.updates_dropped), (3, 2));
    assert_eq!(client.connection.mailbox_counts(mailbox).dropped, 2);
}

#[test]
fn a_barrier_says_whether_it_was_reached() {
    let mut client = Client::new(Limits::default());
    let mailbox = client.open("mine");
    client.receive_update("mine");
    let seq = client.connection.received();
    client.take(mailbox);
    client.take(mailbox);
    assert_eq!(client.wait(mailbox, seq), Poll::Ready(true));
    client.receive_update("mine");
    let seq = client.connection.received();
    assert_eq!(client.wait(mailbox, seq), Poll::Pending);
    client.connection.retire_mailbox(mailbox);
    assert_eq!(client.wait(mailbox, seq), Poll::Ready(false));
    client.take(mailbox);
    client.take(mailbox);
    assert_eq!(client.wait(mailbox, seq), Poll::Ready(true));
    client.connection.close_mailbox(mailbox);
    assert_eq!(client.wait(mailbox, seq), Poll::Ready(false));
}

#[test]
fn a_consumer_takes_no_more_at_once_than_its_batch() {
    let mut client = Client::new(Limits::default().with_mailbox_batch(1));
    let mailbox = client.open("a");
    for _ in 0..3 {
        client.receive_update("a");
    }
    for left in [2, 1, 0] {
        let mut taken = VecDeque::new();
        client.connection.take_now(mailbox, &mut taken);
        assert_eq!(taken.len(), 1);
        assert_eq!(client.connection.queued_updates(), left);
    }
}
