//! Values of options that are more than a word.

use std::time::Duration;

/// A whole number of seconds, or of minutes or hours with `m` or `h` behind it.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3600),
        _ => (text, 1),
    };
    let seconds = number.parse::<u64>().ok();
    match seconds.and_then(|number| number.checked_mul(unit)) {
        Some(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds)),
        _ => Err("a time is wanted, as 90, 90s, 5m or 1h".to_owned()),
    }
}

/// A time, or `none` for no bound.
pub(crate) fn time_or_none(text: &str) -> Result<Bound, String> {
    if text == "none" {
        return Ok(Bound(None));
    }
    time(text)
        .map(|time| Bound(Some(time)))
        .map_err(|error| format!("{error}, or none"))
}

/// A bound that may be lifted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound(pub(crate) Option<Duration>);

/// A name and its value.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("an option and its value are wanted, as ID=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let seconds = |text| time(text).map(|time| time.as_secs()).ok();
        assert_eq!(seconds("90"), Some(90));
        assert_eq!(seconds("90s"), Some(90));
        assert_eq!(seconds("5m"), Some(300));
        assert_eq!(seconds("2h"), Some(7200));
        for wrong in [
            "",
            "0",
            "0m",
            "-1",
            "m",
            "1.5",
            "5 m",
            "ä",
            "99999999999999999999h",
        ] {
            assert_eq!(seconds(wrong), None, "{wrong:?}");
        }
        assert_eq!(time_or_none("none"), Ok(Bound(None)));
        assert_eq!(time_or_none("1m"), Ok(Bound(Some(Duration::from_secs(60)))));
        assert!(time_or_none("never").is_err());
    }

    #[test]
    fn pairs() {
        let pair = |text| pair(text).ok();
        let two = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(pair("style=long"), two("style", "long"));
        assert_eq!(pair("a=b=c"), two("a", "b=c"));
        assert_eq!(pair("a="), two("a", ""));
        assert_eq!(pair("=b"), None);
        assert_eq!(pair("a"), None);
    }
}
