//! Ctrl-C and its relatives: the first asks, the second kills.

use std::process;
use std::time::Duration;

use acp_client::Client;
use acp_harness::turn::StopHandle;
use tokio::sync::watch;

use crate::exit::Exit;
use crate::show;

/// How long the program may take to end by itself after everything was killed, before
/// it is left the hard way: its output may be blocked for ever.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The wishes of the user to stop.
pub(crate) struct Interrupts {
    stop: StopHandle,
    kill: watch::Sender<bool>,
}

impl Interrupts {
    /// Starts to listen. The first wish stops the turn, if nothing else has. The next one
    /// kills the agent of `client` with everything it started, whatever else goes on, and
    /// one more ends the program.
    pub(crate) fn listen(client: Client, stop: &StopHandle) -> std::io::Result<Self> {
        let mut signals = platform::Signals::listen()?;
        let kill = watch::Sender::new(false);
        let interrupts = Self {
            stop: stop.clone(),
            kill: kill.clone(),
        };
        let stop = stop.clone();
        tokio::spawn(async move {
            loop {
                signals.next().await;
                if !stop.is_stopped() {
                    stop.stop();
                } else if !kill.send_replace(true) {
                    let client = client.clone();
                    tokio::spawn(async move {
                        client.kill().await;
                        tokio::time::sleep(LAST_WORDS).await;
                        leave();
                    });
                } else {
                    leave();
                }
            }
        });
        Ok(interrupts)
    }

    /// Waits for one more wish than there were.
    pub(crate) async fn another(&self) {
        if self.stop.is_stopped() {
            // The sender is ours, so it is there.
            let _ = self.kill.subscribe().wait_for(|kill| *kill).await;
        } else {
            self.stop.stopped().await;
        }
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
