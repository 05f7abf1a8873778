//! The identifier of a document: short, without a path, and valid in every later commit as long as the document is at
//! its place; that of a message, also when its flags change.
//!
//! It is the key of the file in 16 hexadecimal digits; for a member, a hash of its member path follows. Both are
//! hashes with the keys of the index, so nobody can choose documents with the same identifier.

use std::path::Path;

use ken_core::{Field, FileKey, KeyHasher, Kind, Location, Pattern, Plan};
use ken_engine::{DocAddress, Request, Stored};
use ken_mail::maildir::had_path;

use super::natural::in_order;
use super::{Error, Service, title};

/// The digits of a hash.
const N_DIGITS: usize = 16;

/// The most messages that are asked whether they had an identifier, unless the engine names a few.
const MAX_ASKED: usize = 1_000_000;
/// The messages whose locations are in memory at once.
const ASKED_AT_ONCE: usize = 1_000;

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
    /// A change of flags renames a message. Where no file has the identifier, messages are asked whether they had it: all of
    /// them, which takes some microseconds each, or those few that the engine names.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn document(&self, id: &str) -> Result<Option<Named>, Error> {
        let Some(key) = file_key(id) else {
            return Ok(None);
        };
        let member = &id[N_DIGITS..];
        match self.document_of(key, member)? {
            None => match self.message_that_had(key)? {
                Some(now) => self.document_of(now, member),
                None => Ok(None),
            },
            found => Ok(found),
        }
    }

    /// Returns the document of a file, or its member with this hash.
    fn document_of(&self, key: FileKey, member: &str) -> Result<Option<Named>, Error> {
        let documents = self.snapshot.files().documents_of(key)?;
        let locations = self.snapshot.locations(&documents)?;
        for (at, location) in documents.into_iter().zip(&locations) {
            let id = self.id(location);
            if file_key(&id) == Some(key) && id[N_DIGITS..] == *member {
                let stored = self.snapshot.document(at)?;
                return Ok(Some(Named { at, id, stored }));
            }
        }
        Ok(None)
    }

    /// Returns the key of the file of a message that had another key before its flags changed.
    fn message_that_had(&self, key: FileKey) -> Result<Option<FileKey>, Error> {
        let messages = match self.snapshot.mail().formerly(key)? {
            Some(few) => few,
            None => self.all_messages()?,
        };
        let hasher = &self.snapshot.meta().hasher;
        for some in messages.chunks(ASKED_AT_ONCE) {
            let locations = self.snapshot.locations(some)?;
            let had = |location: &&Location| {
                had_path(&location.path, &mut |former| hasher.key(former) == key)
            };
            if let Some(now) = locations.iter().find(had) {
                return Ok(Some(hasher.key(&now.path)));
            }
        }
        Ok(None)
    }

    /// Returns the messages that are files.
    fn all_messages(&self) -> Result<Vec<DocAddress>, Error> {
        let is = |value: &str| Plan::Match {
            field: Field::Is,
            pattern: Pattern::Term(value.to_owned()),
        };
        let is_message = Plan::Match {
            field: Field::Type,
            pattern: Pattern::Term(Kind::Message.name().to_owned()),
        };
        let plan = Plan::And(vec![is_message, Plan::Not(Box::new(is("member")))]);
        let found = self.snapshot.find(&Request {
            limit: MAX_ASKED,
            ..Request::new(&plan)
        })?;
        Ok(found.hits.iter().map(|hit| hit.address).collect())
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
