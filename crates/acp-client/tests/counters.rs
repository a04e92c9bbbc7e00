//! Random conversations: whatever is sent, read, dropped and closed, every update is
//! counted once and in the right place.

mod support;

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use acp_client::{Client, ClientOptions, Flow, Session, SessionCounters, Turn, TurnEvent};
use acp_protocol::rpc::Limits;
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Agent, chunk, dialed, end_turn};
use tokio::time::timeout;

const NAMES: [&str; 2] = ["s-0", "s-1"];

#[derive(Debug, Clone)]
enum Step {
    /// The agent says something to a session, or to one that is not there.
    Say(Say),
    /// Somebody reads what there is, up to so many.
    Read { session: usize, most: usize },
    /// A turn begins.
    Prompt { session: usize },
    /// The agent ends the turn, if one runs.
    Answer { session: usize },
    /// The reader of the turn leaves.
    Leave { session: usize },
    /// The session is dropped, and another one of its name is opened.
    Reopen { session: usize },
}

#[derive(Debug, Clone)]
struct Say {
    to: usize,
    count: usize,
    event: Option<u8>,
    replay: bool,
    readable: bool,
}

fn step() -> impl Strategy<Value = Step> {
    let say = (
        0..3_usize,
        1..12_usize,
        proptest::option::of(0..6_u8),
        any::<bool>(),
        proptest::bool::weighted(0.9),
    );
    let say = say.prop_map(|(to, count, event, replay, readable)| {
        Step::Say(Say {
            to,
            count,
            event,
            replay,
            readable,
        })
    });
    let session = || 0..NAMES.len();
    prop_oneof![
        6 => say,
        4 => (session(), 0..20_usize).prop_map(|(session, most)| Step::Read { session, most }),
        2 => session().prop_map(|session| Step::Prompt { session }),
        2 => session().prop_map(|session| Step::Answer { session }),
        1 => session().prop_map(|session| Step::Leave { session }),
        1 => session().prop_map(|session| Step::Reopen { session }),
    ]
}

/// A conversation, and what is known of it without the counters.
struct Play {
    client: Client,
    agent: Agent,
    places: Vec<Place>,
    sent: u64,
    unknown: u64,
    read: u64,
    /// What gaps told of.
    gaps: u64,
    repeated: u64,
    /// Whether updates may have been left unread without a gap.
    left: bool,
}

struct Place {
    session: Session,
    turn: Option<Turn>,
    /// The open prompt.
    prompt: Option<Value>,
    said: VecDeque<(Option<u8>, bool)>,
    seen: HashSet<u8>,
}

impl Play {
    async fn new(options: ClientOptions) -> Self {
        let (client, agent) = dialed(options, json!({})).await;
        let mut play = Self {
            client,
            agent,
            places: Vec::new(),
            sent: 0,
            unknown: 0,
            read: 0,
            gaps: 0,
            repeated: 0,
            left: false,
        };
        for name in NAMES {
            let place = play.open(name).await;
            play.places.push(place);
        }
        play
    }

    async fn open(&mut self, name: &str) -> Place {
        let serve = async {
            let request = self.agent.request("session/new").await;
            let answer = json!({"sessionId": name});
            self.agent.answer(&request, answer).await;
        };
        let (session, ()) = tokio::join!(self.client.new_session("/code"), serve);
        Place {
            session: session.unwrap(),
            turn: None,
            prompt: None,
            said: VecDeque::new(),
            seen: HashSet::new(),
        }
    }

    async fn act(&mut self, step: Step) {
        match step {
            Step::Say(say) => self.say(say).await,
            Step::Read { session, most } => self.read(session, most).await,
            Step::Prompt { session } => {
                let place = &mut self.places[session];
                if let Ok(turn) = place.session.prompt("x").await {
                    place.turn = Some(turn);
                    place.prompt = Some(self.agent.request("session/prompt").await);
                }
            }
            Step::Answer { session } => {
                if let Some(prompt) = self.places[session].prompt.take() {
                    self.agent.answer(&prompt, end_turn()).await;
                }
            }
            Step::Leave { session } => self.leave(session).await,
            Step::Reopen { session } => {
                self.leave(session).await;
                self.left = true;
                let place = self.open("s-x").await;
                drop(std::mem::replace(&mut self.places[session], place));
                let place = self.open(NAMES[session]).await;
                self.places[session] = place;
            }
        }
        self.settle().await;
    }

    async fn say(&mut self, say: Say) {
        let name = NAMES.get(say.to).copied().unwrap_or("s-9");
        for _ in 0..say.count {
            let update = match say.readable {
                true => chunk("text"),
                false => json!({"sessionUpdate": "tool_call"}),
            };
            let mut meta = json!({});
            if let Some(event) = say.event {
                meta = json!({"eventId": event.to_string(), "isReplay": say.replay});
            }
            let params = json!({"sessionId": name, "update": update, "_meta": meta});
            self.agent
                .say(json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
                .await;
            self.sent += 1;
            match self.places.get_mut(say.to) {
                Some(place) => place
                    .said
                    .push_back((say.event.filter(|_| say.readable && !say.replay), true)),
                None => self.unknown += 1,
            }
        }
    }

    async fn leave(&mut self, session: usize) {
        let place = &mut self.places[session];
        if place.turn.take().is_some() {
            self.left = true;
            // It is cancelled unless its end was read.
            if let Some(prompt) = place.prompt.take() {
                self.agent.notification("session/cancel").await;
                self.agent.answer(&prompt, end_turn()).await;
            }
        }
    }

    async fn read(&mut self, session: usize, most: usize) {
        for _ in 0..most {
            let place = &mut self.places[session];
            let event = match &mut place.turn {
                Some(turn) => timeout(Duration::from_millis(1), turn.next()).await,
                None => {
                    let mut updates = place.session.updates();
                    timeout(Duration::from_millis(1), updates.next()).await
                }
            };
            match event {
                Ok(Some(TurnEvent::Gap { dropped })) => self.gaps += dropped,
                Ok(Some(_)) => self.read += 1,
                Ok(None) => place.turn = None,
                Err(_) => break,
            }
        }
    }

    /// Waits until everything that was said was received.
    async fn settle(&mut self) {
        self.agent.ask(7, "unknown/method", json!({})).await;
        loop {
            let heard = self.agent.next().await;
            if heard["id"] == 7 {
                break;
            }
            assert_eq!(heard["method"], "session/cancel", "{heard}");
        }
        // And until readers that left have noticed.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }

    fn check(&self) -> SessionCounters {
        let counters = self.client.counters();
        assert_eq!(counters.received, self.sent);
        assert_eq!(counters.delivered, self.read);
        assert_eq!(counters.unknown, self.unknown);
        let sum = counters.delivered
            + counters.deduped
            + counters.dropped
            + counters.unknown
            + counters.waiting;
        assert_eq!(sum, counters.received, "{counters:?}");
        counters
    }

    async fn end(mut self, flow: Flow) {
        for session in 0..self.places.len() {
            self.act(Step::Answer { session }).await;
            self.read(session, usize::MAX).await;
            self.read(session, usize::MAX).await;
        }
        // Each session was read to its end: what of it is not delivered has another
        // place, and nothing waits.
        let counters = self.check();
        assert_eq!(counters.waiting, 0, "{counters:?}");
        if !self.left {
            assert_eq!(counters.dropped, self.gaps, "every loss is told");
            if flow == Flow::Lossless {
                for place in &mut self.places {
                    for (event, _) in place.said.drain(..) {
                        let repeated = event.is_some_and(|event| !place.seen.insert(event));
                        self.repeated += u64::from(repeated);
                    }
                }
                assert_eq!(counters.dropped, 0);
                assert_eq!(counters.deduped, self.repeated);
            }
        }
        let of_sessions = self.places.iter().map(|place| place.session.counters());
        let received: u64 = of_sessions.clone().map(|counters| counters.received).sum();
        let delivered: u64 = of_sessions.map(|counters| counters.delivered).sum();
        assert!(received <= counters.received - counters.unknown);
        assert!(delivered <= counters.delivered);
        if !self.left {
            assert_eq!(received, counters.received - counters.unknown);
            assert_eq!(delivered, counters.delivered);
        }
    }
}

fn play(steps: Vec<Step>, flow: Flow) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let options = ClientOptions::new()
            .with_flow(flow)
            // Small, so that every bound is met.
            .with_limits(Limits::default().with_idle_updates(match flow {
                Flow::Lossless => 10_000,
                _ => 7,
            }));
        let mut play = Play::new(options).await;
        for step in steps {
            play.act(step).await;
            play.check();
        }
        play.end(flow).await;
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_update_is_counted_once(steps in proptest::collection::vec(step(), 1..40)) {
        play(steps, Flow::Lossless);
    }

    #[test]
    fn every_update_is_counted_once_where_the_oldest_give_way(
        steps in proptest::collection::vec(step(), 1..40),
        depth in 0..9_u64,
    ) {
        play(steps, Flow::DropOldest { depth });
    }
}
