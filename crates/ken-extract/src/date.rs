//! Parses the dates in documents: ISO 8601 in the profile W3CDTF
//! (<https://www.w3.org/TR/NOTE-datetime>: `2024`, `2024-05`, `2024-05-01`, `2024-05-01T12:30Z`),
//! and the forms of EXIF, mail, C, English prose and PDF.

use jiff::civil::DateTime;
use jiff::{Timestamp, tz::TimeZone};
use ken_core::month_of;

/// Returns the seconds since 1970-01-01 UTC. Missing months, days and times default to the first; a
/// time without zone is taken as UTC.
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

/// Returns whether a time is what programs write for none: the beginning of the clocks of Windows (1601), OLE (1899), the Macintosh
/// (1904) and Unix (1970), in any time zone.
pub(crate) fn is_none(seconds: i64) -> bool {
    const DAY: i64 = 86_400;
    const BEGINNINGS: [i64; 4] = [-11_644_473_600, -2_209_161_600, -2_082_844_800, 0];
    BEGINNINGS.iter().any(|begin| (seconds - begin).abs() < DAY)
}

/// Returns the seconds since 1970-01-01 UTC of a date in EXIF (`2024:02:29 12:30:00`), with its
/// zone (`+02:00`) if there is one.
pub(crate) fn exif(text: &str, zone: Option<&str>) -> Option<i64> {
    let (day, time) = text
        .trim()
        .split_once(' ')
        .unwrap_or((text.trim(), "00:00"));
    let local = format!("{}T{}", day.replace(':', "-"), time.trim());
    let zoned = zone.and_then(|zone| iso(&format!("{local}{}", zone.trim())));
    zoned.or_else(|| iso(&local))
}

/// Returns the seconds since 1970-01-01 UTC of a date in mail (RFC 5322): `Thu, 29 Feb 2024
/// 12:30:00 +0100`.
pub(crate) fn mail(text: &str) -> Option<i64> {
    let zoned = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    Some(zoned.timestamp().as_second())
}

/// Returns the seconds since 1970-01-01 UTC of a date from C's `ctime`: `Thu Feb 29 12:30:00 2024`.
pub(crate) fn ctime(text: &str) -> Option<i64> {
    let local = DateTime::strptime("%a %b %d %H:%M:%S %Y", text.trim()).ok()?;
    let zoned = local.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_second())
}

/// Returns the seconds since 1970-01-01 UTC of a date in English words, in any order: `29 February
/// 2024`, `February 29, 2024`, `Feb 2024`.
pub(crate) fn spoken(text: &str) -> Option<i64> {
    let (mut year, mut month, mut day) = (None, None, None);
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(10)
    {
        let number = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        match number.parse::<u16>() {
            Ok(number @ 1000..=9999) => year = year.or(Some(number)),
            Ok(number @ 1..=31) => day = day.or(Some(number)),
            Ok(_) => return None,
            Err(_) => month = month.or(month_of(word)),
        }
    }
    iso(&format!(
        "{:04}-{:02}-{:02}",
        year?,
        month?,
        day.unwrap_or(1)
    ))
}

/// Returns the seconds since 1970-01-01 UTC of a date in PDF, without its zone: `D:20240229123000`.
pub(crate) fn pdf(text: &str) -> Option<i64> {
    let digits = text.trim().strip_prefix("D:")?.get(..14)?;
    let local = DateTime::strptime("%Y%m%d%H%M%S", digits).ok()?;
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
    fn dates_of_other_formats() {
        assert_eq!(exif("2024:02:29 12:30:15", None), Some(1_709_209_815));
        assert_eq!(
            exif("2024:02:29 12:30:15 ", Some("+02:00")),
            Some(1_709_202_615)
        );
        assert_eq!(exif("2024:02:29", Some("rubbish")), Some(1_709_164_800));
        // A clock that was never set.
        assert_eq!(exif("0000:00:00 00:00:00", None), None);
        assert_eq!(exif("    :  :     :  :  ", None), None);
        assert_eq!(mail("Thu, 29 Feb 2024 12:30:15 +0100"), Some(1_709_206_215));
        assert_eq!(mail("yesterday"), None);
        assert_eq!(ctime("Thu Feb 29 12:30:15 2024"), Some(1_709_209_815));
        assert_eq!(ctime("Fri Mar  1 02:03:04 2024 "), Some(1_709_258_584));
        assert_eq!(ctime("Fri"), None);
        assert_eq!(pdf("D:20240229123015+01'00'"), Some(1_709_209_815));
        assert_eq!(pdf("D:2024"), None);
        for text in [
            "29 February 2024",
            "Feb. 29th, 2024",
            "$Mdocdate: February 29 2024 $",
        ] {
            assert_eq!(spoken(text), Some(1_709_164_800), "{text}");
        }
        assert_eq!(spoken("March 2000"), Some(951_868_800));
        for text in [
            "",
            "2024",
            "May",
            "31 February 2024",
            "April 99, 2024",
            "\\today",
        ] {
            assert_eq!(spoken(text), None, "{text}");
        }
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
