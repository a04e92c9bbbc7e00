//! Whether a line is the message that a step awaits.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::language::matching::{Bindings, Mismatch, matches};
use crate::language::step::{Act, AnswerBody, AnyKind, Message, Slot, Step, What};
use crate::ledger::{Observed, Shape};
use crate::rules::Rule;

/// What a thread of a play knows: what names stand for, and the ids of its requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Knowledge {
    pub(super) names: Bindings,
    pub(super) ids: BTreeMap<Slot, Value>,
}

impl Knowledge {
    /// Tells whether a message answers a request that never came.
    pub(super) fn answers_nothing(&self, message: &Message) -> bool {
        match &message.what {
            What::Answer { slot, .. } => {
                let unknown = slot.is_some_and(|slot| !self.ids.contains_key(&slot));
                unknown && message.id.is_none()
            }
            _ => false,
        }
    }
}

/// Why a line is not what a step awaits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Miss {
    /// It is something else altogether.
    Kind,
    /// It is such a message, but not with this in it.
    Content(Mismatch),
}

/// Compares a line with a step, and takes what it tells.
pub(super) fn meet(
    step: &Step,
    line: &[u8],
    observed: &Observed,
    knowledge: &mut Knowledge,
) -> Result<(), Miss> {
    match &step.act {
        Act::Message(message) => meet_message(message, observed, knowledge),
        Act::Bytes(bytes) => match bytes.strip_suffix(b"\n") == Some(line) {
            true => Ok(()),
            false => Err(Miss::Kind),
        },
        _ => Err(Miss::Kind),
    }
}

/// Tells whether a line is taken: it is what is awaited, or, when `nearly`
/// will do, a message of the same kind.
pub(super) fn takes(met: Result<(), Miss>, nearly: bool) -> bool {
    match met {
        Ok(()) => true,
        Err(Miss::Content(_)) => nearly,
        Err(Miss::Kind) => false,
    }
}

/// Compares a line with a message, and takes what it tells.
pub(super) fn meet_message(
    expected: &Message,
    observed: &Observed,
    knowledge: &mut Knowledge,
) -> Result<(), Miss> {
    let Some(message) = &observed.message else {
        return Err(Miss::Kind);
    };
    let names = &mut knowledge.names;
    match &expected.what {
        What::Request { method, params, .. } | What::Notification { method, params } => {
            let (Shape::Request { method: got } | Shape::Notification { method: got }) =
                &observed.shape
            else {
                return Err(Miss::Kind);
            };
            let asks = matches!(expected.what, What::Request { .. });
            let asked = matches!(observed.shape, Shape::Request { .. });
            if **got != **method || asks != asked {
                return Err(Miss::Kind);
            }
            if let Some(params) = params {
                content(params, message.get("params"), names, "params")?;
            }
        }
        What::Answer { slot, body, .. } => {
            let id = slot.and_then(|slot| knowledge.ids.get(&slot));
            let answers = matches!(observed.shape, Shape::Answer { .. });
            if !answers || (slot.is_some() && id != message.get("id")) {
                return Err(Miss::Kind);
            }
            let part = expected.part();
            let got = message.get(part);
            if got.is_none() && !matches!(body, AnswerBody::Either) {
                let (expected, got) = match part {
                    "error" => ("an error", "a result"),
                    _ => ("a result", "an error"),
                };
                return Err(Miss::Content(Mismatch {
                    path: "the answer".to_owned(),
                    expected: expected.to_owned(),
                    got: got.to_owned(),
                }));
            }
            if let Some(pattern) = expected.body() {
                content(pattern, got, names, part)?;
            }
        }
        What::Any { kind, .. } => {
            let fits = match kind {
                AnyKind::Message => true,
                AnyKind::Request => matches!(observed.shape, Shape::Request { .. }),
                AnyKind::Notification => matches!(observed.shape, Shape::Notification { .. }),
                AnyKind::Answer => matches!(observed.shape, Shape::Answer { .. }),
            };
            if !fits {
                return Err(Miss::Kind);
            }
        }
        What::Whole(pattern) => content(pattern, Some(message), names, "")?,
    }
    if let Some(pattern) = &expected.id {
        content(pattern, message.get("id"), names, "id")?;
    }
    if let What::Request { slot, .. } | What::Any { slot, .. } = &expected.what
        && let Some(slot) = slot
        && let Some(id) = message.get("id")
    {
        knowledge.ids.insert(*slot, id.clone());
    }
    Ok(())
}

/// What a rule demands of a message that it does not hold.
#[derive(Clone, Debug)]
pub(super) struct Unmet {
    pub(super) line: usize,
    pub(super) rules: Vec<&'static Rule>,
    pub(super) why: Mismatch,
}

/// Holds a message that a step took, or sends, against what is demanded of it.
pub(super) fn unmet(step: &Step, message: Option<&Value>, names: &mut Bindings) -> Vec<Unmet> {
    let (Act::Message(expected), Some(message)) = (&step.act, message) else {
        return Vec::new();
    };
    let path = expected.part();
    let body = match path {
        "" => Some(message),
        part => message.get(part),
    };
    let demands = step.demands.iter();
    demands
        .filter_map(|demand| {
            // What does not match binds nothing.
            let mut tried = names.clone();
            match matches(&demand.pattern, body, &mut tried, path) {
                Ok(()) => {
                    *names = tried;
                    None
                }
                Err(why) => Some(Unmet {
                    line: demand.line,
                    rules: demand.rules.clone(),
                    why,
                }),
            }
        })
        .collect()
}

fn content(
    pattern: &crate::language::pattern::Pattern,
    value: Option<&Value>,
    names: &mut Bindings,
    path: &str,
) -> Result<(), Miss> {
    matches(pattern, value, names, path).map_err(Miss::Content)
}
