//! The one thread that keeps the rows of a terminal alive.
//!
//! It is a thread and no task, for a terminal may stop taking what is written, and no
//! worker of the runtime may be held up by that.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

/// The time between two looks at what has changed.
const PERIOD: Duration = Duration::from_millis(100);

/// Calls something again and again until it is dropped.
pub(super) struct Ticker {
    stop: Arc<(Mutex<bool>, Condvar)>,
}

impl Ticker {
    /// Starts to call `tick`. Where no thread can be had nothing is called.
    pub(super) fn start(mut tick: impl FnMut() + Send + 'static) -> Self {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let watched = Arc::clone(&stop);
        let body = move || {
            let (stopped, bell) = &*watched;
            let mut guard = stopped.lock();
            while !*guard {
                bell.wait_for(&mut guard, PERIOD);
                if !*guard {
                    MutexGuard::unlocked(&mut guard, &mut tick);
                }
            }
        };
        // Without it rows change only when something happens.
        let _ = thread::Builder::new()
            .name("acp-show".to_owned())
            .stack_size(256 << 10)
            .spawn(body);
        Self { stop }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        let (stopped, bell) = &*self.stop;
        *stopped.lock() = true;
        bell.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn it_calls_until_it_is_dropped() {
        let (sender, calls) = mpsc::channel();
        let ticker = Ticker::start(move || {
            // The test may have heard enough.
            let _ = sender.send(());
        });
        calls.recv().unwrap();
        calls.recv().unwrap();
        drop(ticker);
        // The thread ends, and its sender with it.
        while calls.recv().is_ok() {}
    }
}
