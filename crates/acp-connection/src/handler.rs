//! What a side does with what its peer asks.

use std::{
    future::{Future, poll_fn},
    hash::{BuildHasher as _, Hasher as _, RandomState},
    pin::Pin,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    task::{self, Poll},
};

use acp_protocol::{
    Request,
    rpc::{
        CallId, CancelWatch, ErrorCode, Fault, Incoming, RawResponse, ReceiveSeq, RequestId,
        WireError, frame,
    },
};
use pin_project_lite::pin_project;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, value::RawValue};
use tracing::Instrument as _;

use crate::peer::{Peer, Scratch};

/// The work of a request.
pub type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Serves the requests and notifications of the peer.
///
/// The methods run on the task of the driver, in wire order: decode, note what
/// has to be known before the next message, and return the work as a future.
/// That future is polled once where it stands and moves to its own task if it
/// is not ready, so an instant answer costs no task, and work may call the peer
/// and wait for it. Work that blocks a thread belongs into
/// [`tokio::task::spawn_blocking`].
pub trait Handler: Send + Sync + 'static {
    /// Starts to serve a request. `None` when it was answered already.
    ///
    /// A panic answers -32603, here and in the work.
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture>;

    /// Takes note of a notification. Never answered (R014).
    fn notification(&self, notification: IncomingNotification<'_>) {
        let _ = notification;
    }

    /// Ends the work on the requests that are still open: the peer's stream ended
    /// [a while ago](acp_protocol::rpc::Limits::finish_grace). Afterwards each of them
    /// is cancelled, as by `$/cancel_request`, and those that are not answered within
    /// [another while](acp_protocol::rpc::Limits::cancel_grace) never are.
    fn end_requests(&self) {}

    /// Takes the answer to a call that was given up before it came, where
    /// something has to be undone.
    fn late_answer(&self, peer: &Peer, call: CallId, answer: &RawResponse) {
        let _ = (peer, call, answer);
    }
}

/// Serves nothing: every request gets -32601.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHandler;

impl Handler for NoHandler {
    fn request(&self, request: IncomingRequest) -> Option<BoxFuture> {
        request.unknown_method();
        None
    }
}

/// A request of the peer. Dropped unanswered, it answers -32603.
#[derive(Debug)]
pub struct IncomingRequest {
    message: Incoming,
    seq: ReceiveSeq,
    responder: Responder,
}

impl IncomingRequest {
    pub(crate) fn new(peer: Peer, message: Incoming, seq: ReceiveSeq) -> Self {
        let id = message.id().cloned().unwrap_or(RequestId::Null);
        Self {
            message,
            seq,
            responder: Responder {
                peer,
                id,
                answered: false,
            },
        }
    }

    /// The method that is asked for.
    #[must_use]
    pub fn method(&self) -> &str {
        self.message.method()
    }

    /// The id under which it is answered.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.responder.id
    }

    /// The peer that asks.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.responder.peer
    }

    /// What had been received right before it.
    #[must_use]
    pub fn received_after(&self) -> ReceiveSeq {
        self.seq
    }

    /// The parameters as they arrived.
    #[must_use]
    pub fn raw_params(&self) -> Option<&RawValue> {
        self.message.raw_params()
    }

    /// Its length in bytes, as it arrived.
    #[must_use]
    pub fn size(&self) -> usize {
        self.message.line().len()
    }

    /// Copies it out of the chunk it came in, where it is kept for a while: a short
    /// message would keep all of a large chunk.
    pub fn detach(&mut self) {
        self.message.detach();
    }

    /// Decodes the parameters.
    ///
    /// # Errors
    ///
    /// A [`Fault`] with -32602.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        self.message.decode()
    }

    /// Splits it into the right to answer and the context of the work.
    #[must_use]
    pub fn into_parts(self) -> (Responder, Context) {
        let context = Context {
            peer: self.responder.peer.clone(),
            id: self.responder.id.clone(),
        };
        (self.responder, context)
    }

    /// Answers with an error.
    pub fn refuse(self, fault: Fault) {
        self.responder.answer::<()>(Err(fault));
    }

    /// Answers that there is no such method (R182).
    pub fn unknown_method(self) {
        let fault = Fault::method_not_found(self.method());
        self.refuse(fault);
    }

    /// Decodes the parameters now, and answers with what `work` gives: the
    /// usual way to serve.
    pub fn serve<R, F, Fut>(self, work: F) -> Option<BoxFuture>
    where
        R: Request,
        F: FnOnce(R, Context) -> Fut,
        Fut: Future<Output = Result<R::Response, Fault>> + Send + 'static,
    {
        let params = match self.decode::<R>() {
            Ok(params) => params,
            Err(fault) => {
                self.refuse(fault);
                return None;
            }
        };
        let span = tracing::debug_span!("rpc.serve", rpc.method = R::METHOD, rpc.id = ?self.id());
        let (responder, context) = self.into_parts();
        let work = work(params, context);
        let answer = |result| responder.answer(result);
        Some(Box::pin(Then::new(work, answer).instrument(span)))
    }
}

pin_project! {
    /// Work, and what is done with what comes of it.
    ///
    /// An `async` block that awaits what it was given keeps room for it twice.
    /// The futures of requests are moved, and are large enough.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct Then<F, D> {
        #[pin]
        work: F,
        done: Option<D>,
    }
}

impl<F: Future, D: FnOnce(F::Output)> Then<F, D> {
    /// Does `work`, and then `done` with its output.
    pub fn new(work: F, done: D) -> Self {
        Self {
            work,
            done: Some(done),
        }
    }
}

impl<F: Future, D: FnOnce(F::Output)> Future for Then<F, D> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<()> {
        let this = self.project();
        this.work.poll(cx).map(|output| {
            if let Some(done) = this.done.take() {
                done(output);
            }
        })
    }
}

/// The right to answer a request, once. Dropped, it answers -32603.
#[derive(Debug)]
pub struct Responder {
    peer: Peer,
    id: RequestId,
    answered: bool,
}

impl Responder {
    /// Answers the request. The answer never waits for room.
    pub fn answer<T: Serialize>(mut self, result: Result<T, Fault>) {
        self.answered = true;
        let mut line = Scratch::take();
        let error = match result {
            Ok(value) => match frame::result(&mut line, &self.id, &value) {
                Ok(()) => None,
                Err(source) => Some(Fault::internal().with_source(source)),
            },
            Err(fault) => Some(fault),
        };
        if let Some(fault) = error {
            line.clear();
            frame::error(&mut line, &self.id, &to_wire(fault));
        }
        self.peer
            .with(|connection| connection.respond(&self.id, &mut line));
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !self.answered {
            let cause = "the work of the request ended without an answer";
            let error = to_wire(Fault::internal().with_source(cause));
            self.peer
                .with(|connection| connection.respond_error(&self.id, &error));
        }
    }
}

/// Logs what stays on this side, and gives what the peer may know: for a failure of ours,
/// an id by which its report finds the record with the whole chain of causes.
///
/// A refusal whose data names its reason is no failure.
fn to_wire(fault: Fault) -> WireError {
    let code = fault.code();
    let source = std::error::Error::source(&fault);
    let causes = source.map(causes);
    if code != ErrorCode::INTERNAL {
        if let Some(causes) = causes {
            tracing::debug!(rpc.error_code = %code, error = causes, "{}", fault.message());
        }
        return fault.into();
    }
    if causes.is_none() && fault.data().is_some() && fault.correlation_id().is_none() {
        return fault.into();
    }
    let id = fault
        .correlation_id()
        .map_or_else(correlation_id, str::to_owned);
    tracing::warn!(rpc.error_code = %code, rpc.correlation_id = id, error = causes, "{}", fault.message());
    let mut error = WireError::from(fault);
    error.data = with_id(error.data, &id);
    error
}

/// An error and all its causes, on one line.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |error| error.source());
    let chain: Vec<_> = chain.map(ToString::to_string).collect();
    chain.join(": ")
}

/// Adds the id of a failure to its data; data that are no object stay as they are.
fn with_id(data: Option<Box<RawValue>>, id: &str) -> Option<Box<RawValue>> {
    let known = match &data {
        None => Ok(Map::new()),
        Some(data) => serde_json::from_str::<Map<String, Value>>(data.get()),
    };
    let Ok(mut known) = known else { return data };
    known.insert("correlationId".to_owned(), id.into());
    serde_json::value::to_raw_value(&known).ok()
}

/// Makes an id that no other failure of this process has, and hardly one of another; see
/// [`Fault::with_correlation_id`].
#[must_use]
pub fn correlation_id() -> String {
    static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().build_hasher().finish());
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    format!(
        "{:08x}-{}",
        *PROCESS & 0xffff_ffff,
        NUMBER.fetch_add(1, Ordering::Relaxed)
    )
}

/// What the work of a request knows of it.
#[derive(Clone, Debug)]
pub struct Context {
    peer: Peer,
    id: RequestId,
}

impl Context {
    /// The peer that asked. Calling it and waiting for the answer is fine.
    #[must_use]
    pub fn peer(&self) -> &Peer {
        &self.peer
    }

    /// The id of the request.
    #[must_use]
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// Tells whether the peer cancelled the request (R054), the connection
    /// ended, or the request was answered.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.peer
            .with(|connection| connection.is_cancelled(&self.id))
    }

    /// Waits until [`is_cancelled`](Self::is_cancelled). Any number of tasks may wait.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn cancelled(&self) {
        let mut wait = self.wait();
        poll_fn(|cx| wait.poll(cx)).await;
    }

    /// Runs `work` until the request is cancelled; `None` when it was.
    pub fn run_until_cancelled<F: Future>(&self, work: F) -> UntilCancelled<'_, F> {
        UntilCancelled {
            work,
            wait: self.wait(),
        }
    }

    fn wait(&self) -> CancelWait<'_> {
        CancelWait {
            context: self,
            watch: None,
        }
    }
}

/// A wait for the cancellation of a request, which ends with it.
#[derive(Debug)]
struct CancelWait<'a> {
    context: &'a Context,
    watch: Option<CancelWatch>,
}

impl CancelWait<'_> {
    fn poll(&mut self, cx: &task::Context<'_>) -> Poll<()> {
        let Context { peer, id } = self.context;
        peer.with(|connection| connection.poll_cancelled(id, &mut self.watch, cx.waker()))
    }
}

impl Drop for CancelWait<'_> {
    fn drop(&mut self) {
        if let Some(watch) = self.watch.take() {
            let Context { peer, id } = self.context;
            peer.with(|connection| connection.stop_watching_request(id, Some(watch)));
        }
    }
}

pin_project! {
    /// The future of [`Context::run_until_cancelled`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless they are awaited"]
    pub struct UntilCancelled<'a, F> {
        #[pin]
        work: F,
        wait: CancelWait<'a>,
    }
}

impl<F: Future> Future for UntilCancelled<'_, F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        match this.work.poll(cx) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending => this.wait.poll(cx).map(|()| None),
        }
    }
}

/// A notification of the peer.
#[derive(Debug)]
pub struct IncomingNotification<'a> {
    peer: &'a Peer,
    message: &'a Incoming,
    seq: ReceiveSeq,
}

impl<'a> IncomingNotification<'a> {
    pub(crate) fn new(peer: &'a Peer, message: &'a Incoming, seq: ReceiveSeq) -> Self {
        Self { peer, message, seq }
    }

    /// The method of the notification.
    #[must_use]
    pub fn method(&self) -> &'a str {
        self.message.method()
    }

    /// The peer that sent it.
    #[must_use]
    pub fn peer(&self) -> &'a Peer {
        self.peer
    }

    /// Its place in what was received.
    #[must_use]
    pub fn receive_seq(&self) -> ReceiveSeq {
        self.seq
    }

    /// The parameters as they arrived.
    #[must_use]
    pub fn raw_params(&self) -> Option<&'a RawValue> {
        self.message.raw_params()
    }

    /// Decodes the parameters.
    ///
    /// # Errors
    ///
    /// A [`Fault`]; nobody is told of it.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, Fault> {
        self.message.decode()
    }
}
