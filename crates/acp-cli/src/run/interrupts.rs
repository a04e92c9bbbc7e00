//! Ctrl-C and its relatives: the first asks, the second kills.
//!
//! `SIGTERM` comes from a program, which seldom sends it twice and kills soon after: it
//! asks, and kills by itself if that does not help.

use std::process;
use std::time::Duration;

use acp_client::Client;
use acp_harness::turn::StopHandle;

use crate::exit::Exit;
use crate::show;

/// How long the program may take to end by itself after everything was killed, before
/// it is left the hard way: its output may be blocked for ever.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// How long a turn may take to end after `SIGTERM`, before the agent is killed. Service
/// managers kill the program 10 seconds after it, and the agent would be left behind.
#[cfg(unix)]
const TERMINATE_GRACE: Duration = Duration::from_secs(5);

/// How the user wants to stop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Interrupt,
    #[cfg(unix)]
    Terminate,
}

impl Wish {
    /// Returns how long the turn has to end by itself, where nobody may ask again.
    fn grace(self) -> Option<Duration> {
        match self {
            Self::Interrupt => None,
            #[cfg(unix)]
            Self::Terminate => Some(TERMINATE_GRACE),
        }
    }
}

/// The wishes of the user to stop.
pub(crate) struct Interrupts {
    stop: StopHandle,
    kill: StopHandle,
}

impl Interrupts {
    /// Starts to listen. The first wish stops the turn, if nothing else has. The next one
    /// kills the agent of `client` with everything it started, whatever else goes on, and
    /// one more ends the program. `kill` is used before the agent is killed.
    pub(crate) fn listen(
        client: Client,
        stop: &StopHandle,
        kill: &StopHandle,
    ) -> std::io::Result<Self> {
        let mut signals = platform::Signals::listen()?;
        let interrupts = Self {
            stop: stop.clone(),
            kill: kill.clone(),
        };
        let (stop, kill) = (stop.clone(), kill.clone());
        tokio::spawn(async move {
            loop {
                let wish = signals.next().await;
                if !stop.is_stopped() {
                    stop.stop();
                    if let Some(grace) = wish.grace() {
                        tokio::spawn(end(client.clone(), kill.clone(), grace));
                    }
                } else if !kill.is_stopped() {
                    tokio::spawn(end(client.clone(), kill.clone(), Duration::ZERO));
                    // The task may be late, and one more wish is to count.
                    kill.stop();
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
            self.kill.stopped().await;
        } else {
            self.stop.stopped().await;
        }
    }
}

/// Kills the agent after a while, and ends the program if that does not.
async fn end(client: Client, kill: StopHandle, after: Duration) {
    tokio::time::sleep(after).await;
    kill.stop();
    client.kill().await;
    tokio::time::sleep(LAST_WORDS).await;
    leave();
}

/// Ends the program in the middle of whatever it does.
fn leave() -> ! {
    show::clear();
    process::exit(Exit::Cancelled.code().into())
}

#[cfg(unix)]
mod platform {
    use tokio::signal::unix::{Signal, SignalKind, signal};

    use super::Wish;

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

        pub(super) async fn next(&mut self) -> Wish {
            tokio::select! {
                _ = self.interrupt.recv() => Wish::Interrupt,
                _ = self.terminate.recv() => Wish::Terminate,
            }
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use super::Wish;

    pub(super) struct Signals;

    impl Signals {
        pub(super) fn listen() -> std::io::Result<Self> {
            Ok(Self)
        }

        pub(super) async fn next(&mut self) -> Wish {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            Wish::Interrupt
        }
    }
}
