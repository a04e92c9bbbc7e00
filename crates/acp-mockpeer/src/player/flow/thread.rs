//! One way a flow may have gone, and how long it waits.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::Taker;
use crate::language::step::{Act, Count, Message, Step, What};
use crate::ledger::Observed;
use crate::player::compare::{Knowledge, unmet};
use crate::player::compile::{Op, Place, Program, within};

/// One way a flow may have gone.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    pub(super) place: Place,
    pub(super) knowledge: Knowledge,
    /// When the last thing that is counted was done.
    pub(super) since: Instant,
    /// When it came to where it stands.
    pub(super) arrived: Instant,
    /// Which of the messages in any order have come.
    pub(super) met: u64,
    pub(super) counters: Vec<u32>,
    /// It waited here before; other ways from here are known.
    pub(super) settled: bool,
}

impl Thread {
    /// Takes what rules demand of the line besides.
    pub(super) fn takes(&mut self, step: &Arc<Step>, observed: &Observed) -> Taker {
        let names = &mut self.knowledge.names;
        Taker {
            step: step.clone(),
            unmet: unmet(step, observed.message.as_ref(), names),
        }
    }

    pub(super) fn go(&mut self, place: Place, now: Instant) {
        self.place = place;
        self.arrived = now;
        self.settled = false;
    }

    pub(super) fn deadline(
        &self,
        program: &Program,
        active: Instant,
        patience: Duration,
    ) -> Option<Instant> {
        // Who forgives goes on without an answer; what the other side begins
        // comes, or it ends.
        let forgives = program.forgives();
        let share = if forgives { 2 } else { 1 };
        match &program.ops[self.place] {
            Op::Await { step, .. } => match (&step.act, within(step)) {
                (Act::Nothing(time), _) => Some(self.arrived + *time),
                _ if forgives && !is_answer(step) => None,
                (_, Some(within)) => Some(self.since + within / share),
                _ => Some(active.max(self.arrived) + patience),
            },
            Op::AwaitAll(steps) => {
                let longest = steps.iter().filter_map(|step| within(step)).max();
                match longest {
                    _ if forgives && !steps.iter().all(|step| is_answer(step)) => None,
                    Some(within) => Some(self.since + within / share),
                    None => Some(active.max(self.arrived) + patience),
                }
            }
            _ => None,
        }
    }
}

fn is_answer(step: &Step) -> bool {
    match &step.act {
        Act::Message(message) => matches!(message.what, What::Answer { .. }),
        _ => false,
    }
}

/// Keeps a thread unless an equal one is kept.
pub(super) fn keep(waiting: &mut Vec<Thread>, mut thread: Thread) {
    thread.settled = true;
    let known = waiting.iter().any(|other| {
        other.place == thread.place
            && other.met == thread.met
            && other.counters == thread.counters
            && other.knowledge == thread.knowledge
    });
    if !known {
        waiting.push(thread);
    }
}

pub(super) fn count_of(step: &Step) -> Count {
    match &step.act {
        Act::Message(Message { count, .. }) => *count,
        _ => Count::One,
    }
}

pub(super) fn comes_often(step: &Step) -> bool {
    matches!(count_of(step), Count::Any | Count::Some)
}

/// Nothing more can come.
pub(super) fn all_met(steps: &[Arc<Step>], met: u64) -> bool {
    steps
        .iter()
        .enumerate()
        .all(|(index, step)| met & (1 << index) != 0 && !comes_often(step))
}

/// Nothing more has to come.
pub(super) fn rest_is_optional(steps: &[Arc<Step>], met: u64) -> bool {
    steps.iter().enumerate().all(|(index, step)| {
        met & (1 << index) != 0 || matches!(count_of(step), Count::Any | Count::Optional)
    })
}
