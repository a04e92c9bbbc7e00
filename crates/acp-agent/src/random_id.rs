//! Ids that are given once.

use std::{
    cell::Cell,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use data_encoding::BASE64URL_NOPAD;
use uuid::{Builder, Uuid};

thread_local! {
    /// Random at first, and counted up from there: asking the system each time would
    /// cost a tenth of a prompt that is answered at once.
    static NEXT: Cell<u128> = const { Cell::new(0) };
}

/// The bytes of a prompt id: the random end of a UUID, and the end of its time.
const PROMPT_BYTES: usize = 12;

/// Makes an id that no other session has: a UUID of version 7.
pub(crate) fn session_id() -> Arc<str> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = since.map_or(0, |since| since.as_millis());
    let millis = u64::try_from(millis).unwrap_or_default();
    let uuid = Builder::from_unix_timestamp_millis(millis, &next()).into_uuid();
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    Arc::from(&*uuid.hyphenated().encode_lower(&mut text))
}

/// Makes a short id, of 16 letters, that no other prompt of the session has for as
/// long as the session is kept, also in other processes. Each update of a turn
/// carries it three times.
pub(crate) fn prompt_id() -> Arc<str> {
    let mut letters = [0; PROMPT_BYTES * 8 / 6];
    BASE64URL_NOPAD.encode_mut(&next::<PROMPT_BYTES>(), &mut letters);
    // The letters are ASCII.
    std::str::from_utf8(&letters).unwrap_or_default().into()
}

/// Bytes that are given once.
fn next<const BYTES: usize>() -> [u8; BYTES] {
    let next = match NEXT.get() {
        0 => Uuid::now_v7().as_u128(),
        next => next,
    };
    NEXT.set(next.wrapping_add(1));
    *next.to_be_bytes().last_chunk().expect("there are sixteen")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_id_is_given_twice() {
        for (make, length) in [(session_id as fn() -> Arc<str>, 36), (prompt_id, 16)] {
            let ids = move || (0..1000).map(|_| make()).collect::<Vec<_>>();
            let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(ids)).collect();
            let threads = threads.into_iter();
            let given: Vec<_> = threads.flat_map(|thread| thread.join().unwrap()).collect();
            assert_eq!(given.iter().collect::<HashSet<_>>().len(), 4000);
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            assert!(
                given
                    .iter()
                    .all(|id| id.len() == length && id.bytes().all(is_plain))
            );
        }
    }
}
