//! Times as clients read them.

use std::time::{SystemTime, UNIX_EPOCH};

/// A time in RFC 3339, in UTC and whole seconds. `None` for times that have no
/// such form: before 1970, or beyond the year 9999.
pub(crate) fn rfc3339(time: SystemTime) -> Option<String> {
    let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    (year <= 9999)
        .then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z"))
}

/// The date that lies so many days behind 1970-01-01.
///
/// Years are counted from March, so that the leap day is the last of a year;
/// 400 of them have 146,097 days, in cycles.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (cycle, day_of_cycle) = (days / 146_097, days % 146_097);
    let year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = cycle * 400 + year_of_cycle + u64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times() {
        let check = |seconds: u64, want: Option<&str>| {
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(rfc3339(time).as_deref(), want);
        };
        check(0, Some("1970-01-01T00:00:00Z"));
        check(951_782_399, Some("2000-02-28T23:59:59Z"));
        check(951_782_400, Some("2000-02-29T00:00:00Z"));
        check(951_868_800, Some("2000-03-01T00:00:00Z"));
        check(1_700_000_000, Some("2023-11-14T22:13:20Z"));
        check(4_107_542_399, Some("2100-02-28T23:59:59Z"));
        check(4_107_542_400, Some("2100-03-01T00:00:00Z"));
        check(253_402_300_799, Some("9999-12-31T23:59:59Z"));
        check(253_402_300_800, None);
        assert_eq!(rfc3339(UNIX_EPOCH - Duration::from_secs(1)), None);
    }
}
