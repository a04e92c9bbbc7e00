//! Sessions in words.

use acp_text::one_line;

use crate::sessions::record::now;

/// Says how long ago a time was, in one unit.
pub(super) fn ago(then: u64) -> String {
    ago_from(now(), then)
}

fn ago_from(now: u64, then: u64) -> String {
    let passed = now.saturating_sub(then);
    let (number, unit) = match passed {
        0..60 => return "just now".to_owned(),
        60..3600 => (passed / 60, "min"),
        3600..86_400 => (passed / 3600, "h"),
        _ => (
            passed / 86_400,
            if passed < 2 * 86_400 { "day" } else { "days" },
        ),
    };
    format!("{number} {unit} ago")
}

/// Characters of what a session is about that a table shows.
const ABOUT: usize = 60;

/// Shortens what a session is about to a cell.
pub(super) fn about(text: &str) -> String {
    one_line(text, ABOUT)
}

/// Writes names one behind the other.
pub(super) fn names<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    let all: Vec<_> = all.into_iter().collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_one_unit() {
        let day = 24 * 3600;
        let now = 100 * day;
        let cases = [
            (0, "just now"),
            (59, "just now"),
            (60, "1 min ago"),
            (3599, "59 min ago"),
            (3600, "1 h ago"),
            (day - 1, "23 h ago"),
            (day, "1 day ago"),
            (3 * day, "3 days ago"),
        ];
        for (passed, said) in cases {
            assert_eq!(ago_from(now, now - passed), said);
        }
        // The clock was set back.
        assert_eq!(ago_from(now, now + 5), "just now");
    }
}
