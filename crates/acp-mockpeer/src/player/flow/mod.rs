//! One run through a program, with every way it may have gone.
//!
//! Where a scenario leaves a choice to the other side, a flow has a thread for
//! each way, and what comes tells which of them live on. What we do ourselves
//! is never undone: the first thread that comes to such a step goes on alone.

mod thread;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::compare::{Knowledge, Miss, Unmet, meet, takes};
use super::compile::{Op, Place, Program};
use crate::language::step::{Act, Count, Step, What};
use crate::ledger::Observed;
use thread::{Thread, all_met, comes_often, count_of, keep, rest_is_optional};

/// More ways at once than this, and the scenario says nothing.
const MOST_THREADS: usize = 512;

/// One run through a program.
#[derive(Debug)]
pub(super) struct Flow {
    program: Program,
    threads: Vec<Thread>,
    /// When something last came for this flow.
    active: Instant,
    /// Steps that ends or time fulfilled, until they are asked for.
    fulfilled: Vec<Arc<Step>>,
}

/// A step that took a line.
#[derive(Debug)]
pub(super) struct Taker {
    pub(super) step: Arc<Step>,
    pub(super) unmet: Vec<Unmet>,
}

/// What a flow does next.
#[derive(Debug)]
pub(super) enum Next {
    /// It waits for the other side.
    Wait,
    /// We do this; then [`Flow::done`].
    Do(Arc<Step>),
    /// It begins a standing rule.
    Whenever(Trigger),
    /// It is over.
    End,
    NotExercised {
        line: usize,
        reason: Arc<str>,
    },
    /// There are too many ways.
    TooMany,
}

/// `whenever`: what begins it, and where its body stands.
#[derive(Debug)]
pub(super) struct Trigger {
    pub(super) trigger: Arc<Step>,
    pub(super) body: Place,
    pub(super) knowledge: Knowledge,
}

/// What a flow waits for, and why a line was not it.
#[derive(Clone, Debug)]
pub(super) struct Hope {
    pub(super) step: Arc<Step>,
    pub(super) miss: Option<Miss>,
}

impl Flow {
    pub(super) fn new(program: &Program, place: Place, knowledge: Knowledge, now: Instant) -> Self {
        Self {
            program: program.clone(),
            threads: vec![Thread {
                place,
                knowledge,
                since: now,
                arrived: now,
                met: 0,
                counters: vec![0; program.counters],
                settled: false,
            }],
            active: now,
            fulfilled: Vec::new(),
        }
    }

    /// Follows every thread to where it waits, or the first to where we act.
    pub(super) fn next(&mut self, now: Instant) -> Next {
        let mut waiting: Vec<Thread> = Vec::new();
        // A stack, so that the preferred way is followed first.
        let mut open: Vec<Thread> = std::mem::take(&mut self.threads);
        open.reverse();
        while let Some(mut thread) = open.pop() {
            if waiting.len() + open.len() > MOST_THREADS {
                return Next::TooMany;
            }
            match &self.program.ops[thread.place] {
                Op::Await { .. } => {
                    keep(&mut waiting, thread);
                    continue;
                }
                Op::AwaitAll(steps) if all_met(steps, thread.met) => {
                    thread.met = 0;
                    thread.go(thread.place + 1, now);
                }
                Op::AwaitAll(steps) => {
                    // What is left may be left out; then both ways are open.
                    if !thread.settled && rest_is_optional(steps, thread.met) {
                        let mut past = thread.clone();
                        past.met = 0;
                        past.go(past.place + 1, now);
                        open.push(past);
                    }
                    keep(&mut waiting, thread);
                    continue;
                }
                Op::Split(first, second) => {
                    let mut other = thread.clone();
                    other.go(*second, now);
                    thread.go(*first, now);
                    open.push(other);
                }
                Op::Jump(place) => thread.go(*place, now),
                Op::Repeat { counter } => {
                    thread.counters[*counter] = 0;
                    thread.go(thread.place + 1, now);
                }
                Op::Round {
                    counter,
                    times,
                    name,
                    after,
                } => {
                    let round = &mut thread.counters[*counter];
                    if *round < *times {
                        *round += 1;
                        if let Some(name) = name {
                            let round = (*round).into();
                            thread.knowledge.names.insert(name.clone(), round);
                        }
                        thread.go(thread.place + 1, now);
                    } else {
                        thread.go(*after, now);
                    }
                }
                Op::Do(step) => {
                    let step = step.clone();
                    self.threads = vec![thread];
                    return Next::Do(step);
                }
                Op::Whenever {
                    trigger,
                    body,
                    next,
                } => {
                    let knowledge = thread.knowledge.clone();
                    thread.go(*next, now);
                    self.threads = vec![thread];
                    return Next::Whenever(Trigger {
                        trigger: trigger.clone(),
                        body: *body,
                        knowledge,
                    });
                }
                Op::NotExercised { line, reason } => {
                    return Next::NotExercised {
                        line: *line,
                        reason: reason.clone(),
                    };
                }
                Op::End => {
                    self.threads = Vec::new();
                    return Next::End;
                }
            }
            open.push(thread);
        }
        self.threads = waiting;
        Next::Wait
    }

    /// Returns what the thread that acts knows.
    pub(super) fn knowledge(&mut self) -> Option<&mut Knowledge> {
        self.threads.first_mut().map(|thread| &mut thread.knowledge)
    }

    /// Goes on behind what we did.
    pub(super) fn done(&mut self, now: Instant) {
        self.active = now;
        for thread in &mut self.threads {
            thread.since = now;
            thread.go(thread.place + 1, now);
        }
    }

    /// Offers a line; tells the steps that took it, or `None` and changes nothing.
    pub(super) fn offer(
        &mut self,
        line: &[u8],
        observed: &Observed,
        now: Instant,
        nearly: bool,
    ) -> Option<Vec<Taker>> {
        let mut next = Vec::new();
        let mut takers = Vec::new();
        for thread in &self.threads {
            match &self.program.ops[thread.place] {
                Op::Await { step, again } => {
                    let mut taken = thread.clone();
                    if takes(meet(step, line, observed, &mut taken.knowledge), nearly) {
                        if !again {
                            taken.since = now;
                        }
                        taken.go(taken.place + 1, now);
                        takers.push(taken.takes(step, observed));
                        next.push(taken);
                    }
                }
                Op::AwaitAll(steps) => {
                    // Those that come once first, then those that come often.
                    let once = |step: &&(usize, &Arc<Step>)| !comes_often(step.1);
                    let all: Vec<(usize, &Arc<Step>)> = steps.iter().enumerate().collect();
                    let order = all
                        .iter()
                        .filter(once)
                        .chain(all.iter().filter(|step| !once(step)));
                    for &(index, step) in order {
                        let bit = 1 << index;
                        if thread.met & bit != 0 && !comes_often(step) {
                            continue;
                        }
                        let mut taken = thread.clone();
                        if takes(meet(step, line, observed, &mut taken.knowledge), nearly) {
                            taken.met |= bit;
                            taken.since = now;
                            taken.go(thread.place, now);
                            takers.push(taken.takes(step, observed));
                            next.push(taken);
                        }
                    }
                }
                _ => {}
            }
        }
        if next.is_empty() {
            return None;
        }
        self.threads = next;
        self.active = now;
        Some(takers)
    }

    /// Takes the end of what the other side writes, or of the agent itself.
    ///
    /// `met` tells whether a step is what happened. Those that wait for lines
    /// wait in vain, unless lines are not over yet.
    pub(super) fn end_of(
        &mut self,
        now: Instant,
        met: impl Fn(&Act) -> bool,
        lines_are_over: bool,
    ) {
        let mut next = Vec::new();
        for thread in std::mem::take(&mut self.threads) {
            let Op::Await { step, .. } = &self.program.ops[thread.place] else {
                if !lines_are_over {
                    next.push(thread);
                }
                continue;
            };
            if met(&step.act) {
                let mut thread = thread;
                self.fulfilled.push(step.clone());
                thread.since = now;
                thread.go(thread.place + 1, now);
                next.push(thread);
                continue;
            }
            let waits_on = match &step.act {
                Act::Message(_) | Act::Bytes(_) => !lines_are_over,
                Act::Close { .. } => !lines_are_over,
                _ => true,
            };
            if waits_on {
                next.push(thread);
            }
        }
        self.threads = next;
    }

    /// Ends the threads that wait for another exit than the one that was.
    pub(super) fn no_other_exit(&mut self) {
        self.threads.retain(|thread| {
            !matches!(
                &self.program.ops[thread.place],
                Op::Await { step, .. } if matches!(step.act, Act::Exit { .. })
            )
        });
    }

    /// Lets every thread begin to wait now: what it waits for was held up.
    pub(super) fn wait_anew(&mut self, now: Instant) {
        self.active = now;
        for thread in &mut self.threads {
            thread.since = now;
        }
    }

    /// Returns when the next thread has waited long enough.
    pub(super) fn deadline(&self, patience: Duration) -> Option<Instant> {
        let times = self.threads.iter();
        times
            .filter_map(|thread| thread.deadline(&self.program, self.active, patience))
            .min()
    }

    /// Lets time pass: silence that was kept goes on, who waited too long ends.
    pub(super) fn time(&mut self, patience: Duration, now: Instant) {
        let active = self.active;
        let fulfilled = &mut self.fulfilled;
        self.threads.retain_mut(|thread| {
            let due = thread
                .deadline(&self.program, active, patience)
                .is_some_and(|deadline| deadline <= now);
            if !due {
                return true;
            }
            match &self.program.ops[thread.place] {
                Op::Await { step, .. } if matches!(step.act, Act::Nothing(_)) => {
                    fulfilled.push(step.clone());
                }
                Op::Await { again: true, .. } => return false,
                _ if self.program.forgives() => thread.met = 0,
                _ => return false,
            }
            thread.since = now;
            thread.go(thread.place + 1, now);
            true
        });
        // Those who may wait for more of the same need a way out of it.
        let again = |thread: &Thread| {
            matches!(
                &self.program.ops[thread.place],
                Op::Await { again: true, .. }
            )
        };
        if self.threads.iter().all(again) {
            self.threads.clear();
        }
    }

    /// Returns the steps that were fulfilled by an end or by time since it was asked last.
    pub(super) fn take_fulfilled(&mut self) -> Vec<Arc<Step>> {
        std::mem::take(&mut self.fulfilled)
    }

    /// Goes on without the answers to requests that never came to the other
    /// side; tells whether there were any.
    pub(super) fn go_without(&mut self, now: Instant, is_lost: impl Fn(&Value) -> bool) -> bool {
        let mut any = false;
        for thread in &mut self.threads {
            let Op::Await { step, .. } = &self.program.ops[thread.place] else {
                continue;
            };
            if let Act::Message(message) = &step.act
                && let What::Answer {
                    slot: Some(slot), ..
                } = &message.what
                && thread.knowledge.ids.get(slot).is_some_and(&is_lost)
            {
                thread.go(thread.place + 1, now);
                any = true;
            }
        }
        any
    }

    /// Tells whether no way is left.
    pub(super) fn is_stuck(&self) -> bool {
        self.threads.is_empty()
    }

    /// Tells what this flow waits for; with a line, why it was not it.
    pub(super) fn hopes(&self, line: Option<(&[u8], &Observed)>) -> Vec<Hope> {
        let mut hopes: Vec<Hope> = Vec::new();
        let mut hope = |step: &Arc<Step>, thread: &Thread| {
            let miss = line.and_then(|(line, observed)| {
                meet(step, line, observed, &mut thread.knowledge.clone()).err()
            });
            if !hopes.iter().any(|known| Arc::ptr_eq(&known.step, step)) {
                hopes.push(Hope {
                    step: step.clone(),
                    miss,
                });
            }
        };
        for thread in &self.threads {
            match &self.program.ops[thread.place] {
                Op::Await { step, .. } => hope(step, thread),
                Op::AwaitAll(steps) => {
                    for (index, step) in steps.iter().enumerate() {
                        if thread.met & (1 << index) == 0 || comes_often(step) {
                            hope(step, thread);
                        }
                    }
                }
                _ => {}
            }
        }
        // What had to come stands before what might have come, what was nearly
        // it before what was something else.
        hopes.sort_by_key(|hope| {
            let near = matches!(hope.miss, Some(Miss::Content(_)));
            (!near, count_of(&hope.step) != Count::One)
        });
        hopes
    }
}
