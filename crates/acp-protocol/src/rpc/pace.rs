//! How often data is written while more of it may come at once.
//!
//! A sender that tells many updates in a row and a driver that writes each as it
//! comes would keep each other busy: a system call for every update, and a
//! thread woken for it. So some writes a window leave at once, and data beyond
//! them waits for the end of the window, or until it is worth a write. Answers
//! and calls never wait, and take along what does.

use std::time::Instant;

use super::Limits;

#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When the window ends; it began with its first write.
    until: Option<Instant>,
    /// Writes of data in it.
    writes: u32,
    /// The driver will wake at the end of it, so that data may wait for that.
    is_told: bool,
    /// Something is queued that waits for nothing.
    is_urgent: bool,
}

impl Pace {
    /// Takes note of what waits for nothing.
    pub(super) fn hurry(&mut self) {
        self.is_urgent = true;
    }

    /// Ends the window when its time is over.
    pub(super) fn pass(&mut self, now: Instant) {
        if self.until.is_some_and(|until| until <= now) {
            *self = Self {
                is_urgent: self.is_urgent,
                ..Self::default()
            };
        }
    }

    /// Takes note of a write.
    pub(super) fn wrote(&mut self, now: Instant, limits: &Limits) {
        if !std::mem::take(&mut self.is_urgent) {
            self.until.get_or_insert(now + limits.outgoing_window);
            self.writes += 1;
        }
    }

    /// Tells the driver until when data will wait, if it has to.
    pub(super) fn tell(&mut self, limits: &Limits) {
        self.is_told = self.writes >= limits.outgoing_writes;
    }

    /// When the driver has to wake by itself.
    pub(super) fn timeout(&self) -> Option<Instant> {
        self.until.filter(|_| self.is_told)
    }

    /// Whether data has to wait.
    pub(super) fn waits(&self) -> bool {
        self.is_told && !self.is_urgent
    }
}
