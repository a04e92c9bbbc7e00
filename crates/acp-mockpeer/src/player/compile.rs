//! Turns a scenario into a program for one of its sides.

use std::sync::Arc;
use std::time::Duration;

use crate::language::Scenario;
use crate::language::merge::with_demands;
use crate::language::pattern::Pattern;
use crate::language::step::{Act, Count, Item, Message, Step, What, first_side};
use acp_recording::PeerSide;

/// Where in a program.
pub(super) type Place = usize;

/// One instruction.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Waits for the other side to do this; `again`: any number of times, so
    /// time is not counted anew.
    Await {
        step: Arc<Step>,
        again: bool,
    },
    /// Waits for all of these, in any order.
    AwaitAll(Arc<[Arc<Step>]>),
    /// Does this.
    Do(Arc<Step>),
    /// Begins a standing rule: its body stands at `body`, and the program goes on at `next`.
    Whenever {
        trigger: Arc<Step>,
        body: Place,
        next: Place,
    },
    /// Goes on at both places; the first is preferred.
    Split(Place, Place),
    Jump(Place),
    /// Begins a loop.
    Repeat {
        counter: usize,
    },
    /// Counts, binds the number, and goes on or to `after`.
    Round {
        counter: usize,
        times: u32,
        name: Option<Arc<str>>,
        after: Place,
    },
    NotExercised {
        line: usize,
        reason: Arc<str>,
    },
    End,
}

/// A scenario as one side plays it.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) ops: Arc<[Op]>,
    pub(super) counters: usize,
    pub(super) manner: Manner,
}

/// How a side is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    /// It judges a program.
    Judging,
    /// It stands for the program that is judged.
    Rehearsing,
    /// It stands for a program with a fault: it takes what comes, even when it
    /// is not quite what the script says, and goes on without what does not come.
    Forgiving,
}

/// A scenario cannot be played by a side.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
#[non_exhaustive]
pub struct Unplayable {
    /// The line of the step that is the reason.
    pub line: usize,
    pub(crate) reason: String,
}

/// Compiles a scenario for the side that is played.
pub(super) fn compile(
    scenario: &Scenario,
    us: PeerSide,
    manner: Manner,
) -> Result<Program, Unplayable> {
    if manner == Manner::Judging
        && let Some(tested) = scenario.header.side
        && tested == us
    {
        return Err(Unplayable {
            line: 1,
            reason: format!(
                "the header says that it tests the {tested}, so it plays the {}",
                us.other()
            ),
        });
    }
    let mut compiler = Compiler {
        us,
        ops: Vec::new(),
        counters: 0,
    };
    compiler.items(&scenario.items)?;
    compiler.ops.push(Op::End);
    Ok(Program {
        ops: compiler.ops.into(),
        counters: compiler.counters,
        manner,
    })
}

impl Program {
    /// A program that does nothing.
    pub(super) fn empty(manner: Manner) -> Self {
        Self {
            ops: [Op::End].into(),
            counters: 0,
            manner,
        }
    }

    pub(super) fn forgives(&self) -> bool {
        self.manner == Manner::Forgiving
    }
}

struct Compiler {
    us: PeerSide,
    ops: Vec<Op>,
    counters: usize,
}

impl Compiler {
    fn items(&mut self, items: &[Item]) -> Result<(), Unplayable> {
        items.iter().try_for_each(|item| self.item(item))
    }

    fn item(&mut self, item: &Item) -> Result<(), Unplayable> {
        match item {
            Item::Step(step) if step.from == self.us => self.own(step)?,
            Item::Step(step) => self.other(step)?,
            Item::Either(branches) => self.either(branches)?,
            Item::Repeat {
                times,
                counter: name,
                items,
            } => {
                let counter = self.counters;
                self.counters += 1;
                self.ops.push(Op::Repeat { counter });
                let round = self.ops.len();
                self.ops.push(Op::End);
                self.items(items)?;
                self.ops.push(Op::Jump(round));
                self.ops[round] = Op::Round {
                    counter,
                    times: *times,
                    name: name.clone(),
                    after: self.ops.len(),
                };
            }
            Item::AnyOrder(steps) if steps.iter().all(|step| step.from == self.us) => {
                steps.iter().try_for_each(|step| self.own(step))?;
            }
            Item::AnyOrder(steps) => self.ops.push(Op::AwaitAll(steps.as_slice().into())),
            Item::Whenever(rule) => {
                // A rule about what we send ourselves says nothing.
                if rule.trigger.from == self.us {
                    return Ok(());
                }
                let begin = self.ops.len();
                self.ops.push(Op::End);
                self.items(&rule.items)?;
                self.ops.push(Op::End);
                self.ops[begin] = Op::Whenever {
                    trigger: rule.trigger.clone(),
                    body: begin + 1,
                    next: self.ops.len(),
                };
            }
            Item::NotExercised { line, reason } => {
                self.ops.push(Op::NotExercised {
                    line: *line,
                    reason: reason.as_str().into(),
                });
            }
        }
        Ok(())
    }

    /// What we do.
    fn own(&mut self, step: &Arc<Step>) -> Result<(), Unplayable> {
        let step = with_demands(step);
        let refuse = |reason: String| {
            Err(Unplayable {
                line: step.line,
                reason,
            })
        };
        match &step.act {
            Act::Message(message) => {
                if matches!(message.count, Count::Any | Count::Optional) {
                    return Ok(());
                }
                if let Some(vague) = vague(message) {
                    return refuse(format!(
                        "`{vague}` cannot be sent; say what is sent and what may come instead: \
                         `\"hello\" | {vague}`"
                    ));
                }
            }
            // What we do not do, we need not check.
            Act::Never(_) | Act::Ignore(_) => return Ok(()),
            Act::Nothing(time) => {
                let step = Step {
                    act: Act::Wait(*time),
                    ..(*step).clone()
                };
                self.ops.push(Op::Do(Arc::new(step)));
                return Ok(());
            }
            _ => {}
        }
        self.ops.push(Op::Do(step));
        Ok(())
    }

    /// What the other side does: awaited, where it can be seen.
    fn other(&mut self, step: &Arc<Step>) -> Result<(), Unplayable> {
        let awaits = |again| Op::Await {
            step: step.clone(),
            again,
        };
        match &step.act {
            Act::Message(message) => {
                let at = self.ops.len();
                match message.count {
                    Count::One => self.ops.push(awaits(false)),
                    Count::Optional => self.ops.extend([Op::Split(at + 2, at + 1), awaits(false)]),
                    Count::Any => self.loops(awaits(true)),
                    Count::Some => {
                        self.ops.push(awaits(false));
                        self.loops(awaits(true));
                    }
                }
            }
            Act::Bytes(bytes) => {
                if bytes.iter().position(|byte| *byte == b'\n')
                    != Some(bytes.len().saturating_sub(1))
                {
                    return Err(Unplayable {
                        line: step.line,
                        reason: "bytes of the other side can be awaited as one whole line only, \
                                 with its line feed"
                            .to_owned(),
                    });
                }
                self.ops.push(awaits(false));
            }
            Act::Nothing(_) | Act::Close { .. } | Act::Exit { .. } => self.ops.push(awaits(false)),
            // The rules of the other side are ours to watch.
            Act::Never(_) | Act::Ignore(_) => self.ops.push(Op::Do(step.clone())),
            // These cannot be seen from here.
            Act::Wait(_)
            | Act::StopReading
            | Act::ReadOn
            | Act::ReadSlowly { .. }
            | Act::Signal(_)
            | Act::Stderr { .. }
            | Act::Grandchild(_) => {}
        }
        Ok(())
    }

    /// Any number of times, the way out first.
    fn loops(&mut self, op: Op) {
        let at = self.ops.len();
        self.ops
            .extend([Op::Split(at + 3, at + 1), op, Op::Jump(at)]);
    }

    fn either(&mut self, branches: &[Vec<Item>]) -> Result<(), Unplayable> {
        // Who begins, chooses; we choose the first.
        if first_side(&branches[0]) == Some(self.us) {
            return self.items(&branches[0]);
        }
        let mut jumps = Vec::new();
        for (index, branch) in branches.iter().enumerate() {
            let split = self.ops.len();
            let last = index + 1 == branches.len();
            if !last {
                self.ops.push(Op::End);
            }
            self.items(branch)?;
            jumps.push(self.ops.len());
            self.ops.push(Op::End);
            if !last {
                self.ops[split] = Op::Split(split + 1, self.ops.len());
            }
        }
        let after = self.ops.len();
        for jump in jumps {
            self.ops[jump] = Op::Jump(after);
        }
        Ok(())
    }
}

/// Returns the first thing in a message that says too little to be sent.
fn vague(message: &Message) -> Option<String> {
    let part = match &message.what {
        What::Any { kind, .. } => return Some(kind.words().to_owned()),
        What::Whole(pattern) => Some(pattern),
        _ => message.body(),
    };
    part.into_iter().chain(&message.id).find_map(Pattern::vague)
}

/// Returns how long a step waits for the other side at most, if it says so.
pub(super) fn within(step: &Step) -> Option<Duration> {
    match &step.act {
        Act::Message(message) => message.within,
        Act::Close { within } | Act::Exit { within, .. } => *within,
        _ => None,
    }
}
