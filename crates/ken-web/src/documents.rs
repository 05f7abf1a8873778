//! Which document does an identifier name?
//!
//! Requests name documents by identifiers, never by paths, so nobody can ask for a file that the index does not have. An
//! identifier is the key of the file in hexadecimal digits; for a member, a hash of the member path follows. Keys are
//! hashes with a secret of the index: they stay the same from commit to commit, and differ from index to index.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use ken_core::{FileKey, KeyHasher, Location};
use ken_engine::{DocAddress, Source};
use ken_search::service::{Like, title};

use crate::answer::Error;

/// The number of digits of one hash.
const DIGITS: usize = 16;

/// Returns the identifier of the document at a location.
pub(crate) fn id(hasher: &KeyHasher, location: &Location) -> String {
    let FileKey(key) = hasher.key(&location.path);
    match member_hash(hasher, location) {
        None => format!("{key:016x}"),
        Some(hash) => format!("{key:016x}{hash:016x}"),
    }
}

fn member_hash(hasher: &KeyHasher, location: &Location) -> Option<u64> {
    let ipath = location.ipath.as_str();
    (!location.ipath.is_root()).then(|| hasher.key(Path::new(ipath)).0)
}

/// Returns the document that an identifier names.
///
/// # Errors
/// Fails if the commit has no such document, or cannot be read.
pub(crate) fn find(source: &dyn Source, id: &str) -> Result<DocAddress, Error> {
    let hasher = &source.meta().hasher;
    if let Some((key, member)) = parsed(id) {
        for address in source.files().documents_of(FileKey(key))? {
            if member_hash(hasher, &source.location(address)?) == member {
                return Ok(address);
            }
        }
    }
    Err(Error {
        status: 404,
        message: "the index does not have this document any more".to_owned(),
    })
}

/// Returns the wish for documents similar to one.
///
/// # Errors
/// Fails as [`find`] does.
pub(crate) fn like(source: &dyn Source, id: &str) -> Result<Like, Error> {
    let Location { path, ipath } = source.location(find(source, id)?)?;
    let mut address = path.into_os_string().into_vec();
    if !ipath.is_root() {
        address.push(b'|');
        address.extend_from_slice(ipath.as_str().as_bytes());
    }
    Ok(Like::Document(OsString::from_vec(address).into()))
}

/// Returns the title of a document, or how it is called where it is gone.
pub(crate) fn name(source: &dyn Source, id: &str) -> String {
    let stored = find(source, id).and_then(|at| Ok(source.document_without_body(at)?));
    match stored {
        Ok(stored) => {
            let file_name = || stored.location.file_name();
            title(&stored.document).map_or_else(file_name, str::to_owned)
        }
        Err(_) => "a document that is gone".to_owned(),
    }
}

fn parsed(id: &str) -> Option<(u64, Option<u64>)> {
    let number = |digits: &str| match digits.len() {
        DIGITS if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16).ok()
        }
        _ => None,
    };
    let (key, member) = id.split_at_checked(DIGITS)?;
    match member {
        "" => Some((number(key)?, None)),
        member => Some((number(key)?, Some(number(member)?))),
    }
}

#[cfg(test)]
mod tests {
    use ken_core::Ipath;

    use super::*;

    #[test]
    fn identifiers_name_files_and_members() {
        let hasher = KeyHasher::new(1, 2);
        let file = Location::file("/home/a/mail.mbox");
        let member = Location {
            ipath: Ipath::root().child("12"),
            ..file.clone()
        };
        let (own, other) = (id(&hasher, &file), id(&hasher, &member));
        assert_eq!(parsed(&own), Some((hasher.key(&file.path).0, None)));
        assert!(other.starts_with(&own) && other.len() == 2 * DIGITS);
        for wrong in [
            "",
            "12",
            "+000000000000000",
            "00000000000000001",
            "é00000000000000",
        ] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
