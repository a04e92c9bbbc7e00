//! Every bound of the configuration, with its reason.

use std::time::Duration;

/// Bytes of a file. A file of many agents has some ten thousand.
pub(super) const MAX_FILE: u64 = 256 << 10;

/// Bytes of a name. The longest names of models have some hundred.
pub(super) const MAX_WORD: usize = 256;

/// How long an agent may be silent in a turn, where nobody says: longer than the longest
/// command that the usual agents let themselves wait for, which is ten minutes.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// Bytes of what is remembered of one file that is trusted: its path, and some numbers.
pub(super) const MAX_TRUST: u64 = 64 << 10;

/// MCP servers. Each is a process or a connection of every session.
pub(super) const MAX_MCP: usize = 64;
