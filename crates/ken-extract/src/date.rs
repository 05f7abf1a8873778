//! Dates as documents write them: ISO 8601 in the profile of the W3C (`2024`, `2024-05`,
//! `2024-05-01`, `2024-05-01T12:30Z`, `2024-05-01 12:30:15.5+02:00`).

/// Returns the seconds since 1970-01-01 UTC of an ISO 8601 date; without a time zone it is UTC.
pub(crate) fn iso(text: &str) -> Option<i64> {
    let text = text.trim();
    let mut rest = text;
    let year = number(&mut rest, 4)?;
    let month = if skip(&mut rest, b"-") {
        number(&mut rest, 2)?
    } else {
        1
    };
    let day = if skip(&mut rest, b"-") {
        number(&mut rest, 2)?
    } else {
        1
    };
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = days_from_civil(year, month, day);
    if rest.is_empty() {
        return Some(days * 86_400);
    }
    if !skip(&mut rest, b"Tt ") {
        return None;
    }
    Some(days * 86_400 + time(rest)?)
}

/// Reads `12:30[:15[.5]][Z|±02:00]` into seconds since midnight UTC.
fn time(mut rest: &str) -> Option<i64> {
    let hour = number(&mut rest, 2)?;
    let minute = if skip(&mut rest, b":") {
        number(&mut rest, 2)?
    } else {
        0
    };
    let second = if skip(&mut rest, b":") {
        number(&mut rest, 2)?
    } else {
        0
    };
    if skip(&mut rest, b".,") {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    if hour > 24 || minute > 59 || second > 60 {
        return None;
    }
    Some(hour * 3600 + minute * 60 + second - offset(rest.trim_start())?)
}

/// Reads the distance from UTC in seconds.
fn offset(mut rest: &str) -> Option<i64> {
    let sign = match rest.as_bytes() {
        [] | [b'Z' | b'z', ..] => return Some(0),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    rest = &rest[1..];
    let hours = number(&mut rest, 2)?;
    skip(&mut rest, b":");
    let minutes = number(&mut rest, 2).unwrap_or(0);
    Some(sign * (hours * 3600 + minutes * 60))
}

fn number(rest: &mut &str, n_digits: usize) -> Option<i64> {
    let digits = rest.get(..n_digits)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    *rest = &rest[n_digits..];
    digits.parse().ok()
}

fn skip(rest: &mut &str, any_of: &[u8]) -> bool {
    let found = rest
        .bytes()
        .next()
        .is_some_and(|byte| any_of.contains(&byte));
    if found {
        *rest = &rest[1..];
    }
    found
}

/// Days since 1970-01-01 in the Gregorian calendar (Howard Hinnant, "chrono-compatible low-level
/// date algorithms"): years begin in March, so that the leap day is the last.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_every_length() {
        assert_eq!(iso("1970"), Some(0));
        assert_eq!(iso("2000-03"), Some(951_868_800));
        assert_eq!(iso(" 2024-02-29 "), Some(1_709_164_800));
        assert_eq!(iso("2024-02-29T12:30Z"), Some(1_709_209_800));
        assert_eq!(iso("2024-02-29 12:30:15.25+02:00"), Some(1_709_202_615));
        assert_eq!(iso("2024-02-29T12:30:15-0130"), Some(1_709_215_215));
        assert_eq!(iso("1969-12-31"), Some(-86_400));
    }

    #[test]
    fn what_is_no_date() {
        for text in [
            "",
            "24",
            "yesterday",
            "2024-13",
            "2024-1-1",
            "2024-05-01x",
            "2024-05-01T25:00",
            "äöüß",
        ] {
            assert_eq!(iso(text), None, "{text}");
        }
    }
}
