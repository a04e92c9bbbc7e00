//! How some texts must be written.

use std::sync::LazyLock;

use acp_protocol::v1::StringFormat;
use regex::Regex;

/// A pattern of our own, compiled when it is first used.
type Pattern = LazyLock<Regex>;

/// Something, an at sign, and a domain. Whether mail arrives is another question, and
/// finer rules refuse addresses that work.
static EMAIL: Pattern = Pattern::new(|| {
    regex(
        r"^[^\s\x00-\x1f\x7f-\x{9f}]+@[^\s\x00-\x1f\x7f-\x{9f}@.-][^\s\x00-\x1f\x7f-\x{9f}@.]*(?:\.[^\s\x00-\x1f\x7f-\x{9f}@.]+)*$",
    )
});

/// A scheme, a colon, and more, without blanks.
static URI: Pattern =
    Pattern::new(|| regex(r#"^[A-Za-z][A-Za-z0-9+.-]*:[^\s\x00-\x1f\x7f-\x{9f}<>"{}|\\^`]+$"#));

/// A day, as `2026-11-30`.
static DATE: Pattern = Pattern::new(|| regex("^([0-9]{4})-([0-9]{2})-([0-9]{2})$"));

/// A time with its offset, as `T06:12:49Z`. A minute may have a leap second.
static TIME: Pattern = Pattern::new(|| {
    regex(
        r"^[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60)(?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$",
    )
});

/// Tells whether a text is written as `format` says; every text is, for one that
/// nobody knows.
pub(super) fn fits(format: &StringFormat, text: &str) -> bool {
    match format {
        StringFormat::Email => EMAIL.is_match(text) && !text.ends_with('-'),
        StringFormat::Uri => URI.is_match(text),
        StringFormat::Date => is_date(text),
        StringFormat::DateTime => text
            .split_at_checked(10)
            .is_some_and(|(date, time)| is_date(date) && TIME.is_match(time)),
        _ => true,
    }
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of our own is valid")
}

fn is_date(text: &str) -> bool {
    DATE.captures(text).is_some_and(|parts| {
        let (_, digits) = parts.extract();
        let [year, month, day] = digits.map(|digits| digits.parse().unwrap_or(0));
        (1..=days(year, month)).contains(&day)
    })
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(format: StringFormat, fit: &[&str], unfit: &[&str]) {
        for text in fit {
            assert!(fits(&format, text), "{text:?} is a {}", format.as_str());
        }
        for text in unfit {
            assert!(!fits(&format, text), "{text:?} is no {}", format.as_str());
        }
    }

    #[test]
    fn email() {
        check(
            StringFormat::Email,
            &[
                "ada@example.com",
                "a+b@x",
                "\"a@b\"@example.com",
                "ä@bücher.example",
            ],
            &[
                "",
                "ada",
                "@example.com",
                "ada@",
                "a b@example.com",
                "ada@.com",
                "ada@com.",
                "ada@a..b",
                "ada@a\n",
            ],
        );
    }

    #[test]
    fn uri() {
        check(
            StringFormat::Uri,
            &[
                "https://example.com/a?b#c",
                "mailto:ada@example.com",
                "urn:isbn:0",
                "a+b-c.1:x",
            ],
            &[
                "",
                "example.com",
                "//example.com",
                ":x",
                "1a:x",
                "a:",
                "a b:x",
                "https://a b",
                "https://a\\b",
                "a:<x>",
            ],
        );
    }

    #[test]
    fn date() {
        check(
            StringFormat::Date,
            &["2026-11-30", "2024-02-29", "2000-02-29", "0001-01-01"],
            &[
                "",
                "2026-11-31",
                "2026-02-29",
                "1900-02-29",
                "2026-13-01",
                "2026-00-01",
                "2026-01-00",
                "26-11-30",
                "2026-1-30",
                "2026/11/30",
                "2026-11-30Z",
                "+026-11-30",
                "2026-+1-30",
                "2026-11-3é",
            ],
        );
    }

    #[test]
    fn date_time() {
        check(
            StringFormat::DateTime,
            &[
                "2026-11-30T06:12:49Z",
                "2026-11-30t06:12:49z",
                "2026-11-30T06:12:49.123+01:00",
                "2026-12-31T23:59:60-00:00",
            ],
            &[
                "",
                "2026-11-30",
                "2026-11-30T06:12Z",
                "2026-11-30T06:12:49",
                "2026-11-30 06:12:49Z",
                "2026-11-30T24:00:00Z",
                "2026-11-30T06:60:00Z",
                "2026-11-30T06:12:61Z",
                "2026-11-30T06:12:49.Z",
                "2026-11-30T06:12:49+1:00",
                "2026-11-30T06:12:49+24:00",
                "2026-11-30T06:12:49Zx",
                "2026-11-31T06:12:49Z",
                "2026-11-30T+6:12:49Z",
                "2026-11-30é06",
            ],
        );
    }

    #[test]
    fn what_nobody_knows_is_left_to_the_agent() {
        check(StringFormat::from("ipv4"), &["", "anything"], &[]);
    }
}
