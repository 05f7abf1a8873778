//! Times in metadata: ISO 8601 as W3CDTF (<https://www.w3.org/TR/NOTE-datetime>) profiles it.

use jiff::civil::DateTime;
use jiff::{Timestamp, tz::TimeZone};

/// Returns seconds since 1970-01-01 UTC. Missing months, days and times are the first ones, a
/// time without zone is taken for UTC.
pub(super) fn parse(text: &str) -> Option<i64> {
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
    fn all_precisions_are_read() {
        for (text, seconds) in [
            ("1970", 0),
            ("1970-02", 2_678_400),
            ("1970-01-02", 86_400),
            ("1970-01-02T01:00:00Z", 90_000),
            (" 1970-01-02T01:00:00.123+01:00 ", 86_400),
            ("1970-01-02T01:00:00.123456789", 90_000),
            ("1969-12-31T23:59:59Z", -1),
        ] {
            assert_eq!(parse(text), Some(seconds), "{text}");
        }
        for text in ["", "soon", "19é0", "2024-13", "99999999999"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
