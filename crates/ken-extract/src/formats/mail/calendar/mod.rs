//! Calendars (iCalendar, RFC 5545; vCalendar 1.0) and address books (vCard 2.1 to 4.0, RFC 6350).
//!
//! Both consist of content lines, which may be folded and have a name, parameters and a value. A
//! file with several events, tasks or cards hands each on as a separate document, together with the
//! surrounding lines; a file with one item is that document. Nothing is required: an incomplete
//! card yields the lines that it has.

mod lines;

use std::sync::LazyLock;

use jiff::civil::{Date, DateTime};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use ken_core::{Document, Field, Ipath, Kind};

use self::lines::{Line, unfold};
use crate::input::text::read_bytes;
use crate::output::Output;
use crate::output::body::Body;
use crate::output::first_values::FirstValues;
use crate::{Error, Format, Input, Member, date, text};

/// Time zones that are compiled into the program, because a worker may open no files of the system.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// See [`crate::FORMATS`].
pub(in crate::formats) const CALENDAR: Format =
    Format::new("iCalendar", &["text/calendar"], extract)
        .fields(&[
            Field::Title,
            Field::Author,
            Field::To,
            Field::Description,
            Field::Keywords,
            Field::Created,
            Field::Date,
            Field::Duration,
        ])
        .members("events and tasks, numbered from 1, if there are several");

/// See [`crate::FORMATS`].
pub(in crate::formats) const CARDS: Format = Format::new("vCard", &["text/vcard"], extract)
    .fields(&[
        Field::Title,
        Field::Description,
        Field::Keywords,
        Field::Date,
    ])
    .members("cards, numbered from 1, if there are several");

/// Components that are documents.
const ITEMS: [&str; 5] = ["VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VCARD"];

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let media_type = output.detected().media_type;
    let (bytes, whole) = read_bytes(input, output.limits())?;
    let text = text::decode_owned(unfold(&bytes), None);
    drop(bytes);
    let items = items(&text);
    if items.len() < 2 {
        let mut body = Body::new(output.limits().max_text_bytes);
        read_item(&text, output.own(), &mut body);
        output.own().body = body.finish();
        return whole;
    }
    let around = calendar_lines(&text, items[0].start, output.own());
    for (position, item) in items.iter().enumerate() {
        let number = (position + 1).to_string();
        let bytes = format!("{around}{}", &text[item.clone()]).into_bytes();
        output.member(Member {
            ipath: output.child_ipath(&number),
            declared_type: Some(media_type.to_owned()),
            bytes,
            ..Member::default()
        })?;
    }
    whole
}

/// Returns the text of an invitation, at most `max_bytes`.
pub(in crate::formats) fn invitation_text(calendar: &[u8], max_bytes: usize) -> String {
    let text = text::decode_owned(unfold(calendar), None);
    let mut unused = Document::new(Ipath::root(), "text/calendar", Kind::Data);
    let mut body = Body::new(max_bytes);
    read_item(&text, &mut unused, &mut body);
    body.finish()
}

/// Returns the ranges of the events and cards: from `BEGIN` to `END`, to the next `BEGIN` of the
/// same component, or to the end of the text.
fn items(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut items: Vec<std::ops::Range<usize>> = Vec::new();
    let mut open: Option<&str> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some((name, component)) = line.trim().split_once(':') else {
            continue;
        };
        let item = ITEMS
            .iter()
            .find(|item| item.eq_ignore_ascii_case(component.trim()));
        let Some(item) = item else { continue };
        if name.eq_ignore_ascii_case("BEGIN") {
            end_at(&mut items, open.take(), start);
            open = Some(item);
            items.push(start..text.len());
        } else if name.eq_ignore_ascii_case("END") && open == Some(item) {
            end_at(&mut items, open.take(), at);
        }
    }
    items
}

fn end_at(items: &mut [std::ops::Range<usize>], open: Option<&str>, end: usize) {
    if let Some(last) = items.last_mut().filter(|_| open.is_some()) {
        last.end = end;
    }
}

/// Adds the calendar's own properties; returns the line that begins the calendar.
fn calendar_lines(text: &str, end: usize, document: &mut Document) -> &'static str {
    for line in text[..end].lines().filter_map(Line::parse) {
        match line.name.as_str() {
            "X-WR-CALNAME" | "NAME" => document.add_text(Field::Title, &line.text()),
            "X-WR-CALDESC" | "DESCRIPTION" => {
                document.add_text(Field::Description, &line.text());
            }
            _ => {}
        }
    }
    match document.media_type.as_str() {
        "text/calendar" => "BEGIN:VCALENDAR\n",
        _ => "",
    }
}

/// Reads the only item of a file.
fn read_item(text: &str, document: &mut Document, body: &mut Body) {
    // Alarms and time zones have lines with the same names.
    let mut n_skipped = 0_usize;
    let mut item = Item::default();
    for line in text.lines().filter_map(Line::parse) {
        let is_other = matches!(
            line.value.trim().to_ascii_uppercase().as_str(),
            "VALARM" | "VTIMEZONE" | "STANDARD" | "DAYLIGHT"
        );
        match line.name.as_str() {
            "BEGIN" if is_other => n_skipped += 1,
            "END" if is_other => n_skipped = n_skipped.saturating_sub(1),
            "BEGIN" | "END" => {}
            _ if n_skipped > 0 => {}
            _ => read_line(&line, document, body, &mut item),
        }
        if body.is_full() {
            break;
        }
    }
    if let (Some(start), Some(end)) = (item.start, item.end)
        && end > start
    {
        document.add_number(Field::Duration, end - start);
    }
    if document.text(Field::Title).is_none() && !item.name.is_empty() {
        document.add_text(Field::Title, &item.name);
        body.line(&item.name);
    }
}

/// Returns the name in `Strand;Ylva;Maria` as Ylva Maria Strand.
fn name(parts: &str) -> String {
    let (family, given) = parts.split_once(';').unwrap_or((parts, ""));
    let words = given.split([';', ',']).chain([family]).map(str::trim);
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Values of an item that are known only after its last line.
#[derive(Default)]
struct Item {
    start: Option<i64>,
    end: Option<i64>,
    /// Given and family name, for cards without a display name.
    name: String,
    first: FirstValues,
}

impl Item {
    fn add_time(&mut self, document: &mut Document, field: Field, time: Option<i64>) {
        if let Some(seconds) = time {
            self.first.add_number(document, field, seconds);
        }
    }
}

fn read_line(line: &Line<'_>, document: &mut Document, body: &mut Body, item: &mut Item) {
    match line.name.as_str() {
        "SUMMARY" | "FN" | "X-WR-CALNAME" => {
            item.first.add_text(document, Field::Title, &line.text());
        }
        "N" => item.name = name(&line.text()),
        "DESCRIPTION" | "NOTE" => document.add_text(Field::Description, &line.text()),
        "CATEGORIES" => {
            for keyword in line.text().split(',') {
                document.add_text(Field::Keywords, keyword);
            }
        }
        "ORGANIZER" => return person(line, Field::Author, document, body),
        "ATTENDEE" => return person(line, Field::To, document, body),
        "DTSTART" | "DUE" => {
            item.start = time(line);
            item.add_time(document, Field::Date, item.start);
            return day_line(line, body);
        }
        "DTEND" => item.end = time(line),
        "CREATED" => item.add_time(document, Field::Created, time(line)),
        "REV" => {
            let time = date::iso(&line.value).or_else(|| time(line));
            item.add_time(document, Field::Date, time);
        }
        _ => {}
    }
    match line.name.as_str() {
        "SUMMARY" | "DESCRIPTION" | "LOCATION" | "COMMENT" | "CONTACT" | "CATEGORIES"
        | "RESOURCES" | "FN" | "NICKNAME" | "EMAIL" | "TEL" | "TITLE" | "ROLE" | "NOTE"
        | "IMPP" | "RELATED" | "BDAY" | "ANNIVERSARY" | "URL" | "LABEL" => {
            body.line(line.text().trim());
        }
        "ADR" | "ORG" => body.line(&line.words()),
        _ => {}
    }
}

/// Adds a contact: an address with a name among the parameters.
fn person(line: &Line<'_>, field: Field, document: &mut Document, body: &mut Body) {
    let value = line.text();
    let is_mail = value
        .get(..7)
        .is_some_and(|start| start.eq_ignore_ascii_case("mailto:"));
    let address = if is_mail { &value[7..] } else { &value };
    let person = match line.parameter("CN") {
        Some(name) if is_mail => format!("{name} <{address}>"),
        Some(name) => name.to_owned(),
        None => address.to_owned(),
    };
    document.add_text(field, &person);
    body.line(person.trim());
}

/// Parses `20240229`, `20240229T123000` or `20240229T123000Z`, in the zone that a parameter names.
fn time(line: &Line<'_>) -> Option<i64> {
    let value = line.value.trim();
    let local = match value.len() {
        8 => Date::strptime("%Y%m%d", value)
            .ok()?
            .to_datetime(jiff::civil::Time::midnight()),
        _ => DateTime::strptime("%Y%m%dT%H%M%S", value.get(..15)?).ok()?,
    };
    let zone = line.parameter("TZID").and_then(|name| ZONES.get(name).ok());
    let zone = zone
        .filter(|_| !value.ends_with('Z'))
        .unwrap_or(TimeZone::UTC);
    Some(local.to_zoned(zone).ok()?.timestamp().as_second())
}

/// Adds the start of an event in a readable form.
fn day_line(line: &Line<'_>, body: &mut Body) {
    let digits = line.value.trim();
    let part = |range| digits.get(range).unwrap_or_default();
    let is_day = |day: &str| day.bytes().all(|byte| byte.is_ascii_digit());
    if digits.get(..8).is_some_and(is_day) {
        let mut day = format!("{}-{}-{}", part(0..4), part(4..6), part(6..8));
        if digits.len() >= 13 {
            day.push_str(&format!(" {}:{}", part(9..11), part(11..13)));
        }
        body.line(&day);
    }
}

#[cfg(test)]
mod tests;
