//! Every bound of the configuration, with its reason.

/// Bytes of a file. A file of many agents has some ten thousand.
pub(super) const MAX_FILE: u64 = 256 << 10;

/// Bytes of a name. The longest names of models have some hundred.
pub(super) const MAX_WORD: usize = 256;

/// Folders that are trusted: those of a person who works on very many things.
pub(super) const MAX_TRUST: usize = 1024;

/// MCP servers. Each is a process or a connection of every session.
pub(super) const MAX_MCP: usize = 64;
