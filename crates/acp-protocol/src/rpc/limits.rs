//! Every bound of a connection, with its default and the reason for it.

use std::time::Duration;

/// Bounds of one connection.
///
/// The defaults suit a coding agent and its editor: messages with images and
/// large diffs pass, and no peer can make the process grow without end.
///
/// ```
/// let limits = acp_protocol::rpc::Limits::default().with_max_message(4 << 20);
/// assert_eq!(limits.max_message, 4 << 20);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Longest line in bytes, without its terminator, in both directions.
    ///
    /// 32 MiB: images and large diffs pass 4 MiB in practice, and other
    /// implementations accept this much. Exactly this length is legal.
    pub max_message: usize,
    /// Objects and arrays open at once in one message, its own object counted.
    ///
    /// 128: deeper than any message of the protocol, and shallow enough for
    /// recursive decoders.
    pub max_depth: usize,
    /// Values in one message: its commas and opening brackets are counted.
    ///
    /// 524,288: the list of a few hundred thousand files passes. Small values take up
    /// to eighty times their text in memory, so a line of 32 MiB could otherwise become
    /// gigabytes.
    pub max_values: usize,
    /// Bytes asked of the reader at once.
    ///
    /// 64 KiB: the size of a pipe on Linux.
    pub read_chunk: usize,
    /// Queued outgoing bytes from which data (`session/update` and other
    /// notifications) waits. One message may overshoot.
    ///
    /// 512 KiB: hides the latency of a busy reader. A message of a mebibyte fills it
    /// alone until half of it is written, so that two of them are never there at once.
    pub outgoing_credit: usize,
    /// Queued outgoing bytes at which a sender lets the driver run once.
    ///
    /// 60 KiB: a pipe of 64 KiB takes that in one write, and what is queued before the
    /// driver runs.
    pub outgoing_yield: usize,
    /// Writes of data in one [window](Self::outgoing_window) that leave at once;
    /// what comes behind them waits for its end, or until
    /// [`outgoing_yield`](Self::outgoing_yield) is queued.
    ///
    /// 4: whoever says now and then something never waits, and a stream becomes
    /// few large writes.
    pub outgoing_writes: u32,
    /// Length of a window, which begins with its first write.
    ///
    /// 1 ms: nobody sees it, and it is hundreds of updates of a stream.
    pub outgoing_window: Duration,
    /// Queued outgoing bytes at which the connection closes as
    /// [`Flooded`](super::CloseCause::Flooded).
    ///
    /// 48 MiB: only answers and calls get past the credit, so a peer that asks
    /// without ever reading is cut off here. The longest message fits, and half of
    /// another.
    pub outgoing_hard: usize,
    /// Queued bytes of one mailbox above which reading may pause.
    ///
    /// 1 MiB: some five thousand updates. The pause ends at half of it.
    pub mailbox_soft: usize,
    /// Queued bytes of one mailbox above which reading may pause where its flow is
    /// [`Flow::Spill`](super::Flow::Spill). With half as much again in all mailboxes
    /// together none spills, and [`mailbox_soft`](Self::mailbox_soft) holds for each.
    ///
    /// 16 MiB: half of the hard mark, so that the longest answers of tools fit behind it.
    pub mailbox_spill: usize,
    /// Queued bytes of one mailbox at which its oldest updates are dropped.
    ///
    /// 32 MiB: the longest message fits. Reached only where reading may not pause.
    pub mailbox_hard: usize,
    /// Queued bytes of all mailboxes together at which the fullest drops.
    ///
    /// 48 MiB: one mailbox at its hard mark, and the others at half of it together.
    pub mailbox_total: usize,
    /// Bytes a consumer takes from its mailbox at once.
    ///
    /// 256 KiB: a lock taken once for a thousand updates.
    pub mailbox_batch: usize,
    /// Updates kept for a session between turns while nobody reads them.
    ///
    /// 512: more than any agent sends unasked.
    pub idle_updates: u64,
    /// How long a consumer may leave a full mailbox untouched before reading
    /// goes on without it. `None` waits for ever.
    ///
    /// 5 s: longer than a slow screen, shorter than a person's patience with a
    /// program that waits for something behind the pause.
    pub patience: Option<Duration>,
    /// Bytes kept of updates whose session is not known yet.
    ///
    /// 4 MiB: several agents replay history before they name the session.
    pub held_bytes: usize,
    /// Sessions whose updates are kept before they are known.
    ///
    /// 64: one for each session that is being opened.
    pub held_sessions: usize,
    /// Longest update in bytes, as a line, that is kept for those who ask how a session is
    /// set: its mode, options, commands and title. One of each kind is kept of a session
    /// until somebody asks.
    ///
    /// 1 MiB: the longest lists of models have a hundred thousand bytes.
    pub setting_bytes: usize,
    /// Short requests of the peer that are served at once; the rest are parked.
    ///
    /// 64: bounds the work a peer can start, and keeps fast callers in order.
    pub handler_slots: usize,
    /// Requests of the peer that may wait for a slot.
    pub parked_requests: usize,
    /// Requests of the peer that may be open at once, of every kind.
    ///
    /// 4,096: beyond it the peer gets an error at once.
    pub open_requests: usize,
    /// Bytes of all requests of the peer that are open or wait for a slot, those of up
    /// to 4 KiB not counted. One request may be longer when no other is counted.
    ///
    /// 32 MiB: the longest message, or three files of 10 MiB that are written at once.
    /// Permissions and forms that wait for a person are bounded by it, whatever they
    /// carry.
    pub open_request_bytes: usize,
    /// Calls of ours that may be open at once.
    ///
    /// 16,384: each holds a waker and a place in the table.
    pub open_calls: usize,
    /// Abandoned calls whose late answer is still recognised.
    pub zombie_calls: usize,
    /// How long a late answer is still recognised.
    ///
    /// 10 s: an agent that takes longer has forgotten the request too.
    pub zombie_life: Duration,
    /// How long requests of a client may go on after its stream ended.
    ///
    /// 10 s: a list, a write to a slow disk and a short turn come to their end, and a
    /// client that waits for its agent to exit does not wait for long.
    pub finish_grace: Duration,
    /// How long requests of a client may take to end once they were cancelled behind
    /// the end of its stream.
    ///
    /// 35 s: an agent answers for a turn that does not end after 30 s.
    pub cancel_grace: Duration,
    /// How long the driver goes on writing after the connection was closed.
    ///
    /// 1 s: enough for a peer that reads, and no wait for one that does not.
    pub close_grace: Duration,
    /// How long a connection to a peer that is gone waits for more of what it wrote.
    ///
    /// 400 ms: what was written is in the pipe, and is read at once; only somebody the
    /// peer left behind writes more, or keeps the pipe open.
    pub last_words_wait: Duration,
    /// How long such a connection is read at most.
    ///
    /// 5 s: for one that was left behind and writes on.
    pub last_words_limit: Duration,
    /// Shortest time between two errors for lines that name no call: one for lines that
    /// are not JSON (-32700), another for JSON that is no message, such as a batch
    /// (-32600). Those between are counted in
    /// [`Stats::errors_withheld`](super::Stats::errors_withheld). A request that is
    /// invalid is always answered.
    ///
    /// 1 s: tells a developer what is wrong, and cannot be used to flood.
    pub parse_error_interval: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_message: 32 << 20,
            max_depth: 128,
            max_values: 512 << 10,
            read_chunk: 64 << 10,
            outgoing_credit: 512 << 10,
            outgoing_yield: 60 << 10,
            outgoing_writes: 4,
            outgoing_window: Duration::from_millis(1),
            outgoing_hard: 48 << 20,
            mailbox_soft: 1 << 20,
            mailbox_spill: 16 << 20,
            mailbox_hard: 32 << 20,
            mailbox_total: 48 << 20,
            mailbox_batch: 256 << 10,
            idle_updates: 512,
            patience: Some(Duration::from_secs(5)),
            held_bytes: 4 << 20,
            held_sessions: 64,
            setting_bytes: 1 << 20,
            handler_slots: 64,
            parked_requests: 4096,
            open_requests: 4096,
            open_request_bytes: 32 << 20,
            open_calls: 16_384,
            zombie_calls: 1024,
            zombie_life: Duration::from_secs(10),
            finish_grace: Duration::from_secs(10),
            cancel_grace: Duration::from_secs(35),
            close_grace: Duration::from_secs(1),
            last_words_wait: Duration::from_millis(400),
            last_words_limit: Duration::from_secs(5),
            parse_error_interval: Duration::from_secs(1),
        }
    }
}

macro_rules! setters {
    ($($with:ident $field:ident: $type:ty,)*) => {
        /// Setters; each field says its unit, default and reason.
        impl Limits {
            $(#[doc = concat!("Sets [`", stringify!($field), "`](Self::", stringify!($field), ").")]
            #[must_use]
            pub fn $with(mut self, value: $type) -> Self {
                self.$field = value;
                self
            })*
        }
    };
}

setters! {
    with_max_message max_message: usize,
    with_max_depth max_depth: usize,
    with_max_values max_values: usize,
    with_read_chunk read_chunk: usize,
    with_outgoing_credit outgoing_credit: usize,
    with_outgoing_yield outgoing_yield: usize,
    with_outgoing_writes outgoing_writes: u32,
    with_outgoing_window outgoing_window: Duration,
    with_outgoing_hard outgoing_hard: usize,
    with_mailbox_soft mailbox_soft: usize,
    with_mailbox_spill mailbox_spill: usize,
    with_mailbox_hard mailbox_hard: usize,
    with_mailbox_total mailbox_total: usize,
    with_mailbox_batch mailbox_batch: usize,
    with_idle_updates idle_updates: u64,
    with_patience patience: Option<Duration>,
    with_held_bytes held_bytes: usize,
    with_held_sessions held_sessions: usize,
    with_setting_bytes setting_bytes: usize,
    with_handler_slots handler_slots: usize,
    with_parked_requests parked_requests: usize,
    with_open_requests open_requests: usize,
    with_open_request_bytes open_request_bytes: usize,
    with_open_calls open_calls: usize,
    with_zombie_calls zombie_calls: usize,
    with_zombie_life zombie_life: Duration,
    with_finish_grace finish_grace: Duration,
    with_cancel_grace cancel_grace: Duration,
    with_close_grace close_grace: Duration,
    with_last_words_wait last_words_wait: Duration,
    with_last_words_limit last_words_limit: Duration,
    with_parse_error_interval parse_error_interval: Duration,
}
