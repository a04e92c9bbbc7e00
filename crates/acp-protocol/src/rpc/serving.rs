//! Requests of the peer: which are open, which wait for a slot, which were
//! cancelled.

use std::{
    collections::{VecDeque, hash_map::Entry},
    task::{Poll, Waker},
};

use foldhash::HashMap;

use super::{Limits, RequestId, message::Incoming, wake::Wakes};

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

/// A request that was not answered yet.
#[derive(Debug)]
pub(super) struct Open {
    class: Class,
    /// Bytes it counts for.
    bytes: usize,
    cancelled: bool,
    /// Those who wait for its cancellation, each under its own key.
    waiting: Vec<(u64, Waker)>,
}

/// A place among those who wait for the cancellation of a request; see
/// [`Connection::poll_cancelled`](super::Connection::poll_cancelled).
#[derive(Debug)]
pub struct CancelWatch {
    key: u64,
}

impl Open {
    fn new(class: Class, bytes: usize) -> Self {
        Self {
            class,
            bytes,
            cancelled: false,
            waiting: Vec::new(),
        }
    }

    fn wake(&mut self, wakes: &mut Wakes) {
        for (_, waker) in self.waiting.drain(..) {
            wakes.push(waker);
        }
    }
}

/// The table of open requests. The peer chooses the ids, and their number is
/// bounded by [`Limits::open_requests`].
#[derive(Debug, Default)]
pub(super) struct Serving {
    open: HashMap<RequestId, Open>,
    parked: VecDeque<Incoming>,
    busy_slots: usize,
    /// Bytes that all of them count for.
    bytes: usize,
    /// The key of the newest watch.
    last_watch: u64,
}

/// Bytes of a request that costs no more than its place in the table, which
/// [`Limits::open_requests`] bounds.
const SMALL: usize = 4 << 10;

/// The bytes a request counts for, as long as it is open or parked. What is made of
/// them is kept until it is answered.
fn charge(request: &Incoming) -> usize {
    let length = request.line().len();
    if length > SMALL { length } else { 0 }
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
    /// Those that are open or parked leave no room for its bytes.
    TooLarge,
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
        let is_full = self.len() >= limits.open_requests;
        let Entry::Vacant(place) = self.open.entry(id) else {
            return Admitted::Duplicate;
        };
        if self
            .parked
            .iter()
            .any(|parked| parked.id() == Some(place.key()))
        {
            return Admitted::Duplicate;
        }
        if is_full {
            return Admitted::Overloaded;
        }
        let bytes = charge(&request);
        if bytes > 0 && self.bytes > 0 && self.bytes + bytes > limits.open_request_bytes {
            return Admitted::TooLarge;
        }
        let class = Class::of(request.method());
        if class == Class::Short && self.busy_slots >= limits.handler_slots {
            if self.parked.len() >= limits.parked_requests {
                return Admitted::Overloaded;
            }
            request.detach();
            self.bytes += bytes;
            self.parked.push_back(request);
            return Admitted::Parked;
        }
        self.bytes += bytes;
        self.busy_slots += usize::from(class == Class::Short);
        place.insert(Open::new(class, bytes));
        Admitted::Start(request)
    }

    /// Takes a request off the table: it is being answered. `None` when it was
    /// before.
    pub(super) fn take(&mut self, id: &RequestId, wakes: &mut Wakes) -> Option<Open> {
        let mut open = self.open.remove(id)?;
        self.bytes -= open.bytes;
        open.wake(wakes);
        Some(open)
    }

    /// Ends a request that was [taken](Self::take). Gives the parked one that
    /// starts now.
    pub(super) fn finish(&mut self, open: Open, limits: &Limits) -> Option<Incoming> {
        self.busy_slots -= usize::from(open.class == Class::Short);
        if self.busy_slots >= limits.handler_slots {
            return None;
        }
        let next = self.parked.pop_front()?;
        self.busy_slots += 1;
        let open = Open::new(Class::Short, charge(&next));
        self.open.insert(next.id()?.clone(), open);
        Some(next)
    }

    pub(super) fn cancel(&mut self, id: &RequestId, wakes: &mut Wakes) -> CancelHit {
        if let Some(open) = self.open.get_mut(id) {
            open.cancelled = true;
            open.wake(wakes);
            return CancelHit::Running;
        }
        match self
            .parked
            .iter()
            .position(|parked| parked.id() == Some(id))
        {
            Some(at) => {
                let gone = self.parked.remove(at);
                self.bytes -= gone.as_ref().map_or(0, charge);
                CancelHit::Parked
            }
            None => CancelHit::Nothing,
        }
    }

    /// Waits until the request was cancelled, or is no longer open.
    pub(super) fn poll_cancelled(
        &mut self,
        id: &RequestId,
        watch: &mut Option<CancelWatch>,
        waker: &Waker,
    ) -> Poll<()> {
        let Some(open) = self.open.get_mut(id).filter(|open| !open.cancelled) else {
            *watch = None;
            return Poll::Ready(());
        };
        let key = watch.get_or_insert_with(|| {
            self.last_watch += 1;
            CancelWatch {
                key: self.last_watch,
            }
        });
        match open.waiting.iter_mut().find(|(known, _)| *known == key.key) {
            Some((_, known)) => known.clone_from(waker),
            None => open.waiting.push((key.key, waker.clone())),
        }
        Poll::Pending
    }

    /// Forgets who waited for the cancellation of a request.
    pub(super) fn stop_watching(&mut self, id: &RequestId, watch: &CancelWatch) {
        if let Some(open) = self.open.get_mut(id) {
            open.waiting.retain(|(known, _)| *known != watch.key);
        }
    }

    pub(super) fn is_cancelled(&self, id: &RequestId) -> bool {
        self.open.get(id).is_none_or(|open| open.cancelled)
    }

    /// Cancels everything; parked requests are forgotten.
    pub(super) fn cancel_all(&mut self, wakes: &mut Wakes) {
        self.bytes -= self
            .parked
            .drain(..)
            .map(|gone| charge(&gone))
            .sum::<usize>();
        for open in self.open.values_mut() {
            open.cancelled = true;
            open.wake(wakes);
        }
    }

    /// Requests that are open or parked.
    pub(super) fn len(&self) -> usize {
        self.open.len() + self.parked.len()
    }
}
