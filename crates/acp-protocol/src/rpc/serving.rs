//! Requests of the peer: which are open, which wait for a slot, which were
//! cancelled.

use std::{
    collections::{HashMap, VecDeque},
    task::{Poll, Waker},
};

use super::{
    Limits, RequestId,
    inbound::Incoming,
    wake::{Wakes, register},
};

/// How a method takes part in the limit of handlers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// Takes one of the slots.
    Short,
    /// Waits for a person, a model or a program: takes no slot.
    Long,
    /// Ends other work: always runs.
    Urgent,
}

impl Class {
    fn of(method: &str) -> Self {
        match method {
            "session/prompt"
            | "session/request_permission"
            | "elicitation/create"
            | "terminal/wait_for_exit" => Self::Long,
            "session/close"
            | "terminal/kill"
            | "terminal/release"
            | "session/set_mode"
            | "session/set_config_option" => Self::Urgent,
            _ => Self::Short,
        }
    }
}

#[derive(Debug)]
struct Open {
    class: Class,
    cancelled: bool,
    waker: Option<Waker>,
}

/// The table of open requests.
#[derive(Debug, Default)]
pub(super) struct Serving {
    open: HashMap<RequestId, Open>,
    parked: VecDeque<Incoming>,
    busy_slots: usize,
}

/// What is to be done with a request.
#[derive(Debug)]
pub(super) enum Admitted {
    /// Start it.
    Start(Incoming),
    /// It waits for a slot.
    Parked,
    /// Its id is in use.
    Duplicate,
    /// Too many are open or parked.
    Overloaded,
}

/// What a cancel request met.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CancelHit {
    /// A running request; its token was tripped.
    Running,
    /// A parked request; it will never start.
    Parked,
    /// Nothing.
    Nothing,
}

impl Serving {
    pub(super) fn admit(&mut self, mut request: Incoming, limits: &Limits) -> Admitted {
        let Some(id) = request.id().cloned() else {
            return Admitted::Duplicate;
        };
        if self.open.contains_key(&id) || self.parked.iter().any(|parked| parked.id() == Some(&id))
        {
            return Admitted::Duplicate;
        }
        if self.open.len() + self.parked.len() >= limits.open_requests {
            return Admitted::Overloaded;
        }
        let class = Class::of(request.method());
        if class == Class::Short && self.busy_slots >= limits.handler_slots {
            if self.parked.len() >= limits.parked_requests {
                return Admitted::Overloaded;
            }
            request.detach();
            self.parked.push_back(request);
            return Admitted::Parked;
        }
        self.start(id, class);
        Admitted::Start(request)
    }

    fn start(&mut self, id: RequestId, class: Class) {
        self.busy_slots += usize::from(class == Class::Short);
        self.open.insert(
            id,
            Open {
                class,
                cancelled: false,
                waker: None,
            },
        );
    }

    /// Ends a request: it was answered. Gives the parked one that starts now.
    pub(super) fn finish(&mut self, id: &RequestId, limits: &Limits) -> Option<Incoming> {
        let open = self.open.remove(id)?;
        self.busy_slots -= usize::from(open.class == Class::Short);
        if self.busy_slots >= limits.handler_slots {
            return None;
        }
        let next = self.parked.pop_front()?;
        self.start(next.id()?.clone(), Class::Short);
        Some(next)
    }

    /// Tells whether `id` has not been answered.
    pub(super) fn is_open(&self, id: &RequestId) -> bool {
        self.open.contains_key(id)
    }

    pub(super) fn cancel(&mut self, id: &RequestId, wakes: &mut Wakes) -> CancelHit {
        if let Some(open) = self.open.get_mut(id) {
            open.cancelled = true;
            wakes.take_from(&mut open.waker);
            return CancelHit::Running;
        }
        match self
            .parked
            .iter()
            .position(|parked| parked.id() == Some(id))
        {
            Some(at) => {
                self.parked.remove(at);
                CancelHit::Parked
            }
            None => CancelHit::Nothing,
        }
    }

    /// Waits until the request was cancelled, or is no longer open.
    pub(super) fn poll_cancelled(&mut self, id: &RequestId, waker: &Waker) -> Poll<()> {
        match self.open.get_mut(id) {
            Some(open) if !open.cancelled => {
                register(&mut open.waker, waker);
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    pub(super) fn is_cancelled(&self, id: &RequestId) -> bool {
        self.open.get(id).is_none_or(|open| open.cancelled)
    }

    /// Cancels everything; parked requests are forgotten.
    pub(super) fn cancel_all(&mut self, wakes: &mut Wakes) {
        self.parked.clear();
        for open in self.open.values_mut() {
            open.cancelled = true;
            wakes.take_from(&mut open.waker);
        }
    }

    /// Requests that are open or parked.
    pub(super) fn len(&self) -> usize {
        self.open.len() + self.parked.len()
    }
}
