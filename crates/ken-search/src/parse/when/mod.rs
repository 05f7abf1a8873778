//! Dates as people write them: a day, a month, a year, two weeks ago, last month.
//!
//! A date means the whole of its hour, day, month or year in the time zone of the user. This module does not read the
//! clock: the current time comes in when the plan is made. [`read`] parses dates.

use std::fmt;

use jiff::civil::{Date, DateTime, ISOWeekDate, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ToSpan};
use ken_core::MONTHS;

pub(super) mod read;

/// A time as precise as it is written: a second, a day, a month, a year …
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// A year.
    Year(i16),
    /// A month of a year.
    Month(i16, i8),
    /// A week, by its Monday.
    Week(Date),
    /// A day.
    Day(Date),
    /// An hour, a minute or a second of a day.
    Time(DateTime, Precision),
    /// A second, counted from 1970-01-01 UTC.
    Second(i64),
    /// The current second.
    Now,
    /// The current day.
    Today,
    /// The day before today.
    Yesterday,
    /// The day after today.
    Tomorrow,
    /// The current day, week, month or year, or the one at this distance from it.
    Relative(i8, Unit),
    /// The current or last month with this number.
    NamedMonth(i8),
    /// The current or last day with this month and number.
    NamedDay(i8, i8),
    /// The last day with this name before today.
    Weekday(Weekday),
    /// The time at this distance before now: a day, or a second if hours, minutes or seconds are counted.
    Ago(Ago),
}

/// The precision of a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Precision {
    Hour,
    Minute,
    Second,
}

/// A period of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// How long ago.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub struct Ago {
    pub years: u16,
    pub months: u16,
    pub weeks: u16,
    pub days: u16,
    pub hours: u16,
    pub minutes: u16,
    pub seconds: u16,
}

/// No file is older than this.
const MAX_YEARS: u16 = 9999;

/// For orders that must always hold, the days of one year are tried …
const YEAR: i64 = 366 * 86_400;
/// … each at another hour.
const STEP: i64 = 25 * 3600;

const WEEKDAYS: [&str; 7] = [
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

impl Unit {
    const NAMES: [(Self, &'static str); 4] = [
        (Self::Day, "day"),
        (Self::Week, "week"),
        (Self::Month, "month"),
        (Self::Year, "year"),
    ];

    fn span(self) -> Span {
        match self {
            Self::Day => 1.day(),
            Self::Week => 1.week(),
            Self::Month => 1.month(),
            Self::Year => 1.year(),
        }
    }
}

impl Ago {
    /// Returns the letter and number of each unit.
    fn parts(self) -> [(char, u16); 7] {
        [
            ('y', self.years),
            ('m', self.months),
            ('w', self.weeks),
            ('d', self.days),
            ('h', self.hours),
            ('M', self.minutes),
            ('s', self.seconds),
        ]
    }

    /// Returns the part in days, months and years.
    pub(super) fn date_span(self) -> Span {
        i64::from(self.years.min(MAX_YEARS))
            .years()
            .months(i64::from(self.months))
            .weeks(i64::from(self.weeks))
            .days(i64::from(self.days))
    }

    fn is_of_days(self) -> bool {
        (self.hours, self.minutes, self.seconds) == (0, 0, 0)
    }

    fn seconds(self, now: Timestamp, zone: &TimeZone) -> i64 {
        let time = i64::from(self.hours) * 3600 + i64::from(self.minutes) * 60;
        let day = now
            .to_zoned(zone.clone())
            .datetime()
            .saturating_sub(self.date_span());
        second(day, zone).saturating_sub(time + i64::from(self.seconds))
    }
}

impl When {
    /// Returns whether all of this time is later than another, at any current time and in any zone. This is never so
    /// for times that depend on different things.
    pub fn is_after(self, other: Self) -> bool {
        if self.sort() != other.sort() {
            return false;
        }
        let seconds = |when: Self, now| when.seconds(now, &TimeZone::UTC);
        let mut times = (0..YEAR / STEP).filter_map(|n| Timestamp::from_second(n * STEP).ok());
        times.all(|now| seconds(self, now).0 >= seconds(other, now).1)
    }

    /// Returns what the time depends on: nothing, the zone, or the current time.
    fn sort(self) -> u8 {
        match self {
            Self::Second(_) => 0,
            Self::Year(_) | Self::Month(..) | Self::Week(_) | Self::Day(_) | Self::Time(..) => 1,
            _ => 2,
        }
    }

    /// Returns the first second of the time and the first second after its end.
    pub(crate) fn seconds(self, now: Timestamp, zone: &TimeZone) -> (i64, i64) {
        let one = |second: i64| (second, second.saturating_add(1));
        let today = now.to_zoned(zone.clone()).date();
        let (first, length) = match self {
            Self::Second(second) => return one(second),
            Self::Now => return one(now.as_second()),
            Self::Ago(ago) if !ago.is_of_days() => return one(ago.seconds(now, zone)),
            Self::Time(start, precision) => return time(start, precision, zone),
            Self::Year(year) => (first_of(year, 1, 1), 1.year()),
            Self::Month(year, month) => (first_of(year, month, 1), 1.month()),
            Self::Week(monday) => (monday, 1.week()),
            Self::Day(date) => (date, 1.day()),
            Self::Today => (today, 1.day()),
            Self::Yesterday => (today.saturating_sub(1.day()), 1.day()),
            Self::Tomorrow => (today.saturating_add(1.day()), 1.day()),
            Self::Relative(count, unit) => (relative(today, count, unit), unit.span()),
            Self::NamedMonth(month) => {
                let year = today.year() - i16::from(month > today.month());
                (first_of(year, month, 1), 1.month())
            }
            Self::NamedDay(month, day) => {
                let year = today.year() - i16::from((month, day) > (today.month(), today.day()));
                (first_of(year, month, day), 1.day())
            }
            Self::Weekday(weekday) => {
                let back = today.weekday().since(weekday);
                let back = if back == 0 { 7 } else { back };
                (today.saturating_sub(i64::from(back).days()), 1.day())
            }
            Self::Ago(ago) => (today.saturating_sub(ago.date_span()), 1.day()),
        };
        let start = |date: Date| second(date.into(), zone);
        (start(first), start(first.saturating_add(length)))
    }
}

/// Returns the day, or the last one before it if the year does not have it.
fn first_of(year: i16, month: i8, day: i8) -> Date {
    let date = Date::new(year, month, 1).map(|first| day.min(first.days_in_month()));
    let date = date.and_then(|day| Date::new(year, month, day));
    date.unwrap_or(Date::MIN)
}

/// Returns the first day of the current period, or of the period at this distance from it.
fn relative(today: Date, count: i8, unit: Unit) -> Date {
    let count = i64::from(count);
    match unit {
        Unit::Day => today.saturating_add(count.days()),
        Unit::Week => {
            let back = i64::from(today.weekday().to_monday_zero_offset());
            today
                .saturating_sub(back.days())
                .saturating_add(count.weeks())
        }
        Unit::Month => today.first_of_month().saturating_add(count.months()),
        Unit::Year => today.first_of_year().saturating_add(count.years()),
    }
}

fn time(start: DateTime, precision: Precision, zone: &TimeZone) -> (i64, i64) {
    let start = second(start, zone);
    let length = match precision {
        Precision::Hour => 3600,
        Precision::Minute => 60,
        Precision::Second => 1,
    };
    (start, start.saturating_add(length))
}

/// Returns the second of a time of day; a time beyond all calendars becomes the least or greatest number.
fn second(time: DateTime, zone: &TimeZone) -> i64 {
    match time.to_zoned(zone.clone()) {
        Ok(start) => start.timestamp().as_second(),
        Err(_) if time.year() < 0 => i64::MIN,
        Err(_) => i64::MAX,
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Year(year) => write!(f, "{year:04}"),
            Self::Month(year, month) => write!(f, "{year:04}-{month:02}"),
            Self::Week(monday) => {
                let week = ISOWeekDate::from(*monday);
                write!(f, "{:04}-W{:02}", week.year(), week.week())
            }
            Self::Day(date) => write!(f, "{date}"),
            Self::Time(time, precision) => {
                write!(f, "{}T{:02}", time.date(), time.hour())?;
                match precision {
                    Precision::Hour => Ok(()),
                    Precision::Minute => write!(f, ":{:02}", time.minute()),
                    Precision::Second => write!(f, ":{:02}:{:02}", time.minute(), time.second()),
                }
            }
            Self::Second(second) => write!(f, "@{second}"),
            Self::Now => f.write_str("now"),
            Self::Today => f.write_str("today"),
            Self::Yesterday => f.write_str("yesterday"),
            Self::Tomorrow => f.write_str("tomorrow"),
            Self::Relative(count, unit) => {
                let name = ["last", "this", "next"]
                    [usize::from(count.clamp(&-1, &1).wrapping_add(1).unsigned_abs())];
                write!(f, "{name}_{}", Unit::NAMES[*unit as usize].1)
            }
            Self::NamedMonth(month) => f.write_str(month_name(*month)),
            Self::NamedDay(month, day) => write!(f, "{}_{day}", month_name(*month)),
            Self::Weekday(weekday) => {
                let number = weekday.to_monday_zero_offset().unsigned_abs();
                f.write_str(WEEKDAYS[usize::from(number)])
            }
            Self::Ago(ago) => write!(f, "{ago}"),
        }
    }
}

fn month_name(month: i8) -> &'static str {
    let number = usize::from(month.unsigned_abs()).saturating_sub(1);
    MONTHS.get(number).unwrap_or(&MONTHS[0])
}

impl fmt::Display for Ago {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return f.write_str("0d");
        }
        let parts = self.parts().into_iter().filter(|(_, count)| *count > 0);
        parts
            .into_iter()
            .try_for_each(|(letter, count)| write!(f, "{count}{letter}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clocks are put forward on 2026-03-29 in Berlin.
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
        expect("2025-W03", "2025-01-12T23:00:00Z", "2025-01-19T23:00:00Z");
        expect(
            "2025-01-15T10",
            "2025-01-15T09:00:00Z",
            "2025-01-15T10:00:00Z",
        );
        expect(
            "20250115T1030",
            "2025-01-15T09:30:00Z",
            "2025-01-15T09:31:00Z",
        );
        expect(
            "2025-01-15 10:30:05",
            "2025-01-15T09:30:05Z",
            "2025-01-15T09:30:06Z",
        );
        expect(
            "2025-01-15T10:30+02:00",
            "2025-01-15T08:30:00Z",
            "2025-01-15T08:30:01Z",
        );
        expect(
            "@1234567890",
            "2009-02-13T23:31:30Z",
            "2009-02-13T23:31:31Z",
        );
        expect("now", "2026-03-29T12:00:00Z", "2026-03-29T12:00:01Z");
        expect("tomorrow", "2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z");
        // The 29th is a Sunday; the day before it is an hour longer.
        expect("this week", "2026-03-22T23:00:00Z", "2026-03-29T22:00:00Z");
        expect("last_week", "2026-03-15T23:00:00Z", "2026-03-22T23:00:00Z");
        expect("last month", "2026-01-31T23:00:00Z", "2026-02-28T23:00:00Z");
        expect("this year", "2025-12-31T23:00:00Z", "2026-12-31T23:00:00Z");
        expect("next month", "2026-03-31T22:00:00Z", "2026-04-30T22:00:00Z");
        expect("Sunday", "2026-03-21T23:00:00Z", "2026-03-22T23:00:00Z");
        expect("last tues", "2026-03-23T23:00:00Z", "2026-03-24T23:00:00Z");
        expect("march", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z");
        expect("apr", "2025-03-31T22:00:00Z", "2025-04-30T22:00:00Z");
        expect("29 march", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
        expect("mar_30", "2025-03-29T23:00:00Z", "2025-03-30T22:00:00Z");
        expect("feb 29", "2026-02-27T23:00:00Z", "2026-02-28T23:00:00Z");
        expect(
            "15 Jan 2025",
            "2025-01-14T23:00:00Z",
            "2025-01-15T23:00:00Z",
        );
        expect(
            "January 2nd, 2025",
            "2025-01-01T23:00:00Z",
            "2025-01-02T23:00:00Z",
        );
        expect("sept 2025", "2025-08-31T22:00:00Z", "2025-09-30T22:00:00Z");
        expect(
            "two weeks ago",
            "2026-03-14T23:00:00Z",
            "2026-03-15T23:00:00Z",
        );
        expect("1y1m", "2025-02-27T23:00:00Z", "2025-02-28T23:00:00Z");
        expect("P1Y1M", "2025-02-27T23:00:00Z", "2025-02-28T23:00:00Z");
        expect("36h", "2026-03-28T00:00:00Z", "2026-03-28T00:00:01Z");
        expect("90M", "2026-03-29T10:30:00Z", "2026-03-29T10:30:01Z");
        expect(
            "an hour ago",
            "2026-03-29T11:00:00Z",
            "2026-03-29T11:00:01Z",
        );
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
            "202513",
            "2025-W54",
            "2025-W01-1",
            "@",
            "@1x",
            "@9999999999999999999",
            "1x",
            "feb 30",
            "february 29 2025",
            "ma",
            "last",
            "last 3",
            "last fortnight",
            "3 days later",
            "P",
            "10:30",
            "2025-01-15T25",
            "-0001-01-01T10",
            "2025-01-15T10:3",
        ] {
            assert_eq!(When::parse(text), None, "{text}");
        }
    }
}
