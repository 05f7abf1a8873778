//! BMP of Windows and OS/2: a header of 12 bytes or more, which holds the size and no text.

use super::Picture;
use crate::structure::cursor::Cursor;
use crate::{Error, Input};

pub(super) fn read(input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
    let header = input.range(14, 12)?;
    let (width, height) =
        size(&header).ok_or_else(|| Error::Malformed("the header is cut off".into()))?;
    picture.enlarge(width.into(), height.into());
    Ok(())
}

fn size(header: &[u8]) -> Option<(u32, u32)> {
    let mut header = Cursor(header);
    if header.le_u32()? == 12 {
        return Some((header.le_u16()?.into(), header.le_u16()?.into()));
    }
    // With a negative height, the first row is the top one.
    let (width, height) = (header.le_u32()?, header.le_u32()?);
    Some((width, height.cast_signed().unsigned_abs()))
}
