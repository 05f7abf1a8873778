//! Records (MS-PPT 2.3.1): a kind, a length, and data or records inside.

use crate::structure::cursor::Cursor;

pub(super) const DOCUMENT: u16 = 0x3e8;
pub(super) const SLIDE: u16 = 0x3ee;
pub(super) const SLIDE_ATOM: u16 = 0x3ef;
pub(super) const NOTES: u16 = 0x3f0;
pub(super) const SLIDE_PERSIST: u16 = 0x3f3;
pub(super) const OUTLINE_REFERENCE: u16 = 0xf9e;
pub(super) const TEXT_HEADER: u16 = 0xf9f;
pub(super) const TEXT_UNITS: u16 = 0xfa0;
pub(super) const TEXT_BYTES: u16 = 0xfa8;
pub(super) const STRING: u16 = 0xfba;
pub(super) const HEADERS: u16 = 0xfd9;
pub(super) const SLIDE_LIST: u16 = 0xff0;
pub(super) const USER_EDIT: u16 = 0xff5;
pub(super) const TAG_DATA: u16 = 0x138b;
pub(super) const PERSIST_TABLE: u16 = 0x1772;
pub(super) const MAIN_MASTER: u16 = 0x3f8;
/// The list of links and objects.
pub(super) const LINKS: u16 = 0x409;
pub(super) const DRAWING_GROUP: u16 = 0x40b;
/// A shape's object.
pub(super) const OBJECT_REFERENCE: u16 = 0xbc1;
/// An embedded object in the list, and its numbers.
pub(super) const EMBEDDED: u16 = 0xfcc;
pub(super) const OBJECT_ATOM: u16 = 0xfc3;
/// The pictures of a presentation, and where one of them is.
pub(super) const ART_GROUP: u16 = 0xf000;
pub(super) const PICTURES: u16 = 0xf001;
pub(super) const PICTURE_PLACE: u16 = 0xf007;
pub(super) const PLACEHOLDER: u16 = 0xbc3;
pub(super) const LINK: u16 = 0xfd7;
pub(super) const COMMENT: u16 = 0x2ee0;
/// A shape, and what its program says of it.
pub(super) const SHAPE: u16 = 0xf004;
pub(super) const SHAPE_DATA: u16 = 0xf011;

/// A record.
#[derive(Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) kind: u16,
    /// Distinguishes records of one kind.
    pub(super) instance: u16,
    pub(super) has_records: bool,
    pub(super) data: &'a [u8],
}

/// Returns the records in bytes; the last one may be truncated.
pub(super) fn records(bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    let mut rest = Cursor(bytes);
    std::iter::from_fn(move || next(&mut rest))
}

/// Returns the record at an offset.
pub(super) fn record_at(bytes: &[u8], at: u32) -> Option<Record<'_>> {
    next(&mut Cursor(bytes.get(at as usize..)?))
}

fn next<'a>(rest: &mut Cursor<'a>) -> Option<Record<'a>> {
    let version = rest.le_u16()?;
    let kind = rest.le_u16()?;
    let length = rest.le_u32()? as usize;
    let data = rest.take(length.min(rest.0.len()))?;
    Some(Record {
        kind,
        instance: version >> 4,
        has_records: version & 15 == 15,
        data,
    })
}

/// Returns the number at an offset in a record's data.
pub(super) fn number(data: &[u8], at: usize) -> Option<u32> {
    Cursor(data.get(at..)?).le_u32()
}
