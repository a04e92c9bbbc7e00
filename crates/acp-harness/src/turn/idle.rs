//! Whether an agent still moves.

use std::future::pending;
use std::time::Duration;

use acp_client::{Activity, Client};
use tokio::time::{Instant, sleep_until};

use crate::limits::IDLE_LOOKS;

/// Notices when an agent has said nothing for too long, while nothing was owed to it.
///
/// It looks at the connection several times within the bound, so that everything counts
/// that the agent sends, whoever reads it. The client has to be connected.
#[derive(Debug)]
pub(super) struct IdleWatch {
    client: Client,
    bound: Option<Duration>,
    next: Instant,
    seen: Option<Activity>,
    /// For how many looks in a row nothing has moved.
    quiet: u32,
}

impl IdleWatch {
    /// Begins to watch; without a bound it never expires.
    pub(super) fn begin(client: &Client, bound: Option<Duration>) -> Self {
        let step = bound.map_or(Duration::ZERO, step);
        Self {
            client: client.clone(),
            bound,
            next: Instant::now() + step,
            seen: client.activity().ok(),
            quiet: 0,
        }
    }

    /// Waits until the agent was silent for too long, and returns the bound.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: what was seen is kept.
    pub(super) async fn expired(&mut self) -> Duration {
        let Some(bound) = self.bound else {
            return pending().await;
        };
        loop {
            sleep_until(self.next).await;
            self.next = Instant::now() + step(bound);
            let now = self.client.activity().ok();
            let owed = now.is_some_and(|activity| activity.owed > 0);
            self.quiet = if now == self.seen && !owed {
                self.quiet + 1
            } else {
                0
            };
            self.seen = now;
            if self.quiet >= IDLE_LOOKS {
                return bound;
            }
        }
    }
}

fn step(bound: Duration) -> Duration {
    (bound / IDLE_LOOKS).max(Duration::from_millis(1))
}
