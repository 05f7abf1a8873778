//! What the user sees: text, JSON, colours, progress.

mod fields;
mod hit;
mod progress;
mod remedy;
mod style;

use std::borrow::Cow;
use std::io::{self, Write};

pub(crate) use fields::hit_fields;
pub(crate) use hit::{hit_text, match_text};
use ken_core::{Document, FieldNames};
use ken_search::service::DocumentForm;
pub(crate) use ken_search::service::{SCHEMA, day, file_url, time, title};
pub(crate) use progress::{Display, summary_text};
pub(crate) use remedy::{install, remedy};
use serde::Serialize;
use serde_json::Value as Json;
pub(crate) use style::Style;

/// Writes to standard output at once.
pub(crate) fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// Writes a line of diagnosis to standard error.
pub(crate) fn warn(message: &str) {
    // There is nowhere left to complain to.
    let _ = writeln!(io::stderr(), "ken: {}", clean(message));
}

/// Returns a value as a line of JSON.
pub(crate) fn json_line(value: &impl Serialize) -> Vec<u8> {
    // Writing JSON to memory cannot fail: every key is text.
    let mut line = serde_json::to_vec(value).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Returns a document's metadata, and its text if asked for, as JSON.
pub(crate) fn document_json(document: &Document, names: &FieldNames, with_body: bool) -> Json {
    // Every key is text.
    serde_json::to_value(DocumentForm::new(document, names, with_body)).unwrap_or_default()
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

/// Returns text without control characters: what comes from files must not steer the terminal.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(steers) {
        Cow::Owned(text.replace(steers, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns whether a character changes how a terminal shows others: control characters, and those that
/// turn the direction of text (UAX #9), by which names look like other names.
pub(crate) fn steers(character: char) -> bool {
    character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the system's own words, without the path that every message has already.
pub(crate) fn cause(error: &io::Error) -> String {
    let text = error.to_string();
    // fs-err writes: failed to open file `path`: No such file or directory (os error 2)
    let start = text.rfind("`: ").map_or(0, |end| end + "`: ".len());
    let end = text.rfind(" (os error").unwrap_or(text.len());
    text.get(start..end).unwrap_or(&text).to_lowercase()
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
    fn causes_do_not_repeat_the_path() {
        let error = fs_err::File::open("/none`: (os error 1)/x").unwrap_err();
        assert_eq!(cause(&error), "no such file or directory");
        assert_eq!(cause(&io::Error::other("Odd")), "odd");
    }

    #[test]
    fn escapes_of_files_do_not_reach_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\n"), "a\u{fffd}[31mb\u{fffd}");
    }
}
