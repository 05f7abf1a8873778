//! Dates as people write them: a day, a month, a year, or so long ago.
//!
//! A date stands for the whole of its day, month or year in the time zone of the asker. The
//! clock is not read here; it comes in when the plan is made.

use std::fmt;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};

/// A day, a month or a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// A year.
    Year(i16),
    /// A month of a year.
    Month(i16, i8),
    /// A day.
    Day(Date),
    /// The day that it is.
    Today,
    /// The day before.
    Yesterday,
    /// The day so many units ago.
    Ago(u16, Unit),
}

/// The unit of a time that has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Unit {
    Days,
    Weeks,
    Months,
    Years,
}

impl Unit {
    const LETTERS: [(Self, char); 4] = [
        (Self::Days, 'd'),
        (Self::Weeks, 'w'),
        (Self::Months, 'm'),
        (Self::Years, 'y'),
    ];
}

/// More than that before today there is no file.
const MAX_AGO: u16 = 9999;

impl When {
    /// Reads a date; `None` if it is none.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "today" => return Some(Self::Today),
            "yesterday" => return Some(Self::Yesterday),
            _ => {}
        }
        for (unit, letter) in Unit::LETTERS {
            if let Some(count) = text.strip_suffix(letter) {
                let count = digits(count, 4)?;
                return (count <= MAX_AGO.cast_signed())
                    .then_some(Self::Ago(count.cast_unsigned(), unit));
            }
        }
        let mut parts = text.split('-');
        let year = parts.next().filter(|year| year.len() == 4)?;
        let year = digits(year, 4).filter(|&year| year > 0)?;
        let Some(month) = parts.next() else {
            return Some(Self::Year(year));
        };
        let month = i8::try_from(digits(month, 2)?).ok()?;
        let Some(day) = parts.next() else {
            return (1..=12)
                .contains(&month)
                .then_some(Self::Month(year, month));
        };
        let day = i8::try_from(digits(day, 2)?).ok()?;
        let date = Date::new(year, month, day).ok()?;
        parts.next().is_none().then_some(Self::Day(date))
    }

    /// Returns the first second of the date and the first second after it.
    pub(crate) fn seconds(self, now: Timestamp, zone: &TimeZone) -> (i64, i64) {
        let today = now.to_zoned(zone.clone()).date();
        let (first, length) = match self {
            Self::Year(year) => (Date::new(year, 1, 1).unwrap_or(Date::MIN), 1.year()),
            Self::Month(year, month) => (Date::new(year, month, 1).unwrap_or(Date::MIN), 1.month()),
            Self::Day(date) => (date, 1.day()),
            Self::Today => (today, 1.day()),
            Self::Yesterday => (today.saturating_sub(1.day()), 1.day()),
            Self::Ago(count, unit) => (today.saturating_sub(span(count, unit)), 1.day()),
        };
        let after = first.saturating_add(length);
        (midnight(first, zone), midnight(after, zone))
    }
}

fn span(count: u16, unit: Unit) -> Span {
    let count = count.min(MAX_AGO);
    match unit {
        Unit::Days => i64::from(count).days(),
        Unit::Weeks => i64::from(count).weeks(),
        Unit::Months => i64::from(count).months(),
        Unit::Years => i64::from(count).years(),
    }
}

/// Returns the first second of a day; days at the end of all calendars have none.
fn midnight(date: Date, zone: &TimeZone) -> i64 {
    match date.to_zoned(zone.clone()) {
        Ok(start) => start.timestamp().as_second(),
        Err(_) if date.year() < 0 => i64::MIN,
        Err(_) => i64::MAX,
    }
}

/// Reads one to `most` digits.
fn digits(text: &str, most: usize) -> Option<i16> {
    let plain = (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Year(year) => write!(f, "{year:04}"),
            Self::Month(year, month) => write!(f, "{year:04}-{month:02}"),
            Self::Day(date) => write!(
                f,
                "{:04}-{:02}-{:02}",
                date.year(),
                date.month(),
                date.day()
            ),
            Self::Today => f.write_str("today"),
            Self::Yesterday => f.write_str("yesterday"),
            Self::Ago(count, unit) => {
                let (_, letter) = Unit::LETTERS[*unit as usize];
                write!(f, "{count}{letter}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-29 is the day on which clocks are put forward in Berlin.
    fn seconds(text: &str) -> (String, String) {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let now: Timestamp = "2026-03-29T12:00:00Z".parse().unwrap();
        let (from, to) = When::parse(text).unwrap().seconds(now, &zone);
        let show = |s| Timestamp::from_second(s).unwrap().to_string();
        (show(from), show(to))
    }

    #[test]
    fn dates_cover_their_whole_period_in_the_zone() {
        let expect = |text, from: &str, to: &str| {
            assert_eq!(seconds(text), (from.to_owned(), to.to_owned()), "{text}");
        };
        expect("2025", "2024-12-31T23:00:00Z", "2025-12-31T23:00:00Z");
        expect("2025-06", "2025-05-31T22:00:00Z", "2025-06-30T22:00:00Z");
        expect("2024-02", "2024-01-31T23:00:00Z", "2024-02-29T23:00:00Z");
        expect("today", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
        expect("yesterday", "2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z");
        expect("1m", "2026-02-27T23:00:00Z", "2026-02-28T23:00:00Z");
        expect("2w", "2026-03-14T23:00:00Z", "2026-03-15T23:00:00Z");
    }

    #[test]
    fn the_ends_of_the_calendar_do_not_overflow() {
        let now: Timestamp = "2026-03-29T12:00:00Z".parse().unwrap();
        for zone in [TimeZone::UTC, TimeZone::fixed(jiff::tz::offset(-12))] {
            let (from, to) = When::parse("9999").unwrap().seconds(now, &zone);
            assert!(from < to);
            let (from, to) = When::parse("9999y").unwrap().seconds(now, &zone);
            assert!(from < to);
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "25",
            "02025",
            "2025-13",
            "2025-00",
            "2025-02-30",
            "2025-1-1-1",
            "d",
            "-1d",
            "10000d",
            "+025",
            "2025-",
            "١٢٣٤",
            "0000",
        ] {
            assert_eq!(When::parse(text), None, "{text}");
        }
    }
}
