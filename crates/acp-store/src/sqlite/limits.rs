//! The bounds that are not for the user to choose, with their reasons.

use std::time::Duration;

/// How many calls wait for a connection at most. A session has one change under
/// way at a time, so this is a crowd; whoever comes later waits in front.
pub(crate) const QUEUE: usize = 64;

/// How many bytes of records one page of a session holds (one record in any
/// case). Small enough to hold many at once, and read within milliseconds, so
/// that a long session holds up nobody who waits for the connection.
pub(crate) const PAGE_BYTES: usize = 1 << 20;

/// How many records one page holds at most; with short ones, a page of records
/// takes more memory than their text.
pub(crate) const PAGE_RECORDS: usize = 1024;

/// How many sessions one transaction forgets when old ones are forgotten: other
/// processes get a turn in between.
pub(crate) const PRUNED_AT_ONCE: usize = 64;

/// After what time the log is tried to be emptied again when another process
/// still read what was deleted.
pub(crate) const SCRUB_RETRY: Duration = Duration::from_secs(1);

/// How long emptying the log waits for those who read what was deleted. Writers
/// wait meanwhile, so it is short.
pub(crate) const SCRUB_WAIT: Duration = Duration::from_millis(100);

/// How long the log may stay when all of it is in the file. It grows to 4 MiB
/// between two checkpoints, to more only behind a large change.
pub(crate) const LOG_BYTES: i64 = 16 << 20;
