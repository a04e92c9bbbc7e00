//! Notifications on their way out: serialised once, sent when there is room.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll},
};

use acp_protocol::{
    Notification,
    rpc::{
        Connection, Lane, SendError, Ticket,
        frame::{self, TextHead, UpdateHead},
    },
    v1::SessionUpdate,
};
use serde::Serialize;

use super::{Peer, Scratch, Shared};

/// Texts up to this length are written where they are queued, the connection held
/// meanwhile: a microsecond. Longer ones are written before it is taken.
const IN_PLACE: usize = 4 << 10;

/// Sends the updates of one turn.
///
/// Lanes take turns when there is no room. Dropping it closes the lane.
#[derive(Debug)]
pub struct SendLane {
    peer: Peer,
    lane: Lane,
}

/// A notification that was serialised and not sent.
#[derive(Debug)]
pub struct Unsent(Scratch);

impl Unsent {
    /// Serialises an update of a session; `meta` is what stands in its `_meta`, as
    /// JSON.
    ///
    /// # Errors
    ///
    /// [`SendError::Encode`].
    pub fn encode_update(
        head: &UpdateHead,
        update: &SessionUpdate,
        meta: Option<&str>,
    ) -> Result<Self, SendError> {
        let mut line = Scratch::take();
        frame::update(&mut line, head, update, meta)
            .map_err(|source| SendError::Encode(Arc::new(source)))?;
        Ok(Self(line))
    }

    pub(crate) fn encode_as(method: &str, params: &impl Serialize) -> Result<Self, SendError> {
        let mut line = Scratch::take();
        frame::notification(&mut line, method, params)
            .map_err(|source| SendError::Encode(Arc::new(source)))?;
        Ok(Self(line))
    }

    /// Sends it at once, past those that wait for room.
    pub(crate) fn send_now(mut self, shared: &Shared) -> Result<(), SendError> {
        shared.with(|connection| connection.notify_now(&mut self.0))
    }

    /// Sends it once there is room.
    pub(crate) async fn send(mut self, shared: &Shared, lane: Lane) -> Result<(), SendError> {
        let place = Place {
            shared,
            ticket: None,
        };
        let mut sending = Sending { place, lane };
        poll_fn(|cx| sending.poll_send(&mut self, cx)).await
    }
}

impl SendLane {
    pub(crate) fn open(peer: Peer) -> Self {
        let lane = peer.with(Connection::open_lane);
        Self { peer, lane }
    }

    /// Sends a notification, once there is room for it.
    ///
    /// # Errors
    ///
    /// [`SendError::Cancelled`] when there is no room and the lane was
    /// cancelled; otherwise as [`Peer::notify`].
    ///
    /// # Cancel safety
    ///
    /// As [`Peer::notify`].
    pub async fn notify<N: Notification>(&self, params: &N) -> Result<(), SendError> {
        self.send(Unsent::encode_as(N::METHOD, params)?).await
    }

    /// Sends what was serialised if there is room now; `None` if it has to wait
    /// its turn, for which there is [`send`](Self::send).
    pub fn try_send(&self, unsent: &mut Unsent) -> Option<Result<(), SendError>> {
        self.peer
            .with(|connection| connection.try_notify(&mut unsent.0))
    }

    /// Sends a piece of a text if there is room now; `None` if it has to wait its
    /// turn, for which there is [`sending`](Self::sending).
    pub fn try_text(
        &self,
        head: &TextHead,
        text: &str,
        number: u64,
    ) -> Option<Result<(), SendError>> {
        let shared = self.peer.shared();
        if text.len() <= IN_PLACE {
            return shared.with(|connection| {
                connection.try_write(|out| frame::text(out, head, text, number))
            });
        }
        let mut line = shared.with(Connection::lend_buffer)?;
        frame::text(&mut line, head, text, number);
        shared.with(|connection| connection.try_notify(&mut line))
    }

    /// Whether something would be sent now. Ask before a long message is serialised:
    /// as long as there is no room, it is in memory once.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.peer.with(Connection::has_room)
    }

    /// Begins to wait for room.
    #[must_use]
    pub fn sending(&self) -> Sending<'_> {
        Sending {
            place: Place {
                shared: self.peer.shared(),
                ticket: None,
            },
            lane: self.lane,
        }
    }

    /// Sends what was serialised, once there is room for it.
    ///
    /// # Errors
    ///
    /// As [`notify`](Self::notify).
    ///
    /// # Cancel safety
    ///
    /// As [`Peer::notify`].
    pub async fn send(&self, unsent: Unsent) -> Result<(), SendError> {
        unsent.send(self.peer.shared(), self.lane).await
    }

    /// Sends what was serialised at once, past those that wait for room.
    ///
    /// # Errors
    ///
    /// As [`Peer::notify_now`].
    pub fn send_now(&self, unsent: Unsent) -> Result<(), SendError> {
        unsent.send_now(self.peer.shared())
    }

    /// Cuts the lane off: who waits in it, or would have to, gets
    /// [`SendError::Cancelled`]. What finds room is still sent (R119).
    pub fn cancel(&self) {
        self.peer
            .with(|connection| connection.cancel_lane(self.lane));
    }

    /// The peer it sends to.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }
}

impl Drop for SendLane {
    fn drop(&mut self) {
        self.peer
            .with(|connection| connection.close_lane(self.lane));
    }
}

/// A notification that waits for room, and is serialised when there is some.
///
/// Dropping it gives up the wait.
#[derive(Debug)]
pub struct Sending<'a> {
    place: Place<'a>,
    lane: Lane,
}

impl Sending<'_> {
    /// Waits until there is room, and it is the turn of this one.
    ///
    /// # Errors
    ///
    /// As [`SendLane::notify`].
    pub fn poll_room(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        let Place { shared, ticket } = &mut self.place;
        shared.with(|connection| connection.poll_room(self.lane, ticket, cx.waker()))
    }

    /// Sends what was serialised, once there is room.
    ///
    /// # Errors
    ///
    /// As [`SendLane::notify`].
    pub fn poll_send(
        &mut self,
        unsent: &mut Unsent,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), SendError>> {
        let Place { shared, ticket } = &mut self.place;
        shared
            .with(|connection| connection.poll_notify(self.lane, ticket, &mut unsent.0, cx.waker()))
    }
}

/// A place in the line for room, given back on drop.
#[derive(Debug)]
struct Place<'a> {
    shared: &'a Shared,
    ticket: Option<Ticket>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.shared
                .with(|connection| connection.stop_waiting(Some(ticket)));
        }
    }
}
