//! The session and the kind of a line that cannot be read, as far as they can be told.

use std::sync::Arc;

use memchr::memmem;

use super::{Attempt, MAX_REQUEST_ID, Refused, guess};
use crate::rpc::Issue;

/// An update that came and cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostUpdate {
    /// Its session; `None` where that cannot be told.
    pub session: Option<Arc<str>>,
}

/// Tells whether a line, or the beginning of one, is or was meant to be an update.
///
/// The name of the method has its quotes in a message; where a log quotes a message,
/// they are escaped.
pub(in crate::rpc) fn lost_update(line: &[u8]) -> Option<LostUpdate> {
    memmem::find(line, br#""session/update""#)?;
    let session = session(line).map(Arc::from);
    Some(LostUpdate { session })
}

/// Finds the session where it is named plainly, the first time.
fn session(line: &[u8]) -> Option<&str> {
    const NAME: &[u8] = br#""sessionId""#;
    let value = line.get(memmem::find(line, NAME)? + NAME.len()..)?;
    let value = value.trim_ascii_start().strip_prefix(b":")?;
    let id = value.trim_ascii_start().strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', &id[..id.len().min(MAX_REQUEST_ID)])?;
    (id[end] == b'"').then_some(())?;
    std::str::from_utf8(&id[..end]).ok()
}

/// Refuses a line that is no JSON. One that plainly began as an answer still fails its
/// call: nobody waits for it any longer.
pub(super) fn malformed(line: &[u8]) -> Refused {
    let refused = Refused::new(Issue::MalformedJson);
    match guess(line) {
        Some(answer) if answer.attempt == Attempt::Answer => Refused {
            id: answer.id,
            attempt: Attempt::Answer,
            ..refused
        },
        _ => refused,
    }
}
