//! Writes an n-gram segment, with postings first, so that they need not be held in memory.

use std::io::{self, Write};

use ken_core::put_number;

use crate::ngram::Ngram;
use crate::pieces::Extent;
use crate::postings;
use crate::segment::{BLOCK, Covers, IS_PART, MAGIC, NAMES, Version};
use crate::sums::SumsWriter;

/// Size of the buffer for lists, most of which have only a few bytes.
const BUFFER_BYTES: usize = 64 << 10;

/// A document in a segment to be written.
#[derive(Clone, Debug)]
pub(crate) struct Doc {
    pub(crate) version: Version,
    pub(crate) covers: Covers,
    pub(crate) name: Vec<u8>,
    /// The extent, if this is a piece of the last document before it; a piece has neither name nor
    /// version.
    pub(crate) extent: Option<Extent>,
}

impl Doc {
    /// Creates a piece of the preceding document.
    pub(crate) fn piece(extent: Extent) -> Self {
        Self {
            version: Version { key: 0, stamp: 0 },
            covers: Covers::default(),
            name: Vec::new(),
            extent: Some(extent),
        }
    }
}

/// An n-gram segment that is being written.
pub(crate) struct SegmentWriter<W> {
    out: W,
    sums: SumsWriter,
    n_docs: u32,
    n_postings: u64,
    last: Ngram,
    n_ngrams: usize,
    dictionary: Vec<u8>,
    blocks: Vec<u8>,
    /// Lists that are not written yet.
    buffer: Vec<u8>,
}

impl<W: Write> SegmentWriter<W> {
    /// Begins a segment of `n_docs` documents.
    pub(crate) fn new(out: W, n_docs: u32) -> Self {
        Self {
            out,
            sums: SumsWriter::default(),
            n_docs,
            n_postings: 0,
            last: 0,
            n_ngrams: 0,
            dictionary: Vec::new(),
            blocks: Vec::new(),
            buffer: Vec::new(),
        }
    }

    /// Adds an n-gram, greater than the last one, with its documents in order.
    pub(crate) fn ngram(
        &mut self,
        ngram: Ngram,
        docs: impl ExactSizeIterator<Item = u32>,
    ) -> io::Result<()> {
        let n = docs.len() as u32;
        let start = self.buffer.len();
        postings::encode(docs, n, self.n_docs, &mut self.buffer);
        self.entry(ngram, n, self.buffer.len() - start);
        if self.buffer.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds n-grams, greater than the last one, each with its number of documents and the size of
    /// its list in `bytes`.
    pub(crate) fn lists(&mut self, ngrams: &[(Ngram, u32, usize)], bytes: &[u8]) -> io::Result<()> {
        for (ngram, n, length) in ngrams {
            self.entry(*ngram, *n, *length);
        }
        self.flush()?;
        self.put(bytes)
    }

    /// Adds an n-gram to the dictionary, with the number of documents and bytes of its list.
    fn entry(&mut self, ngram: Ngram, n: u32, n_bytes: usize) {
        if self.n_ngrams.is_multiple_of(BLOCK) {
            // One less than the first, so that a search for the first ends in this block.
            self.last = ngram - 1;
            let block = [
                self.last.into(),
                self.dictionary.len() as u64,
                self.n_postings,
            ];
            put_all(&block, &mut self.blocks);
        }
        put_number((ngram - self.last).into(), &mut self.dictionary);
        put_number(n.into(), &mut self.dictionary);
        put_number(n_bytes as u64, &mut self.dictionary);
        self.n_postings += n_bytes as u64;
        self.last = ngram;
        self.n_ngrams += 1;
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.buffer);
        self.put(&bytes)?;
        bytes.clear();
        self.buffer = bytes;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sums.add(bytes);
        self.out.write_all(bytes)
    }

    /// Adds the documents, by number, and ends the segment.
    pub(crate) fn finish(mut self, docs: &[Doc]) -> io::Result<W> {
        self.flush()?;
        let mut order: Vec<u32> = (0..docs.len() as u32).collect();
        order.retain(|doc| docs[*doc as usize].extent.is_none());
        order.sort_unstable_by_key(|doc| docs[*doc as usize].version);
        let mut rows = Vec::new();
        for doc in order {
            let Doc {
                version,
                covers,
                name,
                ..
            } = &docs[doc as usize];
            // Nothing follows the 0 that ends the path.
            let part = if name.ends_with(b"\0") { 0 } else { IS_PART };
            let last = u64::from(covers.to_bits() | part) << 32 | u64::from(doc);
            put_all(&[version.key, version.stamp, last], &mut rows);
        }
        let mut pieces = Vec::new();
        for (number, doc) in (0_u64..).zip(docs) {
            if let Some(Extent { bytes, lines }) = doc.extent {
                put_all(&[u64::from(lines) << 32 | number, bytes], &mut pieces);
            }
        }
        let (names, name_offsets) = names(docs);
        let mut footer = Vec::new();
        let mut at = self.n_postings;
        put_all(&[0], &mut footer);
        let parts = [
            std::mem::take(&mut self.dictionary),
            std::mem::take(&mut self.blocks),
            rows,
            pieces,
            names,
            name_offsets,
        ];
        for part in &parts {
            put_all(&[at], &mut footer);
            self.put(part)?;
            at += part.len() as u64;
        }
        put_all(&[at, self.n_docs.into()], &mut footer);
        let (table, tops) = self.sums.finish();
        let end = [tops, footer].concat();
        self.out.write_all(&table)?;
        self.out.write_all(&end)?;
        let sum = u64::from(crc32fast::hash(&end));
        self.out.write_all(&sum.to_le_bytes())?;
        self.out.write_all(&MAGIC)?;
        Ok(self.out)
    }
}

fn names(docs: &[Doc]) -> (Vec<u8>, Vec<u8>) {
    let (mut names, mut name_offsets) = (Vec::new(), Vec::new());
    let mut last: &[u8] = b"";
    for (at, doc) in docs.iter().enumerate() {
        if at % NAMES == 0 {
            put_all(&[names.len() as u64], &mut name_offsets);
            last = b"";
        }
        let pairs = last.iter().zip(&doc.name);
        let shared = pairs.take_while(|(one, other)| one == other).count();
        put_number(shared as u64, &mut names);
        put_number((doc.name.len() - shared) as u64, &mut names);
        names.extend_from_slice(&doc.name[shared..]);
        last = &doc.name;
    }
    (names, name_offsets)
}

fn put_all(numbers: &[u64], out: &mut Vec<u8>) {
    for number in numbers {
        out.extend_from_slice(&number.to_le_bytes());
    }
}
