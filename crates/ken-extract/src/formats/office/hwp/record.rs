//! Records: a header with kind, level and size, and data (HWP 5.0, 4.1). The level says what a record belongs to.

use crate::structure::cursor::Cursor;

pub(super) const PARA_HEADER: u32 = 66;
pub(super) const PARA_TEXT: u32 = 67;
pub(super) const CTRL_HEADER: u32 = 71;
pub(super) const LIST_HEADER: u32 = 72;
/// A size that stands behind the header.
const LARGE: usize = 0xfff;

/// A record.
pub(super) struct Record<'a> {
    pub(super) kind: u32,
    pub(super) level: u32,
    pub(super) data: &'a [u8],
}

/// Reads the next record; none at the end, or if it is cut off.
pub(super) fn next<'a>(rest: &mut Cursor<'a>) -> Option<Record<'a>> {
    let header = rest.le_u32()?;
    let size = match (header >> 20) as usize {
        LARGE => rest.le_u32()? as usize,
        size => size,
    };
    Some(Record {
        kind: header & 0x3ff,
        level: header >> 10 & 0x3ff,
        data: rest.take(size)?,
    })
}
