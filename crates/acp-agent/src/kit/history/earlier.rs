//! The records of a session, read page by page.

use acp_host::SessionId;

use super::{HistoryError, Record, SharedHistory};
use crate::kit::TurnError;

/// The records of a session before a turn, in order; made by
/// [`Turn::earlier`](crate::kit::Turn::earlier).
///
/// They are read from the history page by page: a long session need not fit the
/// memory.
#[derive(Debug, Default)]
#[must_use = "it is read by `next` or `all`"]
pub struct Earlier {
    session: Option<(SharedHistory, SessionId)>,
    next: u64,
    end: u64,
    page: std::vec::IntoIter<Record>,
}

impl Earlier {
    /// The records of a session up to a position.
    pub(in crate::kit) fn new(history: SharedHistory, id: SessionId, end: u64) -> Self {
        Self {
            session: Some((history, id)),
            end,
            ..Self::default()
        }
    }

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
        Ok(self.read().await?)
    }

    /// Reads all the rest.
    ///
    /// # Errors
    ///
    /// [`TurnError`] if it cannot be read.
    ///
    /// # Cancel safety
    ///
    /// If dropped, records that were read are lost.
    pub async fn all(mut self) -> Result<Vec<Record>, TurnError> {
        let mut records = Vec::new();
        while let Some(record) = self.next().await? {
            records.push(record);
        }
        Ok(records)
    }

    pub(in crate::kit) async fn read(&mut self) -> Result<Option<Record>, HistoryError> {
        loop {
            if let Some(record) = self.page.next() {
                return Ok(Some(record));
            }
            let Some((history, id)) = &self.session else {
                return Ok(None);
            };
            if self.next >= self.end {
                return Ok(None);
            }
            let mut page = history.0.read(id, self.next).await?;
            if page.next <= self.next {
                return Err(HistoryError::failed("the history ends before its end"));
            }
            let beyond = page.next.saturating_sub(self.end);
            let beyond = usize::try_from(beyond).unwrap_or(usize::MAX);
            let history = page.records.len().saturating_sub(beyond);
            page.records.truncate(history);
            self.next = page.next;
            self.page = page.records.into_iter();
        }
    }
}
