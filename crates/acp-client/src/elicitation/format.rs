//! How some texts must be written.

use acp_protocol::v1::StringFormat;

/// Tells whether a text is written as `format` says; every text is, for one that
/// nobody knows.
pub(super) fn fits(format: &StringFormat, text: &str) -> bool {
    match format {
        StringFormat::Email => is_email(text),
        StringFormat::Uri => is_uri(text),
        StringFormat::Date => is_date(text),
        StringFormat::DateTime => is_date_time(text),
        _ => true,
    }
}

/// Something, an at sign, and a domain. Whether mail arrives is another question, and
/// finer rules refuse addresses that work.
fn is_email(text: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    match text.rsplit_once('@') {
        Some((user, domain)) => {
            plain(user)
                && plain(domain)
                && !domain.starts_with(['.', '-'])
                && !domain.ends_with(['.', '-'])
                && !domain.contains("..")
        }
        None => false,
    }
}

/// A scheme, a colon, and more, without blanks.
fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let first = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    let scheme = scheme
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    let unfit = |c: char| {
        c.is_whitespace()
            || c.is_control()
            || matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '\\' | '^' | '`')
    };
    first && scheme && !rest.is_empty() && !rest.contains(unfit)
}

/// A day that there is, as `2026-11-30`.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return false;
    }
    match (number(&text[..4]), number(&text[5..7]), number(&text[8..])) {
        (Some(year), Some(month), Some(day)) => day >= 1 && day <= days(year, month),
        _ => false,
    }
}

/// A day and a time with its offset, as `2026-11-30T06:12:49Z`.
fn is_date_time(text: &str) -> bool {
    let (Some(date), Some(separator), Some(rest)) =
        (text.get(..10), text.get(10..11), text.get(11..))
    else {
        return false;
    };
    is_date(date) && matches!(separator, "T" | "t") && is_time(rest)
}

fn is_time(text: &str) -> bool {
    let Some(offset) = text.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (time, offset) = text.split_at(offset);
    let (clock, fraction) = time
        .split_once('.')
        .map_or((time, None), |(clock, fraction)| (clock, Some(fraction)));
    let fraction = fraction.is_none_or(|digits| {
        !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
    });
    let offset = match offset.split_at(1) {
        ("+" | "-", offset) => clock_fits(offset, &[23, 59]),
        (_, rest) => rest.is_empty(),
    };
    // A minute may have a leap second.
    fraction && offset && clock_fits(clock, &[23, 59, 60])
}

/// Numbers of two digits with colons between them, each within its bound.
fn clock_fits(text: &str, bounds: &[u32]) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    parts.len() == bounds.len()
        && parts
            .iter()
            .zip(bounds)
            .all(|(part, most)| part.len() == 2 && number(part).is_some_and(|part| part <= *most))
}

/// Reads digits, and nothing but digits.
fn number(digits: &str) -> Option<u32> {
    if digits.bytes().all(|digit| digit.is_ascii_digit()) {
        digits.parse().ok()
    } else {
        None
    }
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
