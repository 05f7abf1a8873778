//! Embedded objects: hexadecimal digits of an OLE 1.0 object (MS-OLEDS 2.2.5), which contains a
//! compound file or, as a *package*, any file with its name.

use crate::structure::compound::objects::packaged_file;
use crate::structure::cursor::Cursor;

/// Returns the name and the content of an embedded file; none for links and pictures.
pub(super) fn unwrap(data: &[u8]) -> Option<(String, Vec<u8>)> {
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
    let native = &cursor.0[..length.min(cursor.0.len())];
    if class == b"Package" {
        return packaged_file(native);
    }
    let name = String::from_utf8_lossy(class).into_owned();
    Some((name, native.to_vec()))
}

fn string<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let length = cursor.le_u32()? as usize;
    let bytes = cursor.take(length)?;
    Some(bytes.strip_suffix(b"\0").unwrap_or(bytes))
}
