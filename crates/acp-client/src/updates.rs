//! What comes while no turn runs.

use tokio::sync::OwnedMutexGuard;

use crate::reader::{Happening, Reader};
use crate::{Session, TurnEvent};

/// Reads a session between its turns; see [`Session::updates`].
#[derive(Debug)]
pub struct Updates<'a> {
    session: &'a mut Session,
    reader: Option<OwnedMutexGuard<Reader>>,
}

impl<'a> Updates<'a> {
    pub(crate) fn new(session: &'a mut Session) -> Self {
        Self {
            session,
            reader: None,
        }
    }

    /// Waits for the next thing that happens outside of turns; `None` when the
    /// connection has ended and everything is read.
    ///
    /// While a turn runs, it waits for its end.
    ///
    /// # Cancel safety
    ///
    /// Cancel-safe: nothing is lost when another branch of `select!` wins.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        let state = self.session.state();
        let reader = match &mut self.reader {
            Some(reader) => reader,
            none => {
                let mut reader = std::sync::Arc::clone(state.reader()).lock_owned().await;
                reader.listen();
                none.insert(reader)
            }
        };
        loop {
            match reader.next(state).await {
                Happening::Event(event) => return Some(event),
                // No turn runs, so it is nobody's.
                Happening::End(_) => {}
                Happening::Closed => return None,
            }
        }
    }
}

impl Drop for Updates<'_> {
    fn drop(&mut self) {
        if let Some(reader) = &mut self.reader {
            reader.pause();
        }
    }
}
