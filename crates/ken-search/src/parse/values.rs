//! Reads the values of fields without words: dates, sizes, numbers, and keywords of a closed list.

use std::ops::Range;

use jiff::ToSpan;
use jiff::civil::Date;
use ken_core::{Bound, Field, FieldKind, FieldNames, Kind, MESSAGE_STATES};

use super::tree::Value;
use super::when::{self, When};

/// A value that cannot be understood; positions count from the start of the value.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: Range<usize>,
    pub(super) message: String,
    pub(super) hint: String,
}

/// States for `is:` that any document can have.
const STATES: [&str; 10] = [
    "failed",
    "encrypted",
    "missing",
    "textless",
    "ocr",
    "attachment",
    "member",
    "duplicate",
    "generated",
    "bulk",
];

/// Returns every value of `is:`.
fn states() -> impl Iterator<Item = &'static str> {
    let of_messages = MESSAGE_STATES.iter().filter(|row| row.is_value);
    let names = of_messages.map(|row| row.name);
    let of_messages = names.filter(|name| !STATES.contains(name));
    STATES.into_iter().chain(of_messages)
}

/// Other names of types.
const KIND_ALIASES: [(&str, Kind); 14] = [
    ("text", Kind::Document),
    ("documents", Kind::Document),
    ("mail", Kind::Message),
    ("email", Kind::Message),
    ("messages", Kind::Message),
    ("code", Kind::Source),
    ("picture", Kind::Image),
    ("photo", Kind::Image),
    ("images", Kind::Image),
    ("music", Kind::Audio),
    ("sound", Kind::Audio),
    ("film", Kind::Video),
    ("movie", Kind::Video),
    ("slides", Kind::Presentation),
];

/// Names of formats that `type:` takes, with their media type or a regular expression of several.
const FORMATS: [(&str, &str); 24] = [
    ("pdf", "application/pdf"),
    ("word doc docx", "msword|ms-word|wordprocessingml"),
    ("excel xls xlsx xlsb", "ms-excel|spreadsheetml"),
    ("powerpoint ppt pptx", "ms-powerpoint|presentationml"),
    (
        "opendocument libreoffice openoffice",
        r"opendocument|vnd\.sun\.xml",
    ),
    ("odt writer", r"opendocument\.text|sun\.xml\.writer"),
    ("ods calc", r"opendocument\.spreadsheet|sun\.xml\.calc"),
    (
        "odp impress",
        r"opendocument\.presentation|sun\.xml\.impress",
    ),
    ("rtf", "rtf$"),
    ("html htm xhtml webpage", "^text/html$|xhtml"),
    ("markdown md", "text/markdown"),
    ("plaintext txt", "text/plain"),
    ("tex latex", "^text/x-tex"),
    ("epub ebook", "epub|fictionbook|mobipocket"),
    ("csv", "text/csv"),
    ("json", "json$"),
    ("xml", "xml$"),
    ("calendar ics event", "text/calendar"),
    ("contact vcard vcf", "text/vcard"),
    ("jpeg jpg", "image/jpeg"),
    ("png", "image/png"),
    ("gif", "image/gif"),
    ("svg", "^image/svg"),
    ("zip", "application/zip"),
];

/// Reads the value of a date, size or number field: one value, a range or a comparison. `month_first` decides what
/// `5/6/2024` means.
pub(super) fn range(field: Field, text: &str, month_first: bool) -> Result<Value, Fault> {
    match field.info().kind {
        FieldKind::Date => {
            let (from, to) = dates(text, month_first)?;
            match (from, to) {
                (Bound::Included(a), Bound::Included(b)) if a.is_after(b) => Err(reversed(
                    text,
                    "write the earlier date first; 7d is earlier than 2d",
                )),
                _ => Ok(Value::Dates(from, to)),
            }
        }
        FieldKind::Size => numbers(text, size),
        _ => numbers(text, number),
    }
}

/// Reads a range of words or whole values, `a..m`, `a..`, `..m`; `None` if the text is no range. An end has only
/// letters, digits, `-` and `_`; any other text is punctuation of something longer.
pub(super) fn terms(field: Field, text: &str) -> Option<Result<Value, Fault>> {
    let has_ranges = match field.info().kind {
        FieldKind::Text => true,
        FieldKind::Keyword => {
            matches!(field, Field::Ext | Field::Mime | Field::Lang | Field::Genre)
        }
        _ => false,
    };
    let (from, to) = text.split_once("..").filter(|_| has_ranges)?;
    let is_end = |end: &str| {
        end.chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
    };
    let is_start = |end: &str| end.is_empty() || end.starts_with(char::is_alphanumeric);
    if from.is_empty() && to.is_empty()
        || ![from, to]
            .into_iter()
            .all(|end| is_end(end) && is_start(end))
    {
        return None;
    }
    // Only the index knows how other letters fold.
    let is_known = from.is_ascii() && to.is_ascii() && !to.is_empty();
    if is_known && from.to_ascii_lowercase() > to.to_ascii_lowercase() {
        let hint = "put the end that comes first in the alphabet first";
        return Some(Err(reversed(text, hint)));
    }
    let end = |end: &str| match end {
        "" => Bound::Unbounded,
        end => Bound::Included(end.to_owned()),
    };
    Some(Ok(Value::Terms(end(from), end(to))))
}

fn numbers(text: &str, read: fn(&str) -> Result<i64, Wrong>) -> Result<Value, Fault> {
    let (from, to) = bounds(text, false, read)?;
    if let (Bound::Included(a), Bound::Included(b)) = (from, to)
        && a > b
    {
        return Err(reversed(text, "write the smaller number first"));
    }
    Ok(Value::Numbers(from, to))
}

fn reversed(text: &str, hint: &str) -> Fault {
    Fault {
        at: 0..text.len(),
        message: "the range ends before it begins".to_owned(),
        hint: hint.to_owned(),
    }
}

/// The mistake in one end of a range: message and hint.
type Wrong = (&'static str, &'static str);

/// Reads `x`, `>x`, `>=x`, `<x`, `<=x`, `=x`, `a..b`, `a..`, `..b`, or these with `/` for `..`.
fn bounds<T: Copy>(
    text: &str,
    slash: bool,
    read: impl Fn(&str) -> Result<T, Wrong>,
) -> Result<(Bound<T>, Bound<T>), Fault> {
    let at = |start: usize, part: &str| {
        read(part).map_err(|(message, hint)| Fault {
            at: start..start + part.len(),
            message: format!("{part:?} {message}"),
            hint: hint.to_owned(),
        })
    };
    for sign in [">=", "<=", ">", "<", "="] {
        let Some(rest) = text.strip_prefix(sign) else {
            continue;
        };
        let value = at(sign.len(), rest)?;
        return Ok(match sign {
            ">=" => (Bound::Included(value), Bound::Unbounded),
            "<=" => (Bound::Unbounded, Bound::Included(value)),
            ">" => (Bound::Excluded(value), Bound::Unbounded),
            "<" => (Bound::Unbounded, Bound::Excluded(value)),
            _ => (Bound::Included(value), Bound::Included(value)),
        });
    }
    let separator = if slash { "/" } else { ".." };
    let Some((from, to)) = text.split_once(separator) else {
        let value = at(0, text)?;
        return Ok((Bound::Included(value), Bound::Included(value)));
    };
    if from.is_empty() && to.is_empty() {
        return Err(Fault {
            at: 0..text.len(),
            message: "the range has no ends".into(),
            hint: "write from..to, from.. or ..to".into(),
        });
    }
    let end = |start, part: &str| -> Result<Bound<T>, Fault> {
        match part {
            "" => Ok(Bound::Unbounded),
            part => at(start, part).map(Bound::Included),
        }
    };
    Ok((end(0, from)?, end(from.len() + separator.len(), to)?))
}

/// Both ends of a range of dates.
type Ends = (Bound<When>, Bound<When>);

/// Reads a date or a range of dates.
fn dates(text: &str, month_first: bool) -> Result<Ends, Fault> {
    if let Some(range) = when::read::range(text) {
        return Ok(range);
    }
    let is_date = when::read::numbers(text, month_first).is_some();
    let slash = !text.contains("..") && text.contains('/') && !is_date;
    let range = match slash {
        true => counted(text).map_err(|(message, hint)| Fault {
            at: 0..text.len(),
            message: format!("{text:?} {message}"),
            hint: hint.to_owned(),
        })?,
        false => None,
    };
    range.map_or_else(|| bounds(text, slash, |text| date(text, month_first)), Ok)
}

/// Reads an ISO 8601 range of one end and a duration: `2001-03-01/P1Y`, `P1Y/2002-03-01`.
fn counted(text: &str) -> Result<Option<Ends>, Wrong> {
    const NO_DATE: Wrong = ("has no date to count from", "write 2001-03-01/P1Y or P1Y/");
    let Some((from, to)) = text.split_once('/') else {
        return Ok(None);
    };
    let (first, last) = match (when::read::iso_period(from), when::read::iso_period(to)) {
        (Some(_), Some(_)) => return Err(NO_DATE),
        (None, Some(length)) if !from.is_empty() => {
            let start = first_day(from).ok_or(NO_DATE)?;
            let after = start.saturating_add(length.date_span());
            (start, after.saturating_sub(1.day()))
        }
        (Some(length), None) if !to.is_empty() => {
            let end = last_day(to).ok_or(NO_DATE)?;
            (end.saturating_sub(length.date_span()), end)
        }
        _ => return Ok(None),
    };
    if first.year() < 1 {
        return Err(("begins before the year 1", "write a shorter period"));
    }
    let ends = (When::Day(first), When::Day(last));
    Ok(Some((Bound::Included(ends.0), Bound::Included(ends.1))))
}

fn first_day(text: &str) -> Option<Date> {
    match When::parse(text)? {
        When::Year(year) => Date::new(year, 1, 1).ok(),
        When::Month(year, month) => Date::new(year, month, 1).ok(),
        When::Day(date) => Some(date),
        _ => None,
    }
}

/// Returns the last day of a year or month: `..2025` ends with that year.
fn last_day(text: &str) -> Option<Date> {
    let first = first_day(text)?;
    Some(match When::parse(text)? {
        When::Year(_) => first.last_of_year(),
        When::Month(..) => first.last_of_month(),
        _ => first,
    })
}

fn date(text: &str, month_first: bool) -> Result<When, Wrong> {
    let date = When::parse(text).or_else(|| when::read::numbers(text, month_first));
    date.ok_or((
        "is not a date",
        "write 2025, 2025-01, 2025-01-15, 15.1.2025, yesterday, last_month, or 7d, 2w, 3m, 1y for that long ago",
    ))
}

fn number(text: &str) -> Result<i64, Wrong> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().ok_or((
        "is not a number",
        "write digits, as in pages:100.. or pages:<5",
    ))
}

/// Reads a number of bytes, with an optional fraction and unit: `1.5M`.
fn size(text: &str) -> Result<i64, Wrong> {
    const WRONG: Wrong = (
        "is not a size",
        "write a number and k, M, G or T, as in size:>1M or size:10k..2M",
    );
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (amount, unit) = text.split_at(end);
    let unit = unit_bytes(unit).ok_or(WRONG)?;
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, "0"));
    let digits = |part: &str, most| {
        (1..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !digits(whole, 19) || !digits(fraction, 9) {
        return Err(WRONG);
    }
    let whole: i128 = whole.parse().map_err(|_| WRONG)?;
    let numerator: i128 = fraction.parse().map_err(|_| WRONG)?;
    let denominator = 10_i128.pow(u32::try_from(fraction.len()).unwrap_or(0));
    let bytes = whole * unit + numerator * unit / denominator;
    i64::try_from(bytes).map_err(|_| ("is larger than any file", WRONG.1))
}

/// Returns the bytes of a unit: `k`, `kB`, `KiB` …, all in steps of 1024.
fn unit_bytes(unit: &str) -> Option<i128> {
    let unit = unit.to_ascii_lowercase();
    let letter = unit
        .strip_suffix("ib")
        .or_else(|| unit.strip_suffix('b'))
        .unwrap_or(&unit);
    let power = match letter {
        "" if unit != "ib" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    Some(1024_i128.pow(power))
}

/// Returns the value that matches every value of the field.
pub(super) fn anything(field: Field) -> Value {
    match field.info().kind {
        FieldKind::Date => Value::Dates(Bound::Unbounded, Bound::Unbounded),
        FieldKind::Size | FieldKind::Number => Value::Numbers(Bound::Unbounded, Bound::Unbounded),
        FieldKind::Text | FieldKind::Keyword | FieldKind::Path => Value::Prefix(String::new()),
    }
}

/// Reads the value of a keyword field and returns the field that holds it. Fails if the value can match nothing.
pub(super) fn keyword(
    field: Field,
    text: &str,
    names: &FieldNames,
) -> Result<(Field, Value), Fault> {
    let (field, value) = match field {
        Field::Type => match (kind(text), format(text)) {
            (Err(_), Some(media_types)) => return Ok((Field::Mime, media_types)),
            (kind, _) => (field, kind?),
        },
        Field::Is => state(text)?,
        Field::Has => return Ok(has(text, names)),
        Field::Prio => (field, priority(text)?),
        _ => (field, bare(field, text).to_owned()),
    };
    Ok((field, Value::Word(value)))
}

/// Reads the value of `has:`: a field with any value, or a type of attachment.
fn has(text: &str, names: &FieldNames) -> (Field, Value) {
    let can_have = |field: &Field| field.is_kept() || !field.members().is_empty();
    if let Some(field) = names.field(text).filter(can_have) {
        return (field, anything(field));
    }
    let value = kind(text).unwrap_or_else(|_| text.trim_start_matches('.').to_lowercase());
    (Field::Has, Value::Word(value))
}

/// Returns the value without usual decoration, as in `.pdf` and `<20240101.1@example.org>`.
pub(super) fn bare(field: Field, text: &str) -> &str {
    let bare = match field {
        Field::Ext => text.trim_start_matches('.'),
        Field::Msgid | Field::References | Field::List => {
            text.trim_start_matches('<').trim_end_matches('>')
        }
        _ => text,
    };
    if bare.is_empty() { text } else { bare }
}

/// Returns the media types of a format: `pdf`, `.pdf`, `Word`.
fn format(text: &str) -> Option<Value> {
    let name = text.trim_start_matches('.').to_lowercase();
    let is_name = |names: &str| names.split(' ').any(|known| known == name);
    let found = FORMATS.iter().find(|(names, _)| is_name(names));
    found.map(
        |(_, media_types)| match media_types.contains(['|', '^', '$', '\\']) {
            true => Value::Regex((*media_types).to_owned()),
            false => Value::Word((*media_types).to_owned()),
        },
    )
}

fn kind(text: &str) -> Result<String, Fault> {
    let name = text.to_lowercase();
    if let Ok(kind) = name.parse::<Kind>() {
        return Ok(kind.name().to_owned());
    }
    if let Some((_, kind)) = KIND_ALIASES.iter().find(|(alias, _)| *alias == name) {
        return Ok(kind.name().to_owned());
    }
    Err(Fault {
        at: 0..text.len(),
        message: format!("there is no type {text:?}"),
        hint: format!(
            "types are {}; names of formats such as pdf and word count too, and ext:{} finds files by the end of their names",
            Kind::ALL.map(|(_, name)| name).join(", "),
            name.trim_start_matches('.'),
        ),
    })
}

/// Reads a priority, as a word or as one of mu's letters.
fn priority(text: &str) -> Result<String, Fault> {
    let name = match text.to_lowercase().as_str() {
        "high" | "h" => "high",
        "normal" | "n" => "normal",
        "low" | "l" => "low",
        _ => {
            return Err(Fault {
                at: 0..text.len(),
                message: format!("there is no priority {text:?}"),
                hint: "priorities are high, normal and low".to_owned(),
            });
        }
    };
    Ok(name.to_owned())
}

/// Reads a state; a type of document counts as one too: `is:message`.
fn state(text: &str) -> Result<(Field, String), Fault> {
    let name = text.to_lowercase();
    if states().any(|state| state == name) {
        return Ok((Field::Is, name));
    }
    kind(text)
        .map(|kind| (Field::Type, kind))
        .map_err(|_| Fault {
            at: 0..text.len(),
            message: format!("there is no state {text:?}"),
            hint: format!(
                "states are {}, and every type",
                states().collect::<Vec<_>>().join(", ")
            ),
        })
}

/// Returns whether values of a field may hold any sign.
fn holds_identifiers(field: Field) -> bool {
    matches!(
        field,
        Field::Msgid | Field::References | Field::List | Field::Replyto | Field::Tag
    )
}

/// Returns whether a slash in an unquoted value of this field separates alternatives: `author:knuth/lamport`.
pub(super) fn slash_separates(field: Field) -> bool {
    match field.info().kind {
        FieldKind::Text => true,
        FieldKind::Keyword => {
            !matches!(field, Field::Mime | Field::Has) && !holds_identifiers(field)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_count_by_1024() {
        for (text, bytes) in [
            ("0", 0),
            ("7b", 7),
            ("10k", 10_240),
            ("1.5M", 1_572_864),
            ("2GiB", 2 << 30),
            ("1tB", 1 << 40),
            ("8388607T", i64::MAX - (1 << 40) + 1),
        ] {
            assert_eq!(size(text).unwrap(), bytes, "{text}");
        }
        for text in [
            "", "k", "1q", "1.", ".5", "1.2.3", "ib", "8388608T", "-1", "1e3",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn faults_name_the_end_that_is_wrong() {
        let fault = range(Field::Date, "2025..never", false).unwrap_err();
        assert_eq!(fault.at, 6..11);
        assert!(fault.message.contains("\"never\""));
        assert_eq!(range(Field::Size, ">=1x", false).unwrap_err().at, 2..4);
        assert!(range(Field::Pages, "5..2", false).is_err());
        assert!(range(Field::Pages, "..", false).is_err());
    }
}
