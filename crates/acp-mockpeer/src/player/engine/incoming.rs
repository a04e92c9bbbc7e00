//! What the other side does, and what time does.

use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};

use super::{Engine, Event, MOST_FINDINGS, MOST_FLOWS, Stop};
use crate::language::step::{Act, Step};
use crate::language::{DEFAULT_LIMIT, ExitAs};
use crate::ledger::{Observed, Shape};
use crate::player::compare::{meet_message, takes, unmet};
use crate::player::failure::{Failure, broken, failure, waited};
use crate::player::flow::{Flow, Hope, Taker};
use crate::player::outcome::PlacedFinding;
use crate::player::surroundings::Ended;
use crate::player::wire::Arrival;
use crate::player::{describe, login};
use crate::rules::{Breach, Check, Finding};
use acp_recording::{PeerSide, RecordedEvent};

impl<R, W> Engine<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    pub(super) fn happens(&mut self, event: Event) -> Result<(), Stop> {
        match event {
            Event::Arrival(Arrival::Line { bytes, entry }) => {
                let bytes = match &self.play.mutator {
                    Some(mutator) => mutator.answer(bytes),
                    None => Some(bytes),
                };
                bytes.map_or(Ok(()), |bytes| self.line(&bytes, entry))
            }
            Event::Arrival(Arrival::Unfinished { entry }) => {
                let finding = Finding::new(
                    Check::UnfinishedLine,
                    &["R003"],
                    "the last line has no line feed".to_owned(),
                );
                let line = self.hopes(None).first().map(|hope| hope.step.line);
                self.find(finding, line, entry, b"");
                Ok(())
            }
            Event::Arrival(Arrival::Eof) => self.eof(),
            Event::Arrival(Arrival::Failed(error)) => {
                let why = format!("the {} could not be read: {error}", self.other());
                self.stuck(&why, None)
            }
            Event::Arrival(Arrival::TooMuch) => {
                let why = format!("the {} sends more than can be held", self.other());
                self.stuck(&why, None)
            }
            Event::Exited => self.exited(),
            Event::Time => self.time(),
        }
    }

    /// A line came.
    fn line(&mut self, bytes: &[u8], entry: usize) -> Result<(), Stop> {
        let now = Instant::now();
        let from = self.other();
        let observed = self.ledger.observe_at(from, bytes, entry);
        self.forbidden(bytes, &observed, entry)?;
        let mut takers = self.offer(bytes, &observed, now, false)?;
        if takers.is_empty() && self.forgives() {
            takers = self.offer(bytes, &observed, now, true)?;
        }
        let taken = !takers.is_empty();
        let raw = takers.iter().any(|taker| is_raw(&taker.step));
        let line = takers.first().map(|taker| taker.step.line);
        // The first way is the one that is meant.
        if let Some(taker) = takers.into_iter().next() {
            self.taken(taker, entry);
        }
        // A line that no step takes came while the script stood somewhere.
        let line = line.or_else(|| Some(self.hopes(None).first()?.step.line));
        if !raw {
            for finding in observed.findings.clone() {
                self.find(finding, line, entry, bytes);
            }
        }
        let by_the_way = self.log_in(&observed, taken)?;
        if !taken && !by_the_way && !self.forgives() && !self.passed_over(&observed) {
            return self.stuck(
                &format!("the {from} sent what no step expects"),
                Some((bytes, &observed, entry)),
            );
        }
        self.check_needs()
    }

    /// Does what a line has to do with a login; tells whether that was all it is about.
    fn log_in(&mut self, observed: &Observed, taken: bool) -> Result<bool, Stop> {
        let Some(login) = &mut self.play.login else {
            return Ok(false);
        };
        match login.hears(observed, taken, || self.composer.free_id()) {
            login::LoginAnswer::None => Ok(false),
            login::LoginAnswer::Say(lines) => {
                self.unsaid.extend(lines);
                Ok(true)
            }
            login::LoginAnswer::Locked(why) => Err(Stop::Skipped(why)),
        }
    }

    /// Offers a line to the steps, then to the standing rules.
    fn offer(
        &mut self,
        bytes: &[u8],
        observed: &Observed,
        now: Instant,
        nearly: bool,
    ) -> Result<Vec<Taker>, Stop> {
        let flows = self.main.iter_mut().chain(&mut self.flows);
        for flow in flows {
            if let Some(takers) = flow.offer(bytes, observed, now, nearly) {
                return Ok(takers);
            }
        }
        Ok(self.begin(observed, now, nearly)?.into_iter().collect())
    }

    /// What must never come.
    fn forbidden(&self, bytes: &[u8], observed: &Observed, entry: usize) -> Result<(), Stop> {
        if self.forgives() {
            return Ok(());
        }
        for rule in &self.never {
            let mut knowledge = rule.knowledge.clone();
            if meet_message(&rule.message, observed, &mut knowledge).is_ok() {
                let why = format!("the {} sent what it must never send", self.other());
                return Err(Stop::Failed(Box::new(Failure {
                    got: Some(describe::line(bytes)),
                    rules: rule.rules.clone(),
                    entry: Some(entry),
                    ..Failure::at(rule.line, why)
                })));
            }
        }
        Ok(())
    }

    /// Begins the standing rule that a line is the trigger of; the newest first.
    fn begin(
        &mut self,
        observed: &Observed,
        now: Instant,
        nearly: bool,
    ) -> Result<Option<Taker>, Stop> {
        for rule in self.rules.iter().rev() {
            let Act::Message(message) = &rule.trigger.act else {
                continue;
            };
            let mut knowledge = rule.knowledge.clone();
            if !takes(meet_message(message, observed, &mut knowledge), nearly) {
                continue;
            }
            if self.flows.len() >= MOST_FLOWS {
                return Err(broken(
                    rule.trigger.line,
                    "too many of these are open at once",
                ));
            }
            let step = rule.trigger.clone();
            let unmet = unmet(&step, observed.message.as_ref(), &mut knowledge.names);
            let flow = Flow::new(&self.program, rule.body, knowledge, now);
            self.flows.push(flow);
            return Ok(Some(Taker { step, unmet }));
        }
        Ok(None)
    }

    /// A line that no step takes, and that need not be taken.
    fn passed_over(&self, observed: &Observed) -> bool {
        // These are told as broken checks, or allowed.
        let told = observed.findings.iter().any(|finding| {
            matches!(
                finding.check,
                Check::Noise | Check::Envelope | Check::UnknownAnswer
            )
        });
        let ignored = self
            .ignore
            .iter()
            .any(|rule| meet_message(&rule.message, observed, &mut rule.knowledge.clone()).is_ok());
        // Who does not know a notification that is not of the protocol passes it over (R184).
        let own =
            matches!(&observed.shape, Shape::Notification { method } if method.starts_with('_'));
        // Behind the last step nothing is expected, so nothing is unexpected.
        let over = self.main.is_none() && self.rules.is_empty();
        told || ignored || own || over || self.play.allow.contains(&Check::Unexpected)
    }

    /// Notes what came of a line that a step took.
    fn taken(&mut self, taker: Taker, entry: usize) {
        let Taker { step, unmet } = taker;
        self.fulfilled(&step);
        for unmet in unmet {
            self.breaks(Breach {
                rules: unmet.rules,
                from: self.other(),
                line: Some(unmet.line),
                entry: Some(entry),
                text: unmet.why.to_string(),
                doubtful: false,
                advisory: false,
            });
        }
    }

    /// Notes the rules that a step is for.
    fn fulfilled(&mut self, step: &Step) {
        self.exercised.extend(&step.rules);
        for demand in &step.demands {
            self.exercised.extend(&demand.rules);
        }
    }

    fn breaks(&mut self, breach: Breach) {
        if !self.forgives() && self.breaches.len() < MOST_FINDINGS {
            self.breaches.push(breach);
        }
    }

    fn find(&mut self, finding: Finding, line: Option<usize>, entry: usize, bytes: &[u8]) {
        if self.forgives() || self.play.allow.contains(&finding.check) {
            return;
        }
        if self.findings.len() >= MOST_FINDINGS {
            self.more_findings += 1;
            return;
        }
        self.findings.push(PlacedFinding {
            finding,
            from: self.other(),
            line,
            entry: Some(entry),
            shown: describe::line(bytes),
        });
    }

    /// Once both sides have said what they can, the scenario may have to be skipped.
    pub(super) fn check_needs(&mut self) -> Result<(), Stop> {
        if self.needs_seen || self.forgives() || !self.ledger.initialized() {
            return Ok(());
        }
        self.needs_seen = true;
        for need in &self.play.scenario.header.needs {
            if !self.ledger.advertises(need.side, &need.path) {
                let why = format!("the {} does not advertise `{}`", need.side, need.path);
                return match need.side == self.play.us {
                    true => Err(broken(1, &format!("{why}, though the header needs it"))),
                    false => Err(Stop::Skipped(why)),
                };
            }
        }
        Ok(())
    }

    /// Tells whether the end that is awaited was seen already, while silence
    /// was awaited.
    pub(super) fn awaits_what_was(&self) -> bool {
        let is_close = |hope: &Hope| matches!(hope.step.act, Act::Close { .. });
        self.wire.inlet.is_exhausted() && self.hopes(None).iter().any(is_close)
    }

    /// The other side closed.
    pub(super) fn eof(&mut self) -> Result<(), Stop> {
        let now = Instant::now();
        if self.main.is_none() && self.play.us == PeerSide::Agent {
            return Err(Stop::Over);
        }
        let only_pipe = self.play.world.exit.is_none() && self.ended.is_none();
        let us = self.play.us;
        let met = move |act: &Act| match act {
            Act::Close { .. } => true,
            // Of a pipe, the end is all that can be seen.
            Act::Exit { how, .. } => us == PeerSide::Client && only_pipe && *how == ExitAs::Any,
            _ => false,
        };
        let why = format!("the {} closed", self.other());
        self.end_flows(&why, |flow| flow.end_of(now, met, true))
    }

    /// The agent exited.
    fn exited(&mut self) -> Result<(), Stop> {
        let now = Instant::now();
        let ended = self.ended.unwrap_or(Ended::Unknown);
        self.wire.inlet.transcript.push(
            PeerSide::Agent,
            match ended {
                Ended::Code(code) => RecordedEvent::Exit(code),
                Ended::Signal(signal) => RecordedEvent::Killed(signal),
                Ended::Unknown => RecordedEvent::Close,
            },
        );
        let met = move |act: &Act| match act {
            Act::Exit { how, .. } => ended.is(*how),
            _ => false,
        };
        let over = self.wire.inlet.is_over();
        self.end_flows(&format!("the agent ended with {ended}"), |flow| {
            flow.end_of(now, met, over);
            flow.no_other_exit();
        })
    }

    /// Lets every flow meet an end; what a standing rule began ends with the conversation.
    fn end_flows(&mut self, why: &str, end: impl Fn(&mut Flow)) -> Result<(), Stop> {
        let before = self.hopes(None);
        self.main.iter_mut().chain(&mut self.flows).for_each(end);
        self.take_fulfilled();
        self.flows.retain(|flow| !flow.is_stuck());
        self.unless_stuck(why, &before)
    }

    /// Time passed.
    fn time(&mut self) -> Result<(), Stop> {
        let now = Instant::now();
        if self.limit().is_some_and(|limit| limit <= now) {
            let limit = self.play.limit.unwrap_or_default();
            return self.stuck(&format!("the play took longer than {limit:?}"), None);
        }
        if self.linger().is_some_and(|linger| linger <= now) {
            return Err(Stop::Over);
        }
        let patience = self.patience();
        let before = self.hopes(None);
        if let Some(flow) = &mut self.main {
            flow.time(patience, now);
        }
        for flow in &mut self.flows {
            let hopes = flow.hopes(None);
            flow.time(patience, now);
            if flow.is_stuck() {
                return Err(failure(&waited(&hopes, patience), &hopes, None));
            }
        }
        self.take_fulfilled();
        let why = waited(&before, patience);
        self.unless_stuck(&why, &before)
    }

    fn take_fulfilled(&mut self) {
        let flows = self.main.iter_mut().chain(&mut self.flows);
        let steps: Vec<Arc<Step>> = flows.flat_map(Flow::take_fulfilled).collect();
        steps.iter().for_each(|step| self.fulfilled(step));
    }

    fn unless_stuck(&self, why: &str, hopes: &[Hope]) -> Result<(), Stop> {
        match &self.main {
            Some(flow) if flow.is_stuck() => Err(failure(why, hopes, None)),
            _ => Ok(()),
        }
    }

    fn hopes(&self, line: Option<(&[u8], &Observed)>) -> Vec<Hope> {
        let flow = self.main.as_ref().or(self.flows.first());
        flow.map(|flow| flow.hopes(line)).unwrap_or_default()
    }

    /// Ends the play: nothing that is waited for can come.
    fn stuck(&self, why: &str, line: Option<(&[u8], &Observed, usize)>) -> Result<(), Stop> {
        let hopes = self.hopes(line.map(|(bytes, observed, _)| (bytes, observed)));
        Err(failure(
            why,
            &hopes,
            line.map(|(bytes, _, entry)| (bytes, entry)),
        ))
    }

    /// Ends the conversation as a client does: closes, and hears the agent out.
    pub(super) async fn farewell(&mut self) -> Stop {
        self.close().await;
        // An agent may take its time to end; its lines are still checked.
        let until = match &self.play.mutator {
            // One that never closes waits for the other.
            Some(mutator) if mutator.stays_open() => Instant::now() + DEFAULT_LIMIT,
            _ => Instant::now() + self.patience(),
        };
        loop {
            match self.wire.inlet.take() {
                Some(Arrival::Line { bytes, entry }) => {
                    let observed = self.ledger.observe_at(self.other(), &bytes, entry);
                    if let Err(stop) = self.forbidden(&bytes, &observed, entry) {
                        return stop;
                    }
                    for finding in observed.findings {
                        self.find(finding, None, entry, &bytes);
                    }
                    continue;
                }
                Some(event @ Arrival::Unfinished { .. }) => {
                    if let Err(stop) = self.happens(Event::Arrival(event)) {
                        return stop;
                    }
                    continue;
                }
                Some(Arrival::Eof | Arrival::Failed(_) | Arrival::TooMuch) => return Stop::Over,
                None if self.wire.inlet.is_over() => return Stop::Over,
                None => {}
            }
            tokio::select! {
                biased;
                () = self.wire.inlet.fill() => {}
                () = sleep_until(until) => return Stop::Over,
            }
        }
    }
}

fn is_raw(step: &Arc<Step>) -> bool {
    match &step.act {
        Act::Message(message) => message.raw,
        Act::Bytes(_) => true,
        _ => false,
    }
}
