//! Names that are given once.

use std::{
    cell::RefCell,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use uuid::{Builder, Uuid};

/// Random bytes of one name.
const RANDOM: usize = 12;
/// Letters of a short name: six bits each.
const SHORT: usize = RANDOM * 8 / 6;
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
    Some(Builder::from_unix_timestamp_millis(millis, random.first_chunk()?).into_uuid())
}

/// Makes a short name that no other prompt of the session has, for as long as the
/// session is kept: 96 random bits, of which two are alike among a thousand million
/// with a probability of less than one in a hundred thousand million.
///
/// Every update of a turn carries it three times.
pub(crate) fn prompt_name() -> Arc<str> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let Some(random) = POOL.with_borrow_mut(Pool::take) else {
        return Uuid::now_v7().to_string().into();
    };
    let mut name = String::with_capacity(SHORT);
    for [first, second, third] in random.as_chunks().0 {
        let bits = u32::from_be_bytes([0, *first, *second, *third]);
        let letter = |shift: u32| char::from(LETTERS[(bits >> shift) as usize % LETTERS.len()]);
        name.extend([18, 12, 6, 0].map(letter));
    }
    name.into()
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
    fn prompts_have_short_names() {
        let given: HashSet<_> = (0..1000).map(|_| prompt_name()).collect();
        assert_eq!(given.len(), 1000);
        for name in &given {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            assert!(name.len() == SHORT && name.bytes().all(is_plain), "{name}");
        }
        // All bits of all bytes count.
        let letters: HashSet<_> = given.iter().flat_map(|name| name.bytes()).collect();
        assert_eq!(letters.len(), 64);
    }

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
