//! A wish to end a turn, from anywhere.

use tokio::sync::watch;

/// Asks a turn to stop, from anywhere and at any time.
///
/// Clones ask the same turn. A stop cannot be taken back, and asking again changes nothing.
///
/// ```
/// use acp_harness::turn::{StopHandle, TurnRequest};
///
/// let stop = StopHandle::new();
/// let request = TurnRequest::new("codex", "tidy up", "/home/ada/project").with_stop(&stop);
/// // Later, perhaps on another thread:
/// stop.stop();
/// # drop(request);
/// ```
#[derive(Clone, Debug)]
pub struct StopHandle(watch::Sender<bool>);

impl StopHandle {
    /// Makes one that nobody has used.
    #[must_use]
    pub fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    /// Asks the turn to stop, and returns at once.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Tells whether somebody asked.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until somebody asks.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe.
    pub async fn stopped(&self) {
        // The sender is ours, so it cannot go away meanwhile.
        let _ = self.0.subscribe().wait_for(|stopped| *stopped).await;
    }
}

impl Default for StopHandle {
    fn default() -> Self {
        Self::new()
    }
}
