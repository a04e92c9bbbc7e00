//! The ids of the messages of a turn.

use std::sync::Arc;

use acp_host::TurnId;

/// Gives the chunks of a turn their message ids.
///
/// An id is `msg:{turn}:{n}`. The number starts at 0 and moves on with each change
/// from text to thought or back, each tool call and each end of a step. The same
/// turn, live or from a journal, gets the same ids.
#[derive(Debug)]
pub(crate) struct MessageIds {
    turn: TurnId,
    number: u64,
    /// The message that goes on: whether it is a thought, and its id.
    current: Option<(bool, Arc<str>)>,
}

/// The kind of a chunk of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkKind {
    Message,
    /// A message in which the model declines.
    Refusal,
    Thought,
}

impl MessageIds {
    pub(crate) fn new(turn: TurnId) -> Self {
        Self {
            turn,
            number: 0,
            current: None,
        }
    }

    /// The id of the prompt of the turn.
    pub(crate) fn prompt(&self) -> Arc<str> {
        format!("msg:{}:user", self.turn).into()
    }

    /// The id of the message to which the next chunk belongs.
    pub(crate) fn next(&self, kind: ChunkKind) -> Arc<str> {
        let is_thought = kind == ChunkKind::Thought;
        match &self.current {
            Some((current, id)) if *current == is_thought => Arc::clone(id),
            _ => self.fresh(),
        }
    }

    /// The id of a message that begins with the next chunk, whatever came before.
    pub(crate) fn fresh(&self) -> Arc<str> {
        let mut digits = itoa::Buffer::new();
        let id = ["msg:", self.turn.as_str(), ":", digits.format(self.number)];
        id.concat().into()
    }

    /// Takes note that a chunk of a message was sent.
    pub(crate) fn note_sent(&mut self, kind: ChunkKind, id: &Arc<str>) {
        let goes_on = matches!(&self.current, Some((_, current)) if current == id);
        if !goes_on {
            self.number += 1;
            self.current = Some((kind == ChunkKind::Thought, Arc::clone(id)));
        }
    }

    /// The number of the message that the next chunk continues; `None` if it
    /// begins a new one.
    pub(crate) fn continued(&self, kind: ChunkKind) -> Option<u64> {
        let (is_thought, _) = self.current.as_ref()?;
        (*is_thought == (kind == ChunkKind::Thought)).then_some(self.number)
    }

    /// Makes the next chunk begin a new message.
    pub(crate) fn interrupt(&mut self) {
        self.current = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{ChunkKind::*, *};

    #[test]
    fn numbers_move_on_when_something_comes_in_between() {
        let mut ids = MessageIds::new(TurnId::from("t"));
        ids.interrupt();
        let send = |ids: &mut MessageIds, kind| {
            let id = ids.next(kind);
            ids.note_sent(kind, &id);
            id
        };
        let ids = [
            send(&mut ids, Thought),
            send(&mut ids, Thought),
            send(&mut ids, Message),
            send(&mut ids, Refusal),
            {
                ids.interrupt();
                ids.interrupt();
                // It was not sent.
                ids.next(Thought);
                send(&mut ids, Message)
            },
            send(&mut ids, Thought),
        ];
        let want = [
            "msg:t:0", "msg:t:0", "msg:t:1", "msg:t:1", "msg:t:2", "msg:t:3",
        ]
        .map(Arc::from);
        assert_eq!(ids, want);
    }
}
