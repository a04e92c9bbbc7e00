//! Consumers of many kinds: what user code does with the updates of a turn.

use std::{sync::Arc, time::Duration};

use acp_connection::Peer;
use acp_protocol::rpc::Flow;
use tokio::{
    sync::{Notify, mpsc},
    time::sleep,
};

use crate::{
    clause::{Clause, call_as_a_stream, notify_without_waiting},
    draw::Draw,
    turn::{Step, Turn},
    wire::{Echo, Note, Prompt},
    world::{Ask, Truth, World},
};

/// What a consumer does besides taking updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing.
    Fast,
    /// Takes a little time for many updates.
    Slow,
    /// Stands still for many seconds now and then.
    StuckLong,
    /// Stands still until all others have finished.
    StuckForEver,
    /// Calls the agent and waits for the answer.
    Calls,
    /// Sends the agent more than there is room for.
    Notifies,
    /// Runs a turn of another session to its end.
    Nests,
    /// Waits for a request that may stand behind updates nobody reads.
    WaitsForAsk,
    /// Answers requests for permission itself, between its updates.
    Grants,
    /// Is slow, and has permissions given only when the updates before them were
    /// consumed.
    GrantsInOrder,
    /// Stands still, cancels, and takes nothing until the agent has read that.
    CancelsStuck,
    /// Goes away in the middle of the turn.
    Leaves,
}

impl Kind {
    /// All kinds but the one that never moves.
    pub(crate) const MIXED: [Self; 11] = [
        Self::Fast,
        Self::Slow,
        Self::StuckLong,
        Self::Calls,
        Self::Notifies,
        Self::Nests,
        Self::WaitsForAsk,
        Self::Grants,
        Self::GrantsInOrder,
        Self::CancelsStuck,
        Self::Leaves,
    ];
}

/// What all consumers of a run share.
#[derive(Clone)]
pub(crate) struct Stage {
    pub(crate) peer: Peer,
    pub(crate) world: Arc<World>,
    pub(crate) seed: u64,
    /// Lets the one who is stuck for ever go on.
    pub(crate) release: Arc<Notify>,
    /// Turns that were left, to be ended once everybody else has finished.
    pub(crate) left: mpsc::UnboundedSender<Turn>,
    /// The flow of every mailbox.
    pub(crate) flow: Flow,
    /// A clause of the flow control that is got round.
    pub(crate) without: Option<Clause>,
}

/// One consumer at work.
struct Consumer {
    stage: Stage,
    session: Arc<str>,
    kind: Kind,
    truth: Arc<Truth>,
    draw: Draw,
    /// The first update after which it does what its kind does.
    acts_at: u64,
    /// Its turn goes on until somebody cancels it.
    endless: bool,
}

/// Runs one turn. Gives how many of its updates were dropped.
pub(crate) async fn consume(stage: Stage, session: Arc<str>, kind: Kind) -> u64 {
    let mut draw = Draw::new(stage.seed, &format!("consumer {session}"));
    let endless = match kind {
        Kind::CancelsStuck => true,
        Kind::Leaves => draw.chance(50),
        _ => false,
    };
    let consumer = Consumer {
        truth: stage.world.truth(&session),
        stage,
        session,
        kind,
        acts_at: 3 + draw.below(15),
        endless,
        draw,
    };
    consumer.run().await
}

impl Consumer {
    async fn run(mut self) -> u64 {
        let mut asks = (self.kind == Kind::Grants).then(|| self.take_asks());
        let mut turn = Turn::start(
            &self.stage.peer,
            &self.prompt(),
            self.stage.flow,
            self.stage.without,
        );
        if self.kind == Kind::GrantsInOrder {
            *self.truth.barrier.lock() = Some(turn.control());
        }
        let stopped = loop {
            let step = tokio::select! {
                biased;
                ask = next_ask(asks.as_mut()) => {
                    self.grant(ask).await;
                    continue;
                }
                step = turn.next() => step,
            };
            match step {
                Step::End(result) => break result.expect("the turn ends well"),
                Step::Update if self.goes_away(&turn) => {
                    self.leave(turn);
                    return 0;
                }
                Step::Update => self.act(&turn).await,
            }
        };
        *self.truth.asks.lock() = None;
        assert_eq!(turn.position(), stopped.updates, "{}", self.session);
        assert_eq!(turn.position(), self.truth.sent(), "{}", self.session);
        turn.dropped()
    }

    fn prompt(&self) -> Prompt {
        let asks = matches!(
            self.kind,
            Kind::WaitsForAsk | Kind::Grants | Kind::GrantsInOrder
        );
        Prompt {
            session_id: Arc::clone(&self.session),
            endless: self.endless,
            asks,
        }
    }

    fn take_asks(&self) -> mpsc::UnboundedReceiver<Ask> {
        let (sender, asks) = mpsc::unbounded_channel();
        *self.truth.asks.lock() = Some(sender);
        asks
    }

    async fn grant(&mut self, ask: Ask) {
        if self.draw.chance(30) {
            sleep(Duration::from_millis(self.draw.below(30))).await;
        }
        // Nobody waits for it any more when the run is over.
        let _ = ask.send(());
    }

    /// Does what its kind does, after an update.
    async fn act(&mut self, turn: &Turn) {
        let position = turn.position();
        let first = position == self.acts_at;
        let again = position >= self.acts_at && (position - self.acts_at).is_multiple_of(37);
        match self.kind {
            Kind::Slow | Kind::GrantsInOrder if self.draw.chance(40) => {
                sleep(Duration::from_micros(self.draw.below(5000))).await;
            }
            Kind::StuckLong if again => sleep(Duration::from_secs(self.draw.below(20))).await,
            Kind::StuckForEver if first => self.stage.release.notified().await,
            Kind::Calls if again => {
                let padding = "p".repeat(self.draw.length(600));
                let echo = Echo { padding };
                let peer = &self.stage.peer;
                let answer = if self.gets_round(Clause::WhileCalling) {
                    let name = format!("{} {position}", self.session);
                    call_as_a_stream(peer, name, &echo).await
                } else {
                    peer.call(&echo).await.unwrap()
                };
                assert_eq!(answer, echo);
            }
            Kind::Notifies if again => {
                for _ in 0..self.draw.below(6) {
                    let padding = "n".repeat(1500);
                    let (peer, note) = (&self.stage.peer, Note { padding });
                    let sent = if self.gets_round(Clause::WhileSending) {
                        notify_without_waiting(peer, &note).await
                    } else {
                        peer.notify(&note).await
                    };
                    sent.unwrap();
                }
            }
            Kind::Nests if again => {
                let inner = format!("{}.{position}", self.session).into();
                let stage = self.stage.clone();
                Box::pin(consume(stage, inner, Kind::Fast)).await;
            }
            Kind::WaitsForAsk if first => self.truth.asked.notified().await,
            Kind::CancelsStuck if first => {
                sleep(Duration::from_millis(self.draw.below(50))).await;
                turn.cancel();
                let mut cancelled = self.truth.cancelled.subscribe();
                cancelled.wait_for(|cancelled| *cancelled).await.unwrap();
            }
            _ => {}
        }
    }

    fn gets_round(&self, clause: Clause) -> bool {
        self.stage.without == Some(clause)
    }

    fn goes_away(&self, turn: &Turn) -> bool {
        self.kind == Kind::Leaves && turn.position() == self.acts_at + 20
    }

    fn leave(&mut self, mut turn: Turn) {
        // Whoever leaves an endless turn has to stop it; the others may.
        if self.endless || self.draw.chance(30) {
            turn.cancel();
        }
        match self.draw.below(3) {
            // The mailbox goes too: what comes is for nobody.
            0 => drop(turn),
            1 => {
                turn.leave();
                tokio::spawn(turn.drain());
            }
            _ => {
                turn.leave();
                // The run ends it; should that be over, nobody needs to.
                let _ = self.stage.left.send(turn);
            }
        }
    }
}

async fn next_ask(asks: Option<&mut mpsc::UnboundedReceiver<Ask>>) -> Ask {
    match asks {
        Some(asks) => asks.recv().await.expect("the world keeps the sender"),
        None => std::future::pending().await,
    }
}
