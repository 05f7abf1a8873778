//! Dates of messages: RFC 5322 section 3.3, its obsolete forms, and what mailers write instead.
//!
//! The form of a word decides what it is, not its position. So `asctime` dates, ISO dates, missing zones and missing
//! seconds are readable too (`mail-parser` 0.11 needs all parts in their positions). A date without a valid time still
//! gives the day.

use std::borrow::Cow;

use ken_core::month_of;
use memchr::memchr_iter;

/// Zones from RFC 5322 section 4.3, and others that mailers write, in minutes.
const ZONES: [(&str, i64); 41] = [
    ("EST", -300),
    ("EDT", -240),
    ("CST", -360),
    ("CDT", -300),
    ("MST", -420),
    ("MDT", -360),
    ("PST", -480),
    ("PDT", -420),
    ("AKST", -540),
    ("AKDT", -480),
    ("HST", -600),
    ("AST", -240),
    ("ADT", -180),
    ("NST", -210),
    ("NDT", -150),
    ("BRT", -180),
    ("BRST", -120),
    ("WEST", 60),
    ("BST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("MET", 60),
    ("MEST", 120),
    ("MEZ", 60),
    ("MESZ", 120),
    ("EET", 120),
    ("EEST", 180),
    ("SAST", 120),
    ("MSK", 180),
    ("MSD", 240),
    ("IST", 330),
    ("HKT", 480),
    ("SGT", 480),
    ("AWST", 480),
    ("JST", 540),
    ("KST", 540),
    ("ACST", 570),
    ("AEST", 600),
    ("AEDT", 660),
    ("NZST", 720),
    ("NZDT", 780),
];

/// Other years are mistakes: no message is older, and wrong clocks are often wrong by decades.
const YEARS: std::ops::RangeInclusive<i64> = 1900..=2100;

/// The time for a day without a time. Noon is on the same day in nearly all zones.
const NOON: i64 = 12 * 3600;

#[derive(Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    /// Seconds since midnight.
    time: Option<i64>,
    zone_minutes: Option<i64>,
}

/// Returns a date as seconds since 1970-01-01 UTC; a date without a zone is in UTC.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let mut parts = Parts::default();
    let text = without_comments(text);
    let text = with_whole_time(&text);
    let is_between = |c| matches!(c, ' ' | '\t' | ',' | '\r' | '\n');
    for word in text.split(is_between).filter(|word| !word.is_empty()) {
        parts.add_word(word);
    }
    parts.seconds()
}

impl Parts {
    fn add_word(&mut self, word: &str) {
        if let Some((date, time)) = iso_date(word) {
            (self.year, self.month, self.day) = date;
            if !time.is_empty() {
                self.add_time(time);
            }
        } else if word.contains(':') && self.time.is_none() {
            self.add_time(word);
        } else if let Some(minutes) = numeric_zone(word) {
            self.zone_minutes = self.zone_minutes.or(Some(minutes));
        } else if let Some(numbers) = three_numbers(word) {
            self.add_three(numbers);
        } else if let Some(is_afternoon) = half_of_day(word) {
            self.add_half(is_afternoon);
        } else {
            // `1-Jan-2003` is three words.
            for piece in word.split('-') {
                self.add_piece(piece.trim_start_matches('\''));
            }
        }
    }

    /// Adds a date that has only numbers, or a time with dots. Americans write the month first.
    fn add_three(&mut self, (first, separator, second, third): (i64, char, i64, i64)) {
        if separator == '.' && self.day.is_some() {
            self.set_time(first, second, third);
            return;
        }
        let (day, month) = match (separator, first, second) {
            ('/', 1..=12, _) => (second, first),
            _ => (first, second),
        };
        (self.day, self.month) = (Some(day), Some(month));
        self.add_number(third, 4);
    }

    fn add_half(&mut self, is_afternoon: bool) {
        let hour = 3600;
        self.time = match self.time {
            Some(time) if is_afternoon && time < 12 * hour => Some(time + 12 * hour),
            Some(time) if !is_afternoon && (12 * hour..13 * hour).contains(&time) => {
                Some(time - 12 * hour)
            }
            time => time,
        };
    }

    fn add_piece(&mut self, piece: &str) {
        if let Ok(number) = piece.parse::<i64>() {
            self.add_number(number, piece.len());
        } else if let Some(month) = month_of(piece) {
            self.month = self.month.or(Some(month.into()));
        } else if let Some((_, minutes)) = ZONES
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(piece))
        {
            self.zone_minutes = self.zone_minutes.or(Some(*minutes));
        }
    }

    fn add_number(&mut self, number: i64, n_digits: usize) {
        if self.day.is_none() && n_digits <= 2 {
            self.day = Some(number);
        } else if self.year.is_none() {
            // RFC 5322 section 4.3.
            self.year = Some(match number {
                0..50 => number + 2000,
                50..1000 => number + 1900,
                _ => number,
            });
        }
    }

    /// Adds `12:34`, `12:34:56` or `12:34:56.789`, optionally followed by a zone or `Z`.
    fn add_time(&mut self, word: &str) {
        let digits = word
            .find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.')
            .unwrap_or(word.len());
        let (clock, zone) = word.split_at(digits);
        let mut numbers = clock.split(':').map(|number| {
            let whole = number.split('.').next().unwrap_or_default();
            whole.parse::<i64>().ok()
        });
        let Some(Some(hour)) = numbers.next() else {
            return;
        };
        let minute = numbers.next().flatten().unwrap_or(0);
        let second = numbers.next().flatten().unwrap_or(0);
        self.set_time(hour, minute, second);
        if let Some(is_afternoon) = half_of_day(zone) {
            self.add_half(is_afternoon);
        }
        self.zone_minutes = self.zone_minutes.or_else(|| numeric_zone(zone));
    }

    /// Sets the time if it is valid. 24:00 is the end of the day, and 60 a leap second.
    fn set_time(&mut self, hour: i64, minute: i64, second: i64) {
        let is_end = (hour, minute, second) == (24, 0, 0);
        if (hour < 24 || is_end) && minute < 60 {
            let second = if second <= 60 { second } else { 0 };
            self.time = Some(hour * 3600 + minute * 60 + second);
        }
    }

    fn seconds(&self) -> Option<i64> {
        let (year, month, day) = (self.year?, self.month?, self.day?);
        if !YEARS.contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let midnight = days(year, month, day) * 86_400;
        let zone = self.zone_minutes.unwrap_or(0) * 60;
        Some(match self.time {
            Some(time) => midnight + time - zone,
            None => midnight + NOON,
        })
    }
}

/// Reads `5/31/2003`, `31.1.2003` and `12.34.56`.
fn three_numbers(word: &str) -> Option<(i64, char, i64, i64)> {
    let separator = word.chars().find(|c| !c.is_ascii_digit())?;
    if !matches!(separator, '/' | '.') {
        return None;
    }
    let mut numbers = word.splitn(3, separator).map(|number| {
        let is_number = (1..=4).contains(&number.len());
        number.parse().ok().filter(|_| is_number)
    });
    Some((
        numbers.next()??,
        separator,
        numbers.next()??,
        numbers.next()??,
    ))
}

/// Returns whether `PM` means the second half of the day, or `AM` the first.
fn half_of_day(word: &str) -> Option<bool> {
    let is = |half: &str| word.eq_ignore_ascii_case(half);
    (is("pm") || is("p.m."))
        .then_some(true)
        .or((is("am") || is("a.m.")).then_some(false))
}

/// Returns the text without comments in parentheses, which may nest.
fn without_comments(text: &str) -> Cow<'_, str> {
    let is_parenthesis = |byte: &u8| matches!(byte, b'(' | b')');
    if !text.as_bytes().iter().any(is_parenthesis) {
        return Cow::Borrowed(text);
    }
    let mut depth = 0_usize;
    let mut kept = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => kept.push(character),
            _ => {}
        }
    }
    Cow::Owned(kept)
}

/// Returns the text without spaces inside a time: `12: 34: 56`, `12 :34`.
fn with_whole_time(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_space = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_whitespace);
    let is_torn = |at: usize| is_space(at + 1) || at > 0 && is_space(at - 1);
    if !memchr_iter(b':', bytes).any(is_torn) {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut pieces = text.split(':');
    whole.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let next = piece.trim_ascii_start();
        let n_digits = next.bytes().take_while(u8::is_ascii_digit).count();
        let before = whole.trim_end().len();
        // The next number may also be a year.
        let is_time =
            matches!(n_digits, 1 | 2) && whole[..before].ends_with(|c: char| c.is_ascii_digit());
        if is_time {
            whole.truncate(before);
        }
        whole.push(':');
        whole.push_str(if is_time { next } else { piece });
    }
    Cow::Owned(whole)
}

type IsoDate = (Option<i64>, Option<i64>, Option<i64>);

/// Splits `2003-01-31` or `2003-01-31T12:34:56Z` into the date and the rest.
fn iso_date(word: &str) -> Option<(IsoDate, &str)> {
    let date = word.get(..10)?;
    if !date.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let mut numbers = date
        .split(['-', '/'])
        .map(|number| number.parse::<i64>().ok());
    let (year, month, day) = (numbers.next()??, numbers.next()??, numbers.next()??);
    let rest = &word[10..];
    (year > 999 && (rest.is_empty() || rest.starts_with(['T', 't']))).then(|| {
        let time = rest.get(1..).unwrap_or_default();
        ((Some(year), Some(month), Some(day)), time)
    })
}

/// Returns the minutes of the zones `+0100`, `-05:30` and `GMT+0100`.
fn numeric_zone(word: &str) -> Option<i64> {
    let sign_at = word.find(['+', '-'])?;
    let (name, number) = word.split_at(sign_at);
    if !name.is_empty() && !["GMT", "UTC", "UT"].contains(&name) {
        return None;
    }
    let (hours, rest) = match number.len() {
        // `GMT+1`
        2 if !name.is_empty() => (&number[1..], "00"),
        3 => (&number[1..], "00"),
        _ => number[1..].split_at_checked(2)?,
    };
    let minutes = rest.strip_prefix(':').unwrap_or(rest);
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if minutes.len() != 2 || !is_number(hours) || !is_number(minutes) {
        return None;
    }
    let value = hours.parse::<i64>().ok()? * 100 + minutes.parse::<i64>().ok()?;
    let minutes = value / 100 * 60 + value % 100;
    // Real zones differ from UTC by at most 14 hours, but some mailers use other zones on purpose.
    (minutes < 24 * 60).then_some(if number.starts_with('-') {
        -minutes
    } else {
        minutes
    })
}

/// Returns the days since 1970-01-01 in the Gregorian calendar (Hinnant, "chrono-compatible
/// low-level date algorithms").
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_all_their_forms() {
        // 2003-01-31 12:34:56 UTC
        let noon = Some(1_044_016_496);
        for (text, seconds) in [
            ("Fri, 31 Jan 2003 12:34:56 +0000", noon),
            ("Fri, 31 Jan 2003 13:34:56 +0100", noon),
            ("31 Jan 2003 07:04:56 -0530", noon),
            ("Fri, 31 Jan 2003 04:34:56 PST", noon),
            ("Fri, 31 Jan 2003 04:34:56 -0800 (PST)", noon),
            ("Fri (really (yes)), 31 January 03 12:34:56 GMT", noon),
            ("Fri Jan 31 12:34:56 2003", noon),
            ("Fri Jan 31 04:34:56 PST 2003", noon),
            ("31-Jan-2003 12:34:56", noon),
            ("2003-01-31T12:34:56Z", noon),
            ("2003-01-31 13:34:56.25 +01:00", noon),
            ("2003-01-31T13:34:56+01:00", noon),
            ("Fri, 31 Jan 2003 13:34:56 GMT+0100", noon),
            ("Fri, 31 Jan 0103 20:34:56 +0800", noon),
            ("Wed, 31 Jan 2003 20:34:56 -1600", Some(1_044_102_896)),
            ("\tFri,\r\n 31 Jan 103 12:34:56", noon),
            ("Fri, 31 Jan 2003 12:34 +0000", Some(1_044_016_440)),
            ("Thu, 1 Jan 1970 00:00:00 +0000", Some(0)),
            ("29 Feb 2000 00:00:00 +0000", Some(951_782_400)),
            ("Fri, 31 Dec 1999 23:59:60 +0000", Some(946_684_800)),
            ("Fri, 31 Jan 2003 12:34:56 +00", noon),
            ("Fri, 31 Jan 2003 13:34:56 GMT+1", noon),
            ("Fri Jan 31 12:34:56 +00 2003", noon),
            ("Fri, 31 Jan 2003 22:34:56 AEST", Some(1_044_016_496)),
            ("Fri, 31 Jan 2003 12.34.56 +0000", noon),
            ("Fri, 31 Jan 2003 12:34:56 PM", noon),
            ("Fri, 31 Jan 2003 12:34:56PM GMT", noon),
            ("Fri, 31 Jan 2003 00:34:56 pm", noon),
            ("Fri, 31 Jan 2003 12:34:99", Some(1_044_016_440)),
            ("Fri, 31 Jan 2003 12: 34: 56 +0000", noon),
            ("Fri, 31 Jan 2003 12 :34:\r\n 56 GMT", noon),
            ("Fri Jan 31 12: 2003", Some(1_044_014_400)),
            ("31.1.2003 12:34:56", noon),
            ("31.01.03, 12:34:56", noon),
            ("1/31/03 12:34:56", noon),
            ("31/1/2003 12:34:56", noon),
            ("2003/01/31 12:34:56", noon),
            ("31 Jan '03 12:34:56", noon),
            ("Thu, 30 Jan 2003 24:00:00 +0000", Some(1_043_971_200)),
            ("Fri, 31 Jan 2003 12:00:00 am", Some(1_043_971_200)),
            ("Wed, 31 Dec 1969 23:59:59 +0000", Some(-1)),
            ("Sat, 31 Jan 53 00:00:00 +0000", Some(-533_865_600)),
            // Noon of the day.
            ("Fri, 31 Jan 2003", Some(1_044_014_400)),
            ("Fri, 31 Jan 2003 25:34:56 +0000", Some(1_044_014_400)),
            ("Fri, 31 Jan 2003 20: +0800", Some(1_044_014_400)),
            ("2003-01-31", Some(1_044_014_400)),
            ("Fri, 31 Foo 2003 12:34:56", None),
            ("Fri, 31 Jan 20003 12:34:56 +0000", None),
            ("Fri, 31 Jan 1603 12:34:56 +0000", None),
            ("Fri, 32 Jan 2003 12:34:56 +0000", None),
            ("99999999999999999999 Jan 2003 12:34:56", None),
            ("", None),
            ("é: ü-ö +ä", None),
            ("1/2 3.4.5.6 //// 1./2", None),
            ("(((((", None),
        ] {
            assert_eq!(parse(text), seconds, "{text}");
        }
    }
}
