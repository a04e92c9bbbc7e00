//! One run: an agent, its sessions, their consumers, and the account of it all.

use std::{sync::Arc, time::Duration};

use acp_connection::{MailboxControl, NoHandler, Peer, connect};
use acp_protocol::{
    rpc::{CloseCause, ConnectionRole, Limits, ReceiveSeq},
    v1::{PromptRequest, SessionId},
};
use parking_lot::Mutex;
use tokio::{
    io::{duplex, split},
    runtime::Builder,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    consumer::{Got, Habits, consume},
    peer::{Leaving, MAX_LINE, Step, Written, write},
};

/// The parts of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) leaving: Leaving,
    /// Of the consumer of each session.
    pub(crate) habits: Vec<Habits>,
    /// Bytes of the pipe.
    pub(crate) pipe: usize,
    /// Bytes of a mailbox at which its oldest updates give way.
    pub(crate) hard: usize,
    /// When somebody waits for the first session, and for how many messages that have not
    /// been received.
    pub(crate) barriers: Vec<(u64, u64)>,
}

impl Plan {
    pub(crate) fn play(self) {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime starts");
        let run = runtime.spawn(self.run());
        runtime.block_on(run).expect("it keeps the contract");
    }

    async fn run(self) {
        let (near, far) = duplex(self.pipe);
        let (reader, writer) = split(near);
        let limits = Limits::default()
            .with_max_message(MAX_LINE)
            .with_read_chunk(512)
            .with_mailbox_soft(4 << 10)
            .with_mailbox_spill(8 << 10)
            .with_mailbox_hard(self.hard)
            .with_mailbox_batch(1 << 10);
        let client = connect(ConnectionRole::Client, reader, writer, NoHandler, limits);
        let mut consumers = JoinSet::new();
        let (mut gots, mut controls) = (Vec::new(), Vec::new());
        for (session, habits) in self.habits.iter().enumerate() {
            let id = SessionId::from(format!("s{session}"));
            let mut mailbox = client.open_mailbox(&id).expect("it is new");
            mailbox.control().set_flow(habits.flow);
            let prompt = PromptRequest::new(id, Vec::new());
            mailbox.start_streamed(&prompt).expect("it is sent");
            let got = Arc::new(Mutex::new(Got::default()));
            gots.push(Arc::clone(&got));
            controls.push(mailbox.control());
            consumers.spawn(consume(mailbox, habits.clone(), got));
        }
        let mut barriers = JoinSet::new();
        for (at, ahead) in &self.barriers {
            let (control, got) = (controls[0].clone(), Arc::clone(&gots[0]));
            let wait = wait(client.clone(), control, *at, *ahead, got);
            barriers.spawn(wait);
        }
        // An hour of virtual time: longer than all delays together, and no real time.
        let hour = Duration::from_secs(3600);
        let sessions = self.habits.len();
        let agent = write(&self.steps, self.leaving, sessions, far);
        let (written, kept_open) = timeout(hour, agent).await.expect("it reads on");
        if matches!(self.leaving, Leaving::Exits | Leaving::LeavesThePipeOpen) {
            client.hear_out();
        }
        let cause = timeout(hour, client.closed()).await.expect("it closes");
        match self.leaving {
            Leaving::ClosesInALine => assert!(matches!(cause, CloseCause::Truncated { .. })),
            _ => assert!(matches!(cause, CloseCause::PeerEof), "{cause}"),
        }
        drop(kept_open);
        let all = async { while consumers.join_next().await.is_some() {} };
        timeout(hour, all).await.expect("each comes to its end");
        while let Some(held) = barriers.join_next().await {
            held.expect("it tells the truth");
        }
        for (session, (written, got)) in written.iter().zip(&gots).enumerate() {
            check(session, written, &got.lock());
        }
        self.account(&client, &written, &gots);
    }

    /// The counters of the connection.
    fn account(&self, client: &Peer, written: &[Written], gots: &[Arc<Mutex<Got>>]) {
        let stats = client.stats();
        let of_all =
            |count: fn(&Got) -> u64| gots.iter().map(|got| count(&got.lock())).sum::<u64>();
        let lost_of_nobody = stats.updates_unknown_session;
        let sent: u64 = written.iter().map(|written| written.updates).sum();
        assert!(stats.updates_received >= sent, "{stats:?}");
        assert_eq!(
            stats.updates_received,
            stats.updates_delivered + stats.updates_dropped + lost_of_nobody,
            "{stats:?}"
        );
        // Updates that a consumer had taken and left unread were given to nobody.
        assert_eq!(
            stats.updates_delivered,
            of_all(|got| got.delivered),
            "{stats:?}"
        );
        // One that was put back and left is not among them.
        assert!(
            stats.updates_unreadable >= of_all(|got| got.unreadable),
            "{stats:?}"
        );
    }
}

/// One consumer got all that was written.
fn check(session: usize, written: &Written, got: &Got) {
    assert!(got.closed);
    if !got.left {
        assert_eq!(got.received(), written.received(), "session {session}");
    }
    let [(after, answered)] = got.ends[..] else {
        panic!("session {session} ends {} times", got.ends.len())
    };
    assert_eq!(
        answered,
        written.answered_after.is_some(),
        "session {session}"
    );
    if let Some(answered_after) = written.answered_after.filter(|_| !got.left) {
        assert_eq!(after, answered_after, "session {session}");
    }
}

/// Waits for what was received by a time, and a number of messages more.
async fn wait(client: Peer, control: MailboxControl, at: u64, ahead: u64, got: Arc<Mutex<Got>>) {
    sleep(Duration::from_millis(at)).await;
    let seq = client.received().plus(ahead);
    let reached = control.consumed_through(seq).await;
    let received = client.received();
    if reached {
        assert!(received >= seq, "{received} is before {seq}");
        let got = got.lock();
        let upto = |(place, _): &&(ReceiveSeq, u64)| *place <= seq;
        let items = got.items.iter().filter(upto).count();
        assert!(
            got.left || got.handled >= items,
            "{} of {items}",
            got.handled
        );
    } else {
        assert!(client.close_cause().is_some());
    }
}
