//! What happened before a turn.

use crate::kit::{Record, TurnError, history::journal::Records};

/// What happened in a session before a turn, in order; made by
/// [`Turn::earlier`](crate::kit::Turn::earlier).
///
/// It is read from the history page by page, so that a long session need not
/// fit the memory.
#[derive(Debug)]
#[must_use = "it is read by `next` or `all`"]
pub struct Earlier(pub(in crate::kit) Option<Records>);

impl Earlier {
    /// Reads on; `None` at the end.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: if dropped, nothing was read.
    pub async fn next(&mut self) -> Result<Option<Record>, TurnError> {
        match &mut self.0 {
            Some(records) => Ok(records.next().await?),
            None => Ok(None),
        }
    }

    /// Reads all the rest.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// If dropped, what was read is lost.
    pub async fn all(mut self) -> Result<Vec<Record>, TurnError> {
        let mut records = Vec::new();
        while let Some(record) = self.next().await? {
            records.push(record);
        }
        Ok(records)
    }
}
