//! Spills postings to disk: parts of a segment that memory has no room for, which are merged at its
//! end.
//!
//! When a segment reaches its maximum size in memory, its postings are written out in term order,
//! and it continues with empty tables. At the end all parts are read side by side and written once.
//! This is the single-pass construction of Heinz and Zobel, "Efficient single-pass index
//! construction for text databases" (2003), within a segment. Finishing a segment each time would
//! leave many segments, and merging these would read and write everything in them again, including
//! the stored documents.
//!
//! The file has no name, so nothing is left of it however the process ends.
//!
//! ```text
//! part      for each field the terms, in order
//! term      length, bytes, number of documents (numbers with 7 bits per byte), the documents, at most 128 at a time
//! documents the width of each column (2 bits each, lowest first, in a byte; plus 64 if there are fewer than 128
//!           documents but not all that are left: then their number follows, in a byte), the columns
//! columns   the difference of each document from the previous one (of the first: from the part's), times 2, plus 1 if
//!           the term occurs once; the frequency in each of the others; each position minus the previous one
//! ```
//!
//! All numbers of a column have as many bytes as the greatest of them needs, little-endian: none,
//! one, two or four. Fields that keep only documents have just the first column, not doubled.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use ken_core::{put_number, take_number};
use tantivy::DocId;

use super::documents::{AT_ONCE, Detail, Documents};
use super::postings::{Postings, Room, Sink, first_bytes};
use super::width::{self, Width};

/// Maximum number of bytes of a number.
const MAX_NUMBER: usize = 10;
/// Flag next to the widths: a number of documents follows.
const ARE_FEWER: u8 = 1 << (3 * width::BITS);

/// The parts of a segment that were written out.
pub(super) struct Spill {
    file: File,
    folder: PathBuf,
    /// Number of bytes that are written or read at once.
    block_bytes: usize,
    /// Number of bytes written.
    end: u64,
    n_parts: usize,
    /// For each column, its part in each spill that has terms of it.
    columns: Vec<Vec<ColumnPart>>,
}

/// The terms of one column in a part.
struct ColumnPart {
    /// Their range in the file.
    bytes: Range<u64>,
    /// A lower bound of its documents.
    first: DocId,
}

impl Spill {
    /// Creates the file in a folder, for `n_columns` columns. It is written and read in blocks of
    /// `block_bytes`.
    pub(super) fn new(folder: &Path, n_columns: usize, block_bytes: usize) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder).map_err(|error| in_folder(folder, &error))?;
        Ok(Self {
            file,
            folder: folder.to_path_buf(),
            block_bytes,
            end: 0,
            n_parts: 0,
            columns: std::iter::repeat_with(Vec::new).take(n_columns).collect(),
        })
    }

    /// Returns the number of parts.
    pub(super) fn n_parts(&self) -> usize {
        self.n_parts
    }

    /// Returns whether the column has any terms.
    pub(super) fn has(&self, column: usize) -> bool {
        !self.columns[column].is_empty()
    }

    /// Writes a part: the postings of each column that has some; their documents follow those of
    /// all earlier parts.
    pub(super) fn write<'p>(
        &mut self,
        columns: impl Iterator<Item = (usize, &'p mut Postings)>,
        room: &mut Room,
    ) -> io::Result<()> {
        for (column, postings) in columns {
            let (start, first) = (self.end, postings.first_doc());
            let mut part = PartWriter::new(self, postings.detail(), first);
            let written = postings.write(room, &mut part);
            let written = written.and_then(|()| part.flush());
            written.map_err(|error| in_folder(&self.folder, &error))?;
            let bytes = start..self.end;
            self.columns[column].push(ColumnPart { bytes, first });
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
        // The parts that have terms left, in the order of their documents.
        let mut parts = Vec::new();
        for part in &self.columns[column] {
            let mut part = PartReader::new(self, part);
            if part.next_term()? {
                parts.push(part);
            }
        }
        let first_of = |part: &PartReader<'_>| first_bytes(&part.term);
        let mut first: Vec<u128> = parts.iter().map(first_of).collect();
        let mut same = Vec::new();
        // Shared by all parts: for a term that fills a large document it is large, too.
        let mut documents = Documents::default();
        while least(&parts, &first, &mut same) {
            let n_docs = same.iter().map(|at| parts[*at].n_docs).sum();
            sink.term(&parts[same[0]].term, n_docs)?;
            let mut is_at_end = false;
            for at in &same {
                let part = &mut parts[*at];
                part.documents(detail, &mut documents, sink)?;
                is_at_end |= !part.next_term()?;
                first[*at] = first_of(part);
            }
            if is_at_end {
                parts.retain(|part| !part.is_at_end());
                first = parts.iter().map(first_of).collect();
            }
            sink.end_term()?;
        }
        Ok(())
    }
}

/// Finds the parts with the smallest of all terms, by the first bytes of each, which are adjacent
/// in memory; returns whether there is one.
fn least(parts: &[PartReader<'_>], first: &[u128], found: &mut Vec<usize>) -> bool {
    found.clear();
    let Some(least) = first.iter().min() else {
        return false;
    };
    let those = first.iter().enumerate();
    let those = those.filter(|(_, first)| *first == least);
    found.extend(those.map(|(at, _)| at));
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
    buffer: Vec<u8>,
    /// The first document of the part.
    first: DocId,
    /// The last document of the term so far.
    last: DocId,
    /// Number of its documents that are still to come.
    n_left: usize,
    detail: Detail,
    /// The columns before positions, while they are computed.
    steps: [u32; AT_ONCE],
    others: [u32; AT_ONCE],
}

impl<'s> PartWriter<'s> {
    fn new(spill: &'s mut Spill, detail: Detail, first: DocId) -> Self {
        Self {
            buffer: Vec::with_capacity(2 * spill.block_bytes),
            spill,
            first,
            last: first,
            n_left: 0,
            detail,
            steps: [0; AT_ONCE],
            others: [0; AT_ONCE],
        }
    }

    /// Computes the columns before positions; returns the length of the second one.
    fn make_columns(&mut self, documents: &Documents) -> usize {
        for (step, doc) in self.steps.iter_mut().zip(documents.docs()) {
            *step = *doc - std::mem::replace(&mut self.last, *doc);
        }
        let mut n_others = 0;
        if self.detail == Detail::Positions {
            for (step, freq) in self.steps.iter_mut().zip(documents.freqs()) {
                *step = *step << 1 | u32::from(*freq == 1);
                self.others[n_others] = *freq;
                n_others += usize::from(*freq != 1);
            }
        }
        n_others
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
        (self.last, self.n_left) = (self.first, n_docs as usize);
        Ok(())
    }

    fn documents(&mut self, documents: &Documents) -> io::Result<()> {
        let n_docs = documents.docs().len();
        let n_others = self.make_columns(documents);
        let columns: [&[u32]; 3] = [
            &self.steps[..n_docs],
            &self.others[..n_others],
            documents.deltas(),
        ];
        let widths = columns.map(Width::of);
        let [steps, others, deltas] = widths.map(Width::bits);
        let head = steps | others << width::BITS | deltas << (2 * width::BITS);
        match n_docs == self.n_left.min(AT_ONCE) {
            true => self.buffer.push(head),
            false => self.buffer.extend([head | ARE_FEWER, n_docs as u8]),
        }
        self.n_left -= n_docs;
        for (width, column) in widths.into_iter().zip(columns) {
            width.put(column, &mut self.buffer);
        }
        match self.buffer.len() >= self.spill.block_bytes {
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
    /// The range that is not in the buffer yet.
    rest: Range<u64>,
    buffer: Vec<u8>,
    /// Offset of the next number in the buffer.
    at: usize,
    term: Vec<u8>,
    /// Number of documents with the term.
    n_docs: u32,
    /// A lower bound of the documents of all terms.
    first_doc: DocId,
}

impl<'s> PartReader<'s> {
    fn new(spill: &'s Spill, part: &ColumnPart) -> Self {
        Self {
            spill,
            rest: part.bytes.clone(),
            first_doc: part.first,
            buffer: Vec::new(),
            at: 0,
            term: Vec::new(),
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
        let mut term = std::mem::take(&mut self.term);
        term.clear();
        term.extend_from_slice(self.bytes(length)?);
        self.term = term;
        self.n_docs = self.number()?;
        Ok(true)
    }

    /// Copies the documents of the term.
    fn documents(
        &mut self,
        detail: Detail,
        documents: &mut Documents,
        sink: &mut impl Sink,
    ) -> io::Result<()> {
        let mut last = self.first_doc;
        let mut n_left = self.n_docs as usize;
        while n_left > 0 {
            let widths = self.byte()?;
            let n_docs = match widths & ARE_FEWER {
                0 => n_left.min(AT_ONCE),
                _ => self.byte()?.into(),
            };
            n_left -= n_docs;
            let (docs, freqs, deltas) = documents.columns(n_docs);
            let width = |column: u32| Width::from_bits(widths >> (column * width::BITS));
            self.column(width(0), docs)?;
            if detail == Detail::Positions {
                self.freqs(width(1), docs, freqs)?;
                let n_deltas: u32 = freqs.iter().sum();
                deltas.resize(n_deltas as usize, 0);
                self.column(width(2), deltas)?;
            }
            for doc in docs {
                last += *doc;
                *doc = last;
            }
            sink.documents(documents)?;
        }
        Ok(())
    }

    /// Reads the frequency of the term in each document; afterwards only the steps between
    /// documents are left.
    #[inline]
    fn freqs(&mut self, width: Width, steps: &mut [u32], freqs: &mut [u32]) -> io::Result<()> {
        let mut n_others = steps.iter().filter(|step| **step & 1 == 0).count();
        self.column(width, &mut freqs[..n_others])?;
        // Backwards, so that none is overwritten before it is read.
        for at in (0..steps.len()).rev() {
            let is_other = steps[at] & 1 == 0;
            n_others -= usize::from(is_other);
            let other = freqs[n_others];
            freqs[at] = if is_other { other } else { 1 };
            steps[at] >>= 1;
        }
        Ok(())
    }

    /// Reads numbers.
    #[inline]
    fn column(&mut self, width: Width, numbers: &mut [u32]) -> io::Result<()> {
        // Not all numbers of a large document at once: each part would keep a buffer for them.
        for numbers in numbers.chunks_mut(self.spill.block_bytes / size_of::<u32>()) {
            let n_bytes = numbers.len() * width.n_bytes();
            width.take(self.bytes(n_bytes)?, numbers);
        }
        Ok(())
    }

    /// Reads bytes.
    #[inline]
    fn bytes(&mut self, n: usize) -> io::Result<&[u8]> {
        self.need(n)?;
        let start = self.at;
        if self.buffer.len() - start < n {
            return Err(self.too_short());
        }
        self.at += n;
        Ok(&self.buffer[start..self.at])
    }

    fn byte(&mut self) -> io::Result<u8> {
        Ok(self.bytes(1)?[0])
    }

    #[inline]
    fn number(&mut self) -> io::Result<u32> {
        if self.buffer.len() - self.at < MAX_NUMBER {
            self.need(MAX_NUMBER)?;
        }
        let mut bytes = &self.buffer[self.at..];
        let number = take_number(&mut bytes).ok_or_else(|| self.too_short())?;
        self.at = self.buffer.len() - bytes.len();
        Ok(number as u32)
    }

    /// Reads until `n_bytes` are in the buffer, or all that are left; at most a block, if `n_bytes`
    /// is not larger.
    fn need(&mut self, n_bytes: usize) -> io::Result<()> {
        let left = self.buffer.len() - self.at;
        if left >= n_bytes || self.rest.is_empty() {
            return Ok(());
        }
        self.buffer.copy_within(self.at.., 0);
        self.at = 0;
        let n_rest = self.rest.end - self.rest.start;
        let more = n_rest.min((self.spill.block_bytes.max(n_bytes) - left) as u64);
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

    /// Without an error kind, so that the index is not taken for damaged.
    fn unread(&self, error: &io::Error) -> io::Error {
        io::Error::other(in_folder(&self.spill.folder, error))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::batch::Batch;
    use super::super::thresholds::Thresholds;
    use super::*;

    /// For each term, its documents and its positions in them.
    type Terms = BTreeMap<Vec<u8>, Vec<(DocId, Vec<u32>)>>;

    #[derive(Default)]
    struct Collected {
        terms: Terms,
        last: Vec<u8>,
        n_docs: usize,
    }

    impl Sink for Collected {
        fn term(&mut self, term: &[u8], n_docs: u32) -> io::Result<()> {
            assert!(self.terms.is_empty() || *self.last < *term, "in order");
            (self.last, self.n_docs) = (term.to_vec(), n_docs as usize);
            Ok(())
        }
        fn documents(&mut self, documents: &Documents) -> io::Result<()> {
            let of_term = self.terms.entry(self.last.clone()).or_default();
            let mut deltas = documents.deltas().iter();
            for (doc, freq) in documents.docs().iter().zip(documents.freqs()) {
                let n = if documents.deltas().is_empty() {
                    0
                } else {
                    *freq
                };
                let positions = deltas.by_ref().take(n as usize).scan(0, |at, delta| {
                    *at += delta;
                    Some(*at)
                });
                of_term.push((*doc, positions.collect()));
            }
            Ok(())
        }
        fn end_term(&mut self) -> io::Result<()> {
            assert_eq!(self.terms[&self.last].len(), self.n_docs);
            Ok(())
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Parts of documents, each with some tokens: one of few terms, and its step from the
        /// previous one.
        #[test]
        fn parts_come_back_as_one(
            parts in prop::collection::vec(
                prop::collection::vec(
                    (
                        prop_oneof![20 => 1..3_u32, 1 => Just(70_000)],
                        prop::collection::vec(
                            (0..6_u32, prop_oneof![20 => 0..4_u32, 2 => 0..300_u32, 1 => Just(90_000)]),
                            1..9,
                        ),
                    ),
                    1..200,
                ),
                1..4,
            ),
        ) {
            let folder = tempfile::tempdir().unwrap();
            for detail in [Detail::Positions, Detail::Documents] {
                let mut spill = Spill::new(folder.path(), 1, Thresholds::SMALL.block_bytes).unwrap();
                let (mut expected, mut doc) = (Terms::new(), 0);
                for part in &parts {
                    let mut postings = Postings::new(detail, false, Thresholds::SMALL);
                    for (step, tokens) in part {
                        doc += step;
                        let mut batch = Batch::new();
                        let mut value = postings.value(doc, &mut batch);
                        let mut position = 0;
                        for (term, delta) in tokens {
                            // Some have the same beginning.
                            let term = format!("{term:017}").into_bytes();
                            position += delta;
                            value.token(&term, position);
                            let of_term = expected.entry(term).or_default();
                            if of_term.last().is_none_or(|last| last.0 != doc) {
                                of_term.push((doc, Vec::new()));
                            }
                            if detail == Detail::Positions {
                                of_term.last_mut().unwrap().1.push(position);
                            }
                        }
                        value.end();
                    }
                    spill.write([(0, &mut postings)].into_iter(), &mut Room::default()).unwrap();
                }
                let mut found = Collected::default();
                spill.merge(0, detail, &mut found).unwrap();
                prop_assert!(found.terms == expected);
            }
        }
    }

    /// Fails like the engine's files on a full disk, or not.
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
        fn documents(&mut self, documents: &Documents) -> io::Result<()> {
            self.n_docs += documents.docs().len() as u32;
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
        let mut spill = Spill::new(folder.path(), 1, Thresholds::SMALL.block_bytes).unwrap();
        for doc in 0..2 {
            let mut postings = Postings::new(Detail::Positions, true, Thresholds::SMALL);
            let mut batch = Batch::new();
            let mut value = postings.value(doc, &mut batch);
            for position in 0..100 {
                value.token(format!("word{position}").as_bytes(), position);
            }
            value.end();
            let columns = [(0, &mut postings)].into_iter();
            spill.write(columns, &mut Room::default()).unwrap();
        }
        // The borders, too, have one in each document.
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
