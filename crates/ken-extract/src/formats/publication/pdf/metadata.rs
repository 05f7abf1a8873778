//! Reads the document information dictionary and the catalogue's entries, and XMP for missing
//! values.

use hayro_syntax::Pdf;
use hayro_syntax::object::{DateTime, Dict, Stream, String as PdfString};
use jiff::civil;
use jiff::tz::Offset;
use ken_core::{Document, Field};

use super::stream::decode;
use crate::formats::media::xmp;
use crate::output::metadata::{keywords, names_a_file};
use crate::text::foreign;

/// Adds the metadata of a document to its fields.
pub(super) fn read(pdf: &Pdf, catalog: &Dict<'_>, document: &mut Document) {
    let info = pdf.metadata();
    for (field, value) in [
        (Field::Title, &info.title),
        (Field::Author, &info.author),
        (Field::Description, &info.subject),
        (Field::Keywords, &info.keywords),
    ] {
        if let Some(value) = value.as_deref().map(text_string)
            && !(field == Field::Title && names_a_file(&value))
        {
            match field {
                Field::Keywords => {
                    keywords(&value).for_each(|keyword| document.join_text(field, keyword));
                }
                _ => document.add_text(field, &value),
            }
        }
    }
    for (field, date) in [
        (Field::Created, info.creation_date),
        (Field::Date, info.modification_date.or(info.creation_date)),
    ] {
        if let Some(seconds) = date.and_then(seconds) {
            document.add_number(field, seconds);
        }
    }
    if let Some(language) = catalog.get::<PdfString<'_>>(b"Lang") {
        document.add_text(Field::Lang, &text_string(&language));
    }
    if let Some(stream) = catalog.get::<Stream<'_>>(b"Metadata")
        && let Some(packet) = decode(&stream, xmp::MAX_BYTES)
    {
        xmp::complete(&packet, document);
    }
    let n_pages = i64::try_from(pdf.pages().len()).unwrap_or(i64::MAX);
    document.add_number(Field::Pages, n_pages);
}

/// Returns a date in seconds since 1970-01-01 UTC.
pub(super) fn seconds(date: DateTime) -> Option<i64> {
    let local = civil::DateTime::new(
        i16::try_from(date.year).ok()?,
        i8::try_from(date.month).ok()?,
        i8::try_from(date.day).ok()?,
        i8::try_from(date.hour).ok()?,
        i8::try_from(date.minute).ok()?,
        i8::try_from(date.second).ok()?,
        0,
    )
    .ok()?;
    let utc = Offset::UTC.to_timestamp(local).ok()?.as_second();
    let hours = i64::from(date.utc_offset_hour);
    let minutes = i64::from(date.utc_offset_minute);
    let offset = hours * 3600 + if hours < 0 { -minutes } else { minutes } * 60;
    Some(utc - offset)
}

/// Decodes a text string (7.9.2.2): UTF-16 or UTF-8 with a byte order mark, otherwise
/// PDFDocEncoding. UTF-8 and the code page of the system without a mark are not allowed but common.
pub(super) fn text_string(bytes: &[u8]) -> String {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.as_chunks::<2>().0.iter().map(|&pair| unit(pair));
        let chars = char::decode_utf16(units).map(|char| char.unwrap_or('\u{FFFD}'));
        without_language_marks(chars)
    };
    match bytes {
        [0xFE, 0xFF, text @ ..] => utf16(text, u16::from_be_bytes),
        [0xFF, 0xFE, text @ ..] => utf16(text, u16::from_le_bytes),
        [0xEF, 0xBB, 0xBF, text @ ..] => String::from_utf8_lossy(text).into_owned(),
        text => match std::str::from_utf8(text) {
            Ok(text) if !text.bytes().any(|byte| matches!(byte, 0x18..0x20 | 0x7F)) => text.into(),
            _ => foreign::decode(text)
                .unwrap_or_else(|| text.iter().map(|&byte| pdf_doc_char(byte)).collect()),
        },
    }
}

/// Removes language codes, which are between two escape characters.
fn without_language_marks(chars: impl Iterator<Item = char>) -> String {
    let mut in_mark = false;
    chars
        .filter(|&char| {
            let is_escape = char == '\u{1B}';
            in_mark ^= is_escape;
            !in_mark && !is_escape
        })
        .collect()
}

/// Maps PDFDocEncoding (annex D.3), which is Latin-1 except for these characters.
fn pdf_doc_char(byte: u8) -> char {
    const LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
    const HIGH: [char; 33] = [
        '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚',
        '™', 'ﬁ', 'ﬂ', 'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{FFFD}', '€',
    ];
    match byte {
        0x18..=0x1F => LOW[usize::from(byte - 0x18)],
        0x80..=0xA0 => HIGH[usize::from(byte - 0x80)],
        byte => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_strings_of_every_encoding() {
        assert_eq!(text_string(b"plain"), "plain");
        assert_eq!(text_string(b"\xFE\xFF\x00\xFC\xD8\x3D\xDE\x00"), "ü😀");
        assert_eq!(text_string(b"\xFF\xFE\xFC\x00"), "ü");
        assert_eq!(text_string(b"\xEF\xBB\xBF\xC3\xBC"), "ü");
        assert_eq!(text_string("Größe".as_bytes()), "Größe");
        assert_eq!(text_string(b"Gr\xF6\xDFe \x84 \x93\xA0"), "Größe — ﬁ€");
        assert_eq!(
            text_string(b"\xC4\xEE\xE3\xEE\xE2\xEE\xF0.doc"),
            "Договор.doc"
        );
        assert_eq!(text_string(b"\xFE\xFF\0\x1B\0e\0n\0\x1B\0a"), "a");
    }

    #[test]
    fn dates_are_in_universal_time() {
        let date = DateTime {
            year: 2024,
            month: 2,
            day: 29,
            hour: 23,
            minute: 30,
            second: 1,
            utc_offset_hour: -3,
            utc_offset_minute: 30,
        };
        assert_eq!(seconds(date), Some(1_709_249_401 + 12_600));
        assert_eq!(seconds(DateTime { month: 13, ..date }), None);
    }
}
