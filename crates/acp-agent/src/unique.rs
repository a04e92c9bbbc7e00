//! Names that are given once.

use std::{
    cell::RefCell,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use uuid::{Builder, Uuid};

/// Random bytes of one name.
const RANDOM: usize = 10;
/// Names for which the system is asked at once. Each question is a system call,
/// which costs as much as a tenth of a prompt that is answered at once.
const NAMES: usize = 64;

/// Random bytes that were asked for and not used.
#[derive(Default)]
struct Pool {
    bytes: Vec<[u8; RANDOM]>,
}

thread_local! {
    static POOL: RefCell<Pool> = RefCell::default();
}

/// Makes a name that nobody else has: a UUID of version 7.
pub(crate) fn unique_name() -> Arc<str> {
    let uuid = POOL
        .with_borrow_mut(Pool::take)
        .and_then(uuid_of)
        .unwrap_or_else(Uuid::now_v7);
    let mut text = [0; uuid::fmt::Hyphenated::LENGTH];
    Arc::from(&*uuid.hyphenated().encode_lower(&mut text))
}

fn uuid_of(random: [u8; RANDOM]) -> Option<Uuid> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let millis = since.as_millis().try_into().ok()?;
    Some(Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
}

impl Pool {
    fn take(&mut self) -> Option<[u8; RANDOM]> {
        if self.bytes.is_empty() {
            let mut bytes = vec![[0; RANDOM]; NAMES];
            getrandom::fill(bytes.as_flattened_mut()).ok()?;
            self.bytes = bytes;
        }
        self.bytes.pop()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_name_is_given_twice() {
        let names = || (0..1000).map(|_| unique_name()).collect::<Vec<_>>();
        let threads = (0..4).map(|_| std::thread::spawn(names));
        let threads = threads.collect::<Vec<_>>().into_iter();
        let given: Vec<_> = threads.flat_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(given.iter().collect::<HashSet<_>>().len(), 4000);
        for name in &given {
            let uuid = Uuid::try_parse(name).expect("it is a UUID");
            assert_eq!(uuid.get_version_num(), 7);
            assert_eq!(uuid.to_string(), **name);
        }
    }
}
