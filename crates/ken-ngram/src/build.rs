//! Builds an n-gram segment from documents, each with its n-grams.
//!
//! The n-grams of the documents are held one after the other. At the end each is distributed, with
//! the number of its document, by its first two bytes; the n-grams with the same two bytes are then
//! sorted by the other two. A posting takes 8 bytes, so a builder is emptied often, and its
//! segments are merged.

use std::io::{self, Write};
use std::path::Path;

use crate::names;
use crate::ngram::{Ngram, NgramSet};
use crate::pieces::{MAX_PIECES, Piece, Pieces};
use crate::segment::{Covers, Version};
use crate::write::{Doc, SegmentWriter};

/// Maximum number of documents with n-grams, since a number has 16 bits while it is sorted.
/// Documents beyond it are known without n-grams, as are all pieces of a file that goes beyond it.
const MAX_DOCS: usize = 1 << 16;
/// Number of documents with which a builder is full; it leaves room for a large file and its
/// pieces.
const FULL_DOCS: usize = MAX_DOCS - MAX_PIECES - 1;
const _: () = assert!(FULL_DOCS > 0 && FULL_DOCS + MAX_PIECES < MAX_DOCS);

/// An n-gram segment under construction.
#[derive(Default)]
pub struct Builder {
    docs: Vec<Doc>,
    name_bytes: usize,
    /// The n-grams of all documents, and where those of each document end.
    ngrams: Vec<Ngram>,
    ends: Vec<u32>,
    /// Buffers for sorting while a segment is written; kept for the next one.
    sorter: Sorter,
}

impl Builder {
    /// Adds a document. If it has too many n-grams, or the builder too many documents, it is known
    /// but never ruled out.
    pub fn add(
        &mut self,
        version: Version,
        path: &Path,
        inside: &str,
        covers: Covers,
        ngrams: &NgramSet,
    ) {
        let covers = match ngrams.ngrams() {
            Some(ngrams) if self.docs.len() < MAX_DOCS => {
                self.ngrams.extend_from_slice(ngrams);
                covers
            }
            _ => Covers::default(),
        };
        self.ends.push(self.ngrams.len() as u32);
        let name = names::stored(path, inside);
        self.name_bytes += name.len() + size_of::<Doc>();
        self.docs.push(Doc {
            version,
            covers,
            name,
            extent: None,
        });
    }

    /// Adds the pieces of the last document, or none if there are too many.
    pub fn pieces(&mut self, pieces: &Pieces) {
        if self.docs.len() + pieces.pieces().len() > MAX_DOCS {
            return;
        }
        for Piece { extent, ngrams } in pieces.pieces() {
            self.ngrams.extend_from_slice(ngrams);
            self.ends.push(self.ngrams.len() as u32);
            self.name_bytes += size_of::<Doc>();
            self.docs.push(Doc::piece(*extent));
        }
    }

    /// Returns whether the builder is empty.
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// Returns whether the builder takes `memory_bytes`, including those for finishing it, or has
    /// the maximum number of documents.
    pub fn is_full(&self, memory_bytes: usize) -> bool {
        let n_bytes = (self.ngrams.len() * 2 + self.ends.len()) * size_of::<u32>();
        n_bytes + self.name_bytes >= memory_bytes || self.docs.len() >= FULL_DOCS
    }

    /// Writes the segment and empties the builder.
    ///
    /// # Errors
    /// Fails if the segment cannot be written.
    pub fn finish<W: Write>(&mut self, out: W) -> io::Result<W> {
        let mut writer = SegmentWriter::new(out, self.docs.len() as u32);
        self.sorter
            .each(&self.ngrams, &self.ends, |ngram, entries| {
                writer.ngram(ngram, entries.iter().map(|entry| entry & 0xffff))
            })?;
        let out = writer.finish(&self.docs)?;
        self.clear();
        Ok(out)
    }

    /// Removes everything, but keeps allocated memory for the next documents.
    fn clear(&mut self) {
        self.docs.clear();
        self.name_bytes = 0;
        self.ngrams.clear();
        self.ends.clear();
    }
}

/// Fewer entries than this are sorted by comparison.
const MIN_RADIX: usize = 200;

/// Sorts n-grams with their documents. Each pair of first bytes has a bucket.
#[derive(Default)]
struct Sorter {
    /// The position of each bucket's next entry; finally the end of the bucket.
    ends: Vec<u32>,
    /// The other two bytes of an n-gram, and the number of its document.
    entries: Vec<u32>,
    /// The bucket that is being sorted.
    bucket: Vec<u32>,
}

impl Sorter {
    /// Calls `each` with all n-grams in order, each with its entries; `ends` holds the end of each
    /// document's n-grams.
    fn each(
        &mut self,
        ngrams: &[Ngram],
        ends: &[u32],
        mut each: impl FnMut(Ngram, &[u32]) -> io::Result<()>,
    ) -> io::Result<()> {
        self.deal(ngrams, ends);
        let mut start = 0;
        for (pair, &end) in (0_u32..).zip(&self.ends) {
            let entries = &mut self.entries[start..end as usize];
            start = end as usize;
            sort(entries, &mut self.bucket);
            for same in entries.chunk_by(|one, other| one >> 16 == other >> 16) {
                each(pair << 16 | same[0] >> 16, same)?;
            }
        }
        Ok(())
    }

    fn deal(&mut self, ngrams: &[Ngram], ends: &[u32]) {
        self.ends.clear();
        self.ends.resize(1 << 16, 0);
        for ngram in ngrams {
            self.ends[(ngram >> 16) as usize] += 1;
        }
        let mut at = 0;
        for end in &mut self.ends {
            at += std::mem::replace(end, at);
        }
        self.entries.resize(ngrams.len(), 0);
        let mut start = 0;
        for (doc, &end) in (0..).zip(ends) {
            for ngram in &ngrams[start..end as usize] {
                let end = &mut self.ends[(ngram >> 16) as usize];
                self.entries[*end as usize] = ngram << 16 | doc;
                *end += 1;
            }
            start = end as usize;
        }
    }
}

/// Sorts entries by their upper half; the lower half is already in order.
fn sort(entries: &mut [u32], other: &mut Vec<u32>) {
    if entries.len() < MIN_RADIX {
        return entries.sort_unstable();
    }
    other.resize(entries.len(), 0);
    sort_by_byte(entries, other, 16);
    sort_by_byte(other, entries, 24);
}

fn sort_by_byte(from: &[u32], to: &mut [u32], shift: u32) {
    let mut ends = [0_u32; 256];
    for entry in from {
        ends[(entry >> shift & 0xff) as usize] += 1;
    }
    let mut at = 0;
    for end in &mut ends {
        at += std::mem::replace(end, at);
    }
    for entry in from {
        let end = &mut ends[(entry >> shift & 0xff) as usize];
        to[*end as usize] = *entry;
        *end += 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::Segment;

    fn sorted(docs: &[Vec<Ngram>]) -> Vec<(Ngram, Vec<u32>)> {
        let mut ends = Vec::new();
        for doc in docs {
            ends.push(ends.last().unwrap_or(&0) + doc.len() as u32);
        }
        let mut found = Vec::new();
        let each = |ngram, entries: &[u32]| {
            found.push((ngram, entries.iter().map(|entry| entry & 0xffff).collect()));
            Ok(())
        };
        let mut sorter = Sorter::default();
        sorter.each(&docs.concat(), &ends, each).unwrap();
        found
    }

    #[test]
    fn documents_behind_the_last_number_are_known_without_ngrams() {
        let mut builder = Builder::default();
        let mut ngrams = NgramSet::default();
        ngrams.add(b"quux");
        let covers = Covers {
            start: true,
            ..Covers::default()
        };
        for key in 0..=MAX_DOCS as u64 {
            assert_eq!(builder.is_full(usize::MAX), key >= FULL_DOCS as u64);
            let version = Version { key, stamp: 1 };
            builder.add(version, Path::new("/a"), "", covers, &ngrams);
        }
        let written = builder.finish(Vec::new()).unwrap();
        let segment = Segment::open(Box::new(written)).unwrap();
        let candidates = segment.candidates(&crate::Need::Bytes(b"quux".to_vec()));
        assert_eq!(candidates.docs().unwrap().len(), MAX_DOCS);
        let (known, last): (Vec<_>, Vec<_>) = segment
            .rows()
            .partition(|row| (row.doc as usize) < MAX_DOCS);
        assert!(known.iter().all(|row| row.covers == covers));
        assert!(last.len() == 1 && last[0].covers == Covers::default());
    }

    proptest! {
        #[test]
        fn n_grams_come_in_order_with_their_documents(
            docs in prop::collection::vec(
                prop::collection::btree_set(prop_oneof![any::<u32>(), 0x6162_0000..0x6162_0400_u32], 0..60),
                0..40,
            ),
        ) {
            let docs: Vec<Vec<Ngram>> = docs.into_iter().map(|doc| doc.into_iter().rev().collect()).collect();
            let mut expected: BTreeMap<Ngram, Vec<u32>> = BTreeMap::new();
            for (number, ngrams) in (0..).zip(&docs) {
                ngrams.iter().for_each(|ngram| expected.entry(*ngram).or_default().push(number));
            }
            prop_assert_eq!(sorted(&docs), expected.into_iter().collect::<Vec<_>>());
        }
    }
}
