//! Parses dates: ISO 8601 of any precision, `7d`, `last month`, `15 jan 2024`, `2 weeks ago`.
//!
//! `_` is read as a space, as in notmuch, so that dates need no quotes. Periods with letters (`P1Y2M`, `2 weeks, 3
//! days`) are parsed by jiff.

use jiff::civil::{Date, DateTime, ISOWeekDate, Weekday};
use jiff::{Span, Timestamp};
use ken_core::{Bound, MONTHS};

use super::{Ago, MAX_YEARS, Precision, Unit, WEEKDAYS, When};

/// Longer texts are no date.
const MAX_BYTES: usize = 64;

impl When {
    /// Parses a date; `None` if the text is no date.
    pub(in crate::parse) fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let numeric = seconds(text)
            .or_else(|| calendar(text))
            .or_else(|| time(text));
        let ago = || compact(text).or_else(|| iso_period(text));
        let exact = numeric.or_else(|| ago().map(Self::Ago));
        exact.or_else(|| {
            let text = spoken(text);
            words(&text).or_else(|| period(&text).map(Self::Ago))
        })
    }
}

/// Reads a range without a sign for it: `last 3 days`, `past week`, `P1Y`.
pub(in crate::parse) fn range(text: &str) -> Option<(Bound<When>, Bound<When>)> {
    if text.len() > MAX_BYTES {
        return None;
    }
    if let Some(ago) = iso_period(text) {
        return Some((Bound::Included(When::Ago(ago)), Bound::Unbounded));
    }
    let text = spoken(text);
    let ago = match text.split_once(' ')? {
        ("last", rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => period(rest)?,
        ("past", rest) => period(rest).or_else(|| period(&format!("1 {rest}")))?,
        _ => return None,
    };
    let end = if ago.is_of_days() {
        When::Today
    } else {
        When::Now
    };
    Some((Bound::Included(When::Ago(ago)), Bound::Included(end)))
}

/// Reads a period as ISO 8601 writes it, in any case: `P1Y2M`, `p2d`.
pub(in crate::parse) fn iso_period(text: &str) -> Option<Ago> {
    let text = text.to_ascii_uppercase();
    text.starts_with('P')
        .then(|| text.parse().ok().and_then(ago))
        .flatten()
}

/// Returns the text in small letters, with one space for each run of spaces or `_`.
fn spoken(text: &str) -> String {
    let text = text.replace('_', " ").to_lowercase();
    let words: Vec<&str> = text.split_whitespace().map(number).collect();
    words.join(" ")
}

/// Returns the digits of a small number that is spelled out.
fn number(word: &str) -> &str {
    match word {
        "a" | "an" | "one" => "1",
        "two" => "2",
        "three" => "3",
        "four" => "4",
        "five" => "5",
        "six" => "6",
        "seven" => "7",
        "eight" => "8",
        "nine" => "9",
        "ten" => "10",
        "eleven" => "11",
        "twelve" => "12",
        word => word,
    }
}

/// Reads `@1234567890`.
fn seconds(text: &str) -> Option<When> {
    let digits = text.strip_prefix('@')?;
    let plain = digits.strip_prefix('-').unwrap_or(digits);
    let right = (1..=18).contains(&plain.len()) && plain.bytes().all(|b| b.is_ascii_digit());
    right.then(|| digits.parse().ok().map(When::Second))?
}

/// Reads a year, month, week or day: `2025`, `2025-01`, `202501`, `2025-W03`, `2025-01-15`,
/// `20250115`.
fn calendar(text: &str) -> Option<When> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) && matches!(text.len(), 6 | 8) {
        let (month, day) = text[4..].split_at(2);
        let dashes = [&text[..4], month, day];
        return calendar(dashes.join("-").trim_end_matches('-'));
    }
    let mut parts = text.split('-');
    let year = parts.next().filter(|year| year.len() == 4)?;
    let year = digits(year, 4).filter(|&year| year > 0)?;
    let Some(month) = parts.next() else {
        return Some(When::Year(year));
    };
    let day = parts.next();
    if parts.next().is_some() {
        return None;
    }
    if let Some(week) = month.strip_prefix(['W', 'w']) {
        let week = i8::try_from(digits(week, 2)?).ok()?;
        let monday = ISOWeekDate::new(year, week, Weekday::Monday).ok()?;
        return day.is_none().then_some(When::Week(monday.date()));
    }
    let month = i8::try_from(digits(month, 2)?).ok()?;
    let Some(day) = day else {
        let known = (1..=12).contains(&month);
        return known.then_some(When::Month(year, month));
    };
    let day = i8::try_from(digits(day, 2)?).ok()?;
    Date::new(year, month, day).ok().map(When::Day)
}

/// Reads a day or month as people write it in numbers: `5.6.2024` (the day first), `5/6/2024` (the day or the month
/// first), `2024/6/5`, `2024.6`, `6/2024`. A year has four digits.
pub(in crate::parse) fn numbers(text: &str, month_first: bool) -> Option<When> {
    let separator = ['/', '.'].into_iter().find(|sign| text.contains(*sign))?;
    let parts: Vec<&str> = text.split(separator).collect();
    let is_year = |text: &str| text.len() == 4;
    let number = |text: &str| i8::try_from(digits(text, 2)?).ok();
    let (year, month, day) = match parts.as_slice() {
        [year, month] if is_year(year) => (year, number(month)?, None),
        [month, year] if is_year(year) => (year, number(month)?, None),
        [year, month, day] if is_year(year) => (year, number(month)?, Some(number(day)?)),
        [first, second, year] if is_year(year) => {
            let (first, second) = (number(first)?, number(second)?);
            let is_month_first =
                separator == '/' && if month_first { first < 13 } else { second > 12 };
            match is_month_first {
                true => (year, first, Some(second)),
                false => (year, second, Some(first)),
            }
        }
        _ => return None,
    };
    let year = digits(year, 4).filter(|&year| year > 0)?;
    match day {
        Some(day) => Date::new(year, month, day).ok().map(When::Day),
        None => (1..=12)
            .contains(&month)
            .then_some(When::Month(year, month)),
    }
}

/// Reads a day with a time of day: `2025-01-15T10`, `2025-01-15 10:30`, `20250115T103000Z`.
fn time(text: &str) -> Option<When> {
    let (_, clock) = text.split_once(['T', 't', ' ', '_'])?;
    let text = text.replacen('_', "T", 1);
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(When::Second(time.as_second()));
    }
    let time: DateTime = text
        .parse()
        .ok()
        .filter(|time: &DateTime| time.year() > 0)?;
    let digits = clock.bytes().take_while(|byte| *byte != b'.');
    let precision = match digits.filter(u8::is_ascii_digit).count() {
        2 => Precision::Hour,
        4 => Precision::Minute,
        6 => Precision::Second,
        _ => return None,
    };
    let time = time.with().subsec_nanosecond(0).build().ok()?;
    Some(When::Time(time, precision))
}

/// Reads `7d`, `1y6m`, `36h`; `M` means minutes and `m` months, as in mu.
fn compact(text: &str) -> Option<Ago> {
    let mut ago = Ago::default();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        let count = digits(&rest[..end], 4)?.cast_unsigned();
        let unit = match rest.as_bytes()[end] {
            b'y' => &mut ago.years,
            b'm' => &mut ago.months,
            b'w' => &mut ago.weeks,
            b'd' => &mut ago.days,
            b'h' => &mut ago.hours,
            b'M' => &mut ago.minutes,
            b's' => &mut ago.seconds,
            _ => return None,
        };
        *unit = unit.checked_add(count).filter(|sum| *sum <= MAX_YEARS)?;
        rest = &rest[end + 1..];
    }
    (!text.is_empty()).then_some(ago)
}

/// Reads a date in words.
fn words(text: &str) -> Option<When> {
    match text {
        "now" => return Some(When::Now),
        "today" => return Some(When::Today),
        "yesterday" => return Some(When::Yesterday),
        "tomorrow" => return Some(When::Tomorrow),
        _ => {}
    }
    let words: Vec<&str> = text.split(' ').collect();
    match words.as_slice() {
        [one] => weekday(one).or_else(|| Some(When::NamedMonth(month(one)?))),
        ["last", day] if weekday(day).is_some() => weekday(day),
        [which @ ("last" | "this" | "next"), unit] => {
            let count = match *which {
                "last" => -1,
                "this" => 0,
                _ => 1,
            };
            let unit = Unit::NAMES.iter().find(|(_, name)| name == unit)?.0;
            Some(When::Relative(count, unit))
        }
        [a, b] => match (month(a), month(b)) {
            // `31st` has as many characters as a year.
            (Some(month), _) => day(b)
                .and_then(|day| named_day(month, day))
                .or_else(|| Some(When::Month(year(b)?, month))),
            (None, Some(month)) => named_day(month, day(a)?),
            _ => None,
        },
        [a, b, year] if year.len() == 4 => {
            let (month, day) = match (month(a), month(b)) {
                (Some(month), _) => (month, day(b.trim_end_matches(','))?),
                (None, month) => (month?, day(a)?),
            };
            Date::new(digits(year, 4)?, month, day).ok().map(When::Day)
        }
        _ => None,
    }
}

/// Returns the last such day; `None` if no year has it.
fn named_day(month: i8, day: i8) -> Option<When> {
    // A leap year has all days.
    Date::new(2024, month, day).ok()?;
    Some(When::NamedDay(month, day))
}

fn year(text: &str) -> Option<i16> {
    digits(text, 4).filter(|_| text.len() == 4)
}

/// Reads the day of a month: `1`, `15`, `2nd`.
fn day(text: &str) -> Option<i8> {
    let bare = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|end| text.strip_suffix(end));
    i8::try_from(digits(bare.unwrap_or(text), 2)?).ok()
}

/// Reads the name of a month, or its first three letters.
fn month(text: &str) -> Option<i8> {
    let number = MONTHS.iter().position(|name| is_name(name, text))?;
    i8::try_from(number + 1).ok()
}

fn weekday(text: &str) -> Option<When> {
    let number = WEEKDAYS.iter().position(|name| is_name(name, text))?;
    let weekday = Weekday::from_monday_zero_offset(i8::try_from(number).ok()?).ok()?;
    Some(When::Weekday(weekday))
}

/// Returns whether the text is a name or its abbreviation: `sep`, `sept`, `tues`, `thurs`.
fn is_name(name: &str, text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    text == name || (3..=5).contains(&text.len()) && name.starts_with(text)
}

/// Reads a length of time in words: `2 weeks ago`, `1 year 3 months`.
fn period(text: &str) -> Option<Ago> {
    let text = text.strip_suffix(" ago").unwrap_or(text);
    text.parse().ok().and_then(ago)
}

fn ago(span: Span) -> Option<Ago> {
    let part = |count: i64| {
        u16::try_from(count)
            .ok()
            .filter(|count| *count <= MAX_YEARS)
    };
    Some(Ago {
        years: part(span.get_years().into())?,
        months: part(span.get_months().into())?,
        weeks: part(span.get_weeks().into())?,
        days: part(span.get_days().into())?,
        hours: part(span.get_hours().into())?,
        minutes: part(span.get_minutes())?,
        seconds: part(span.get_seconds())?,
    })
}

/// Reads one to `most` digits.
fn digits(text: &str, most: usize) -> Option<i16> {
    let plain = (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_numbers_are_read_as_people_write_them() {
        for (text, day_first, month_first) in [
            ("5.6.2024", "2024-06-05", "2024-06-05"),
            ("05.06.2024", "2024-06-05", "2024-06-05"),
            ("5/6/2024", "2024-06-05", "2024-05-06"),
            ("25/6/2024", "2024-06-25", "2024-06-25"),
            ("6/25/2024", "2024-06-25", "2024-06-25"),
            ("2024/6/5", "2024-06-05", "2024-06-05"),
            ("2024.06.05", "2024-06-05", "2024-06-05"),
            ("6/2024", "2024-06", "2024-06"),
            ("06.2024", "2024-06", "2024-06"),
            ("2024/6", "2024-06", "2024-06"),
        ] {
            let read = |order| numbers(text, order).map(|when| when.to_string());
            assert_eq!(read(false).as_deref(), Some(day_first), "{text}");
            assert_eq!(read(true).as_deref(), Some(month_first), "{text}");
        }
        for text in [
            "5/6/24",
            "6.25.2024",
            "30/2/2024",
            "13/2024",
            "2024/2025",
            "1.2",
            "5-6-2024",
            "5/6.2024",
            "0/1/2024",
        ] {
            assert_eq!(numbers(text, true), None, "{text}");
        }
    }
}
