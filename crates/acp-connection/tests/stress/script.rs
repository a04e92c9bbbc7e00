//! What an agent does in one turn.

use crate::draw::Draw;

/// One thing an agent does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// It sends an update, padded to this length.
    Update { padding: usize },
    /// It asks for permission, and waits for the answer.
    Ask,
    /// It asks for permission, and goes on meanwhile.
    AskAside,
}

/// What an agent does, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    acts: Vec<Act>,
    endless: bool,
    done: usize,
}

impl Script {
    pub(crate) fn new(draw: &mut Draw, endless: bool, asks: bool) -> Self {
        let count = 20 + draw.below(250);
        let mut acts: Vec<Act> = (0..count)
            .map(|_| match draw.below(1000) {
                0..15 => Act::Ask,
                15..30 => Act::AskAside,
                30..60 => Act::Update { padding: 3000 },
                _ => Act::Update {
                    padding: draw.length(120),
                },
            })
            .collect();
        if asks {
            acts.insert(acts.len() / 2, Act::AskAside);
            acts.push(Act::Ask);
        }
        Self {
            acts,
            endless,
            done: 0,
        }
    }

    /// The next thing to do. An endless script repeats its updates for ever,
    /// and what it asks for once.
    pub(crate) fn next(&mut self) -> Option<Act> {
        loop {
            let first_time = self.done < self.acts.len();
            if !first_time && !self.endless {
                return None;
            }
            let act = self.acts[self.done % self.acts.len()];
            self.done += 1;
            if first_time || matches!(act, Act::Update { .. }) {
                return Some(act);
            }
        }
    }
}
