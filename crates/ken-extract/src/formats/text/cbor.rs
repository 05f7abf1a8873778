//! CBOR (RFC 8949), also several items one after the other: keys and texts as lines. Numbers and data are left out.
//!
//! What contains what does not matter for its texts, so that items are read one after the other, without a tree.

use super::json::is_data;
use crate::output::Output;
use crate::output::body::Body;
use crate::structure::cursor::Cursor;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("CBOR", &["application/cbor"], extract);

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let mut cursor = Cursor(input.bytes(limits)?);
    let mut body = Body::new(limits.max_text_bytes);
    let mut is_whole = true;
    while !cursor.0.is_empty() && !body.is_full() && is_whole {
        is_whole = item(&mut cursor, &mut body).is_some();
    }
    output.own().body = body.finish();
    match is_whole {
        true => Ok(()),
        false => Err(Error::Malformed("the data are cut off or damaged".into())),
    }
}

/// The head of an item (RFC 8949, 3).
struct Head {
    major: u8,
    /// The number of bytes or of items, or the value; none if an end follows instead.
    argument: Option<u64>,
}

impl Head {
    fn read(cursor: &mut Cursor<'_>) -> Option<Self> {
        let first = cursor.byte()?;
        let argument = match first & 0x1f {
            small @ 0..=23 => Some(small.into()),
            24 => Some(cursor.byte()?.into()),
            25 => Some(cursor.be_u16()?.into()),
            26 => Some(cursor.be_u32()?.into()),
            27 => Some(cursor.be_u64()?),
            31 => None,
            _ => return None,
        };
        Some(Self {
            major: first >> 5,
            argument,
        })
    }
}

/// Reads the head of an item and, if it is a text, the text itself.
fn item(cursor: &mut Cursor<'_>, body: &mut Body) -> Option<()> {
    const BYTES: u8 = 2;
    const TEXT: u8 = 3;
    let head = Head::read(cursor)?;
    let is_text = head.major == TEXT;
    match (head.major, head.argument) {
        (BYTES | TEXT, Some(n_bytes)) => {
            let bytes = cursor.take(usize::try_from(n_bytes).ok()?)?;
            if is_text {
                line(bytes, body);
            }
        }
        (BYTES | TEXT, None) => {
            let bytes = pieces(cursor, head.major)?;
            if is_text {
                line(&bytes, body);
            }
        }
        // What a list, a map or a tag holds follows it; other items have no text.
        _ => {}
    }
    Some(())
}

/// Joins a text of unknown length from its pieces.
fn pieces(cursor: &mut Cursor<'_>, major: u8) -> Option<Vec<u8>> {
    const END: &[u8] = &[0xff];
    let mut joined = Vec::new();
    while !cursor.0.starts_with(END) {
        let head = Head::read(cursor).filter(|head| head.major == major)?;
        joined.extend_from_slice(cursor.take(usize::try_from(head.argument?).ok()?)?);
    }
    cursor.byte()?;
    Some(joined)
}

fn line(bytes: &[u8], body: &mut Body) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && !is_data(text)
    {
        // A form feed would count as the end of a page.
        body.line(&text.trim().replace(['\u{c}', '\0'], " "));
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, survives};

    const DETECTED: Detected = Detected {
        media_type: "application/cbor",
        kind: Kind::Data,
    };
    /// Made by cbor2 of Python.
    const SAMPLE: &[u8] = include_bytes!("../../../tests/data/text/birds.cbor");

    #[test]
    fn keys_and_texts_are_lines() {
        let found = run(extract, DETECTED, "a.cbor", SAMPLE);
        assert_eq!(found.own().failure, None);
        assert_eq!(
            found.own().body,
            "name\nGröße of the cborcormorant\ncolours\nblack\nwhite\nweight\nwhen\n2024-02-29T12:30:00Z\npicture\nnested\ndeep\nend"
        );
    }

    #[test]
    fn texts_of_unknown_length_are_joined() {
        let bytes = b"\xbf\x61a\x7f\x62sh\x63elf\xff\x61b\x5f\x41\x00\x42xy\xff\xff\x61z";
        let found = run(extract, DETECTED, "a.cbor", bytes);
        assert_eq!(found.own().failure, None);
        assert_eq!(found.own().body, "a\nshelf\nb\nz");
    }

    #[test]
    fn form_feeds_and_zeros_are_spaces() {
        let found = run(extract, DETECTED, "a.cbor", b"\x65a\x0cb\0c");
        assert_eq!(found.own().body, "a b c");
    }

    #[test]
    fn damaged_data_keep_what_is_whole() {
        for bytes in [
            &b"\x63one\x7aaaaa"[..],
            b"\x63one\x1c",
            b"\x63one\x7f\x41a\xff",
        ] {
            let found = run(extract, DETECTED, "a.cbor", bytes);
            let failure = found.own().failure.as_ref().unwrap();
            assert_eq!(failure.reason(), Reason::Malformed);
            assert_eq!(found.own().body, "one");
        }
        survives(extract, DETECTED, "a.cbor", SAMPLE);
    }
}
