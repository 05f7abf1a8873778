//! Finds the files embedded in a document: storages that hold a plain file, a packaged file, or a
//! document of another old Office program (MS-OLEDS).

use std::borrow::Cow;

use ken_core::Kind;

use super::rebuild::rebuild;
use super::{Compound, EntryId, ROOT};
use crate::output::Output;
use crate::output::members::{MemberNames, file_name};
use crate::structure::cursor::Cursor;
use crate::text::{code_page, names};
use crate::{Error, Input, Member, detect};

/// Streams that make a storage a document.
const DOCUMENTS: [&str; 8] = [
    "WordDocument",
    "Workbook",
    "Book",
    "PowerPoint Document",
    "__properties_version1.0",
    "EncryptedPackage",
    "VisioDocument",
    "Quill",
];
/// Streams that hold an embedded file unchanged: of Office, Acrobat, Works, LibreOffice and of
/// OpenDocument in Office.
const FILES: [&str; 4] = ["Package", "CONTENTS", "package_stream", "EmbeddedOdf"];
/// The stream of a packaged file.
const NATIVE: &str = "\u{1}Ole10Native";
/// The first number of a packaged file.
const PACKAGED: u16 = 2;
/// Storages around the storage of an object; no program nests more.
const MAX_WRAPPERS: usize = 3;
const SIGNATURE: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";

/// Returns a storage as a file.
pub(crate) fn rebuilt(file: &Compound<'_>, storage: EntryId) -> Vec<u8> {
    rebuild(file, storage)
}

/// Returns the file in a storage, with its name; none if the storage is of another kind.
pub(crate) fn unwrap(file: &Compound<'_>, storage: EntryId) -> Option<(String, Vec<u8>)> {
    if is_document(file, storage) {
        return Some((String::new(), rebuild(file, storage)));
    }
    if let Some(native) = file.stream(storage, NATIVE) {
        return native_file(&native);
    }
    let content = FILES
        .iter()
        .filter_map(|name| file.stream(storage, name))
        .find(|content| !content.is_empty())?;
    Some((String::new(), content))
}

fn is_document(file: &Compound<'_>, storage: EntryId) -> bool {
    let mut names = DOCUMENTS.iter();
    names.any(|name| file.find(storage, name).is_some())
}

/// Returns the file that a compound file represents: itself, if it is a document.
pub(crate) fn of_file(bytes: &[u8]) -> Option<(String, Vec<u8>)> {
    let file = Compound::open(bytes).ok()?;
    if is_document(&file, ROOT) {
        return Some((String::new(), bytes.to_vec()));
    }
    let mut storage = ROOT;
    for _ in 0..MAX_WRAPPERS {
        if let Some(found) = unwrap(&file, storage) {
            return Some(found);
        }
        let is_storage = |id: &&EntryId| !file.is_stream(**id);
        storage = *file.children(storage).iter().find(is_storage)?;
    }
    None
}

/// Returns the name and content of an embedded file, which may be wrapped in an object of OLE.
pub(crate) fn embedded_file(name: String, bytes: Vec<u8>) -> (String, Vec<u8>) {
    if !is_compound(&bytes) {
        return (name, bytes);
    }
    match of_file(&bytes) {
        Some((own, content)) if own.is_empty() => (name, content),
        Some(found) => found,
        None => (name, bytes),
    }
}

/// Returns the file that an object holds: a compound file, or any other file that is recognised and
/// no picture. The data of other objects means something to their programs only.
pub(crate) fn of_object(bytes: Vec<u8>) -> Option<(String, Vec<u8>)> {
    if is_compound(&bytes) {
        return of_file(&bytes);
    }
    let detected = detect::detect(&Input::bytes_of("", &bytes)).ok()?;
    let is_file = detected != detect::UNKNOWN && !bytes.is_empty() && detected.kind != Kind::Image;
    is_file.then(|| (String::new(), bytes))
}

/// Returns whether bytes begin as a compound file.
pub(crate) fn is_compound(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

/// Returns the compound file within bytes, from where it begins.
pub(crate) fn compound_within(bytes: &[u8]) -> Option<&[u8]> {
    let start = memchr::memmem::find(bytes, SIGNATURE)?;
    Some(&bytes[start..])
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

/// Reads the stream `Ole10Native`: a length, then a packaged file or the data of an object of
/// OLE 1.0. Writers count the length in different ways, so the bytes decide.
fn native_file(native: &[u8]) -> Option<(String, Vec<u8>)> {
    let data = native.get(4..)?;
    packaged_file(data).or_else(|| of_object(data.to_vec()))
}

/// Reads a packaged file: the content of the stream `Ole10Native` after its length.
pub(crate) fn packaged_file(native: &[u8]) -> Option<(String, Vec<u8>)> {
    let mut cursor = Cursor(native);
    if cursor.le_u16()? != PACKAGED {
        return None;
    }
    let label = zero_ended(&mut cursor)?;
    let path = zero_ended(&mut cursor)?;
    let _kind = cursor.le_u32()?;
    let temporary = cursor.le_u32()? as usize;
    cursor.take(temporary)?;
    let length = cursor.le_u32()? as usize;
    let content = cursor.take(length.min(cursor.0.len()))?;
    let name = unicode_label(&mut cursor).map(Cow::Owned);
    let name = name.unwrap_or_else(|| match label.is_empty() {
        true => names::decode(path),
        false => names::decode(label),
    });
    Some((file_name(&name).to_owned(), content.to_vec()))
}

/// Reads the label in Unicode, which newer programs write after the content, between two paths.
fn unicode_label(cursor: &mut Cursor<'_>) -> Option<String> {
    let mut string = || {
        let length = cursor.le_u32()? as usize;
        cursor.take(length.checked_mul(2)?)
    };
    let _temporary = string()?;
    let label = code_page::utf16(string()?).into_owned();
    (!label.is_empty()).then_some(label)
}

fn zero_ended<'a>(cursor: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let end = memchr::memchr(0, cursor.0)?;
    let text = cursor.take(end)?;
    cursor.take(1)?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::super::rebuild::compound_of;
    use super::*;

    fn package(label: &[u8], content: &[u8], unicode: Option<&str>) -> Vec<u8> {
        let mut native = [b"\x02\0", label, b"\0C:\\a\\", label, b"\0\0\0\x03\0"].concat();
        native.extend(2_u32.to_le_bytes());
        native.extend(b"x\0");
        native.extend((content.len() as u32).to_le_bytes());
        native.extend(content);
        for text in unicode
            .map(|label| ["C:\\t", label, "C:\\a"])
            .into_iter()
            .flatten()
        {
            let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            native.extend((units.len() as u32 / 2).to_le_bytes());
            native.extend(units);
        }
        native
    }

    fn stream(native: &[u8]) -> Vec<u8> {
        [&(native.len() as u32).to_le_bytes()[..], native].concat()
    }

    #[test]
    fn packaged_files_have_the_name_that_their_user_saw() {
        let name = |native: &[u8]| packaged_file(native).map(|(name, _)| name);
        let plain = package(b"note.txt", b"giraffe", None);
        assert_eq!(packaged_file(&plain).unwrap().1, b"giraffe");
        assert_eq!(name(&plain).as_deref(), Some("note.txt"));
        let cyrillic = package(b"\xce\xf2\xf7\xb8\xf2.txt", b"", None);
        assert_eq!(name(&cyrillic).as_deref(), Some("Отчёт.txt"));
        let unicode = package(b"???.txt", b"", Some("日本語.txt"));
        assert_eq!(name(&unicode).as_deref(), Some("日本語.txt"));
        let unlabelled = b"\x02\0\0C:\\a\\b.pdf\0\0\0\x03\0\0\0\0\0\x03\0\0\0abc";
        assert_eq!(name(unlabelled).as_deref(), Some("b.pdf"));
    }

    #[test]
    fn lengths_that_lie_lose_nothing_that_is_there() {
        let mut native = package(b"a.txt", b"whole", None);
        let at = native.len() - 9;
        native[at..at + 4].copy_from_slice(&99_u32.to_le_bytes());
        assert_eq!(packaged_file(&native).unwrap().1, b"whole");
        let file = compound_of(&[(NATIVE, &[&[0; 4][..], &native].concat())]);
        assert_eq!(of_file(&file).unwrap().0, "a.txt");
    }

    #[test]
    fn each_way_of_embedding_is_unwrapped() {
        for (name, content) in [
            ("CONTENTS", b"%PDF-1.4".to_vec()),
            ("Contents", b"%PDF-1.4".to_vec()),
            ("Package", b"%PDF-1.4".to_vec()),
            ("package_stream", b"%PDF-1.4".to_vec()),
            ("EmbeddedOdf", b"%PDF-1.4".to_vec()),
            (NATIVE, stream(b"%PDF-1.4")),
            (NATIVE, stream(&package(b"a.pdf", b"%PDF-1.4", None))),
            ("Wrapper/CONTENTS", b"%PDF-1.4".to_vec()),
        ] {
            let file = compound_of(&[("\u{1}Ole", b"x"), (name, &content)]);
            let found = of_file(&file).map(|(_, bytes)| bytes);
            assert_eq!(found.as_deref(), Some(&b"%PDF-1.4"[..]), "{name}");
        }
        let document = compound_of(&[("WordDocument", b"x")]);
        assert_eq!(of_file(&document).unwrap().1, document);
        assert!(of_file(&compound_of(&[("Equation Native", b"x")])).is_none());
    }

    #[test]
    fn an_object_of_ole_1_may_hold_a_compound_file() {
        let inner = compound_of(&[("Workbook", b"x")]);
        let file = compound_of(&[(NATIVE, &stream(&inner))]);
        assert_eq!(of_file(&file).unwrap().1, inner);
        let outer = compound_of(&[("CONTENTS", b"x")]);
        assert_eq!(of_object(outer).unwrap().1, b"x");
        let prefixed = [b"junk", &inner[..]].concat();
        assert_eq!(compound_within(&prefixed), Some(&inner[..]));
    }
}
