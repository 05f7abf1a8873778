//! The bytes of a document, wherever it is inside of its file.

use ken_core::{Document, Ipath, Location};
use ken_extract::{Extractor, Input, Member, Sink};

use crate::config::Settings;
use crate::failure::{Failure, Kind};

/// Reads documents out of files, as indexing does: what is dangerous in a worker process.
pub(super) struct Reader {
    options: ken_extract::Options,
}

impl Reader {
    pub(super) fn new(settings: &Settings) -> Result<Self, Failure> {
        Ok(Self {
            options: settings.extraction()?,
        })
    }

    /// Returns the bytes of a document.
    pub(super) fn read(&self, location: &Location) -> Result<Vec<u8>, Failure> {
        if location.ipath.is_root() {
            return Ok(fs_err::read(&location.path)?);
        }
        let file = fs_err::File::open(&location.path)?;
        let n_bytes = file.metadata()?.len();
        let file = file.into_file();
        let mut input = Input::file(location.file_name(), &file, n_bytes);
        let extractor = Extractor::new(&self.options);
        let mut wanted = Wanted {
            ipath: &location.ipath,
            next: None,
        };
        extractor.extract(&mut input, &mut wanted);
        while let Some(member) = wanted.next.take() {
            if member.ipath == location.ipath {
                return Ok(member.bytes);
            }
            extractor.extract(&mut Input::member(member), &mut wanted);
        }
        let message = format!("\"{location}\" is not there any more");
        Err(Failure::new(Kind::Input, message).hint("ken index brings the index up to date"))
    }
}

/// Takes the member that leads to a document, and no other.
struct Wanted<'a> {
    ipath: &'a Ipath,
    next: Option<Member>,
}

impl Sink for Wanted<'_> {
    fn document(&mut self, _: Document) {}

    fn member(&mut self, member: Member) {
        if self.ipath.prefix(member.ipath.depth()) == member.ipath.as_str() {
            self.next = Some(member);
        }
    }
}
