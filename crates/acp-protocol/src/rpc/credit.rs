//! Who may queue data, and who waits for room.
//!
//! Senders of one lane queue in order; lanes take turns, so that one session
//! with many senders never starves another with one.

use std::{collections::VecDeque, task::Waker};

use foldhash::{HashMap, HashSet};

use super::wake::{Wakes, register};

/// Senders that belong together, as those of one turn. Zero is for all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lane(u64);

/// A place in the queue for room.
#[derive(Debug)]
pub struct Ticket {
    lane: Lane,
    number: u64,
}

#[derive(Debug, Default)]
pub(super) struct Credit {
    next_ticket: u64,
    next_lane: u64,
    /// Lanes with waiting senders, in the order of their turn.
    order: VecDeque<Lane>,
    waiting: HashMap<Lane, VecDeque<(u64, Option<Waker>)>>,
    cancelled: HashSet<Lane>,
    /// A sender has made room for the driver since the last write.
    pub(super) yielded: bool,
}

impl Credit {
    pub(super) fn open_lane(&mut self) -> Lane {
        self.next_lane += 1;
        Lane(self.next_lane)
    }

    pub(super) fn close_lane(&mut self, lane: Lane) {
        self.cancelled.remove(&lane);
    }

    /// Cancels a lane: who waits in it is woken and gets an error.
    pub(super) fn cancel_lane(&mut self, lane: Lane, wakes: &mut Wakes) {
        self.cancelled.insert(lane);
        for (_, waker) in self.waiting.get_mut(&lane).into_iter().flatten() {
            wakes.take_from(waker);
        }
    }

    pub(super) fn is_cancelled(&self, lane: Lane) -> bool {
        self.cancelled.contains(&lane)
    }

    pub(super) fn anyone_waits(&self) -> bool {
        !self.order.is_empty()
    }

    /// Tells whether it is this sender's turn.
    pub(super) fn is_next(&self, ticket: Option<&Ticket>) -> bool {
        match (ticket, self.order.front()) {
            (None, front) => front.is_none(),
            (Some(ticket), Some(front)) => {
                *front == ticket.lane
                    && self
                        .waiting
                        .get(front)
                        .and_then(VecDeque::front)
                        .is_some_and(|(number, _)| *number == ticket.number)
            }
            (Some(_), None) => false,
        }
    }

    /// Waits in line.
    pub(super) fn wait(&mut self, lane: Lane, ticket: &mut Option<Ticket>, waker: &Waker) {
        if let Some(ticket) = ticket {
            if let Some(place) = self.place(ticket) {
                register(place, waker);
            }
            return;
        }
        self.next_ticket += 1;
        let queue = self.waiting.entry(lane).or_default();
        if queue.is_empty() {
            self.order.push_back(lane);
        }
        queue.push_back((self.next_ticket, Some(waker.clone())));
        *ticket = Some(Ticket {
            lane,
            number: self.next_ticket,
        });
    }

    /// Leaves the line; the lane goes to the end of it when `served`.
    pub(super) fn leave(&mut self, ticket: Ticket, served: bool) {
        let Some(queue) = self.waiting.get_mut(&ticket.lane) else {
            return;
        };
        queue.retain(|(number, _)| *number != ticket.number);
        if queue.is_empty() {
            self.waiting.remove(&ticket.lane);
            self.order.retain(|lane| *lane != ticket.lane);
        } else if served && self.order.front() == Some(&ticket.lane) {
            self.order.rotate_left(1);
        }
    }

    /// Wakes whoever is next.
    pub(super) fn wake_next(&mut self, wakes: &mut Wakes) {
        let next = self
            .order
            .front()
            .and_then(|lane| self.waiting.get_mut(lane))
            .and_then(VecDeque::front_mut);
        if let Some((_, waker)) = next {
            wakes.take_from(waker);
        }
    }

    pub(super) fn wake_all(&mut self, wakes: &mut Wakes) {
        for (_, waker) in self.waiting.values_mut().flatten() {
            wakes.take_from(waker);
        }
    }

    fn place(&mut self, ticket: &Ticket) -> Option<&mut Option<Waker>> {
        let queue = self.waiting.get_mut(&ticket.lane)?;
        queue
            .iter_mut()
            .find(|(number, _)| *number == ticket.number)
            .map(|(_, waker)| waker)
    }
}
