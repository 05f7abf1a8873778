//! Dates as notmuch prints them.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

const DAY: i64 = 24 * 60 * 60;

/// Returns a time as seen from now: `5 mins. ago`, `Today 12:30`, `Yest. 12:30`, `Mon. 12:30`, `October 12`,
/// `2008-06-30`.
pub(super) fn relative(then: i64, now: Timestamp, zone: &TimeZone) -> String {
    let Ok(at) = Timestamp::from_second(then) else {
        return "when?".to_owned();
    };
    let (then, today) = (at.to_zoned(zone.clone()), now.to_zoned(zone.clone()));
    let age = now.as_second() - at.as_second();
    if age < 0 {
        return "the future".to_owned();
    }
    if age > 180 * DAY {
        return then.strftime("%F").to_string();
    }
    if age < 60 * 60 {
        return format!("{} mins. ago", age / 60);
    }
    let is_same_weekday = then.weekday() == today.weekday();
    if age <= 7 * DAY {
        if is_same_weekday && age < DAY {
            return then.strftime("Today %R").to_string();
        }
        if then.weekday() == today.weekday().previous() {
            return then.strftime("Yest. %R").to_string();
        }
        if !is_same_weekday {
            return then.strftime("%a. %R").to_string();
        }
    }
    then.strftime("%B %d").to_string()
}

/// Returns a date of a header: `Fri, 05 Jan 2001 15:43:57 +0000`.
pub(super) fn of_header(seconds: i64, minutes_ahead: i32) -> String {
    let offset = Offset::from_seconds(minutes_ahead.saturating_mul(60)).unwrap_or(Offset::UTC);
    let at = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
    let at = at.to_zoned(offset.to_time_zone());
    at.strftime("%a, %d %b %Y %H:%M:%S %z").to_string()
}

/// Returns the date in a line of a mailbox: `Fri Jan  5 15:43:57 2001`.
pub(super) fn of_mailbox(seconds: i64) -> String {
    let at = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
    let at = at.to_zoned(TimeZone::UTC);
    at.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

/// Returns how long something takes: `1h 2m 3s`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 1 {
        return "almost no time".to_owned();
    }
    let mut text = String::new();
    if seconds > 3600 {
        text.push_str(&format!("{}h ", seconds / 3600));
    }
    if seconds % 3600 > 60 {
        text.push_str(&format!("{}m ", seconds % 3600 / 60));
    }
    text + &format!("{}s", seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seen_from_now() {
        // A Friday.
        let now: Timestamp = "2026-11-27T12:00:00Z".parse().unwrap();
        for (then, text) in [
            ("2026-11-27T11:55:30Z", "4 mins. ago"),
            ("2026-11-27T01:02:00Z", "Today 01:02"),
            ("2026-11-26T01:02:00Z", "Yest. 01:02"),
            ("2026-11-23T13:00:00Z", "Mon. 13:00"),
            ("2026-11-20T13:00:00Z", "November 20"),
            ("2026-10-12T13:00:00Z", "October 12"),
            ("2008-06-30T13:00:00Z", "2008-06-30"),
            ("2027-06-30T13:00:00Z", "the future"),
        ] {
            let then: Timestamp = then.parse().unwrap();
            assert_eq!(relative(then.as_second(), now, &TimeZone::UTC), text);
        }
    }

    #[test]
    fn dates_keep_their_offset() {
        let text = of_header(978_709_437, -330);
        assert_eq!(text, "Fri, 05 Jan 2001 10:13:57 -0530");
        assert_eq!(of_mailbox(978_709_437), "Fri Jan  5 15:43:57 2001");
        assert_eq!(duration(Duration::from_secs(3_725)), "1h 2m 5s");
        assert_eq!(duration(Duration::ZERO), "almost no time");
    }
}
