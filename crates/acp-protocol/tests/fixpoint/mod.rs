//! What must hold for any bytes that some definition accepts.

use std::fmt::Debug;

use acp_protocol::lenient;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::definitions::each_definition;

/// Decodes `bytes` as each definition in turn.
///
/// No definition panics. What one accepts, it writes so that it is read as the same
/// value, without forgiveness, and written as the same text.
pub(crate) fn check(bytes: &[u8]) {
    macro_rules! check_each {
        ($($name:ident: $type:ty,)*) => { $(check_type::<$type>(stringify!($name), bytes);)* };
    }
    each_definition!(check_each);
}

fn check_type<T>(name: &str, bytes: &[u8])
where
    T: DeserializeOwned + Serialize + PartialEq + Debug,
{
    let Ok(value) = lenient::decode::<T>(bytes) else {
        return;
    };
    let text = serde_json::to_string(&value).expect("what was read can be written");
    let (again, notes) = lenient::collect(|| serde_json::from_str::<T>(&text));
    let again = again.unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
    assert_eq!(again, value, "{name}: {text}");
    assert_eq!(notes, [], "{name}: {text}");
    assert_eq!(
        serde_json::to_string(&again).expect("what was read can be written"),
        text,
        "{name}"
    );
}
