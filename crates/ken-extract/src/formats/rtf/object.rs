//! Embedded objects: hexadecimal digits of an OLE 1.0 object (MS-OLEDS 2.2.5), which holds a
//! compound file or, as *package*, a file of any sort with its name.

use super::super::cursor::Cursor;

/// Returns the name and the content of an embedded file; nothing for links and pictures.
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
        return package(native);
    }
    let name = String::from_utf8_lossy(class).into_owned();
    Some((name, native.to_vec()))
}

fn string<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let length = cursor.le_u32()? as usize;
    let bytes = cursor.take(length)?;
    Some(bytes.strip_suffix(b"\0").unwrap_or(bytes))
}

/// Reads a packaged file: what the stream `Ole10Native` holds after its length.
pub(in crate::formats) fn package(native: &[u8]) -> Option<(String, Vec<u8>)> {
    let mut cursor = Cursor(native);
    let _signature = cursor.le_u16()?;
    let label = zero_ended(&mut cursor)?;
    let _path = zero_ended(&mut cursor)?;
    let _kind = cursor.le_u32()?;
    let temporary = cursor.le_u32()? as usize;
    cursor.take(temporary)?;
    let length = cursor.le_u32()? as usize;
    let content = cursor.take(length)?;
    let name = String::from_utf8_lossy(label).into_owned();
    Some((name, content.to_vec()))
}

fn zero_ended<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let end = memchr::memchr(0, cursor.0)?;
    let text = cursor.take(end)?;
    cursor.take(1)?;
    Some(text)
}
