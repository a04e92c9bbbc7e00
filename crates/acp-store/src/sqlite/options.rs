//! What can be chosen about a store.

use std::{path::Path, time::Duration};

use super::{OpenError, SqliteHistory};

/// What can be chosen about a store.
///
/// | bound | default | why | beyond it |
/// |---|---|---|---|
/// | bytes of the file | 8 GiB | years of conversations; and an agent that has gone wild fills no disk | changes fail, the client reads that the history is full; deleting still works |
/// | bytes of one record | 64 MiB | one message of the wire is no larger | the turn fails |
/// | wait for another process | 5 s | its changes take milliseconds, a [compaction](SqliteHistory::compact) seconds | the change fails, the client reads that it may try again |
///
/// How many sessions there are, and how old they become, has no bound of its
/// own: nothing is forgotten that nobody asked to forget. See
/// [`prune`](SqliteHistory::prune).
#[derive(Clone, Debug)]
pub struct StoreOptions {
    pub(crate) durability: Durability,
    pub(crate) busy_timeout: Duration,
    pub(crate) max_file_bytes: u64,
    pub(crate) max_record_bytes: usize,
}

/// What an acknowledged change survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// The loss of power, too: each change is forced to the disk before it is
    /// acknowledged. A turn has a handful of changes, and no user notices the
    /// milliseconds; a user does notice an answer that is gone.
    #[default]
    PowerLoss,
    /// The end of the process, however sudden, but not that of the machine.
    ProcessEnd,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            busy_timeout: Duration::from_secs(5),
            max_file_bytes: 8 << 30,
            max_record_bytes: 64 << 20,
        }
    }
}

impl StoreOptions {
    /// The defaults that are named above.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what an acknowledged change survives.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets how long a change waits for that of another process, an hour at most.
    #[must_use]
    pub fn with_busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout.min(Duration::from_secs(3600));
        self
    }

    /// Sets how large the file may grow. It is rounded up to pages of 4 KiB, and
    /// a file that is larger already may only not grow further. The log beside it
    /// comes on top.
    #[must_use]
    pub fn with_max_file_bytes(mut self, bytes: u64) -> Self {
        self.max_file_bytes = bytes;
        self
    }

    /// Sets how large one record may be, written as JSON.
    #[must_use]
    pub fn with_max_record_bytes(mut self, bytes: usize) -> Self {
        self.max_record_bytes = bytes;
        self
    }

    /// Opens the store in a file; it is made if it is not there.
    ///
    /// # Errors
    ///
    /// As [`SqliteHistory::open`].
    pub fn open(&self, path: impl AsRef<Path>) -> Result<SqliteHistory, OpenError> {
        SqliteHistory::start(path.as_ref(), self)
    }
}
