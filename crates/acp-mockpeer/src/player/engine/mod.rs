//! Plays one side of a conversation.

mod acts;
mod incoming;

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};

use super::Play;
use super::compare::Knowledge;
use super::compile::Program;
use super::compose::Composer;
use super::failure::{Failure, broken};
use super::flow::{Flow, Next, Trigger};
use super::login::Login;
use super::outcome::PlacedFinding;
use super::surroundings::Ended;
use super::transcript::Transcript;
use super::wire::{Arrival, Wire};
use crate::language::ExitAs;
use crate::language::step::Message;
use crate::ledger::Ledger;
use crate::rules::{Breach, Rule};
use acp_recording::PeerSide;

/// More standing rules, or conversations begun by them, than any script means.
const MOST_FLOWS: usize = 4096;

/// Broken checks that are kept; a peer that is wrong is often wrong.
const MOST_FINDINGS: usize = 100;

/// How long after its exit an agent's last lines may take to be seen: they
/// are in the pipe, and only a process that outlives it could add to them.
const LAST_LINES: Duration = Duration::from_millis(250);

/// Why a play is over.
pub(super) enum Stop {
    /// The script is over, and so is the conversation.
    Over,
    /// The agent we play exits.
    Exit(ExitAs),
    Failed(Box<Failure>),
    Broken(Box<Failure>),
    Skipped(String),
    NotExercised(String),
}

/// A conversation that goes on.
pub(super) struct Engine<R, W> {
    pub(super) play: Play,
    program: Program,
    pub(super) wire: Wire<R, W>,
    ledger: Ledger,
    composer: Composer,
    main: Option<Flow>,
    flows: Vec<Flow>,
    rules: Vec<Trigger>,
    never: Vec<Standing>,
    ignore: Vec<Standing>,
    began: Instant,
    /// When the main script came to its end.
    over_since: Option<Instant>,
    exit_at: Option<Instant>,
    pub(super) ended: Option<Ended>,
    pub(super) findings: Vec<PlacedFinding>,
    pub(super) more_findings: u64,
    /// What rules demanded, and was not so; the play went on.
    pub(super) breaches: Vec<Breach>,
    /// The rules that the steps which were taken are for.
    pub(super) exercised: BTreeSet<&'static Rule>,
    /// What is said about a login, as soon as something can be.
    unsaid: Vec<String>,
    /// The lines of the steps whose messages were sent.
    pub(super) sent: Vec<usize>,
    needs_seen: bool,
    /// How many lines that came in time are looked at before the time that is over.
    overdue: Option<usize>,
}

/// `never` or `ignore`.
struct Standing {
    line: usize,
    rules: Vec<&'static Rule>,
    message: Message,
    knowledge: Knowledge,
}

/// What happens next.
enum Event {
    Arrival(Arrival),
    Exited,
    Time,
}

impl<R, W> Engine<R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    pub(super) fn new(mut play: Play, program: Program, reader: R, writer: W) -> Self {
        let now = Instant::now();
        let header = &play.scenario.header;
        let transcript = Transcript::new(play.recorder.take());
        Self {
            composer: Composer::new(play.us, &header.needs),
            main: Some(Flow::new(&program, 0, play.knowledge.clone(), now)),
            wire: Wire::new(play.us, reader, writer, transcript),
            ledger: Ledger::default(),
            flows: Vec::new(),
            rules: Vec::new(),
            never: Vec::new(),
            ignore: Vec::new(),
            began: now,
            over_since: None,
            exit_at: None,
            ended: None,
            findings: Vec::new(),
            more_findings: 0,
            breaches: Vec::new(),
            exercised: BTreeSet::new(),
            unsaid: Vec::new(),
            sent: Vec::new(),
            needs_seen: header.needs.is_empty(),
            overdue: None,
            play,
            program,
        }
    }

    /// Plays to the end.
    pub(super) async fn run(&mut self) -> Stop {
        loop {
            if let Err(stop) = self.settle().await {
                return self.forgiven(stop);
            }
            if self.main.is_some() && self.awaits_what_was() {
                if let Err(stop) = self.eof() {
                    return self.forgiven(stop);
                }
                continue;
            }
            if self.main.is_none() && self.play.us == PeerSide::Client {
                return self.farewell().await;
            }
            // Who hears nothing more and has nothing more to do is done.
            if self.main.is_none() && self.wire.inlet.is_exhausted() {
                return Stop::Over;
            }
            let event = self.event().await;
            if let Err(stop) = self.happens(event) {
                return self.forgiven(stop);
            }
        }
    }

    /// Who forgives does not say that the other side failed, nor does who waits for
    /// it to be logged in to.
    fn forgiven(&self, stop: Stop) -> Stop {
        let held_up = self.play.login.as_ref().and_then(Login::held_up);
        match (stop, held_up) {
            (Stop::Failed(_), _) if self.forgives() => Stop::Over,
            (Stop::Failed(_), Some(why)) => Stop::Skipped(why),
            (stop, _) => stop,
        }
    }

    fn forgives(&self) -> bool {
        self.program.forgives()
    }

    fn patience(&self) -> Duration {
        let patience = self.play.scenario.header.patience;
        // Who judges has to lose patience last: then it is what it awaits that is told.
        if self.forgives() {
            patience / 2
        } else {
            patience
        }
    }

    fn other(&self) -> PeerSide {
        self.play.us.other()
    }

    /// Lets every flow go on until all wait.
    async fn settle(&mut self) -> Result<(), Stop> {
        for line in std::mem::take(&mut self.unsaid) {
            self.say(&line).await?;
        }
        while let Some(mut flow) = self.main.take() {
            if self.advance(&mut flow).await? {
                self.main = Some(flow);
                break;
            }
            self.over_since = Some(Instant::now());
        }
        let mut index = 0;
        while index < self.flows.len() {
            let mut flow = self.flows.remove(index);
            if self.advance(&mut flow).await? {
                self.flows.insert(index, flow);
                index += 1;
            }
        }
        Ok(())
    }

    /// Lets one flow go on until it waits; `false` when it is over.
    async fn advance(&mut self, flow: &mut Flow) -> Result<bool, Stop> {
        loop {
            match flow.next(Instant::now()) {
                Next::Wait => {
                    let Some(mutator) = &self.play.mutator else {
                        return Ok(true);
                    };
                    if !flow.go_without(Instant::now(), |id| mutator.is_lost(id)) {
                        return Ok(true);
                    }
                }
                Next::End => return Ok(false),
                Next::Do(step) => {
                    if let Some(knowledge) = flow.knowledge() {
                        let mut known = std::mem::take(knowledge);
                        self.perform(&step, &mut known).await?;
                        if let Some(knowledge) = flow.knowledge() {
                            *knowledge = known;
                        }
                    }
                    flow.done(Instant::now());
                }
                Next::Whenever(rule) => {
                    if self.rules.len() >= MOST_FLOWS {
                        let line = rule.trigger.line;
                        return Err(broken(line, "there are too many standing rules"));
                    }
                    self.rules.push(rule);
                }
                Next::NotExercised { line, reason } => {
                    return Err(Stop::NotExercised(format!("{reason} (line {line})")));
                }
                Next::TooMany => {
                    return Err(broken(1, "this scenario leaves too many ways open at once"));
                }
            }
        }
    }

    /// Waits for what happens next.
    async fn event(&mut self) -> Event {
        let deadline = self.deadline();
        loop {
            // What came in time is looked at first, and what comes meanwhile
            // is not: a flood would hold up the clock.
            let due = deadline.is_some_and(|deadline| deadline <= Instant::now());
            let overdue = due.then(|| self.overdue.unwrap_or(self.wire.inlet.waiting()));
            self.overdue = overdue.map(|lines| lines.saturating_sub(1));
            if overdue == Some(0) {
                return Event::Time;
            }
            if let Some(arrival) = self.wire.inlet.take() {
                return Event::Arrival(arrival);
            }
            // The last lines of an agent that exited come first.
            if let Some(exited) = self.exit_at
                && (self.wire.inlet.is_over() || exited + LAST_LINES <= Instant::now())
            {
                self.exit_at = None;
                return Event::Exited;
            }
            let last_lines = self.exit_at.map(|exited| exited + LAST_LINES);
            let until = [deadline, last_lines].into_iter().flatten().min();
            tokio::select! {
                biased;
                () = self.wire.inlet.fill() => {}
                ended = self.play.world.exited() => {
                    self.ended = Some(ended);
                    self.exit_at = Some(Instant::now());
                }
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {}
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        let patience = self.patience();
        let flows = self.main.iter().chain(&self.flows);
        let flows = flows.filter_map(|flow| flow.deadline(patience));
        flows.chain(self.limit()).chain(self.linger()).min()
    }

    fn limit(&self) -> Option<Instant> {
        self.play.limit.map(|limit| self.began + limit)
    }

    fn linger(&self) -> Option<Instant> {
        Some(self.over_since? + self.play.linger?)
    }
}
