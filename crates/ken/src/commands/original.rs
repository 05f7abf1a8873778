//! Reads the bytes of a document from any depth inside its file.

use std::io::Read;
use std::path::Path;

use ken_core::{Ipath, Location, Stamp};
use ken_engine::{MessageId, Source};
use ken_extract::{Extractor, Input, Member};

use crate::failure::{Failure, Kind};

/// Reads documents from files, as indexing does: dangerous formats are parsed in a worker.
pub(super) struct Reader<'s> {
    snapshot: &'s dyn Source,
    options: ken_extract::Options,
}

impl<'s> Reader<'s> {
    /// Returns a reader of the documents of a snapshot.
    pub(super) fn new(snapshot: &'s dyn Source, options: ken_extract::Options) -> Self {
        Self { snapshot, options }
    }

    /// Returns the bytes of a document.
    pub(super) fn read(&self, location: &Location) -> Result<Vec<u8>, Failure> {
        if location.ipath.is_root() {
            let mut bytes = Vec::new();
            ken_walk::open_named(&location.path)?.read_to_end(&mut bytes)?;
            return Ok(bytes);
        }
        let file = ken_walk::open_named(&location.path)?;
        let hasher = self.snapshot.meta().hasher;
        let extractor = Extractor::new(&self.options).with_seed(hasher.seed());
        let ipath = &location.ipath;
        let member = match self.message_in_place(&file, location, &extractor)? {
            Some(message) if message.ipath == *ipath => Some(message),
            Some(message) => extractor.member(&mut Input::member(message), ipath),
            None => self.member_of_file(file, location, &extractor)?,
        };
        if let Some(member) = member {
            return Ok(member.bytes);
        }
        let message = format!("\"{location}\" no longer exists");
        Err(Failure::new(Kind::Input, message).hint("ken index updates the index"))
    }

    /// Reads the message of a mailbox that is or contains a document, at its stored position. Returns `None` if that
    /// is unknown or no longer valid.
    fn message_in_place(
        &self,
        file: &fs_err::File,
        location: &Location,
        extractor: &Extractor<'_>,
    ) -> Result<Option<Member>, Failure> {
        let key = self.snapshot.meta().hasher.key(&location.path);
        let ipath = Ipath::from_joined(location.ipath.prefix(1));
        let message = MessageId::of(&ipath, 1);
        let Some(span) = self.snapshot.mail().message_span(key, message)? else {
            return Ok(None);
        };
        let name = location.file_name();
        Ok(extractor.message_at(&name, file.file(), span, &ipath)?)
    }

    /// Reads a member of a file that is unchanged since it was indexed.
    fn member_of_file(
        &self,
        file: fs_err::File,
        location: &Location,
        extractor: &Extractor<'_>,
    ) -> Result<Option<Member>, Failure> {
        let file = file.into_file();
        let stamp = ken_walk::file_stamp(&file).map_err(std::io::Error::from)?;
        let size = match stamp {
            Some(stamp) if self.is_known(&location.path, stamp)? => stamp.size,
            _ => return Err(changed(location)),
        };
        let mut input = Input::file(location.file_name(), &file, size);
        Ok(extractor.member(&mut input, &location.ipath))
    }
}

impl Reader<'_> {
    /// Returns whether a file is unchanged since it was indexed. In a changed file the same number may mean another
    /// message.
    fn is_known(&self, path: &Path, stamp: Stamp) -> Result<bool, Failure> {
        let stamp = Stamp {
            sidecar: ken_walk::sidecar_beside(path),
            mh: ken_walk::mh_state(path),
            ..stamp
        };
        let hasher = self.snapshot.meta().hasher;
        let known = self.snapshot.files().row(hasher.key(path))?;
        Ok(known.is_some_and(|(_, row)| row.is_of(&stamp, &hasher)))
    }
}

fn changed(location: &Location) -> Failure {
    let path = location.path.display();
    let message = format!("\"{path}\" has changed since it was indexed");
    Failure::new(Kind::Input, message).hint("run ken index, then try again")
}
