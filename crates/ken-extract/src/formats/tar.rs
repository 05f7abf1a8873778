//! Tape archives: POSIX ustar and pax, GNU long names and sparse files, V7.
//!
//! Read as a stream, since most of them arrive compressed; where the input can seek, the content
//! of members that are too large is skipped. Source: POSIX.1-2017 `pax`, and the manual of GNU
//! tar, "Basic Tar Format". Links and devices have no content and are left out.

use std::cell::Cell;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::rc::Rc;

use ken_core::escape_bytes;
use tar::{Archive, Entries, Entry, EntryType};

use super::members::{Names, file_name, over, read_member};
use super::source::{Source, carry, release};
use crate::output::Output;
use crate::{Error, Input, Member};

/// Long names and pax records of one member are read into memory: no more than this.
const MAX_HEADER_BYTES: u64 = 1 << 20;
const BLOCK_BYTES: u64 = 512;

/// Extracts the members of a tape archive.
pub(super) fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let guarded = Guarded::new(Source::new(input.seekable()?));
    let end = guarded.end();
    let mut archive = Archive::new(guarded);
    let entries = archive.entries_with_seek().map_err(release)?;
    read_entries(entries, &end, output)
}

/// Extracts the members of a tape archive that is a stream, whose failures carry an [`Error`].
pub(super) fn extract_stream(reader: impl Read, output: &mut Output<'_>) -> Result<(), Error> {
    let guarded = Guarded::new(reader);
    let end = guarded.end();
    let mut archive = Archive::new(guarded);
    let entries = archive.entries().map_err(release)?;
    read_entries(entries, &end, output)
}

fn read_entries<R: Read>(
    entries: Entries<'_, R>,
    end: &Cell<u64>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let mut names = Names::default();
    for entry in entries {
        let mut entry = entry.map_err(release)?;
        end.set(content_end(&entry).saturating_add(2 * MAX_HEADER_BYTES));
        let path = escape_bytes(&entry.path_bytes()).into_owned();
        // In V7 archives a folder is a file whose name ends with a slash.
        if has_content(entry.header().entry_type()) && !path.ends_with('/') {
            read_entry(&mut entry, &path, &names.unique(&path), output)?;
        }
    }
    Ok(())
}

fn has_content(kind: EntryType) -> bool {
    kind.is_file() || kind.is_contiguous() || kind.is_gnu_sparse()
}

/// Returns the position in the archive after the member's content, as its header tells it.
fn content_end<R: Read>(entry: &Entry<'_, R>) -> u64 {
    let stored = if entry.header().entry_type().is_gnu_sparse() {
        entry.header().entry_size().unwrap_or(0)
    } else {
        entry.size()
    };
    entry
        .raw_file_position()
        .saturating_add(stored)
        .saturating_add(BLOCK_BYTES)
}

fn read_entry<R: Read>(
    entry: &mut Entry<'_, R>,
    path: &str,
    component: &str,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let name = file_name(path);
    let max_bytes = output.limits().max_member_bytes;
    let size = entry.size();
    if size > max_bytes {
        return output.failed_member(component, name, over("max_member_bytes", max_bytes));
    }
    if is_pax_sparse(entry) {
        let error = Error::Malformed("a sparse file of the pax form, which is not read".into());
        return output.failed_member(component, name, error);
    }
    let modified = entry.header().mtime().ok();
    let content = read_member(entry, size, max_bytes, "max_member_bytes").and_then(|bytes| {
        // What lies beyond the end of an archive reads as nothing.
        let is_whole = bytes.len() as u64 == size;
        is_whole.then_some(bytes).ok_or_else(ends_early)
    });
    match content {
        Ok(bytes) => output.member(Member {
            ipath: output.child_ipath(component),
            name: name.to_owned(),
            declared_type: None,
            modified: modified.and_then(|seconds| i64::try_from(seconds).ok()),
            bytes,
        }),
        // A stream that failed once yields nothing any more.
        Err(error) => {
            output.failed_member(component, name, ends_early())?;
            Err(error)
        }
    }
}

fn ends_early() -> Error {
    Error::Malformed("the archive ends or is damaged inside a member".into())
}

/// Tells whether the content is a map followed by the parts that are not empty.
fn is_pax_sparse<R: Read>(entry: &mut Entry<'_, R>) -> bool {
    let Ok(Some(records)) = entry.pax_extensions() else {
        return false;
    };
    records
        .flatten()
        .any(|record| record.key_bytes().starts_with(b"GNU.sparse."))
}

/// Reads no further than to `end`: the archive reader takes headers of any length into memory.
struct Guarded<R> {
    inner: BufReader<R>,
    position: u64,
    end: Rc<Cell<u64>>,
}

impl<R: Read> Guarded<R> {
    fn new(inner: R) -> Self {
        Self {
            inner: BufReader::new(inner),
            position: 0,
            end: Rc::new(Cell::new(MAX_HEADER_BYTES)),
        }
    }

    fn end(&self) -> Rc<Cell<u64>> {
        Rc::clone(&self.end)
    }
}

impl<R: Read> Read for Guarded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.end.get() {
            return Err(carry(Error::Malformed(format!(
                "a header is longer than {MAX_HEADER_BYTES} bytes"
            ))));
        }
        let n = self.inner.read(buffer)?;
        self.position += n as u64;
        Ok(n)
    }
}

impl<R: Read + Seek> Seek for Guarded<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = match to {
            // Keeps the buffer, in which the next header mostly is.
            SeekFrom::Current(offset) => {
                self.inner.seek_relative(offset)?;
                self.position.saturating_add_signed(offset)
            }
            _ => self.inner.seek(to)?,
        };
        Ok(self.position)
    }
}
