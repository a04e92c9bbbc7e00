//! A turn as a client has it: a stream of updates with an end, that can be
//! cancelled and left.

use std::sync::Arc;

use acp_connection::{Item, Mailbox, MailboxControl, Peer};
use acp_protocol::rpc::{CallError, Flow, Reading};

use crate::clause::Clause;
use crate::wire::{Cancel, Chunk, Prompt, Stopped};

pub(crate) struct Turn {
    peer: Peer,
    session: Arc<str>,
    mailbox: Mailbox,
    /// Updates given or known to be dropped: the number of the next one.
    next: u64,
    dropped: u64,
    left: bool,
    without: Option<Clause>,
}

/// What a turn gives.
pub(crate) enum Step {
    /// An update, or word of some that were dropped.
    Update,
    /// The end.
    End(Result<Stopped, CallError>),
}

impl Turn {
    pub(crate) fn start(peer: &Peer, prompt: &Prompt, flow: Flow, without: Option<Clause>) -> Self {
        let mut mailbox = peer
            .open_mailbox(&Arc::clone(&prompt.session_id).into())
            .expect("each session has one turn");
        mailbox.set_reading(Reading::Live);
        mailbox.control().set_flow(flow);
        mailbox.start_streamed(prompt).expect("the prompt is sent");
        Self {
            peer: peer.clone(),
            session: Arc::clone(&prompt.session_id),
            mailbox,
            next: 0,
            dropped: 0,
            left: false,
            without,
        }
    }

    /// Waits for the next step, and checks that it is the next.
    pub(crate) async fn next(&mut self) -> Step {
        match self.mailbox.next().await {
            None => panic!("{}: the connection ended", self.session),
            Some(Item::Update(update)) => {
                let number = Chunk::number_in(update.line.as_str());
                if !self.left {
                    assert_eq!(number, self.next, "{}: lost or out of order", self.session);
                }
                self.next += 1;
                Step::Update
            }
            Some(Item::Gap { dropped, .. }) => {
                self.next += dropped;
                self.dropped += dropped;
                Step::Update
            }
            Some(Item::End(end)) => {
                self.mailbox.set_reading(Reading::Idle);
                Step::End(end.result::<Prompt>())
            }
            Some(other) => panic!("{}: {other:?}", self.session),
        }
    }

    /// The number of the next update.
    pub(crate) fn position(&self) -> u64 {
        self.next
    }

    /// How many updates were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn control(&self) -> MailboxControl {
        self.mailbox.control()
    }

    pub(crate) fn cancel(&self) {
        let session_id = Arc::clone(&self.session);
        self.peer
            .notify_now(&Cancel { session_id })
            .expect("the connection is open");
        if self.without != Some(Clause::WhenCancelled) {
            self.mailbox.control().set_cancelled();
        }
    }

    /// Takes nothing more of it but its end.
    pub(crate) fn leave(&mut self) {
        self.left = true;
        if self.without != Some(Clause::WhenLeft) {
            self.mailbox.set_reading(Reading::Discard);
        }
    }

    /// Waits for the end of a turn that was left.
    pub(crate) async fn drain(mut self) {
        loop {
            if let Step::End(result) = self.next().await {
                result.expect("the turn ends well");
                return;
            }
        }
    }
}
