//! Finds the files embedded in a document: storages that hold a plain file, a packaged file, or a
//! document of another old Office program.

use super::rebuild::rebuild;
use super::{Compound, EntryId, ROOT};
use crate::output::Output;
use crate::output::members::MemberNames;
use crate::structure::cursor::Cursor;
use crate::{Error, Member};

/// Streams that make a storage a document.
const DOCUMENTS: [&str; 5] = [
    "WordDocument",
    "Workbook",
    "Book",
    "PowerPoint Document",
    "__properties_version1.0",
];
/// Streams that hold an embedded file unchanged.
const FILES: [&str; 2] = ["Package", "CONTENTS"];

/// Returns a storage as a file.
pub(crate) fn rebuilt(file: &Compound<'_>, storage: EntryId) -> Vec<u8> {
    rebuild(file, storage)
}

/// Returns the file in a storage, with its name; none if the storage is of another kind.
pub(crate) fn unwrap(file: &Compound<'_>, storage: EntryId) -> Option<(String, Vec<u8>)> {
    if DOCUMENTS
        .iter()
        .any(|name| file.find(storage, name).is_some())
    {
        return Some((String::new(), rebuild(file, storage)));
    }
    if let Some(native) = file.stream(storage, "\u{1}Ole10Native") {
        return packaged_file(native.get(4..)?);
    }
    let content = FILES.iter().find_map(|name| file.stream(storage, name))?;
    Some((String::new(), content))
}

/// Returns the file that a compound file represents: itself, if it is a document.
pub(crate) fn of_file(bytes: Vec<u8>) -> Option<(String, Vec<u8>)> {
    let file = Compound::open(&bytes).ok()?;
    let is_document = DOCUMENTS.iter().any(|name| file.find(ROOT, name).is_some());
    if !is_document {
        return unwrap(&file, ROOT);
    }
    Some((String::new(), bytes))
}

/// Hands on the files in those sub-storages whose names `is_object` accepts.
///
/// # Errors
/// Fails when a limit on members is reached.
pub(crate) fn hand_on(
    file: &Compound<'_>,
    storage: EntryId,
    is_object: impl Fn(&str) -> bool,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let mut names = MemberNames::default();
    for &id in file.children(storage) {
        if file.is_stream(id) || !is_object(file.name(id)) {
            continue;
        }
        if let Some((name, bytes)) = unwrap(file, id) {
            let component = names.unique(file.name(id));
            output.member(Member {
                ipath: output.child_ipath(&component),
                name,
                bytes,
                ..Member::default()
            })?;
        }
    }
    Ok(())
}

/// Reads a packaged file: the content of the stream `Ole10Native` after its length.
pub(crate) fn packaged_file(native: &[u8]) -> Option<(String, Vec<u8>)> {
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
