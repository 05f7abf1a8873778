//! Writes the terms and postings of a segment in the engine's format.
//!
//! Tantivy's own serializers, which still write merged segments, produce equivalent files. They
//! take a sixth of the time of indexing source code, where most terms occur once: for each term
//! they compute the 256 weights of a ranking that only lists of 128 documents need, and their
//! dictionary allocates each of its nodes separately. The lists of postings and positions, and
//! their offsets, are identical byte by byte; the dictionary may share other nodes
//! ([`dictionary`]). Tests compare both.
//!
//! ```text
//! .idx   for each field: its number of tokens (u64), then the list of each term
//! .pos   for each field: the positions of each term
//! .term  for each field: the dictionary, from term to its rank; for each rank the offsets of its lists; the size of
//!        these offsets (u64), version and kind (u32 each)
//! ```
//!
//! Each file ends with the offsets of its fields.

mod dictionary;
mod infos;
mod lists;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use tantivy::TantivyError;
use tantivy::directory::{CompositeWrite, WritePtr};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{Segment, SegmentComponent};
use tantivy::schema::Field as Column;
use tantivy_common::CountingWriter;

use self::dictionary::Dictionary;
use self::infos::{TermInfo, TermInfos};
use self::lists::{Positions, Ranking, TermDocs};
use super::documents::Documents;
use super::postings::Sink;

/// Size of the buffer for lists.
const BUFFER_BYTES: usize = 64 << 10;
/// Version and kind of the dictionary.
const VERSION_AND_KIND: [u32; 2] = [1, 1];

/// The files of a segment.
pub(super) struct Files {
    terms: CompositeWrite<WritePtr>,
    postings: CompositeWrite<WritePtr>,
    positions: CompositeWrite<WritePtr>,
}

impl Files {
    pub(super) fn open(segment: &Segment) -> Result<Self, TantivyError> {
        let file = |component| segment.open_write(component).map(CompositeWrite::wrap);
        Ok(Self {
            terms: file(SegmentComponent::Terms)?,
            postings: file(SegmentComponent::Postings)?,
            positions: file(SegmentComponent::Positions)?,
        })
    }

    /// Begins a field of `n_tokens`; a ranked field has the lengths of its documents.
    pub(super) fn field(
        &mut self,
        column: Column,
        has_positions: bool,
        n_tokens: u64,
        norms: Option<FieldNormReader>,
    ) -> io::Result<FieldFiles<'_>> {
        let postings = self.postings.for_field(column);
        postings.write_all(&n_tokens.to_le_bytes())?;
        let positions = self.positions.for_field(column);
        Ok(FieldFiles {
            terms: self.terms.for_field(column),
            dictionary: Dictionary::new(),
            infos: TermInfos::default(),
            postings: Out::new(postings),
            positions: has_positions.then(|| Out::new(positions)),
            docs: TermDocs::new(
                has_positions,
                norms.map(|norms| Ranking::new(norms, n_tokens)),
            ),
            term_positions: Positions::new(),
        })
    }

    pub(super) fn close(self) -> io::Result<()> {
        self.terms.close()?;
        self.postings.close()?;
        self.positions.close()
    }
}

/// A file that is written in large pieces.
struct Out<'f> {
    file: &'f mut CountingWriter<WritePtr>,
    /// Offset in the file where this begins.
    start: u64,
    bytes: Vec<u8>,
}

impl<'f> Out<'f> {
    fn new(file: &'f mut CountingWriter<WritePtr>) -> Self {
        Self {
            start: file.written_bytes(),
            file,
            bytes: Vec::with_capacity(BUFFER_BYTES),
        }
    }

    /// Returns the number of bytes written so far.
    fn position(&self) -> u64 {
        self.file.written_bytes() - self.start + self.bytes.len() as u64
    }

    /// Moves bytes into the file; large ones without a copy, and their memory is freed.
    fn append(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        if bytes.len() < BUFFER_BYTES {
            self.bytes.append(bytes);
            return Ok(());
        }
        self.write()?;
        self.file.write_all(bytes)?;
        bytes.clear();
        bytes.shrink_to(BUFFER_BYTES);
        Ok(())
    }

    fn write_if_large(&mut self) -> io::Result<()> {
        match self.bytes.len() >= BUFFER_BYTES {
            true => self.write(),
            false => Ok(()),
        }
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }
}

/// A field in these files, which receives its terms in order.
pub(super) struct FieldFiles<'f> {
    terms: &'f mut CountingWriter<WritePtr>,
    dictionary: Dictionary,
    infos: TermInfos,
    postings: Out<'f>,
    /// None if the field has no positions.
    positions: Option<Out<'f>>,
    docs: TermDocs,
    term_positions: Positions,
}

impl FieldFiles<'_> {
    /// Returns where the lists of the next term begin, which has `n_docs` documents.
    fn info(&self, n_docs: u32) -> TermInfo {
        TermInfo {
            n_docs,
            postings: self.postings.position(),
            positions: self.positions.as_ref().map_or(0, Out::position),
        }
    }

    /// Ends the field.
    pub(super) fn close(mut self) -> io::Result<()> {
        let end = self.info(0);
        self.postings.write()?;
        if let Some(positions) = &mut self.positions {
            positions.write()?;
        }
        self.dictionary.finish(&mut self.terms)?;
        let n_bytes = self.infos.finish(end, &mut self.terms)?;
        self.terms.write_all(&n_bytes.to_le_bytes())?;
        for number in VERSION_AND_KIND {
            self.terms.write_all(&number.to_le_bytes())?;
        }
        Ok(())
    }
}

impl Sink for FieldFiles<'_> {
    fn term(&mut self, term: &[u8], n_docs: u32) -> io::Result<()> {
        self.dictionary.add(term)?;
        self.dictionary.write_if_large(&mut self.terms)?;
        self.infos.add(self.info(n_docs))
    }

    #[inline]
    fn documents(&mut self, documents: &Documents) -> io::Result<()> {
        self.docs.add(documents.docs(), documents.freqs());
        self.term_positions.add(documents.deltas());
        Ok(())
    }

    fn end_term(&mut self) -> io::Result<()> {
        self.docs.finish(&mut self.postings)?;
        self.postings.write_if_large()?;
        if let Some(positions) = &mut self.positions {
            self.term_positions.finish(positions)?;
            positions.write_if_large()?;
        }
        Ok(())
    }
}
