//! How a round of chaos goes: who says what, and what is owed.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;

use super::mutate::Line;
use super::plan::{self, CWD, Planned, SESSION, WORDS, filled};
use super::random::SeededRandom;
use super::selection::Lines;
use super::wire::{ChaosWire, Over, PeerLine, heard};
use super::{CANARY, Round, fault};
use crate::judge::verdict::ScenarioFault;
use acp_recording::{PeerSide, Recording};

const FLOOD: &str = "it says more than can be heard";

/// How a round goes, as far as it went.
pub(super) struct ChaosTalk<R, W> {
    pub(super) wire: ChaosWire<R, W>,
    pub(super) patience: Duration,
    pub(super) session: String,
    pub(super) cwd: String,
    pub(super) words: String,
    /// The lines that are said at all; without, all are.
    pub(super) wanted: Option<Lines>,
    pub(super) told: RoundRecord,
}

/// What is to be told of a round.
#[derive(Debug, Default)]
pub(super) struct RoundRecord {
    /// What was said, for people.
    pub(super) script: Vec<String>,
    /// The lines of it that may be left out.
    pub(super) said: Lines,
    pub(super) faults: Vec<ScenarioFault>,
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> ChaosTalk<R, W> {
    /// Talks with the peer to the end; returns what is to be told, and all that went
    /// over the wire.
    pub(super) async fn talk(mut self, round: Round, role: PeerSide) -> (RoundRecord, Recording) {
        // A peer that does not listen to the end is blamed where it stopped.
        let _ = match role {
            PeerSide::Agent => self.with_agent(round).await,
            PeerSide::Client => self.with_client(round).await,
        };
        self.finish()
    }

    fn until(&self) -> Instant {
        Instant::now() + self.patience
    }

    /// Says a line, spoiled or not, with what is known put in.
    async fn say(&mut self, planned: &Planned) -> Result<(), Over> {
        let line = &planned.line;
        let known = [
            (SESSION, &*self.session),
            (CWD, &*self.cwd),
            (WORDS, &*self.words),
        ];
        let bytes = filled(&line.bytes, &known);
        let shown = crate::player::shown(line.bytes.trim_ascii_end());
        let done = match planned.done() {
            done if done.is_empty() => "whole".to_owned(),
            done => done,
        };
        let number = planned.place.map_or_else(String::new, |place| {
            self.told.said.add(place, line.done.len());
            match place {
                (0, line) => format!("{line} "),
                (turn, line) => format!("{turn}.{line} "),
            }
        });
        self.told.script.push(format!("{number}{done}: {shown}"));
        let until = self.until();
        let place = self.wire.next_entry();
        let said = self.wire.say(&bytes, until).await;
        if said == Err(Over::Late) {
            let why = format!("it did not read for {:?}", self.patience);
            self.blame(why, Some(place));
        }
        said
    }

    async fn say_whole(&mut self, message: &Value) -> Result<(), Over> {
        self.say(&Planned::aside(Line::whole(message))).await
    }

    /// Says the lines that are wanted; returns what has to be answered, and whether the
    /// last one was whole.
    async fn say_all(
        &mut self,
        lines: Vec<Planned>,
        counts: bool,
    ) -> Result<(Vec<Value>, bool), Over> {
        let (mut owed, mut ends) = (Vec::new(), true);
        for planned in plan::chosen(lines, self.wanted.as_ref(), counts) {
            self.say(&planned).await?;
            ends = planned.line.ends();
            owed.extend(planned.owes);
        }
        Ok((owed, ends))
    }

    /// Talks with an agent, as its client.
    async fn with_agent(&mut self, round: Round) -> Result<(), Over> {
        let mut random = SeededRandom::new(round.seed, &[u64::from(round.number)]);
        let plan = plan::client(&mut random);
        if plan.opened {
            self.open().await?;
        }
        let (mut owed, ends) = self.say_all(plan.lines, plan.opened).await?;
        if !plan.closes {
            // What was glued to nothing must not be glued to what comes now.
            if !ends {
                let _ = self.wire.say(b"\n", self.until()).await;
            }
            let _ = self.say_whole(&plan::cancel()).await;
            let after = match plan.opened {
                true => plan::new_session("after the chaos".into()),
                false => plan::initialize(u64::MAX >> 12),
            };
            self.say_whole(&after).await?;
            owed.push(after["id"].clone());
            self.collect(owed).await;
        }
        self.close().await;
        Ok(())
    }

    /// Opens a session in order.
    async fn open(&mut self) -> Result<(), Over> {
        for asked in [plan::initialize(1), plan::new_session(2.into())] {
            self.say_whole(&asked).await?;
            match self.answer(&asked["id"]).await {
                Ok(result) => {
                    if let Some(session) = result["sessionId"].as_str() {
                        session.clone_into(&mut self.session);
                    }
                }
                Err(why) => {
                    let place = self.wire.next_entry().checked_sub(1);
                    self.blame(format!("before any chaos: {why}"), place);
                    return Err(Over::Closed);
                }
            }
        }
        Ok(())
    }

    /// Hears the peer until it answers something, and refuses what it asks meanwhile.
    async fn next_answer(&mut self, until: Instant) -> Result<(Value, Option<Value>), Over> {
        loop {
            match heard(&self.wire.hear(until).await?) {
                PeerLine::Answer { id, result } => return Ok((id, result)),
                asked => self.refuse(asked).await,
            }
        }
    }

    /// Hears the peer until this answer comes.
    async fn answer(&mut self, id: &Value) -> Result<Value, String> {
        let until = self.until();
        loop {
            return match self.next_answer(until).await {
                Ok((of, _)) if of != *id => continue,
                Ok((_, result)) => result.ok_or_else(|| "it answered with an error".to_owned()),
                Err(Over::Closed) => Err("it closed".to_owned()),
                Err(Over::Late) => Err(format!("no answer within {:?}", self.patience)),
                Err(Over::Flood) => Err(FLOOD.to_owned()),
            };
        }
    }

    /// Answers a request of the peer in the plainest way.
    async fn refuse(&mut self, asked: PeerLine) {
        if let PeerLine::Request { id, method, .. } = asked {
            let (key, part) = match &*method {
                "session/request_permission" => {
                    ("result", json!({"outcome": {"outcome": "cancelled"}}))
                }
                _ => ("error", json!({"code": -32601, "message": "not here"})),
            };
            let answer = Line::whole(&json!({"jsonrpc": "2.0", "id": id, key: part}));
            let _ = self.wire.say(&answer.bytes, self.until()).await;
        }
    }

    /// Hears what is owed; a peer that closes owes nothing more.
    async fn collect(&mut self, mut owed: Vec<Value>) {
        let until = self.until();
        while !owed.is_empty() {
            match self.next_answer(until).await {
                Ok((id, _)) => owed.retain(|one| *one != id),
                Err(Over::Closed) => return,
                Err(Over::Flood) => return self.heard_out(Over::Flood),
                Err(Over::Late) => {
                    let owed: Vec<String> = owed.iter().map(Value::to_string).collect();
                    let why = format!(
                        "it neither closed nor answered within {:?} what was asked in order: {}",
                        self.patience,
                        owed.join(", ")
                    );
                    return self.blame(why, None);
                }
            }
        }
    }

    /// Judges how the peer was heard out.
    fn heard_out(&mut self, over: Over) {
        let why = match over {
            Over::Closed => return,
            Over::Late => format!(
                "the conversation was over, and it did not close within {:?}",
                self.patience
            ),
            Over::Flood => FLOOD.to_owned(),
        };
        self.blame(why, None);
    }

    /// Closes, and hears the peer out.
    async fn close(&mut self) {
        self.wire.close().await;
        let over = self.wire.hear_out(self.until()).await;
        self.heard_out(over);
    }

    fn blame(&mut self, why: String, entry: Option<usize>) {
        self.told.faults.push(fault(why, entry));
    }

    /// Talks with a client, as its agent: each of its requests is answered, spoiled
    /// perhaps, and then as it should be.
    async fn with_client(&mut self, round: Round) -> Result<(), Over> {
        let number = u64::from(round.number);
        let mut random = SeededRandom::new(round.seed, &[number]);
        // One in four agents goes away in the middle.
        let goes = random.once_in(4).then(|| random.between(1, 4));
        let mut asked: u32 = 0;
        loop {
            let request = match self.wire.hear(self.until()).await {
                Ok(line) => heard(&line),
                // It has nothing more to ask, or waits for what it was not promised.
                Err(Over::Late) => break,
                Err(over) => {
                    self.heard_out(over);
                    return Ok(());
                }
            };
            let PeerLine::Request { id, method, params } = request else {
                continue;
            };
            asked += 1;
            let mut random = SeededRandom::new(round.seed, &[number, u64::from(asked)]);
            let in_a_turn = method == "session/prompt";
            if in_a_turn && let Some(session) = params["sessionId"].as_str() {
                session.clone_into(&mut self.session);
            }
            let lines = plan::agent(&mut random, in_a_turn, asked);
            let (mut owed, _) = self.say_all(lines, in_a_turn).await?;
            let answer = json!({"jsonrpc": "2.0", "id": id, "result": self.result(&method)});
            let mut spoiled = Planned::aside(Line::whole(&answer));
            spoiled.place = Some((asked, 0));
            let spoiled = match random.once_in(2) {
                true => {
                    spoiled.line.spoil(&mut random);
                    plan::cut(spoiled, self.wanted.as_ref())
                }
                false => None,
            };
            let ends = match spoiled {
                Some(spoiled) => {
                    self.say(&spoiled).await?;
                    spoiled.line.ends()
                }
                None => false,
            };
            if !ends {
                let _ = self.wire.say(b"\n", self.until()).await;
            }
            if in_a_turn {
                let id = Value::from(format!("after {asked}"));
                let after = json!({"jsonrpc": "2.0", "id": id, "method": "_chaos/after"});
                self.say_whole(&after).await?;
                owed.push(id);
                self.collect(owed).await;
            }
            if goes.is_some_and(|at| u32::try_from(at).is_ok_and(|at| at == asked)) {
                break;
            }
            self.say_whole(&answer).await?;
        }
        self.close().await;
        Ok(())
    }

    fn result(&self, method: &str) -> Value {
        match method {
            "initialize" => json!({"protocolVersion": 1, "agentCapabilities": {}}),
            "session/new" => json!({"sessionId": "chaos-session"}),
            "session/prompt" => json!({"stopReason": "end_turn"}),
            _ => json!({}),
        }
    }

    fn finish(mut self) -> (RoundRecord, Recording) {
        let (talk, places, canary) = self.wire.finish();
        if let Some(entry) = canary {
            let why = format!("it said what stands in its environment ({CANARY})");
            self.told.faults.push(fault(why, Some(entry)));
        }
        for fault in &mut self.told.faults {
            fault.entry = fault.entry.and_then(|entry| places.of(entry));
        }
        (self.told, talk)
    }
}
