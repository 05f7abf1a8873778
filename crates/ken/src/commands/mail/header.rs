//! The header of a message, as people read it.

use std::borrow::Cow;

use jiff::tz::TimeZone;
use ken_core::Field;
use ken_search::service::mail::Message;

use crate::output::{self, Style};

/// The most bytes of a value in a short header.
const MAX_BRIEF: usize = 80;

/// Returns the lines of the header of a message.
pub(in crate::commands) fn header(message: &Message, zone: &TimeZone, style: Style) -> String {
    let mut text = String::new();
    let mut add = |name: &str, value: &str| text.push_str(&header_line(name, value, style));
    for (name, field) in [
        ("From", Field::Author),
        ("To", Field::To),
        ("Cc", Field::Cc),
        ("Bcc", Field::Bcc),
        ("Reply-To", Field::Replyto),
        ("Subject", Field::Title),
    ] {
        add(name, &message.texts(field).join(", "));
    }
    add("Date", &date(message, zone));
    add("List", &message.texts(Field::List).join(", "));
    add(
        "Priority",
        message.document.text(Field::Prio).unwrap_or_default(),
    );
    add("State", &message.texts(Field::Is).join(", "));
    add("Tags", &message.texts(Field::Tag).join(", "));
    add("Message-ID", message.id());
    add("File", &message.location.to_string());
    text
}

/// Returns the lines of the header of a message that people read first, without the ends of long ones.
pub(super) fn short_header(message: &Message, zone: &TimeZone, style: Style) -> String {
    let author = message.document.text(Field::Author).unwrap_or_default();
    let file = message.location.to_string();
    [
        header_line("From", &brief(author), style),
        header_line("Subject", &brief(message.subject()), style),
        header_line("Date", &date(message, zone), style),
        header_line("File", &file, style),
    ]
    .concat()
}

/// Returns the beginning of a value.
pub(super) fn brief(value: &str) -> Cow<'_, str> {
    match value.floor_char_boundary(MAX_BRIEF) {
        end if end < value.len() => Cow::Owned(format!("{}…", &value[..end])),
        _ => Cow::Borrowed(value),
    }
}

fn date(message: &Message, zone: &TimeZone) -> String {
    let date = message.document.number(Field::Date).and_then(|seconds| {
        let time = jiff::Timestamp::from_second(seconds).ok()?;
        let time = time.to_zoned(zone.clone());
        Some(time.strftime("%a, %-d %b %Y %H:%M:%S %z").to_string())
    });
    date.unwrap_or_default()
}

/// Returns a line of a header; nothing if there is no value.
pub(in crate::commands) fn header_line(name: &str, value: &str, style: Style) -> String {
    match value.is_empty() {
        true => String::new(),
        false => {
            let name = style.bold(&format!("{name}:"));
            format!("{name} {}\n", output::clean(value))
        }
    }
}
