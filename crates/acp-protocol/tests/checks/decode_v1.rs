//! Any JSON as the parameters and the result of every method: what can be read
//! can be written, and reads the same again.

use std::fmt::Debug;

use acp_protocol::{Notification, Request};
use serde::{Serialize, de::DeserializeOwned};

use crate::definitions::each_method;

/// Checks any text, as whatever it can be read as.
///
/// # Panics
///
/// When a message does not survive being written and read.
pub(crate) fn check(text: &[u8]) {
    macro_rules! check_each {
        ($($kind:ident $params:ty,)*) => { $($kind::<$params>(text);)* };
    }
    each_method!(check_each);
}

fn request<R: Request + Debug + PartialEq>(text: &[u8])
where
    R::Response: Debug + PartialEq,
{
    read_and_write::<R>(text);
    read_and_write::<R::Response>(text);
}

fn notification<N: Notification + Debug + PartialEq>(text: &[u8]) {
    read_and_write::<N>(text);
}

fn read_and_write<T: Serialize + DeserializeOwned + Debug + PartialEq>(text: &[u8]) {
    let Ok(read) = serde_json::from_slice::<T>(text) else {
        return;
    };
    let written = serde_json::to_string(&read).expect("what was read can be written");
    let again: T = serde_json::from_str(&written)
        .unwrap_or_else(|error| panic!("{error} in {written} from {read:?}"));
    let rewritten = serde_json::to_string(&again).expect("what was read can be written");
    assert_eq!(rewritten, written);
    assert_eq!(again, read, "{written}");
}
