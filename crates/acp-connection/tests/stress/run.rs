//! One run: two ends, a pipe, eight consumers, and a limit of time.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use acp_connection::{Handler, Peer, connect, connect_messages};
use acp_protocol::rpc::{ConnectionRole, Flow, Limits};
use parking_lot::Mutex;
use tokio::{
    io::{DuplexStream, duplex, split},
    runtime::Builder,
    sync::{Notify, mpsc},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::codec::{FramedRead, FramedWrite, LengthDelimitedCodec};

use crate::{
    clause::{Clause, OneWay},
    client::Client,
    consumer::{Kind, Stage, consume},
    draw::Draw,
    dumb_agent::DumbAgent,
    library_agent::LibraryAgent,
    turn::Turn,
    world::World,
};

/// Who answers the prompts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Agent {
    /// One on this library.
    Library,
    /// One that reads nothing while it writes.
    Dumb,
}

/// Which clock a run goes by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// A clock that jumps when nothing can move, and one thread.
    Virtual,
    /// The clock on the wall, and threads that really run side by side.
    Real,
}

/// What a run is made of.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) agent: Agent,
    pub(crate) clock: Clock,
    pub(crate) kinds: &'static [Kind],
    /// The first session's consumer is stuck until the others have finished.
    pub(crate) one_stuck: bool,
    pub(crate) limits: Limits,
    /// The ends exchange messages, and not bytes.
    over_messages: bool,
    flow: Flow,
    without: Option<Clause>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Every turn ended, and all updates are accounted for.
    Finished {
        /// Updates that gave way at a hard mark.
        dropped: u64,
        /// Times that reading paused.
        pauses: u64,
        /// Times that a consumer was exempted.
        exemptions: u64,
    },
    /// Nothing moves any more, and these have not finished.
    Hung(Vec<Kind>),
}

impl Setup {
    /// All kinds of consumers, all rules, and limits that are met all the time.
    pub(crate) fn new(agent: Agent, clock: Clock) -> Self {
        let patience = match clock {
            Clock::Virtual => Duration::from_secs(1),
            Clock::Real => Duration::from_millis(5),
        };
        Self {
            agent,
            clock,
            kinds: &Kind::MIXED,
            one_stuck: false,
            over_messages: false,
            flow: Flow::Lossless,
            without: None,
            limits: Limits::default()
                .with_read_chunk(512)
                .with_mailbox_soft(8 << 10)
                .with_mailbox_batch(4 << 10)
                .with_outgoing_credit(4 << 10)
                .with_outgoing_yield(1 << 10)
                .with_patience(Some(patience)),
        }
    }

    pub(crate) fn with_kinds(mut self, kinds: &'static [Kind]) -> Self {
        self.kinds = kinds;
        self
    }

    pub(crate) fn with_one_stuck(mut self) -> Self {
        self.one_stuck = true;
        self
    }

    /// Every mailbox spills.
    pub(crate) fn spilling(mut self) -> Self {
        self.flow = Flow::Spill;
        self
    }

    pub(crate) fn over_messages(mut self) -> Self {
        self.over_messages = true;
        self
    }

    pub(crate) fn with_limits(mut self, change: impl FnOnce(Limits) -> Limits) -> Self {
        self.limits = change(self.limits);
        self
    }

    /// Gets round a clause of the flow control.
    pub(crate) fn without(mut self, clause: Clause) -> Self {
        self.without = Some(clause);
        self
    }

    /// Longest time a run may take. The virtual clock gets there at once when
    /// nothing else is left to wait for.
    fn time(&self) -> Duration {
        match self.clock {
            Clock::Virtual => Duration::from_secs(24 * 60 * 60),
            Clock::Real => Duration::from_secs(20),
        }
    }

    /// Runs it with one seed. The same seed gives the same run on the virtual
    /// clock.
    pub(crate) fn run(&self, seed: u64) -> Outcome {
        let runtime = match self.clock {
            Clock::Virtual => Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build(),
            Clock::Real => Builder::new_multi_thread()
                .worker_threads(3)
                .enable_time()
                .build(),
        };
        let runtime = runtime.expect("a runtime starts");
        let setup = self.clone();
        // Spawned, so that all of it runs on the workers.
        let run = runtime.spawn(async move { setup.stage(seed).await });
        runtime.block_on(run).expect("no part of the run panics")
    }

    async fn stage(self, seed: u64) -> Outcome {
        let mut draw = Draw::new(seed, "stage");
        let world = Arc::new(World::default());
        let peer = self.connect(seed, draw.pick(&[64, 200, 1000, 4000, 65_536]), &world);
        let (left_sender, mut left) = mpsc::unbounded_channel();
        let stage = Stage {
            peer: peer.clone(),
            world: Arc::clone(&world),
            seed,
            release: Arc::new(Notify::new()),
            left: left_sender,
            flow: self.flow,
            without: self.without,
        };
        let unfinished = Arc::new(Mutex::new(BTreeMap::new()));
        let mut all = JoinSet::new();
        let mut stuck = JoinSet::new();
        for number in 0..8 {
            let is_stuck = self.one_stuck && number == 0;
            let kind = if is_stuck {
                Kind::StuckForEver
            } else {
                draw.pick(self.kinds)
            };
            unfinished.lock().insert(number, kind);
            let late = draw.chance(30).then(|| draw.below(3000));
            let (stage, unfinished) = (stage.clone(), Arc::clone(&unfinished));
            let work = async move {
                if let Some(late) = late {
                    sleep(Duration::from_micros(late)).await;
                }
                let dropped = consume(stage, format!("s{number}").into(), kind).await;
                unfinished.lock().remove(&number);
                dropped
            };
            if is_stuck { &mut stuck } else { &mut all }.spawn(work);
        }
        let ends = async {
            let mut dropped = join(&mut all).await;
            stage.release.notify_one();
            dropped += join(&mut stuck).await;
            end_left_turns(&mut left).await;
            for truth in world.sessions() {
                let mut ended = truth.ended.subscribe();
                ended.wait_for(|ended| *ended).await.unwrap();
            }
            dropped
        };
        match timeout(self.time(), ends).await {
            Ok(dropped) => account(&peer, &world, dropped).await,
            Err(_) => Outcome::Hung(unfinished.lock().values().copied().collect()),
        }
    }

    /// Starts both ends of a pipe of this capacity, and gives the client's.
    fn connect(&self, seed: u64, capacity: usize, world: &Arc<World>) -> Peer {
        let (client, agent) = duplex(capacity);
        match self.agent {
            Agent::Dumb => {
                let agent = DumbAgent::new(Arc::clone(world), seed, agent);
                tokio::spawn(agent.run());
            }
            Agent::Library => {
                let handler = LibraryAgent::new(Arc::clone(world), seed);
                self.start(ConnectionRole::Agent, agent, handler);
            }
        }
        let handler = Client {
            world: Arc::clone(world),
            seed,
        };
        self.start(ConnectionRole::Client, client, handler)
    }

    fn start(&self, role: ConnectionRole, stream: DuplexStream, handler: impl Handler) -> Peer {
        let (reader, writer) = split(stream);
        let limits = self.limits.clone();
        if self.over_messages {
            let reader = FramedRead::new(reader, LengthDelimitedCodec::new());
            let writer = FramedWrite::new(writer, LengthDelimitedCodec::new());
            return connect_messages(role, reader, writer, handler, limits);
        }
        let is_one_way = self.without == Some(Clause::WhileBlocked);
        let (reader, writer) = OneWay::pair(reader, writer, is_one_way);
        connect(role, reader, writer, handler, limits)
    }
}

async fn join(consumers: &mut JoinSet<u64>) -> u64 {
    let mut dropped = 0;
    while let Some(consumer) = consumers.join_next().await {
        dropped += consumer.expect("no consumer panics");
    }
    dropped
}

/// Ends the turns that were left unread.
async fn end_left_turns(left: &mut mpsc::UnboundedReceiver<Turn>) {
    while let Ok(turn) = left.try_recv() {
        turn.drain().await;
    }
}

/// Checks that no update is missing from the counters.
async fn account(peer: &Peer, world: &World, dropped: u64) -> Outcome {
    let sent: u64 = world.sessions().iter().map(|truth| truth.sent()).sum();
    // What was sent to sessions that are closed may still be on its way.
    while peer.stats().updates_received < sent {
        sleep(Duration::from_millis(1)).await;
    }
    let stats = peer.stats();
    assert_eq!(stats.updates_received, sent, "{stats:?}");
    assert_eq!(
        stats.updates_received,
        stats.updates_delivered + stats.updates_dropped + stats.updates_unknown_session,
        "{stats:?}"
    );
    assert!(stats.updates_dropped >= dropped, "{stats:?}");
    assert_eq!(stats.ignored_total(), 0, "{stats:?}");
    assert_eq!(stats.handler_panics, 0, "{stats:?}");
    Outcome::Finished {
        dropped,
        pauses: stats.pauses,
        exemptions: stats.exemptions,
    }
}
