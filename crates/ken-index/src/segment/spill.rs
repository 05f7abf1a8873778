//! Postings that memory has no room for: parts of a segment on disk, which become one at its end.
//!
//! When a segment is as large as it may be in memory, its postings are written out, in the order of their terms, and it
//! goes on with empty tables; at the end all parts are read side by side and written once. This is the single-pass
//! construction of Heinz and Zobel, "Efficient single-pass index construction for text databases" (2003), within a
//! segment. To finish a segment each time instead leaves many, which are merged: then all that is in them is read and
//! written again, the stored documents too.
//!
//! The file has no name: nothing is left of it when the process ends, however it does.
//!
//! ```text
//! part      for each field the terms, in order
//! term      length, bytes, how many documents, these
//! document  how much greater than the one before it in the part (the first: its number), times 2, plus 1 if the
//!           term occurs once; else how often; each position less the one before
//! ```
//!
//! All numbers have 7 bits to a byte. Of fields that keep documents only there is the first number, not doubled.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use ken_core::{put_number, take_number};
use tantivy::DocId;

use super::postings::{Detail, Postings, Room, Sink, first_bytes};

/// So many bytes are written and read at once.
const BLOCK: usize = if cfg!(test) { 64 } else { 64 << 10 };
/// A number has no more bytes.
const MAX_NUMBER: usize = 10;

/// The parts of a segment that were written out.
pub(super) struct Spill {
    file: File,
    folder: PathBuf,
    /// How many bytes were written.
    end: u64,
    n_parts: usize,
    /// By column, where its terms are in each part that has some.
    columns: Vec<Vec<Range<u64>>>,
}

impl Spill {
    /// Makes the file in a folder, for so many columns.
    pub(super) fn new(folder: &Path, n_columns: usize) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(|error| in_folder(folder, &error))?;
        Ok(Self {
            file,
            folder: folder.to_path_buf(),
            end: 0,
            n_parts: 0,
            columns: vec![Vec::new(); n_columns],
        })
    }

    /// Returns how many parts there are.
    pub(super) fn n_parts(&self) -> usize {
        self.n_parts
    }

    /// Returns whether there is a term of the column.
    pub(super) fn has(&self, column: usize) -> bool {
        !self.columns[column].is_empty()
    }

    /// Writes a part: the postings of each column that has some, whose documents are behind those of all parts before.
    pub(super) fn write<'p>(
        &mut self,
        columns: impl Iterator<Item = (usize, &'p mut Postings)>,
        room: &mut Room,
    ) -> io::Result<()> {
        for (column, postings) in columns {
            let start = self.end;
            let mut part = PartWriter::new(self, postings.detail());
            let written = postings.write(room, &mut part);
            let written = written.and_then(|()| part.flush());
            written.map_err(|error| in_folder(&self.folder, &error))?;
            self.columns[column].push(start..self.end);
        }
        self.n_parts += 1;
        Ok(())
    }

    /// Writes the terms of a column in all parts, with their postings.
    pub(super) fn merge(
        &self,
        column: usize,
        detail: Detail,
        sink: &mut impl Sink,
    ) -> io::Result<()> {
        // Those that have a term left, in the order of their documents.
        let mut parts = Vec::new();
        for place in &self.columns[column] {
            let mut part = PartReader::new(self, place.clone());
            if part.next_term()? {
                parts.push(part);
            }
        }
        let mut same = Vec::new();
        // One for all: of a term that fills a large document it is large, too.
        let mut deltas = Vec::new();
        while least(&parts, &mut same) {
            let n_docs = same.iter().map(|at| parts[*at].n_docs).sum();
            sink.term(&parts[same[0]].term, n_docs)?;
            let mut is_at_end = false;
            for at in &same {
                parts[*at].documents(detail, &mut deltas, sink)?;
                is_at_end |= !parts[*at].next_term()?;
            }
            if is_at_end {
                parts.retain(|part| !part.is_at_end());
            }
            sink.end_term()?;
        }
        Ok(())
    }
}

/// Finds the parts that have the least of all terms; returns whether there is one.
fn least(parts: &[PartReader<'_>], found: &mut Vec<usize>) -> bool {
    found.clear();
    let Some(first) = parts.iter().map(|part| part.first).min() else {
        return false;
    };
    let those = parts.iter().enumerate();
    let those = those.filter(|(_, part)| part.first == first);
    found.extend(those.map(|(at, _)| at));
    // Most terms differ in their first bytes, which are at hand.
    if found.len() > 1
        && let Some(term) = found.iter().map(|at| &parts[*at].term).min()
    {
        found.retain(|at| parts[*at].term == *term);
    }
    true
}

fn in_folder(folder: &Path, error: &io::Error) -> io::Error {
    let what = format!("a temporary file in `{}`: {error}", folder.display());
    io::Error::new(error.kind(), what)
}

/// Writes the terms of one column.
struct PartWriter<'s> {
    spill: &'s mut Spill,
    detail: Detail,
    buffer: Vec<u8>,
    /// Of the last document of the term.
    doc: DocId,
}

impl<'s> PartWriter<'s> {
    fn new(spill: &'s mut Spill, detail: Detail) -> Self {
        Self {
            spill,
            detail,
            buffer: Vec::with_capacity(2 * BLOCK),
            doc: 0,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.spill.file.write_all_at(&self.buffer, self.spill.end)?;
        self.spill.end += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

impl Sink for PartWriter<'_> {
    fn term(&mut self, term: &[u8], n_docs: u32) -> io::Result<()> {
        put_number(term.len() as u64, &mut self.buffer);
        self.buffer.extend_from_slice(term);
        put_number(n_docs.into(), &mut self.buffer);
        self.doc = 0;
        Ok(())
    }

    #[inline]
    fn document(&mut self, doc: DocId, deltas: &[u32]) -> io::Result<()> {
        let more = u64::from(doc - self.doc);
        self.doc = doc;
        match (self.detail, deltas) {
            (Detail::Documents, _) => put_number(more, &mut self.buffer),
            (Detail::Positions, [position]) => {
                put_number(more << 1 | 1, &mut self.buffer);
                put_number((*position).into(), &mut self.buffer);
            }
            (Detail::Positions, deltas) => {
                put_number(more << 1, &mut self.buffer);
                put_number(deltas.len() as u64, &mut self.buffer);
                for delta in deltas {
                    put_number((*delta).into(), &mut self.buffer);
                }
            }
        }
        match self.buffer.len() >= BLOCK {
            true => self.flush(),
            false => Ok(()),
        }
    }

    fn end_term(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads the terms of one column in one part.
struct PartReader<'s> {
    spill: &'s Spill,
    /// What is not in the buffer yet.
    rest: Range<u64>,
    buffer: Vec<u8>,
    /// Where in the buffer the next number begins.
    at: usize,
    term: Vec<u8>,
    /// Its first bytes.
    first: u64,
    /// That hold the term.
    n_docs: u32,
}

impl<'s> PartReader<'s> {
    fn new(spill: &'s Spill, place: Range<u64>) -> Self {
        Self {
            spill,
            rest: place,
            buffer: Vec::new(),
            at: 0,
            term: Vec::new(),
            first: 0,
            n_docs: 0,
        }
    }

    fn is_at_end(&self) -> bool {
        self.at == self.buffer.len() && self.rest.is_empty()
    }

    /// Reads the next term; returns whether there is one.
    fn next_term(&mut self) -> io::Result<bool> {
        if self.is_at_end() {
            return Ok(false);
        }
        let length = self.number()? as usize;
        self.need(length)?;
        let end = self.at + length;
        let term = self
            .buffer
            .get(self.at..end)
            .ok_or_else(|| self.too_short())?;
        self.term.clear();
        self.term.extend_from_slice(term);
        self.first = first_bytes(&self.term);
        self.at = end;
        self.n_docs = self.number()?;
        Ok(true)
    }

    /// Copies the documents of the term.
    fn documents(
        &mut self,
        detail: Detail,
        deltas: &mut Vec<u32>,
        sink: &mut impl Sink,
    ) -> io::Result<()> {
        let mut doc = 0;
        for _ in 0..self.n_docs {
            let more = self.long_number()?;
            deltas.clear();
            match detail {
                Detail::Documents => doc += more as DocId,
                Detail::Positions => {
                    doc += (more >> 1) as DocId;
                    let n = if more & 1 == 1 { 1 } else { self.number()? };
                    for _ in 0..n {
                        deltas.push(self.number()?);
                    }
                }
            }
            sink.document(doc, deltas)?;
        }
        Ok(())
    }

    fn number(&mut self) -> io::Result<u32> {
        Ok(self.long_number()? as u32)
    }

    #[inline]
    fn long_number(&mut self) -> io::Result<u64> {
        if self.buffer.len() - self.at < MAX_NUMBER {
            self.need(MAX_NUMBER)?;
        }
        let mut bytes = &self.buffer[self.at..];
        let number = take_number(&mut bytes).ok_or_else(|| self.too_short())?;
        self.at = self.buffer.len() - bytes.len();
        Ok(number)
    }

    /// Reads on until so many bytes are in the buffer, or all; no more than a block, if these are not.
    fn need(&mut self, n_bytes: usize) -> io::Result<()> {
        let left = self.buffer.len() - self.at;
        if left >= n_bytes || self.rest.is_empty() {
            return Ok(());
        }
        self.buffer.copy_within(self.at.., 0);
        self.at = 0;
        let n_rest = self.rest.end - self.rest.start;
        let more = n_rest.min((BLOCK.max(n_bytes) - left) as u64);
        self.buffer.resize(left + more as usize, 0);
        let file = &self.spill.file;
        let read = file.read_exact_at(&mut self.buffer[left..], self.rest.start);
        read.map_err(|error| self.unread(&error))?;
        self.rest.start += more;
        Ok(())
    }

    fn too_short(&self) -> io::Error {
        self.unread(&io::ErrorKind::UnexpectedEof.into())
    }

    /// Of no kind, so that the index is not taken for damaged.
    fn unread(&self, error: &io::Error) -> io::Error {
        io::Error::other(in_folder(&self.spill.folder, error))
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::Batch;
    use super::*;

    /// Fails as the engine's files do on a full disk, or not.
    struct Engine {
        is_full: bool,
        n_docs: u32,
    }

    impl Sink for Engine {
        fn term(&mut self, _: &[u8], _: u32) -> io::Result<()> {
            match self.is_full {
                true => Err(io::Error::new(io::ErrorKind::StorageFull, "its own file")),
                false => Ok(()),
            }
        }
        fn document(&mut self, _: DocId, _: &[u32]) -> io::Result<()> {
            self.n_docs += 1;
            Ok(())
        }
        fn end_term(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn merge(spill: &Spill, is_full: bool) -> io::Result<u32> {
        let mut engine = Engine { is_full, n_docs: 0 };
        spill.merge(0, Detail::Positions, &mut engine)?;
        Ok(engine.n_docs)
    }

    #[test]
    fn an_error_is_of_the_file_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = Spill::new(folder.path(), 1).unwrap();
        for doc in 0..2 {
            let mut postings = Postings::new(Detail::Positions, true);
            let mut batch = Batch::new();
            let mut value = postings.value(doc, &mut batch);
            for position in 0..100 {
                value.token(format!("word{position}").as_bytes(), position);
            }
            value.end();
            let columns = [(0, &mut postings)].into_iter();
            spill.write(columns, &mut Room::default()).unwrap();
        }
        // Of the borders too there is one in each document.
        assert_eq!(merge(&spill, false).unwrap(), 2 * 101);
        let error = merge(&spill, true).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(error.to_string(), "its own file");
        for end in [spill.end - 1, spill.end / 2, 0] {
            spill.file.set_len(end).unwrap();
            let error = merge(&spill, false).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::Other);
            let folder = folder.path().to_str().unwrap();
            assert!(error.to_string().contains(folder), "{error}");
        }
    }
}
