//! Times to the second, as files hold them: seconds since 1970.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// Returns a time without the part of a second.
pub(crate) fn whole(time: SystemTime) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(since_1970(time))
}

fn since_1970(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

pub(crate) fn serialize<S: Serializer>(
    time: &SystemTime,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(since_1970(*time))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<SystemTime, D::Error> {
    let seconds = Duration::from_secs(u64::deserialize(deserializer)?);
    let time = UNIX_EPOCH.checked_add(seconds);
    time.ok_or_else(|| D::Error::custom("a time is wanted"))
}
