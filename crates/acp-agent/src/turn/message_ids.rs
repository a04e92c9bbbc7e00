//! Which chunks make up one message.

use std::sync::Arc;

use acp_host::TurnId;

/// Gives the chunks of a turn their message ids.
///
/// An id is `msg:{turn}:{n}`. The number starts at 0 and moves on whenever
/// something else came in between: a change from text to thought or back, a
/// tool call, the end of a step. The same turn told again, live or from a
/// journal, gets the same ids.
#[derive(Debug)]
pub(crate) struct MessageIds {
    turn: TurnId,
    number: u64,
    current: Option<(ChunkKind, Arc<str>)>,
}

/// What a chunk is a piece of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkKind {
    /// Something the agent says.
    Message,
    /// Something the agent thinks.
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

    /// The id of what the user asked in the turn.
    pub(crate) fn user_id(&self) -> Arc<str> {
        format!("msg:{}:user", self.turn).into()
    }

    /// The id of the message to which a chunk told now belongs.
    pub(crate) fn id_for(&mut self, kind: ChunkKind) -> Arc<str> {
        match &self.current {
            Some((current, id)) if *current == kind => Arc::clone(id),
            _ => {
                let mut digits = itoa::Buffer::new();
                let id = ["msg:", self.turn.as_str(), ":", digits.format(self.number)];
                let id: Arc<str> = id.concat().into();
                self.number += 1;
                self.current = Some((kind, Arc::clone(&id)));
                id
            }
        }
    }

    /// The message to which a chunk told now belongs, if it is not a new one: its
    /// place among those of the turn.
    pub(crate) fn current(&self, kind: ChunkKind) -> Option<u64> {
        let (current, _) = self.current.as_ref()?;
        (*current == kind).then_some(self.number)
    }

    /// Something other than a chunk came: the next chunk begins a new message.
    pub(crate) fn interrupt(&mut self) {
        self.current = None;
    }
}

#[cfg(test)]
mod tests {
    use super::{ChunkKind::*, *};

    #[test]
    fn numbers_move_on_when_something_comes_in_between() {
        let mut numbers = MessageIds::new(TurnId::from("t"));
        numbers.interrupt();
        let ids = [
            numbers.id_for(Thought),
            numbers.id_for(Thought),
            numbers.id_for(Message),
            numbers.id_for(Message),
            {
                numbers.interrupt();
                numbers.interrupt();
                numbers.id_for(Message)
            },
            numbers.id_for(Thought),
        ];
        let want = [
            "msg:t:0", "msg:t:0", "msg:t:1", "msg:t:1", "msg:t:2", "msg:t:3",
        ]
        .map(Arc::from);
        assert_eq!(ids, want);
    }
}
