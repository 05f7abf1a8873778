//! The identifier of a document: short, without a path, and valid in every later commit as long as the document is at
//! its place.
//!
//! It is the key of the file in 16 hexadecimal digits; for a member, a hash of its member path follows. Both are
//! hashes with the keys of the index, so nobody can choose documents with the same identifier.

use std::path::Path;

use ken_core::{FileKey, KeyHasher, Location};
use ken_engine::{DocAddress, Stored};

use super::natural::in_order;
use super::{Error, Service, title};

/// The digits of a hash.
const N_DIGITS: usize = 16;

/// Returns the identifier of a document in an index with this hasher.
pub(super) fn id(location: &Location, hasher: &KeyHasher) -> String {
    let FileKey(file) = hasher.key(&location.path);
    match location.ipath.is_root() {
        true => format!("{file:016x}"),
        false => {
            let FileKey(member) = hasher.key(Path::new(location.ipath.as_str()));
            format!("{file:016x}{member:016x}")
        }
    }
}

/// Returns whether a text may be an identifier.
pub(super) fn is_id(text: &str) -> bool {
    let has_length = [N_DIGITS, 2 * N_DIGITS].contains(&text.len());
    has_length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the key of the file in an identifier.
fn file_key(id: &str) -> Option<FileKey> {
    is_id(id).then(|| u64::from_str_radix(&id[..N_DIGITS], 16).ok().map(FileKey))?
}

/// A document that was named.
#[derive(Clone, Debug)]
pub struct Named {
    /// Where the index has it.
    pub at: DocAddress,
    /// Its identifier.
    pub id: String,
    /// The document, with its text.
    pub stored: Stored,
}

impl Named {
    /// Returns the title of the document, else its file name.
    pub fn title(&self) -> Option<&str> {
        title(&self.stored.document)
    }
}

impl Service<'_> {
    /// Returns the identifier of a document.
    pub fn id(&self, location: &Location) -> String {
        id(location, &self.snapshot.meta().hasher)
    }

    /// Returns the document with an identifier; none if the index has no such document any more.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn document(&self, id: &str) -> Result<Option<Named>, Error> {
        let Some(key) = file_key(id) else {
            return Ok(None);
        };
        let documents = self.snapshot.files().documents_of(key)?;
        let locations = self.snapshot.locations(&documents)?;
        let mut all = documents.into_iter().zip(&locations);
        let Some((at, _)) = all.find(|(_, location)| self.id(location) == id) else {
            return Ok(None);
        };
        Ok(Some(Named {
            at,
            id: id.to_owned(),
            stored: self.snapshot.document(at)?,
        }))
    }

    /// Returns the locations of the documents in the file with an identifier, and of the members in a member, in natural
    /// order; the document itself is not among them.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn members(&self, of: &Location) -> Result<Vec<Location>, Error> {
        let below = self.snapshot.documents_below(of)?;
        let mut members = self.snapshot.locations(&below)?;
        members.retain(|location| location.ipath != of.ipath);
        members.sort_by(|a, b| in_order(a.ipath.as_str(), b.ipath.as_str()));
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use ken_core::Ipath;

    use super::*;

    #[test]
    fn identifiers_name_files_and_members() {
        let hasher = KeyHasher::new(1, 2);
        let file = Location {
            path: "/a/b.zip".into(),
            ipath: Ipath::root(),
        };
        let member = Location {
            ipath: Ipath::root().child("c"),
            ..file.clone()
        };
        let (of_file, of_member) = (id(&file, &hasher), id(&member, &hasher));
        assert!(of_member.starts_with(&of_file) && of_member.len() == 2 * N_DIGITS);
        let key = Some(hasher.key(&file.path));
        assert_eq!((file_key(&of_file), file_key(&of_member)), (key, key));
        for wrong in [
            "",
            "1",
            "+000000000000001",
            "é00000000000000",
            "0123456789abcdef0",
        ] {
            assert_eq!(file_key(wrong), None, "{wrong}");
        }
    }
}
