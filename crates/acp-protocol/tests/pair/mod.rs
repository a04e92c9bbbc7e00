//! Two connections joined by a scripted link, with a virtual clock.

use std::{
    collections::{BTreeMap, VecDeque},
    task::{Poll, Waker},
    time::{Duration, Instant},
};

use acp_protocol::rpc::{
    AnswerTo, CallError, CallId, CloseCause, Connection, ConnectionEvent, ConnectionRole, IdSpace,
    Inbound, Intake, Lane, Limits, MailboxEntry, MailboxId, OnDrop, Reading, RequestId, SendError,
    Ticket, UpdateDecoder, frame,
};
use serde::Deserialize;
use serde_json::json;

/// The session all updates belong to.
pub(crate) const SESSION: &str = "s";

/// A client and an agent.
pub(crate) struct Pair {
    pub(crate) now: Instant,
    pub(crate) client: End,
    pub(crate) agent: End,
    pub(crate) mailbox: MailboxId,
    pub(crate) reader: Reader,
    /// Updates the agent has sent.
    pub(crate) updates: u64,
    lane: Lane,
    waiting: Option<(Option<Ticket>, Vec<u8>)>,
}

/// One side: its connection, and what the test knows of it.
pub(crate) struct End {
    pub(crate) connection: Connection,
    intake: Intake,
    /// Bytes this side has written and the other has not read.
    pub(crate) wire: VecDeque<u8>,
    pub(crate) open_calls: Vec<CallId>,
    /// How each call ended; more than one end is a failure.
    pub(crate) ends: BTreeMap<CallId, Vec<String>>,
    pub(crate) serving: Vec<RequestId>,
}

/// What came out of the mailbox.
#[derive(Default)]
pub(crate) struct Reader {
    /// The number the next update must have.
    pub(crate) next: u64,
    pub(crate) prompt: Option<CallId>,
    pub(crate) closed: bool,
}

#[derive(Deserialize)]
struct UpdateParams {
    update: u64,
}

impl End {
    fn new(role: ConnectionRole, limits: &Limits) -> Self {
        Self {
            connection: Connection::new(role, limits.clone()),
            intake: Intake::new(role, limits),
            wire: VecDeque::new(),
            open_calls: Vec::new(),
            ends: BTreeMap::new(),
            serving: Vec::new(),
        }
    }

    /// Opens a call that its caller waits for.
    pub(crate) fn call(&mut self, method: &str) -> Option<CallId> {
        let mut tail = Vec::new();
        frame::call_tail(&mut tail, method, &json!({"sessionId": SESSION})).unwrap();
        let call = self
            .connection
            .call(IdSpace::Protocol, AnswerTo::Caller, &tail)
            .ok()?;
        self.open_calls.push(call);
        Some(call)
    }

    /// Gives a call up.
    pub(crate) fn abandon(&mut self, nth: usize, now: Instant) {
        if self.open_calls.is_empty() {
            return;
        }
        let call = self.open_calls.swap_remove(nth % self.open_calls.len());
        self.connection.abandon(call, OnDrop::Cancel, now);
        self.ends.entry(call).or_default().push("abandoned".into());
    }

    /// Answers an open request.
    pub(crate) fn answer(&mut self, nth: usize) {
        if self.serving.is_empty() {
            return;
        }
        let id = self.serving.swap_remove(nth % self.serving.len());
        let mut line = Vec::new();
        frame::result(&mut line, &id, &json!({})).unwrap();
        self.connection.respond(&id, &mut line);
        // A second answer must go nowhere.
        frame::result(&mut line, &id, &json!({"again": true})).unwrap();
        self.connection.respond(&id, &mut line);
        self.take_events();
    }

    /// Moves queued bytes onto the wire, at most `room` at a time.
    pub(crate) fn write(&mut self, room: usize) {
        let mut taken = Vec::new();
        if self.wire.len() < room && self.connection.take_output(&mut taken) {
            self.wire.extend(&taken);
            self.connection.wrote(0);
        }
    }

    /// Reads bytes from the other side's wire, where reading is allowed.
    fn read(&mut self, wire: &mut VecDeque<u8>, count: usize, now: Instant) {
        if !self.connection.may_read(now) {
            return;
        }
        let bytes: Vec<u8> = wire.drain(..count.min(wire.len())).collect();
        self.feed(&bytes, now);
    }

    /// Takes bytes in, as if they had been read.
    pub(crate) fn feed(&mut self, bytes: &[u8], now: Instant) {
        self.intake.push(bytes);
        while let Some(inbound) = self.intake.next() {
            self.accept(inbound, now);
        }
    }

    fn accept(&mut self, inbound: Inbound, now: Instant) {
        self.connection.accept(inbound, now);
        self.take_events();
    }

    fn take_events(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            if let ConnectionEvent::Request(request, _) = event {
                let id = request.id().unwrap().clone();
                assert!(
                    !self.serving.contains(&id),
                    "{id:?} is served twice at once"
                );
                self.serving.push(id);
            }
        }
    }

    /// Collects the calls that have ended.
    pub(crate) fn collect(&mut self) {
        let Self {
            connection,
            open_calls,
            ends,
            ..
        } = self;
        open_calls.retain(|call| match connection.poll_outcome(*call, Waker::noop()) {
            Poll::Pending => true,
            Poll::Ready(outcome) => {
                let end = match outcome.result {
                    Ok(_) => "answered".to_owned(),
                    Err(CallError::Closed(_)) => "closed".to_owned(),
                    Err(error) => error.to_string(),
                };
                ends.entry(*call).or_default().push(end);
                false
            }
        });
    }
}

impl Pair {
    pub(crate) fn new(limits: &Limits) -> Self {
        let mut client = End::new(ConnectionRole::Client, limits);
        let mut agent = End::new(ConnectionRole::Agent, limits);
        let (mailbox, _) = client.connection.open_mailbox(SESSION).unwrap();
        client.connection.set_reading(mailbox, Reading::Live);
        let lane = agent.connection.open_lane();
        Self {
            now: Instant::now(),
            client,
            agent,
            mailbox,
            reader: Reader::default(),
            updates: 0,
            lane,
            waiting: None,
        }
    }

    pub(crate) fn advance(&mut self, time: Duration) {
        self.now += time;
        for end in [&mut self.client, &mut self.agent] {
            if end
                .connection
                .next_timeout()
                .is_some_and(|timeout| timeout <= self.now)
            {
                end.connection.handle_timeout(self.now);
            }
        }
    }

    /// The agent sends the next update, or goes on waiting to send it.
    pub(crate) fn update(&mut self, padding: usize) {
        let (mut ticket, mut line) = self.waiting.take().unwrap_or_else(|| {
            let mut line = Vec::new();
            let params = json!({"sessionId": SESSION, "update": self.updates, "padding": "x".repeat(padding), "z": {}});
            frame::notification(&mut line, "session/update", &params).unwrap();
            (None, line)
        });
        // The first poll may only let the driver run.
        for _ in 0..2 {
            match self.agent.connection.poll_notify(
                self.lane,
                &mut ticket,
                &mut line,
                Waker::noop(),
            ) {
                Poll::Ready(sent) => {
                    match sent {
                        Ok(()) => self.updates += 1,
                        Err(SendError::Closed(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                    return;
                }
                Poll::Pending => {}
            }
        }
        self.waiting = Some((ticket, line));
    }

    /// The client prompts, unless a turn runs.
    pub(crate) fn prompt(&mut self) {
        if self.reader.prompt.is_none() {
            let mut tail = Vec::new();
            frame::call_tail(&mut tail, "session/prompt", &json!({"sessionId": SESSION})).unwrap();
            let to = AnswerTo::Mailbox(self.mailbox);
            self.reader.prompt = self
                .client
                .connection
                .call(IdSpace::Protocol, to, &tail)
                .ok();
        }
    }

    pub(crate) fn client_reads(&mut self, count: usize) {
        self.client.read(&mut self.agent.wire, count, self.now);
    }

    pub(crate) fn agent_reads(&mut self, count: usize) {
        self.agent.read(&mut self.client.wire, count, self.now);
    }

    /// The consumer takes what is in the mailbox, and checks it.
    pub(crate) fn take(&mut self) {
        let mut batch = VecDeque::new();
        self.client.connection.take_now(self.mailbox, &mut batch);
        for entry in batch {
            match entry {
                MailboxEntry::Run { run, .. } => {
                    for line in run
                        .bytes
                        .split(|byte| *byte == b'\n')
                        .filter(|line| !line.is_empty())
                    {
                        let number = UpdateDecoder::default()
                            .decode::<UpdateParams>(line)
                            .unwrap()
                            .update;
                        assert_eq!(
                            number, self.reader.next,
                            "an update is missing or out of order"
                        );
                        self.reader.next += 1;
                    }
                }
                MailboxEntry::Gap { dropped, .. } => self.reader.next += dropped,
                MailboxEntry::End { call, .. } => {
                    assert_eq!(
                        self.reader.prompt.take(),
                        Some(call),
                        "an end without its prompt"
                    );
                    self.client
                        .ends
                        .entry(call)
                        .or_default()
                        .push("ended".into());
                }
                MailboxEntry::Closed => self.reader.closed = true,
            }
        }
    }

    /// Lets everything that is under way arrive, and answers everything.
    pub(crate) fn settle(&mut self) {
        for _ in 0..10_000 {
            self.client.write(usize::MAX);
            self.agent.write(usize::MAX);
            self.client_reads(usize::MAX);
            self.agent_reads(usize::MAX);
            self.take();
            if self.waiting.is_some() {
                self.update(0);
            }
            self.agent.answer(0);
            self.client.answer(0);
            self.client.collect();
            self.agent.collect();
            let quiet = [&self.client, &self.agent].iter().all(|end| {
                end.wire.is_empty()
                    && end.connection.unwritten() == 0
                    && end.serving.is_empty()
                    && end.connection.open_requests() == 0
            });
            if quiet && self.waiting.is_none() && self.client.connection.queued_updates() == 0 {
                self.take();
                return;
            }
        }
        panic!("it does not come to rest");
    }

    /// The agent's process dies.
    pub(crate) fn cut(&mut self) {
        self.client.connection.close(CloseCause::PeerEof);
        self.agent.connection.close(CloseCause::Local);
    }
}
