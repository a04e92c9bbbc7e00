//! Sizes and times as the data files write them: `20MiB`, `500ms`.

use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Deserializer, de};

/// Reads a number of bytes: `512B`, `64KiB`, `20MiB`, `1GiB`.
///
/// # Errors
///
/// Fails when it is no number with one of these units.
pub(super) fn bytes(text: &str) -> Result<u64> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("B", 0)];
    let found = units
        .iter()
        .find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
    let parsed = found.and_then(|(number, shift)| {
        let number: u64 = number.parse().ok()?;
        number.checked_mul(1 << shift)
    });
    parsed.with_context(|| format!("{text:?} is no size; write 512B, 64KiB, 20MiB or 1GiB"))
}

/// Reads a time: `500ms`, `3s`, `2m`.
///
/// # Errors
///
/// Fails when it is no number with one of these units.
pub(super) fn time(text: &str) -> Result<Duration> {
    let units = [("ms", 1), ("s", 1000), ("m", 60_000)];
    let found = units
        .iter()
        .find_map(|(unit, millis)| Some((text.strip_suffix(unit)?, millis)));
    let parsed = found.and_then(|(number, millis)| {
        let number: u64 = number.parse().ok()?;
        number.checked_mul(*millis).map(Duration::from_millis)
    });
    parsed.with_context(|| format!("{text:?} is no time; write 500ms, 3s or 2m"))
}

/// A time in a data file.
pub(super) fn read_time<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    time(&String::deserialize(from)?).map_err(de::Error::custom)
}

/// A size in a data file.
pub(super) fn read_bytes<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    bytes(&String::deserialize(from)?).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_carry_their_unit() {
        assert_eq!(bytes("20MiB").expect("a size"), 20 << 20);
        assert_eq!(bytes("512B").expect("a size"), 512);
        assert_eq!(time("500ms").expect("a time"), Duration::from_millis(500));
        assert_eq!(time("2m").expect("a time"), Duration::from_secs(120));
        for wrong in ["20", "MiB", "-1MiB", "99999999999999GiB"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
        let error = time("3 s").expect_err("a blank is not allowed");
        assert_eq!(
            error.to_string(),
            "\"3 s\" is no time; write 500ms, 3s or 2m"
        );
    }
}
