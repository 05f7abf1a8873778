//! IPTC-IIM (Information Interchange Model 4.2), the captions of press photographs: record 2.

use std::borrow::Cow;

use ken_core::Field;

use crate::output::metadata::Metadata;
use crate::{date, text};

/// Reads data sets: a mark, record, number, length, content.
pub(super) fn read(block: &[u8], metadata: &mut Metadata) {
    let mut rest = block;
    let mut is_utf8 = false;
    let mut created = None;
    while let [0x1c, record, number, l1, l0, after @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*l1, *l0]));
        // Lengths above 32 KiB are encoded differently, which no program uses.
        let Some((content, after)) = after.split_at_checked(length) else {
            break;
        };
        rest = after;
        match (record, number) {
            (1, 90) => is_utf8 = content == b"\x1b%G",
            (2, 55) => created = Some(content),
            (2, number) => {
                if let Some(field) = field_of(*number) {
                    metadata.text(field, &decoded(content, is_utf8));
                }
            }
            _ => {}
        }
    }
    if let Some(seconds) = created.and_then(day) {
        metadata.number(Field::Created, seconds);
    }
}

fn field_of(number: u8) -> Option<Field> {
    Some(match number {
        5 => Field::Title,
        // By-line, writer of the caption.
        80 | 122 => Field::Author,
        // Instructions, headline, copyright, caption.
        40 | 105 | 116 | 120 => Field::Description,
        // Category, supplemental category, keyword, city, sublocation, province, country.
        15 | 20 | 25 | 90 | 92 | 95 | 101 => Field::Keywords,
        _ => return None,
    })
}

fn decoded(content: &[u8], is_utf8: bool) -> Cow<'_, str> {
    let declared = if is_utf8 { "utf-8" } else { "windows-1252" };
    text::decode(content, Some(declared))
}

/// Parses `CCYYMMDD`.
fn day(content: &[u8]) -> Option<i64> {
    let digits = std::str::from_utf8(content).ok()?;
    let (year, month, day) = (digits.get(..4)?, digits.get(4..6)?, digits.get(6..8)?);
    date::iso(&format!("{year}-{month}-{day}"))
}
