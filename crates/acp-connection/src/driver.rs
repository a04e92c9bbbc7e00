//! The one loop that reads, starts work, and writes.

use std::{
    future::Future,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Instant,
};

use acp_protocol::rpc::{
    CloseCause, Connection, ConnectionEvent, ConnectionRole, DriverTask, Inbound, Intake, Limits,
};
use tokio::time::Sleep;

use crate::{
    handler::{BoxFuture, Handler, IncomingNotification, IncomingRequest},
    link::Link,
    peer::{Peer, Shared, now},
};

/// Chunks read in a row before other tasks of the worker get their turn.
const CHUNKS_IN_A_ROW: u32 = 4;
/// Write buffer that is kept; a larger one is given back.
const KEPT_BUFFER: usize = 4 << 20;

/// Runs a connection over a stream, to its end.
///
/// Reading never waits for writing, for a handler or for a consumer, but for
/// the pauses that the connection asks for.
pub(crate) struct Driver<L> {
    peer: Peer,
    handler: Box<dyn Handler>,
    link: L,
    intake: Intake,
    limits: Limits,
    /// What is being written, and how much of it was.
    buffer: Vec<u8>,
    written: usize,
    needs_flush: bool,
    timer: Option<(Instant, Pin<Box<Sleep>>)>,
    /// The connection is closed, and the timer is that of the grace.
    drains: bool,
    /// Writing failed.
    mute: bool,
    /// The peer is gone, and what it wrote is read.
    last_words: Option<LastWords>,
}

/// How long a peer that is gone is still read.
#[derive(Clone, Copy)]
struct LastWords {
    /// At the longest until then.
    until: Instant,
    /// There was nothing to read since then.
    quiet_since: Option<Instant>,
}

impl<L: Link> Driver<L> {
    pub(crate) fn new(
        role: ConnectionRole,
        link: L,
        handler: Box<dyn Handler>,
        limits: Limits,
    ) -> Self {
        let intake = Intake::new(role, &limits);
        let peer = Peer::new(Arc::new(Shared::new(role, limits.clone())));
        Self {
            peer,
            handler,
            link,
            intake,
            limits,
            buffer: Vec::new(),
            written: 0,
            needs_flush: false,
            timer: None,
            drains: false,
            mute: false,
            last_words: None,
        }
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<CloseCause> {
        let mut now = now();
        let mut chunks = 0;
        loop {
            let look = self.look(now);
            if let Some(event) = look.event {
                self.act(event);
                continue;
            }
            if let Some(cause) = look.closed {
                return Poll::Ready(cause);
            }
            if let Some(cause) = &look.last_words
                && self.last_words(now).until <= now
            {
                return Poll::Ready(cause.clone());
            }
            let blocked = match self.poll_write_all(now, cx) {
                Writing::Done => false,
                Writing::Blocked => true,
                Writing::Failed(error) => {
                    // The peer may have said much before it went.
                    self.mute = true;
                    let cause = CloseCause::Io(Arc::new(error));
                    self.peer.with(|connection| connection.mute(cause));
                    continue;
                }
            };
            if look.may_read {
                match self.link.poll_read(cx, &mut self.intake) {
                    Poll::Ready(Ok(false)) => {
                        self.intake.finish();
                        self.dispatch(now);
                        self.peer
                            .with(|connection| connection.end_input(CloseCause::PeerEof, now));
                        continue;
                    }
                    Poll::Ready(Ok(true)) => {
                        self.dispatch(now);
                        if let Some(last_words) = &mut self.last_words {
                            last_words.quiet_since = None;
                        }
                        chunks += 1;
                        if chunks >= CHUNKS_IN_A_ROW {
                            cx.waker().wake_by_ref();
                            return Poll::Pending;
                        }
                        continue;
                    }
                    Poll::Ready(Err(error)) => return Poll::Ready(CloseCause::Io(Arc::new(error))),
                    Poll::Pending => {}
                }
            }
            let mut timeout = look.timeout;
            if let Some(cause) = look.last_words {
                let wait = self.limits.last_words_wait;
                let last_words = self.last_words(now);
                let end = *last_words.quiet_since.get_or_insert(now) + wait;
                let end = end.min(last_words.until);
                if end <= now {
                    return Poll::Ready(cause);
                }
                timeout = Some(timeout.map_or(end, |timeout| timeout.min(end)));
            }
            // Only here: what can be read by now is read before the time is up.
            if self.poll_timeout(timeout, cx).is_ready() {
                now = self::now();
                continue;
            }
            let waker = cx.waker();
            if self
                .peer
                .with(|connection| connection.park(waker, blocked, look.may_read, now))
            {
                return Poll::Pending;
            }
        }
    }

    /// Asks the connection what to do, and takes output if there is room for it.
    fn look(&mut self, now: Instant) -> DriverTask {
        let buffer = self.empty_buffer();
        let Self {
            peer,
            buffer: output,
            ..
        } = self;
        peer.with(|connection| connection.look(buffer.then_some(output), now))
    }

    /// How long a peer that is gone is still read.
    fn last_words(&mut self, now: Instant) -> &mut LastWords {
        let limit = self.limits.last_words_limit;
        self.last_words.get_or_insert_with(|| LastWords {
            until: now + limit,
            quiet_since: None,
        })
    }

    /// Keeps the timer; ready when it ran out.
    fn poll_timeout(&mut self, until: Option<Instant>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(until) = until else {
            self.timer = None;
            return Poll::Pending;
        };
        if self.poll_timer(until, cx).is_pending() {
            return Poll::Pending;
        }
        self.timer = None;
        self.peer
            .with(|connection| connection.handle_timeout(until));
        Poll::Ready(())
    }

    fn poll_timer(&mut self, until: Instant, cx: &mut Context<'_>) -> Poll<()> {
        if self.timer.as_ref().is_none_or(|(known, _)| *known != until) {
            self.timer = Some((until, Box::pin(tokio::time::sleep_until(until.into()))));
        }
        match &mut self.timer {
            Some((_, timer)) => timer.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    /// Hands everything that was read to the connection, and acts on it.
    fn dispatch(&mut self, now: Instant) {
        while let Some(inbound) = self.intake.next() {
            if let Inbound::Refused(refused) = &inbound {
                tracing::debug!(issues = %refused.issues, "the peer sent a line that is no message");
            }
            let event = self.peer.with(|connection| {
                connection.accept(inbound, now);
                connection.poll_event()
            });
            if let Some(event) = event {
                self.act(event);
            }
        }
    }

    fn act(&self, event: ConnectionEvent) {
        let acted = match event {
            ConnectionEvent::Request(message, seq) => {
                let request = IncomingRequest::new(self.peer.clone(), message, seq);
                match catch_unwind(AssertUnwindSafe(|| self.handler.request(request))) {
                    Ok(Some(work)) => {
                        return start(CatchPanic {
                            work: Some(work),
                            peer: self.peer.clone(),
                        });
                    }
                    Ok(None) => return,
                    Err(_) => Err(()),
                }
            }
            ConnectionEvent::Notification(message, seq) => {
                let notification = IncomingNotification::new(&self.peer, &message, seq);
                catch_unwind(AssertUnwindSafe(|| self.handler.notification(notification)))
                    .map_err(drop)
            }
            ConnectionEvent::LateAnswer(call, answer) => catch_unwind(AssertUnwindSafe(|| {
                self.handler.late_answer(&self.peer, call, &answer)
            }))
            .map_err(drop),
            ConnectionEvent::FinishGraceOver => {
                let ended = catch_unwind(AssertUnwindSafe(|| self.handler.end_requests()));
                // Behind the handler, which may have a better answer for some of them.
                self.peer.with(Connection::cancel_requests);
                ended.map_err(drop)
            }
        };
        if acted.is_err() {
            count_panic(&self.peer);
        }
    }

    /// Writes what is queued until nothing is left or the writer blocks.
    fn poll_write_all(&mut self, now: Instant, cx: &mut Context<'_>) -> Writing {
        if self.mute {
            return Writing::Done;
        }
        loop {
            if self.buffer.len() == self.written {
                return self.poll_flush(cx);
            }
            match self.link.poll_write(cx, &self.buffer[self.written..]) {
                Poll::Ready(Ok(0)) => return Writing::Failed(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(length)) => self.wrote(length, now),
                Poll::Ready(Err(error)) => return Writing::Failed(error),
                Poll::Pending => return Writing::Blocked,
            }
        }
    }

    /// Accounts for written bytes, and takes the next ones.
    fn wrote(&mut self, length: usize, now: Instant) {
        self.written += length;
        self.needs_flush = true;
        let left = self.buffer.len() - self.written;
        let more = self.empty_buffer();
        let Self { peer, buffer, .. } = self;
        peer.with(|connection| {
            connection.wrote(left);
            if more {
                connection.take_due(buffer, now);
            }
        });
    }

    /// Makes the buffer ready for new output; false while some is left in it.
    fn empty_buffer(&mut self) -> bool {
        if self.written < self.buffer.len() {
            return false;
        }
        self.buffer.clear();
        self.written = 0;
        if self.buffer.capacity() > KEPT_BUFFER {
            self.buffer = Vec::new();
        }
        true
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Writing {
        if !self.needs_flush {
            return Writing::Done;
        }
        match self.link.poll_flush(cx) {
            Poll::Ready(Ok(())) => {
                self.needs_flush = false;
                Writing::Done
            }
            Poll::Ready(Err(error)) => Writing::Failed(error),
            // The writer wakes the driver; nothing else needs to wait for it.
            Poll::Pending => Writing::Done,
        }
    }

    /// Writes what is left, for a while, and shuts the writer down.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let now = now();
        let until = match &self.timer {
            Some((until, _)) => *until,
            None => now + self.limits.close_grace,
        };
        if self.empty_buffer() {
            let Self { peer, buffer, .. } = self;
            peer.with(|connection| connection.take_output(buffer));
        }
        let done = match self.poll_write_all(now, cx) {
            Writing::Done => self.link.poll_close(cx).is_ready(),
            Writing::Failed(_) => true,
            Writing::Blocked => false,
        };
        if done || self.poll_timer(until, cx).is_ready() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

impl<L: Link + Unpin> Future for Driver<L> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if !this.drains {
            let Poll::Ready(cause) = this.poll_open(cx) else {
                return Poll::Pending;
            };
            this.drains = true;
            this.timer = None;
            if matches!(cause, CloseCause::Io(_)) {
                this.peer.with(|connection| connection.close(cause));
                return Poll::Ready(());
            }
            this.peer.with(|connection| connection.close(cause));
        }
        this.poll_drain(cx)
    }
}

impl<L> Drop for Driver<L> {
    /// A driver that is dropped, as at the end of its runtime, ends the
    /// connection: nobody waits for ever.
    fn drop(&mut self) {
        self.peer.close();
    }
}

/// How far writing got.
enum Writing {
    Done,
    Blocked,
    Failed(io::Error),
}

/// Polls the work once where it stands; what is not ready gets its own task.
fn start(mut work: CatchPanic) {
    let mut once = tokio::task::unconstrained(&mut work);
    if Pin::new(&mut once)
        .poll(&mut Context::from_waker(Waker::noop()))
        .is_pending()
    {
        tokio::spawn(work);
    }
}

/// The work of a request, whose panics end nothing but itself.
struct CatchPanic {
    work: Option<BoxFuture>,
    peer: Peer,
}

impl Future for CatchPanic {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(work) = &mut self.work else {
            return Poll::Ready(());
        };
        match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(())) => {
                self.drop_work();
                Poll::Ready(())
            }
            Err(_) => {
                count_panic(&self.peer);
                self.drop_work();
                Poll::Ready(())
            }
        }
    }
}

impl CatchPanic {
    fn drop_work(&mut self) {
        let work = self.work.take();
        if catch_unwind(AssertUnwindSafe(|| drop(work))).is_err() {
            count_panic(&self.peer);
        }
    }
}

impl Drop for CatchPanic {
    fn drop(&mut self) {
        self.drop_work();
    }
}

fn count_panic(peer: &Peer) {
    peer.with(Connection::count_panic);
    tracing::error!("a handler panicked");
}
