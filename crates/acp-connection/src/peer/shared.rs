//! The connection behind its lock, and the buffers messages are written in.

use std::{
    cell::Cell,
    ops::{Deref, DerefMut},
    time::Instant,
};

use acp_protocol::rpc::{Connection, ConnectionRole, Limits};
use parking_lot::Mutex;

/// A connection that a driver and any number of handles share.
///
/// The lock is held for the blink of an append or a look-up: nothing is
/// serialised, no user code runs and nobody is woken under it.
#[derive(Debug)]
pub(crate) struct Shared(Mutex<Connection>);

impl Shared {
    pub(crate) fn new(role: ConnectionRole, limits: Limits) -> Self {
        Self(Mutex::new(Connection::new(role, limits)))
    }

    /// Runs `act` under the lock, and wakes whom it concerns afterwards.
    pub(crate) fn with<T>(&self, act: impl FnOnce(&mut Connection) -> T) -> T {
        // The connection keeps no broken state across a panic: each method
        // finishes its change before anything in it could panic.
        let mut connection = self.0.lock();
        let value = act(&mut connection);
        let wakes = connection.take_wakes();
        drop(connection);
        wakes.wake();
        value
    }
}

/// The instant, by the clock of the runtime, which a test may stop.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Largest buffer that is kept for the next message. Four messages of a
/// mebibyte; more is given back at once.
const KEPT: usize = 4 << 20;

thread_local! {
    static KEPT_BUFFER: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// A buffer to serialise into, reused by the next message of the thread.
#[derive(Debug)]
pub(crate) struct Scratch(Vec<u8>);

impl Scratch {
    pub(crate) fn take() -> Self {
        let mut buffer = KEPT_BUFFER.take();
        buffer.clear();
        Self(buffer)
    }
}

impl Deref for Scratch {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Scratch {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.0.capacity() <= KEPT {
            // The thread may be ending; then the buffer is simply freed.
            let _ = KEPT_BUFFER.try_with(|kept| kept.set(std::mem::take(&mut self.0)));
        }
    }
}
