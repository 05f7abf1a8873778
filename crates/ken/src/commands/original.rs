//! Reads the bytes of a document from any depth inside its file.

use std::io::Read;
use std::path::Path;

use ken_core::{Ipath, Location};
use ken_engine::{MessageId, Source};
use ken_extract::{Extractor, Input, Member};
use ken_web::is_known;
use serde::Serialize;

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
        self.read_from(ken_walk::open_named(&location.path)?, location)
    }

    /// Returns the bytes of a document, whose file is open.
    pub(super) fn read_from(
        &self,
        mut file: fs_err::File,
        location: &Location,
    ) -> Result<Vec<u8>, Failure> {
        if location.ipath.is_root() {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            return Ok(bytes);
        }
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
            Some(stamp) if is_known(self.snapshot, &location.path, stamp)? => stamp.size,
            _ => return Err(changed(location)),
        };
        let mut input = Input::file(location.file_name(), &file, size);
        Ok(extractor.member(&mut input, &location.ipath))
    }
}

/// What became of the file of a document since it was indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum FileState {
    Same,
    Changed,
    Gone,
    /// Whoever asks may not look.
    Unknown,
}

/// Returns what became of a file since it was indexed.
pub(super) fn state(snapshot: &dyn Source, path: &Path) -> Result<FileState, Failure> {
    let file = match ken_walk::open_named(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(FileState::Gone),
        Err(_) => return Ok(FileState::Unknown),
    };
    let stamp = ken_walk::file_stamp(file.file()).map_err(std::io::Error::from)?;
    Ok(match stamp {
        Some(stamp) if is_known(snapshot, path, stamp)? => FileState::Same,
        _ => FileState::Changed,
    })
}

fn changed(location: &Location) -> Failure {
    Failure::new(Kind::Input, changed_words(location)).hint("run ken index, then try again")
}

/// Returns the sentence on a file that is not what the index knows.
pub(super) fn changed_words(location: &Location) -> String {
    let path = location.path.display();
    format!("\"{path}\" has changed since it was indexed")
}
