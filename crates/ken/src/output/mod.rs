//! The output for users: text, JSON, colours, progress.

mod fields;
mod hit;
mod pager;
mod progress;
mod remedy;
mod style;
mod terminal;
mod wrap;

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

pub(crate) use fields::{hit_fields, hit_values, table_row};
pub(crate) use hit::{Look, hit_text, match_line, person, place};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use ken_core::{Document, Failure, FieldNames, Kind};
use ken_search::service::DocumentForm;
pub(crate) use ken_search::service::{
    SCHEMA, cause_text, day, file_url, system_words, time, title,
};
pub(crate) use pager::{Paging, page, page_at};
pub(crate) use progress::{Display, summary_text};
pub(crate) use remedy::{install, owner, remedy};
use serde::Serialize;
use serde_json::Value as Json;
pub(crate) use style::Style;
pub(crate) use terminal::{
    Out, Screen, between_lines, columns, has_printed, has_room_for, mark, stderr, stdout,
};
pub(crate) use wrap::{Room, width, wrapped};

/// Writes to standard output immediately.
pub(crate) fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = stdout();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes a diagnostic line to standard error.
pub(crate) fn warn(message: &str) {
    // A failure to print cannot be reported anywhere.
    let _ = writeln!(stderr(), "{}: {}", program(), clean(message));
}

/// Writes a line to standard error for somebody who looks at a terminal; a program sees the exit code.
pub(crate) fn remark(message: &str) {
    if io::stderr().is_terminal() {
        warn(message);
    }
}

/// The name that stands before messages, if it is not `ken`.
static PROGRAM: OnceLock<&str> = OnceLock::new();

/// Puts the name of another program before all messages that follow.
pub(crate) fn set_program(name: &'static str) {
    // A command that runs again after a panic has the same name.
    let _ = PROGRAM.set(name);
}

/// Returns the name that stands before messages.
pub(crate) fn program() -> &'static str {
    PROGRAM.get().copied().unwrap_or("ken")
}

/// Writes a line of advice to standard error.
pub(crate) fn hint(advice: &str) {
    let _ = writeln!(stderr(), "hint: {advice}");
}

/// Returns a value as a line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> Vec<u8> {
    // Serialising to memory cannot fail: every key is text.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Returns a line of JSON with these keys of a hit, of its snippet or of its fields; all if there are none.
pub(crate) fn json_line_of(hit: &impl Serialize, keys: &[String]) -> Vec<u8> {
    if keys.is_empty() {
        return json_line(hit);
    }
    // Every key is text.
    let whole = serde_json::to_value(hit).unwrap_or_default();
    let within = [&whole, &whole["snippet"], &whole["fields"]];
    let chosen = keys.iter().filter_map(|key| {
        let value = within.iter().find_map(|of| of.get(key))?;
        Some((key.clone(), value.clone()))
    });
    json_line(&Json::Object(chosen.collect()))
}

/// Returns a document's metadata as JSON, with its text if requested.
pub(crate) fn document_json(document: &Document, names: &FieldNames, with_body: bool) -> Json {
    // Every key is text.
    serde_json::to_value(DocumentForm::new(document, names, with_body)).unwrap_or_default()
}

/// Returns text as a word of a shell's command line.
pub(crate) fn shell_word(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(format!("'{}'", text.replace('\'', "'\\''"))),
    }
}

/// Returns whether a line of the text of a document is a line of its file, which an editor shows.
pub(crate) fn has_lines(document: &Document) -> bool {
    const OTHER_TEXT: [&str; 2] = ["text/html", "text/rtf"];
    let media_type = document.media_type.as_str();
    let is_text = media_type.starts_with("text/") && !OTHER_TEXT.contains(&media_type);
    is_text || document.kind == Kind::Source
}

/// Returns a time as people read it, in a time zone.
pub(crate) fn local_time(seconds: i64, zone: &TimeZone) -> String {
    Timestamp::from_second(seconds).map_or_else(
        |_| seconds.to_string(),
        |time| {
            let time = time.to_zoned(zone.clone());
            time.strftime("%Y-%m-%d %H:%M:%S %z").to_string()
        },
    )
}

/// Returns a size as people write it.
pub(crate) fn size(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut size = bytes as f64;
    let mut unit = 0;
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && size < 9.95);
    format!("{size:.digits$} {}", UNITS[unit])
}

/// Returns a number of things in words: `1 file`, `2 files`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

/// Returns text without control characters, as text from files must not control the terminal.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(steers) {
        Cow::Owned(text.replace(steers, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns an address without control characters: they are written as `\xNN`, which every command reads again.
pub(crate) fn clean_address(address: &str) -> Cow<'_, str> {
    if !address.chars().any(steers) {
        return Cow::Borrowed(address);
    }
    let escaped = address.chars().map(|character| {
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).bytes();
        match steers(character) {
            true => bytes.map(|byte| format!("\\x{byte:02x}")).collect(),
            false => character.to_string(),
        }
    });
    Cow::Owned(escaped.collect())
}

/// Returns whether a character changes how a terminal shows others: control characters, and those that change the
/// direction of text (UAX #9), which can disguise names.
pub(crate) fn steers(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns how long a document was read before it failed, as ` after 4.2 s`; empty for a short time.
pub(crate) fn after(failure: &Failure) -> String {
    let seconds = failure.elapsed_ms as f64 / 1000.0;
    match failure.elapsed_ms {
        0..50 => String::new(),
        _ => format!(" after {seconds:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.0 kB"),
            (12_345_678, "12 MB"),
            (999_999, "1.0 MB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn only_a_time_that_is_felt_is_shown() {
        let mut failure = Failure::new(ken_core::Cause::Stopped);
        for (elapsed_ms, text) in [
            (0, ""),
            (49, ""),
            (50, " after 0.1 s"),
            (4200, " after 4.2 s"),
        ] {
            failure.elapsed_ms = elapsed_ms;
            assert_eq!(after(&failure), text);
        }
    }

    #[test]
    fn escapes_of_files_do_not_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\n"), "a\u{fffd}[31mb\u{fffd}");
    }
}
