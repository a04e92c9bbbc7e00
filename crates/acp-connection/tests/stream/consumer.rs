//! Consumers with habits, and what each of them got.

use std::{sync::Arc, time::Duration};

use acp_connection::{Item, Mailbox};
use acp_protocol::{
    rpc::{CallError, Flow, Reading, ReceiveSeq},
    v1::{ContentBlock, PromptRequest, SessionUpdate},
};
use parking_lot::Mutex;
use tokio::time::sleep;

/// How a consumer goes about it.
#[derive(Clone, Debug)]
pub(crate) struct Habits {
    /// Milliseconds it takes for an item, over and over again.
    pub(crate) delays: Vec<u64>,
    /// Items it takes besides the one in hand, where they are there.
    pub(crate) look_ahead: usize,
    /// It puts the last of these back.
    pub(crate) puts_back: bool,
    /// The flow of updates that come too fast.
    pub(crate) flow: Flow,
    /// It cancels the turn after so many items.
    pub(crate) cancels_at: Option<usize>,
    /// It wants no more updates of the turn after so many items.
    pub(crate) leaves_at: Option<usize>,
}

/// All that a consumer got.
#[derive(Debug, Default)]
pub(crate) struct Got {
    /// Places of all items, and how many updates each stands for.
    pub(crate) items: Vec<(ReceiveSeq, u64)>,
    /// Of them, those that are done with.
    pub(crate) handled: usize,
    /// Updates and gaps before the end of the turn, and whether that came as an answer.
    pub(crate) ends: Vec<(u64, bool)>,
    /// It left before the end.
    pub(crate) left: bool,
    /// It came to the end of everything.
    pub(crate) closed: bool,
    /// Updates that were given, not in gaps.
    pub(crate) delivered: u64,
    pub(crate) unreadable: u64,
}

impl Got {
    /// Updates and gaps so far.
    pub(crate) fn received(&self) -> u64 {
        self.items.iter().map(|(_, updates)| updates).sum()
    }
}

/// Takes everything, to the end.
pub(crate) async fn consume(mut mailbox: Mailbox, habits: Habits, got: Arc<Mutex<Got>>) {
    let mut delays = habits.delays.iter().cycle();
    loop {
        // It comes back: what it had in hand is done with.
        let done = got.lock().items.len();
        got.lock().handled = done;
        let Some(item) = mailbox.next().await else {
            break;
        };
        got.lock().take(item);
        for _ in 0..habits.look_ahead {
            let Some(item) = mailbox.next_ahead() else {
                break;
            };
            if habits.puts_back && !matches!(item, Item::End(_)) {
                mailbox.put_back(item);
                break;
            }
            got.lock().take(item);
        }
        let millis = *delays.next().expect("it goes round");
        if millis > 0 {
            sleep(Duration::from_millis(millis)).await;
        }
        let items = got.lock().items.len();
        if habits.cancels_at.is_some_and(|at| items > at) {
            mailbox.control().set_cancelled();
        }
        let ended = !got.lock().ends.is_empty();
        if habits.leaves_at.is_some_and(|at| items > at) && !ended {
            got.lock().left = true;
            mailbox.set_reading(Reading::Discard);
        }
    }
    got.lock().closed = true;
}

impl Got {
    fn take(&mut self, item: Item) {
        assert!(!self.closed);
        let seq = item.receive_seq();
        let before = self.items.last();
        assert!(before.is_none_or(|(last, _)| *last <= seq), "out of order");
        let updates = match item {
            Item::Update(update) => {
                self.delivered += 1;
                if !self.left {
                    self.check_number(&update.update);
                }
                1
            }
            Item::Unreadable { .. } => {
                self.delivered += 1;
                self.unreadable += 1;
                1
            }
            Item::Gap { dropped, .. } => dropped,
            Item::End(end) => {
                let received = self.received();
                let answered_at = end.facts.response_seq.get();
                let result = end.result::<PromptRequest>();
                match &result {
                    Ok(_) => assert!(answered_at > 0),
                    Err(CallError::Closed(_)) => assert_eq!(answered_at, 0),
                    Err(error) => panic!("{error:?}"),
                }
                self.ends.push((received, result.is_ok()));
                0
            }
            _ => panic!("another kind"),
        };
        self.items.push((seq, updates));
    }

    /// The updates of a session are numbered; gaps of other sessions only push the
    /// numbers back.
    fn check_number(&self, update: &SessionUpdate) {
        let SessionUpdate::AgentMessageChunk(chunk) = update else {
            panic!("{update:?}")
        };
        let ContentBlock::Text(text) = &chunk.content else {
            panic!("{chunk:?}")
        };
        let (number, _) = text.text.split_once(' ').expect("a number first");
        let number: u64 = number.parse().expect("a number first");
        assert!(number <= self.received(), "{number} came too early");
        assert!(number >= self.delivered - 1, "{number} came again");
    }
}
