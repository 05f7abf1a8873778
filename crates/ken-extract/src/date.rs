//! Dates as documents write them: ISO 8601 as W3CDTF (<https://www.w3.org/TR/NOTE-datetime>)
//! profiles it (`2024`, `2024-05`, `2024-05-01`, `2024-05-01T12:30Z`).

use jiff::civil::DateTime;
use jiff::{Timestamp, tz::TimeZone};

/// Returns the seconds since 1970-01-01 UTC. Missing months, days and times are the first ones, a
/// time without zone is taken for UTC.
pub(crate) fn iso(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        return Some(timestamp.as_second());
    }
    let padded = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => text.to_owned(),
    };
    let local: DateTime = padded.parse().ok()?;
    let zoned = local.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_second())
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
        assert_eq!(iso("1970-01-02T01:00:00.123456789"), Some(90_000));
        assert_eq!(iso("1969-12-31T23:59:59Z"), Some(-1));
    }

    #[test]
    fn what_is_no_date() {
        for text in [
            "",
            "24",
            "yesterday",
            "2024-13",
            "19é0",
            "99999999999",
            "2024-05-01x",
            "2024-05-01T25:00",
            "äöüß",
        ] {
            assert_eq!(iso(text), None, "{text}");
        }
    }
}
