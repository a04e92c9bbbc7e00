//! What becomes of updates that come faster than they are read.

/// What a mailbox does when its consumer is slower than the peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flow {
    /// The peer waits: nothing is lost below the hard mark.
    #[default]
    Lossless,
    /// The peer waits later: up to [`Limits::mailbox_spill`](crate::rpc::Limits) may be
    /// queued, so that one slow consumer does not hold up the others of its connection.
    /// Nothing is lost below the hard mark.
    Spill,
    /// The peer never waits: the oldest updates give way to a gap, so that only the
    /// newest are left.
    DropOldest {
        /// How many updates may wait. 512 is plenty for a view of what goes on now.
        depth: u64,
    },
}

impl Flow {
    /// Whether the peer never waits.
    pub(super) fn drops_oldest(self) -> bool {
        matches!(self, Self::DropOldest { .. })
    }

    /// How many updates may wait, where that is bounded.
    pub(super) fn depth(self) -> u64 {
        match self {
            Self::Lossless | Self::Spill => u64::MAX,
            Self::DropOldest { depth } => depth,
        }
    }
}

/// What became of the updates of one mailbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MailboxCounts {
    /// Updates that arrived for it.
    pub received: u64,
    /// Those that nobody will read: dropped, discarded, left behind, or in a line that
    /// could not be read. Where nobody can tell the session of such a line, each session
    /// that a turn runs in counts it.
    pub dropped: u64,
    /// Those that a consumer took and that made no sense.
    pub unreadable: u64,
}
