//! Ctrl-C and its relatives: the first asks, the second kills.

use std::process;
use std::time::Duration;

use acp_client::Client;
use tokio::sync::watch;

use crate::exit::Exit;
use crate::show;

/// How long the program may take to end by itself after everything was killed, before
/// it is left the hard way: its output may be blocked for ever.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Counts the wishes to stop.
#[derive(Clone)]
pub(crate) struct Interrupts {
    count: watch::Sender<u32>,
}

impl Interrupts {
    /// Starts to listen. From the second wish on the agent of `client` is killed with
    /// everything it started, whatever else goes on; the third ends the program.
    pub(crate) fn listen(client: Client) -> std::io::Result<Self> {
        let mut signals = platform::Signals::listen()?;
        let count = watch::Sender::new(0);
        let sender = count.clone();
        tokio::spawn(async move {
            loop {
                signals.next().await;
                sender.send_modify(|count| *count += 1);
                let count = *sender.borrow();
                match count {
                    1 => {}
                    2 => {
                        let client = client.clone();
                        tokio::spawn(async move {
                            client.kill().await;
                            tokio::time::sleep(LAST_WORDS).await;
                            leave();
                        });
                    }
                    _ => leave(),
                }
            }
        });
        Ok(Self { count })
    }

    /// Counts what a test counts.
    #[cfg(test)]
    pub(crate) fn of(count: watch::Sender<u32>) -> Self {
        Self { count }
    }

    /// Returns how many there were.
    pub(crate) fn count(&self) -> u32 {
        *self.count.borrow()
    }

    /// Waits until there were at least `count`.
    pub(crate) async fn reach(&self, count: u32) {
        let mut counted = self.count.subscribe();
        // The sender is ours, so it is there.
        let _ = counted.wait_for(|now| *now >= count).await;
    }

    /// Takes the end of this for the first wish, if there was none by then.
    pub(crate) fn take_for_wish(&self, wish: impl Future<Output = ()> + Send + 'static) {
        let count = self.count.clone();
        tokio::spawn(async move {
            wish.await;
            count.send_if_modified(|count| {
                let is_first = *count == 0;
                *count = (*count).max(1);
                is_first
            });
        });
    }
}

/// Ends the program in the middle of whatever it does.
fn leave() -> ! {
    show::clear();
    process::exit(Exit::Cancelled.code().into())
}

#[cfg(unix)]
mod platform {
    use tokio::signal::unix::{Signal, SignalKind, signal};

    pub(super) struct Signals {
        interrupt: Signal,
        terminate: Signal,
    }

    impl Signals {
        pub(super) fn listen() -> std::io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
            })
        }

        pub(super) async fn next(&mut self) {
            tokio::select! {
                _ = self.interrupt.recv() => {}
                _ = self.terminate.recv() => {}
            }
        }
    }
}

#[cfg(not(unix))]
mod platform {
    pub(super) struct Signals;

    impl Signals {
        pub(super) fn listen() -> std::io::Result<Self> {
            Ok(Self)
        }

        pub(super) async fn next(&mut self) {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
