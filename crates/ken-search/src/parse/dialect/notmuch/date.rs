//! Translates dates of notmuch into dates of ken: `5M2d` (here `M` means months and `m` minutes), `31-07-2015`,
//! `7/31/2015`, `31.7.2015`, `5pm_31_july_2015`, `fri/31/jul/2015`, `dozen_days`.
//!
//! Dates that ken knows as well (`yesterday`, `last_week`, `2015-07`) stay unchanged. Source:
//! `notmuch-search-terms(7)` of notmuch 0.37, and its answers.

use jiff::civil::Date;

use super::super::super::when::When;

/// Why a date cannot be read.
#[derive(Debug, PartialEq)]
pub(super) enum Wrong {
    /// The date has a time of day without a day, which ken's dates do not support.
    NoDay,
    /// The text has a slash, which other languages read as a range.
    NoDate,
}

/// Returns the range in ken's form, or why ken's dates cannot express it.
pub(super) fn range(text: &str) -> Result<String, Wrong> {
    // `..!` repeats the beginning of the range as its end.
    let text = text.replace("..!", "").replace('!', "");
    match text.split_once("..") {
        Some((from, to)) => Ok(format!("{}..{}", date(from)?, date(to)?)),
        None => date(&text),
    }
}

fn date(text: &str) -> Result<String, Wrong> {
    if let Some(ago) = ago(text) {
        return Ok(ago);
    }
    let spoken = text.replace('_', " ");
    if !is_six_digits(text) && When::parse(&spoken).is_some() {
        return Ok(spoken);
    }
    let (mut day, mut clock, mut zone) = (Vec::new(), None, None);
    for word in words(text) {
        if let Some(known) = numeric(&word) {
            day.push(known);
        } else if let Some(known) = time(&word) {
            clock = Some(known);
        } else if let Some(known) = offset(&word).filter(|_| clock.is_some()) {
            zone = Some(known);
        } else if let Some((known, of)) = zoned(&word) {
            (clock, zone) = (Some(known), Some(of));
        } else {
            day.push(apart(&word));
        }
    }
    let day = in_order(&day.join(" "));
    match (clock, When::parse(&day)) {
        (None, Some(_)) => Ok(day),
        (Some(clock), Some(When::Day(date))) => {
            let zone = zone.unwrap_or_default();
            at(date, &clock, &zone).ok_or(Wrong::NoDate)
        }
        (Some(_), None) if day.is_empty() => Err(Wrong::NoDay),
        _ if text.contains('/') => Err(Wrong::NoDate),
        // Ken's dates accept or refuse the text as written.
        _ => Ok(spoken),
    }
}

/// Returns the time of a day; 24:00 is the start of the next day.
fn at(date: Date, clock: &str, zone: &str) -> Option<String> {
    let (date, clock) = match clock {
        "24:00" | "24:00:00" => (date.tomorrow().ok()?, "00:00"),
        clock => (date, clock),
    };
    Some(format!("{date}T{clock}{zone}"))
}

/// Returns the words with the year last. The weekday is dropped if there is a day without it.
fn in_order(day: &str) -> String {
    let words = day.split_whitespace();
    let is_weekday = |word: &&str| matches!(When::parse(word), Some(When::Weekday(_)));
    let others = year_last(words.clone().filter(|word| !is_weekday(word)).collect());
    match When::parse(&others) {
        Some(When::Day(_) | When::NamedDay(..)) => others,
        _ => year_last(words.collect()),
    }
}

fn year_last(mut words: Vec<&str>) -> String {
    let is_year = |word: &&str| word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit());
    if words.first().is_some_and(is_year) {
        words.rotate_left(1);
    }
    words.join(" ")
}

fn is_six_digits(text: &str) -> bool {
    text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the words of a date; `5 pm` counts as one.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|c: char| matches!(c, '_' | ',') || c.is_whitespace()) {
        let word = word.to_lowercase();
        match words.last_mut() {
            Some(hour) if half(&word) == Some("") => hour.push_str(&word),
            _ if word.is_empty() => {}
            _ => words.push(word),
        }
    }
    words
}

/// Units of time, the least number of letters that identifies each, and ken's letter.
const UNITS: [(&str, usize, char); 10] = [
    ("years", 1, 'y'),
    ("months", 2, 'm'),
    ("weeks", 1, 'w'),
    ("days", 1, 'd'),
    ("hours", 1, 'h'),
    ("hrs", 2, 'h'),
    ("minutes", 1, 'M'),
    ("mins", 1, 'M'),
    ("seconds", 1, 's'),
    ("secs", 1, 's'),
];

const NUMBERS: [(&str, &str); 12] = [
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("dozen", "12"),
    ("hundred", "100"),
];

/// Reads a time before now: `5M2d`, `two-weeks`, `1_hour_25_min`.
fn ago(text: &str) -> Option<String> {
    let text = apart(text);
    let mut parts: Vec<&str> = text.split(['_', ' ']).filter(|p| !p.is_empty()).collect();
    if parts.len() > 2 {
        parts.pop_if(|last| *last == "ago");
    }
    let mut ago = String::new();
    for pair in parts.chunks(2) {
        let [count, unit] = pair else { return None };
        let spelled = NUMBERS.iter().find(|(name, _)| name == count);
        let count = spelled.map_or(*count, |(_, digits)| digits);
        if !count.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        ago.push_str(count);
        ago.push(letter(unit)?);
    }
    (!ago.is_empty()).then_some(ago)
}

fn letter(unit: &str) -> Option<char> {
    if unit == "M" {
        return Some('m');
    }
    let unit = unit.to_lowercase();
    let known = UNITS
        .iter()
        .find(|(name, least, _)| unit.len() >= *least && name.starts_with(&unit));
    known.map(|(.., letter)| *letter)
}

/// Separators between the parts of a date, which mean the same as a space.
const SEPARATORS: [char; 4] = ['-', '/', '.', ','];

/// Returns the text with a space between digits and letters and for each separator: `31-jul2015`. The ending of `31st`
/// stays.
fn apart(text: &str) -> String {
    let mut apart = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let before = apart.chars().next_back().unwrap_or(' ');
        let digits = before.is_ascii_digit() && character.is_alphabetic();
        let letters = before.is_alphabetic() && character.is_ascii_digit();
        let ends = ["st", "nd", "rd", "th"].iter().any(|end| {
            let after = rest.strip_prefix(end).map(|after| after.chars().next());
            after.is_some_and(|after| after.is_none_or(|c| !c.is_alphabetic()))
        });
        if letters || digits && !ends {
            apart.push(' ');
        }
        apart.push(match SEPARATORS.contains(&character) {
            true => ' ',
            false => character,
        });
        rest = &rest[character.len_utf8()..];
    }
    apart
}

/// Reads a day or a month in digits in ISO form, or by its name if it has no year.
fn numeric(word: &str) -> Option<String> {
    let sign = word.chars().find(|c| !c.is_ascii_digit())?;
    let word = match sign {
        '.' => word.strip_suffix('.').unwrap_or(word),
        _ => word,
    };
    let parts: Vec<&str> = word.split(sign).collect();
    let digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !parts.iter().all(digits) {
        return None;
    }
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    match (sign, parts.as_slice(), lengths.as_slice()) {
        ('-', _, [4, 2] | [4, 2, 2]) => Some(word.to_owned()),
        ('-' | '/', [month, year], [1 | 2, 4]) => Some(format!("{year}-{month:0>2}")),
        ('/', [month, day], [1 | 2, 1 | 2]) => named(day, month),
        ('/', [month, day, year], [1 | 2, 1 | 2, 2 | 4]) => Some(iso(day, month, year)),
        ('-' | '.', [day, month], [1 | 2, 1 | 2]) => named(day, month),
        ('-' | '.', [day, month, year], [1 | 2, 1 | 2, 2 | 4]) => Some(iso(day, month, year)),
        _ => None,
    }
}

fn iso(day: &str, month: &str, year: &str) -> String {
    let century = match year.len() {
        4 => "",
        _ if year < "70" => "20",
        _ => "19",
    };
    format!("{century}{year}-{month:0>2}-{day:0>2}")
}

/// Returns a day without a year, by the name of its month; the check uses a leap year, which has all days.
fn named(day: &str, month: &str) -> Option<String> {
    let date = Date::new(2024, month.parse().ok()?, day.parse().ok()?).ok()?;
    Some(When::NamedDay(date.month(), date.day()).to_string())
}

/// Returns the text before `am` or `pm`.
fn half(word: &str) -> Option<&str> {
    let ends = ["am", "a.m.", "pm", "p.m."];
    ends.iter().find_map(|end| word.strip_suffix(end))
}

/// Reads a time of day: `17:05`, `5:05pm`, `170500`, `noon`.
fn time(word: &str) -> Option<String> {
    match word {
        "noon" => return Some("12:00".to_owned()),
        "midnight" => return Some("00:00".to_owned()),
        word if is_six_digits(word) => {
            return Some(format!("{}:{}:{}", &word[..2], &word[2..4], &word[4..]));
        }
        _ => {}
    }
    let before = half(word);
    let (hour, rest) = match before.unwrap_or(word).split_once(':') {
        Some((hour, rest)) => (hour, rest),
        None => (before?, "00"),
    };
    // A sign would belong to a zone.
    let digits = hour.bytes().all(|byte| byte.is_ascii_digit());
    let mut hour: u8 = hour.parse().ok().filter(|_| digits)?;
    if let Some(before) = before {
        let is_afternoon = word[before.len()..].starts_with('p');
        hour = hour % 12 + 12 * u8::from(is_afternoon);
    }
    let two = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
    rest.split(':')
        .all(two)
        .then(|| format!("{hour:02}:{rest}"))
}

/// Reads a time with its zone: `17:05:00-0800`.
fn zoned(word: &str) -> Option<(String, String)> {
    let at = word.rfind(['+', '-'])?;
    Some((time(&word[..at])?, offset(&word[at..])?))
}

/// Reads the zone of a time: `+0200`, `-05:00`, `utc`.
fn offset(word: &str) -> Option<String> {
    if matches!(word, "utc" | "gmt" | "z") {
        return Some("Z".to_owned());
    }
    let digits = word.strip_prefix(['+', '-'])?.replace(':', "");
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let minutes = match digits.len() {
        2 => "00",
        4 => &digits[2..],
        _ => return None,
    };
    Some(format!("{}{}:{minutes}", &word[..1], &digits[..2]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_ken_does() {
        for (notmuch, ken) in [
            ("5M2d", "5m2d"),
            ("30m..", "30M.."),
            ("3M..90m", "3m..90M"),
            ("5mo", "5m"),
            ("1_hour_25_minutes", "1h25M"),
            ("1hour25min..", "1h25M.."),
            ("4hrs", "4h"),
            ("two-weeks..", "2w.."),
            ("dozen_days..hundred secs", "12d..100s"),
            ("2 weeks ago..", "2w.."),
            ("yesterday..!", "yesterday"),
            ("2025-03..2025-04", "2025-03..2025-04"),
            ("last_week", "last week"),
            ("@1438362300..", "@1438362300.."),
            ("31-07-2015", "2015-07-31"),
            ("31-07-15", "2015-07-31"),
            ("07-2015", "2015-07"),
            ("7/2015", "2015-07"),
            ("7/31/2015..8/1/99", "2015-07-31..1999-08-01"),
            ("1.7.2015", "2015-07-01"),
            ("8/3", "august_3"),
            ("03-08", "august_3"),
            ("3.8.", "august_3"),
            ("31jul2015", "31 jul 2015"),
            ("31st-jul-2015", "31st jul 2015"),
            ("aug-3", "aug 3"),
            ("mar-2025", "mar 2025"),
            ("2015-07-31_17:05", "2015-07-31 17:05"),
            ("17:05_2015-07-31", "2015-07-31T17:05"),
            ("5:05pm 31 july 2015", "2015-07-31T17:05"),
            ("12_a.m._31-07-2015", "2015-07-31T00:00"),
            ("7/31/2015_noon", "2015-07-31T12:00"),
            ("170500_2015-07-31", "2015-07-31T17:05:00"),
            ("2015-07-31_17:05_UTC", "2015-07-31T17:05Z"),
            ("2015-07-31_17:05_+02", "2015-07-31T17:05+02:00"),
            ("2015-07-31_17:05_-0230", "2015-07-31T17:05-02:30"),
            ("2015-07-31_17:05_+02:00", "2015-07-31T17:05+02:00"),
            ("jul/2015", "jul 2015"),
            ("2015/jul", "jul 2015"),
            ("31/jul/2015", "31 jul 2015"),
            ("1/aug/2015..", "1 aug 2015.."),
            ("31/jul", "31 jul"),
            ("2015/jul/31", "jul 31 2015"),
            ("2015/", "2015"),
            ("fri_31_jul_2015", "31 jul 2015"),
            ("friday,_31_july_2015", "31 july 2015"),
            ("fri_2015-07-31", "2015-07-31"),
            ("friday_5pm_31_jul_2015", "2015-07-31T17:00"),
            ("3_aug,_fri", "3 aug"),
            ("2015_jul_31", "jul 31 2015"),
            ("2015_31_jul", "31 jul 2015"),
            ("2015_july", "july 2015"),
            ("2015jul31", "jul 31 2015"),
            ("31._july_2015", "31 july 2015"),
            ("31.jul.2015", "31 jul 2015"),
            ("jul_31,2015", "jul 31 2015"),
            ("3,weeks..", "3w.."),
            ("17:05,2015-07-31,fri", "2015-07-31T17:05"),
            ("sun,8.7.", "july_8"),
            ("jul-31st", "jul 31st"),
            ("2015-07-31_24:00..", "2015-08-01T00:00.."),
            ("2015-12-31_24:00:00_UTC", "2016-01-01T00:00Z"),
            // These are not dates, and must not panic.
            ("é-5pm", "é-5pm"),
            ("yesterday_noon", "yesterday noon"),
            ("5pm_+aéb", "5pm +aéb"),
            ("5pm_+é", "5pm +é"),
            ("fri_31", "fri 31"),
            ("friday_jul_2015", "friday jul 2015"),
            ("1st", "1st"),
            ("1.5d", "1.5d"),
            ("2015-7", "2015-7"),
        ] {
            assert_eq!(range(notmuch).as_deref(), Ok(ken), "{notmuch}");
        }
    }

    /// A slash is a range in ken's dates: text with a slash that is not a date must not become one.
    #[test]
    fn a_slash_is_no_range() {
        for text in [
            "13/45",
            "2015/2016",
            "2015-01-01/2015-12-31",
            "P1Y/2003",
            "2015/07/31",
            "01/jul/15",
            "yesterday/noon",
            "..jul/é",
            "/",
            "5pm_31/é",
            "9999-12-31_24:00",
        ] {
            assert_eq!(range(text), Err(Wrong::NoDate), "{text}");
        }
    }

    #[test]
    fn a_time_needs_a_day() {
        for text in [
            "17:05",
            "5pm",
            "5 pm",
            "noon..",
            "..midnight",
            "170500",
            "202608",
        ] {
            assert_eq!(range(text), Err(Wrong::NoDay), "{text}");
        }
    }
}
