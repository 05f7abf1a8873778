//! Embedded objects: hexadecimal digits of an OLE 1.0 object (MS-OLEDS 2.2.5), which contains a
//! compound file or, as a *package*, any file with its name.

use crate::structure::compound::objects::{compound_within, of_file, of_object, packaged_file};
use crate::structure::cursor::Cursor;

/// Returns the name and the content of an embedded file; none for links and pictures.
pub(super) fn unwrap(data: &[u8]) -> Option<(String, Vec<u8>)> {
    match native(data) {
        Some((b"Package", native)) => packaged_file(native).or_else(|| within(native)),
        Some((class, native)) if !is_picture(class) => of_object(native.to_vec()),
        Some(_) => None,
        // Some writers leave out the head.
        None => within(data),
    }
}

/// Returns the class and the data of an embedded object.
fn native(data: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut cursor = Cursor(data);
    let _version = cursor.le_u32()?;
    // 2 is an embedded object, 1 a link.
    if cursor.le_u32()? != 2 {
        return None;
    }
    let class = string(&mut cursor)?;
    let _topic = string(&mut cursor)?;
    let _item = string(&mut cursor)?;
    let length = cursor.le_u32()? as usize;
    Some((class, &cursor.0[..length.min(cursor.0.len())]))
}

fn within(data: &[u8]) -> Option<(String, Vec<u8>)> {
    of_file(compound_within(data)?)
}

fn is_picture(class: &[u8]) -> bool {
    matches!(
        class,
        b"METAFILEPICT" | b"BITMAP" | b"DIB" | b"PBrush" | b"StaticMetafile" | b"StaticDib"
    )
}

fn string<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let length = cursor.le_u32()? as usize;
    let bytes = cursor.take(length)?;
    Some(bytes.strip_suffix(b"\0").unwrap_or(bytes))
}
