//! The bytes that a format module reads: an open file, or a member in memory.

pub(crate) mod carry;
mod detected;
pub(crate) mod text;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use ken_core::{Field, Ipath, Location, Value};

use crate::{Error, Expansion, Limits, Member};

pub use detected::Detected;

/// Number of bytes that detection looks at.
pub(crate) const HEAD_BYTES: usize = 8 << 10;
/// Files up to this size are read in one call.
const PRELOAD_BYTES: u64 = 256 << 10;

/// One thing to extract.
pub struct Input<'a> {
    /// Member path of this input.
    pub ipath: Ipath,
    /// File name without folders, as text; may be empty.
    pub name: String,
    /// Media type that a container declares.
    pub declared_type: Option<String>,
    /// Time of last change that a container declares, in seconds since 1970-01-01 UTC.
    pub modified: Option<i64>,
    /// Whether it is attached to a message or document.
    pub is_attachment: bool,
    /// Offset in the outermost file, if the input can be read from there.
    pub(crate) offset: Option<u64>,
    /// What a container says about the input, besides its content.
    pub(crate) fields: Vec<(Field, Value)>,
    /// Number of components of `ipath` that lead to the enclosing message.
    pub(crate) message: Option<u8>,
    /// The expansion account of the outermost file; none if this is that file.
    pub(crate) expansion: Option<Expansion>,
    /// Whether this is the outermost file, as on disk.
    pub(crate) is_outermost_file: bool,
    /// The path of the file, if it may be a message file of a Maildir.
    path: Option<&'a Path>,
    /// The open file, kept even after its content was read.
    file: Option<&'a File>,
    data: Data<'a>,
    /// Content that is not yet written into the file: the write-ahead log of a database.
    log: Option<Box<Self>>,
    /// The format, once it was detected.
    pub(crate) detected: Option<Detected>,
}

enum Data<'a> {
    File { file: &'a File, size: u64 },
    Bytes(Cow<'a, [u8]>),
}

/// What [`Input::seekable`] returns.
pub(crate) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl<'a> Input<'a> {
    /// Creates the input of an open file of `size` bytes.
    pub fn file(name: impl Into<String>, file: &'a File, size: u64) -> Self {
        Self {
            file: Some(file),
            is_outermost_file: true,
            ..Self::new(name.into(), Data::File { file, size })
        }
    }

    /// Creates the input of an open file with this path.
    pub fn at(path: &'a Path, file: &'a File, size: u64) -> Self {
        Self {
            path: Some(path),
            ..Self::file(Location::file(path).file_name(), file, size)
        }
    }

    /// Returns whether this is a message file of a Maildir. This looks at the folders around the file.
    pub(crate) fn is_in_maildir(&self) -> bool {
        self.path.is_some_and(ken_mail::maildir::is_message_path)
    }

    /// Returns whether this is a file in a folder `cur` or `new`. This asks nothing of the disk.
    pub(crate) fn is_where_maildirs_keep_mail(&self) -> bool {
        self.path.is_some_and(ken_mail::maildir::is_maildir_path)
    }

    /// Creates the input of bytes in memory.
    pub fn bytes_of(name: impl Into<String>, bytes: &'a [u8]) -> Self {
        Self::new(name.into(), Data::Bytes(Cow::Borrowed(bytes)))
    }

    /// Creates the input of a member of a container.
    pub fn member(member: Member) -> Self {
        Self {
            ipath: member.ipath,
            name: member.name,
            declared_type: member.declared_type,
            modified: member.modified,
            is_attachment: member.is_attachment,
            offset: member.offset,
            fields: member.fields,
            message: member.message,
            expansion: member.expansion,
            is_outermost_file: false,
            path: None,
            file: None,
            data: Data::Bytes(Cow::Owned(member.bytes)),
            log: None,
            detected: None,
        }
    }

    fn new(name: String, data: Data<'a>) -> Self {
        Self {
            ipath: Ipath::root(),
            name,
            declared_type: None,
            modified: None,
            is_attachment: false,
            offset: None,
            fields: Vec::new(),
            message: None,
            expansion: None,
            is_outermost_file: false,
            path: None,
            file: None,
            data,
            log: None,
            detected: None,
        }
    }

    /// Adds the write-ahead log that is next to the file.
    #[must_use]
    pub fn with_log(self, log: Self) -> Self {
        Self {
            log: Some(Box::new(log)),
            ..self
        }
    }

    /// Returns the write-ahead log that is next to the file, if there is one.
    pub(crate) fn log(&self) -> Option<&Self> {
        self.log.as_deref()
    }

    /// Returns the size in bytes; for a file, its size when it was opened.
    pub fn size(&self) -> u64 {
        match &self.data {
            Data::File { size, .. } => *size,
            Data::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// Returns the open file, if the input is a file.
    pub(crate) fn descriptor(&self) -> Option<&'a File> {
        self.file
    }

    /// Returns the content if it is in memory.
    pub fn in_memory(&self) -> Option<&[u8]> {
        match &self.data {
            Data::Bytes(bytes) => Some(bytes),
            Data::File { .. } => None,
        }
    }

    /// Returns the account of the outermost file.
    pub(crate) fn account(&self, limits: &Limits) -> Expansion {
        let account = self.expansion.clone();
        account.unwrap_or_else(|| Expansion::of_file(self.size(), limits))
    }

    /// Reads a small file in one system call, for both detection and parser.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn preload(&mut self) -> io::Result<()> {
        let Data::File { file, size } = self.data else {
            return Ok(());
        };
        if size > PRELOAD_BYTES {
            return Ok(());
        }
        let content = read_at(file, 0, size as usize)?;
        self.data = Data::Bytes(Cow::Owned(content));
        Ok(())
    }

    /// Returns the first [`HEAD_BYTES`] bytes, or all if there are fewer.
    pub(crate) fn head(&self) -> io::Result<Cow<'_, [u8]>> {
        match &self.data {
            Data::Bytes(bytes) => Ok(Cow::Borrowed(&bytes[..bytes.len().min(HEAD_BYTES)])),
            Data::File { size, .. } => {
                let wanted = (*size).min(HEAD_BYTES as u64);
                let mut head = Vec::with_capacity(wanted as usize);
                self.reader()?.take(wanted).read_to_end(&mut head)?;
                Ok(Cow::Owned(head))
            }
        }
    }

    /// Returns the whole content. A file is read once, and its content kept.
    ///
    /// # Errors
    /// Fails if the content is larger than [`Limits::max_file_bytes`].
    pub(crate) fn bytes(&mut self, limits: &Limits) -> Result<&[u8], Error> {
        if self.size() > limits.max_file_bytes {
            return Err(limits.too_large(self.size()));
        }
        if let Data::File { size, .. } = self.data {
            // A file may grow while it is read: never read more than its announced size.
            let mut content = Vec::with_capacity(size as usize);
            self.reader()?.take(size).read_to_end(&mut content)?;
            self.data = Data::Bytes(Cow::Owned(content));
        }
        match &self.data {
            Data::Bytes(bytes) => Ok(bytes),
            Data::File { .. } => unreachable!("replaced by its bytes above"),
        }
    }

    /// Returns the whole content for a parser that needs to own it; the input does not keep it.
    ///
    /// # Errors
    /// Fails if the content is larger than [`Limits::max_file_bytes`].
    pub(crate) fn take_bytes(&mut self, limits: &Limits) -> Result<Vec<u8>, Error> {
        self.bytes(limits)?;
        let data = std::mem::replace(&mut self.data, Data::Bytes(Cow::Borrowed(&[])));
        match data {
            Data::Bytes(bytes) => Ok(bytes.into_owned()),
            Data::File { .. } => unreachable!("replaced by its bytes above"),
        }
    }

    /// Returns `length` bytes from `at`, or fewer if the input ends before. A file is read with one
    /// call, for formats that need only a few ranges.
    pub(crate) fn range(&self, at: u64, length: usize) -> io::Result<Cow<'_, [u8]>> {
        let rest = self.size().saturating_sub(at);
        let length = rest.min(length as u64) as usize;
        match &self.data {
            Data::Bytes(bytes) => {
                let at = at.min(bytes.len() as u64) as usize;
                Ok(Cow::Borrowed(&bytes[at..at + length]))
            }
            Data::File { file, .. } => Ok(Cow::Owned(read_at(file, at, length)?)),
        }
    }

    /// Writes the whole content into a file; the file system may share the data with the input.
    pub(crate) fn copy_to(&self, target: &mut File) -> io::Result<()> {
        match &self.data {
            Data::Bytes(bytes) => target.write_all(bytes),
            Data::File { file, size } => {
                let mut file = *file;
                file.seek(SeekFrom::Start(0))?;
                io::copy(&mut file.take(*size), target).map(|_| ())
            }
        }
    }

    /// Returns a reader from the start; several may be opened one after the other.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn reader(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match &self.data {
            Data::File { file, .. } => {
                let mut file = *file;
                file.seek(SeekFrom::Start(0))?;
                Box::new(file)
            }
            Data::Bytes(bytes) => Box::new(Cursor::new(&**bytes)),
        })
    }

    /// Returns a seekable reader, positioned at the start.
    pub(crate) fn seekable(&self) -> io::Result<Box<dyn ReadSeek + '_>> {
        Ok(match &self.data {
            Data::File { file, .. } => {
                let mut file = *file;
                file.seek(SeekFrom::Start(0))?;
                Box::new(file)
            }
            Data::Bytes(bytes) => Box::new(Cursor::new(&**bytes)),
        })
    }
}

/// Reads `length` bytes from `at`, or fewer if the file was truncated since its size was taken.
fn read_at(file: &File, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut content = Vec::with_capacity(length);
    while content.len() < length {
        let offset = at + content.len() as u64;
        // The buffer is not zeroed before the read.
        match rustix::io::pread(file, rustix::buffer::spare_capacity(&mut content), offset) {
            Ok(0) => break,
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    // The capacity may exceed what was requested.
    content.truncate(length);
    Ok(content)
}
