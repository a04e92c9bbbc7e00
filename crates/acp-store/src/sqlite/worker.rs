//! A thread that owns a connection, and the queue in front of it.
//!
//! SQLite blocks: on the disk, and on other processes. A thread of its own keeps
//! that off the runtime, whose threads for blocking work belong to the user; it
//! gives one place where a connection is used, in the order of the calls; and a
//! change that has begun is brought to its end even if nobody waits any more.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{self, Receiver, RecvTimeoutError, Sender},
    },
    thread::{self, JoinHandle},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use super::{
    StoreError,
    connection::SqliteConnection,
    fault::Fault,
    limits::{QUEUE, SCRUB_RETRY},
};

type Work = Box<dyn FnOnce(&mut SqliteConnection) + Send>;

/// The way to a thread that owns a connection.
#[derive(Clone)]
pub(crate) struct Worker {
    /// As many messages are on their way as there are places.
    messages: Sender<Message>,
    places: Arc<Semaphore>,
}

enum Message {
    Work(Work, OwnedSemaphorePermit),
    /// Close the connection, and say when it is closed.
    Close(oneshot::Sender<()>),
}

impl Worker {
    /// Starts the thread.
    pub(crate) fn start(name: &str, desk: SqliteConnection) -> io::Result<(Self, JoinHandle<()>)> {
        let (messages, queue) = mpsc::channel();
        let thread = thread::Builder::new().name(name.to_owned());
        let thread = thread.spawn(move || serve(desk, queue))?;
        let places = Arc::new(Semaphore::new(QUEUE));
        Ok((Self { messages, places }, thread))
    }

    /// Has work done, in the order of the calls.
    ///
    /// # Errors
    ///
    /// What the work says; [`StoreError::Closed`] if it was not done because the
    /// store was closed, or because the work panicked.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the work is done or not, but never half.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut SqliteConnection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let closed = || Fault::Store(StoreError::Closed);
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.map_err(|_| closed())?;
        let (answer, done) = oneshot::channel();
        let work: Work = Box::new(move |desk| {
            // Not begun, and nobody waits: not done.
            if !answer.is_closed() {
                let _ = answer.send(work(desk));
            }
        });
        let sent = self.messages.send(Message::Work(work, place));
        sent.map_err(|_| closed())?;
        done.await.map_err(|_| closed())?
    }

    /// Closes the connection when what is queued is done.
    pub(crate) async fn close(&self) {
        let (closed, done) = oneshot::channel();
        if self.messages.send(Message::Close(closed)).is_ok() {
            // An error means that somebody else has closed it.
            let _ = done.await;
        }
    }
}

fn serve(mut desk: SqliteConnection, queue: Receiver<Message>) {
    let closed = loop {
        let next = if desk.is_scrub_due() {
            queue.recv_timeout(SCRUB_RETRY)
        } else {
            queue.recv().map_err(RecvTimeoutError::from)
        };
        match next {
            Ok(Message::Work(work, _place)) => {
                // Whoever waits for it learns that there is no answer. A change
                // that it had begun is undone on the way.
                if catch_unwind(AssertUnwindSafe(|| work(&mut desk))).is_err() {
                    tracing::error!("a call of the session history panicked");
                }
            }
            Ok(Message::Close(closed)) => break Some(closed),
            Err(RecvTimeoutError::Timeout) => desk.scrub(),
            Err(RecvTimeoutError::Disconnected) => break None,
        }
    };
    // What is queued behind has no answer.
    drop(queue);
    desk.close();
    closed.map(|closed| closed.send(()));
}
