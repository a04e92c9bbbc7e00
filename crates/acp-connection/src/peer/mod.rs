//! The handle to the other side: calls, notifications, the end.
//!
//! * [`lane`] sends the updates of a turn, and waits for room;
//! * [`mailbox`] has the updates of a session, and the ends of its turns;
//! * [`shared`] is the connection behind its lock.

mod lane;
mod mailbox;
mod shared;

use std::{borrow::Cow, future::poll_fn, marker::PhantomData, sync::Arc};

use acp_protocol::{
    Notification, Request,
    rpc::{
        AnswerTo, CallError, CallFacts, CallId, CallWatch, CloseCause, Connection, IdSpace, Lane,
        Limits, MailboxId, OnDrop, RawResponse, ReceiveSeq, RequestId, ResponseError, SendError,
        Stats, frame,
    },
    v1::SessionId,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

pub use lane::{SendLane, Sending, Unsent};
pub use mailbox::{
    DuplicateSession, Item, Mailbox, MailboxControl, RawLine, StreamEnd, Update, UpdateHold,
};
pub(crate) use shared::{Scratch, Shared, now};

/// The other side of a connection.
///
/// Cheap to clone. The connection lives as long as its driver, whether or not
/// a `Peer` is left.
#[derive(Clone, Debug)]
pub struct Peer(Arc<Shared>);

impl Peer {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    /// Acts on the connection, as [`Shared::with`].
    #[inline]
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut Connection) -> T) -> T {
        self.0.with(act)
    }

    /// Calls a method and waits for its result.
    ///
    /// # Errors
    ///
    /// [`CallError`]; every call ends once, also when the connection does.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future tells the peer by `$/cancel_request`, unless the
    /// call is a prompt, which has `session/cancel`, or `initialize`.
    pub async fn call<R: Request>(&self, params: &R) -> Result<R::Response, CallError> {
        self.call_with_facts(params).await.1
    }

    /// Calls a method, and also tells what is known of the call.
    ///
    /// # Cancel safety
    ///
    /// As [`call`](Self::call).
    pub async fn call_with_facts<R: Request>(
        &self,
        params: &R,
    ) -> (CallFacts, Result<R::Response, CallError>) {
        match self.start_call(params) {
            Ok(call) => call.result().await,
            Err(error) => (CallFacts::default(), Err(error)),
        }
    }

    /// Queues a call, to be waited for later. From its return on the call is
    /// admitted: the peer may act on it.
    ///
    /// # Errors
    ///
    /// [`CallError`] when the call was not queued.
    pub fn start_call<R: Request>(&self, params: &R) -> Result<CallHandle<R::Response>, CallError> {
        let id = self.queue_call(R::METHOD, params, AnswerTo::Caller)?;
        Ok(CallHandle {
            peer: self.clone(),
            id: Some(id),
            method: Cow::Borrowed(R::METHOD),
            on_drop: on_drop(R::METHOD),
            result: PhantomData,
        })
    }

    /// Calls a method by its name. For extensions, whose names start with an
    /// underscore (R180).
    ///
    /// # Errors
    ///
    /// [`CallError`].
    ///
    /// # Cancel safety
    ///
    /// As [`call`](Self::call).
    pub async fn call_raw(
        &self,
        method: &str,
        params: &impl Serialize,
    ) -> Result<Box<RawValue>, CallError> {
        let id = self.queue_call(method, params, AnswerTo::Caller)?;
        let method = Cow::Owned(method.to_owned());
        let call = CallHandle {
            peer: self.clone(),
            id: Some(id),
            on_drop: on_drop(&method),
            method,
            result: PhantomData,
        };
        call.result().await.1
    }

    /// Sends a notification, once there is room for it.
    ///
    /// # Errors
    ///
    /// [`SendError`] when it was not sent.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: dropped before it is ready, nothing was sent.
    pub async fn notify<N: Notification>(&self, params: &N) -> Result<(), SendError> {
        self.notify_raw(N::METHOD, params).await
    }

    /// Sends a notification by its name. For extensions.
    ///
    /// # Errors
    ///
    /// [`SendError`] when it was not sent.
    ///
    /// # Cancel safety
    ///
    /// As [`notify`](Self::notify).
    pub async fn notify_raw(&self, method: &str, params: &impl Serialize) -> Result<(), SendError> {
        let unsent = Unsent::encode_as(method, params)?;
        unsent.send(&self.0, Lane::default()).await
    }

    /// Sends a notification at once, past those that wait for room. For what
    /// must not wait, as a cancel.
    ///
    /// # Errors
    ///
    /// [`SendError`] when it was not sent.
    pub fn notify_now<N: Notification>(&self, params: &N) -> Result<(), SendError> {
        Unsent::encode_as(N::METHOD, params)?.send_now(&self.0)
    }

    /// Opens a lane: the updates of one turn, which can be cut off together.
    #[must_use]
    pub fn open_lane(&self) -> SendLane {
        SendLane::open(self.clone())
    }

    /// Closes the connection. What is queued is still written, for at most
    /// [`Limits::close_grace`].
    pub fn close(&self) {
        self.with(|connection| connection.close(CloseCause::Local));
    }

    /// Reads what the peer has written to its end, and closes the connection there. For
    /// who knows that the peer is gone, as its process has ended.
    ///
    /// Nothing that was written is lost to a consumer that is slow: reading pauses no
    /// longer, and what a mailbox cannot hold leaves a gap. It takes at most
    /// [`Limits::last_words_limit`], and ends when nothing came for
    /// [`Limits::last_words_wait`]: somebody the process left behind may keep the pipe
    /// open for ever.
    pub fn hear_out(&self) {
        self.with(|connection| connection.hear_out(CloseCause::PeerEof));
    }

    /// Waits for the end of the connection.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn closed(&self) -> CloseCause {
        poll_fn(|cx| self.with(|connection| connection.poll_closed(cx.waker()))).await
    }

    /// Why the connection ended, if it has.
    #[must_use]
    pub fn close_cause(&self) -> Option<CloseCause> {
        self.with(|connection| connection.closed().cloned())
    }

    /// A snapshot of the counters.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.with(|connection| connection.stats())
    }

    /// How the newest line of the peer began that was no message at all; it may
    /// hold what was meant for nobody.
    #[must_use]
    pub fn noise(&self) -> Option<Arc<str>> {
        self.with(|connection| connection.noise())
    }

    /// The bounds of the connection.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.with(|connection| connection.limits().clone())
    }

    /// Newest place of the receive clock.
    #[must_use]
    pub fn received(&self) -> ReceiveSeq {
        self.with(|connection| connection.received())
    }

    /// Requests of the peer that were not answered yet.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        self.with(|connection| connection.open_requests())
    }

    /// Tells where the answer of one of our calls goes, as long as the call is open;
    /// for what the peer says to belong to it.
    #[must_use]
    pub fn open_call(&self, id: &RequestId) -> Option<AnswerTo> {
        self.with(|connection| connection.open_call(id))
    }

    /// Waits until one of our calls is not open any more: it was answered, given up,
    /// or the connection ended.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn call_ended(&self, id: &RequestId) {
        let mut watched = Watched {
            peer: self,
            watch: None,
        };
        poll_fn(|cx| {
            let watch = &mut watched.watch;
            self.with(|connection| connection.poll_call_ended(id, watch, cx.waker()))
        })
        .await;
    }

    /// Keeps updates of sessions that are not known yet, as long as the guard
    /// lives. Take one before a call that opens a session.
    #[must_use]
    pub fn hold_updates(&self) -> UpdateHold {
        UpdateHold::new(self.clone())
    }

    /// Opens the mailbox of a session, with the updates that came before.
    ///
    /// # Errors
    ///
    /// [`DuplicateSession`] when the session has one.
    pub fn open_mailbox(&self, session: &SessionId) -> Result<Mailbox, DuplicateSession> {
        Mailbox::open(self.clone(), session, ReceiveSeq::default())
    }

    /// Queues a call and gives its id.
    pub(crate) fn queue_call(
        &self,
        method: &str,
        params: &impl Serialize,
        to: AnswerTo,
    ) -> Result<CallId, CallError> {
        let mut tail = Scratch::take();
        frame::call_tail(&mut tail, method, params).map_err(|source| CallError::Encode {
            method: Cow::Owned(method.to_owned()),
            source: Arc::new(source),
        })?;
        let space = if method.starts_with('_') {
            IdSpace::Extension
        } else {
            IdSpace::Protocol
        };
        self.with(|connection| connection.call(space, to, &tail))
    }

    /// Queues a call whose answer goes into a mailbox.
    pub(crate) fn queue_streamed<R: Request>(
        &self,
        params: &R,
        mailbox: MailboxId,
    ) -> Result<CallId, CallError> {
        self.queue_call(R::METHOD, params, AnswerTo::Mailbox(mailbox))
    }
}

/// A wait for the end of a call, which ends with it.
struct Watched<'a> {
    peer: &'a Peer,
    watch: Option<CallWatch>,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        let watch = self.watch.take();
        self.peer.with(|connection| connection.stop_watching(watch));
    }
}

/// Whether a call of this method is cancelled by `$/cancel_request`.
fn is_cancellable(method: &str) -> bool {
    !matches!(method, "session/prompt" | "initialize")
}

/// What happens when nobody waits for a call any more.
fn on_drop(method: &str) -> OnDrop {
    match method {
        _ if !is_cancellable(method) => OnDrop::Forget,
        "session/new" | "session/load" | "session/resume" => OnDrop::Report,
        _ => OnDrop::Cancel,
    }
}

/// A call that was queued. Dropping it gives the call up.
#[derive(Debug)]
#[must_use = "dropping it cancels the call"]
pub struct CallHandle<T> {
    peer: Peer,
    id: Option<CallId>,
    method: Cow<'static, str>,
    on_drop: OnDrop,
    result: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> CallHandle<T> {
    /// Waits for the result.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future gives the call up.
    pub async fn result(mut self) -> (CallFacts, Result<T, CallError>) {
        let Some(id) = self.id else {
            return (CallFacts::default(), Err(CallError::Cancelled));
        };
        let outcome = poll_fn(|cx| {
            self.peer
                .with(|connection| connection.poll_outcome(id, cx.waker()))
        })
        .await;
        self.id = None;
        (
            outcome.facts,
            outcome
                .result
                .and_then(|answer| decode(&answer, &self.method)),
        )
    }

    /// Asks the peer to give the call up, by `$/cancel_request`, and keeps the call:
    /// [`result`](Self::result) then gives what the peer still answers, an error or after
    /// all the result, with what is known of the call.
    ///
    /// The peer need not answer soon, so bound the wait. Nothing is sent for a call that
    /// was answered, for `initialize`, which cannot be cancelled, and for a prompt, which is
    /// cancelled by `session/cancel`.
    pub fn cancel(&self) {
        if let (Some(id), true) = (self.id, is_cancellable(&self.method)) {
            self.peer.with(|connection| connection.cancel_call(id));
        }
    }

    /// Returns the call's name.
    #[must_use]
    pub fn id(&self) -> Option<CallId> {
        self.id
    }

    /// Lets the call run, and ignores its answer.
    pub fn detach(mut self) {
        self.on_drop = OnDrop::Forget;
    }

    /// Chooses what happens when the handle is dropped.
    pub fn with_on_drop(mut self, on_drop: OnDrop) -> Self {
        self.on_drop = on_drop;
        self
    }
}

impl<T> Drop for CallHandle<T> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            self.peer
                .with(|connection| connection.abandon(id, self.on_drop, now()));
        }
    }
}

/// Decodes the answer of a call.
fn decode<T: DeserializeOwned>(answer: &RawResponse, method: &str) -> Result<T, CallError> {
    answer.decode().map_err(|error| match error {
        ResponseError::Malformed(issues) => CallError::MalformedAnswer(issues),
        // Its text would quote the peer.
        ResponseError::Decode(_) => CallError::Decode {
            method: Cow::Owned(method.to_owned()),
            source: answer.mismatch(method),
        },
    })
}
