//! Goes through the steps of a scenario, as they stand in the text.

use std::sync::Arc;

use super::step::{Item, Step};

/// Calls a function with every step, those in blocks too.
pub(crate) fn each_step(items: &[Item], each: &mut impl FnMut(&Arc<Step>)) {
    for item in items {
        match item {
            Item::Step(step) => each(step),
            Item::Either(branches) => branches.iter().for_each(|items| each_step(items, each)),
            Item::Repeat { items, .. } => each_step(items, each),
            Item::AnyOrder(steps) => steps.iter().for_each(&mut *each),
            Item::Whenever(rule) => {
                each(&rule.trigger);
                each_step(&rule.items, each);
            }
            Item::NotExercised { .. } => {}
        }
    }
}
