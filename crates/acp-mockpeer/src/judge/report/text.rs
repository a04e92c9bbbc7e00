//! Texts of strangers, made fit for people's eyes.

use std::time::{Duration, SystemTime};

use acp_recording::{RecordedEvent, RecordingEntry};
use acp_text::visible;

/// Escapes a text for XML and HTML; each character that would not be seen is shown.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            escaped.push('\n');
        }
        for c in visible(line).chars() {
            match c {
                '&' => escaped.push_str("&amp;"),
                '<' => escaped.push_str("&lt;"),
                '>' => escaped.push_str("&gt;"),
                '"' => escaped.push_str("&quot;"),
                '\'' => escaped.push_str("&#39;"),
                c => escaped.push(c),
            }
        }
    }
    escaped
}

/// Writes a word of a command line as one would type it.
pub(super) fn word(word: &str) -> String {
    let simple = |c: char| c.is_alphanumeric() || "-_=./:,@+".contains(c);
    match !word.is_empty() && word.chars().all(simple) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// Says what an entry of a transcript is, in one line.
pub(super) fn entry(entry: &RecordingEntry) -> String {
    crate::player::event(&entry.what, |bytes| {
        visible(&String::from_utf8_lossy(bytes)).into_owned()
    })
}

/// Tells whether an entry is the place of something left out.
pub(super) fn is_gap(entry: &RecordingEntry) -> bool {
    matches!(entry.what, RecordedEvent::Left(_))
}

/// Writes a time that something took: `0.3 s`.
pub(super) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Writes a number and what is counted.
pub(super) fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// Writes a time in UTC: `2026-11-30T09:33:00Z`.
pub(super) fn utc(time: SystemTime) -> String {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    let seconds = since.unwrap_or_default().as_secs();
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // The year begins in March here, so that the day that is sometimes there is its last.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12 + 1;
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_as_one_types_them() {
        assert_eq!(word("--acp"), "--acp");
        assert_eq!(word(""), "''");
        assert_eq!(word("it's a b"), r"'it'\''s a b'");
    }

    #[test]
    fn days() {
        #[track_caller]
        fn check(seconds: u64, expected: &str) {
            assert_eq!(
                utc(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)),
                expected
            );
        }
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_399, "2000-02-28T23:59:59Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(1_709_251_199, "2024-02-29T23:59:59Z");
        check(1_709_251_200, "2024-03-01T00:00:00Z");
        check(1_796_031_180, "2026-11-30T09:33:00Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
    }
}
