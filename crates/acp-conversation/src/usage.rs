//! How many tokens went where.

use acp_protocol::Meta;
use serde_json::Value;

/// How many tokens went where, as far as the agent says so under `usage` of `_meta`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenUsage {
    /// All of them.
    pub total: Option<u64>,
    /// Those that were read.
    pub input: Option<u64>,
    /// Those that were written.
    pub output: Option<u64>,
    /// Those that were thought.
    pub thought: Option<u64>,
    /// Those that were read out of a cache.
    pub cached_read: Option<u64>,
    /// Those that were written into a cache.
    pub cached_write: Option<u64>,
}

impl TokenUsage {
    /// Reads what agents put under `usage`; `None` when nothing of it is there.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        let read = Self {
            total: number("totalTokens"),
            input: number("inputTokens"),
            output: number("outputTokens"),
            thought: number("thoughtTokens"),
            cached_read: number("cachedReadTokens"),
            cached_write: number("cachedWriteTokens"),
        };
        (read != Self::default()).then_some(read)
    }

    pub(crate) fn of_meta(meta: Option<&Meta>) -> Option<Self> {
        meta.and_then(|meta| meta.get("usage")).and_then(Self::read)
    }
}
