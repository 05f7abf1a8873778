//! The list of one form of a word in one field of a segment: its documents, and how much each
//! counts.

use std::sync::Arc;

use ken_core::Field;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::query::BitSetDocSet;
use tantivy::{DocId, DocSet};

use super::window::Window;
use crate::query::span::Candidates;

/// The weight of one occurrence by the length of the field, which is coded in one byte.
pub(super) type Lengths = [f32; 256];

/// The documents that have a form in a field, in order.
pub(super) struct List {
    source: Source,
    /// The field, and the index of the word's form.
    pub(super) of: (Field, usize),
    norms: FieldNormReader,
    lengths: Arc<Lengths>,
    weight: f32,
    /// See [`ken_core::Form::derived`].
    pub(super) derived: bool,
}

/// The source of the documents.
#[allow(clippy::large_enum_variant)] // nearly all are of the large one
pub(super) enum Source {
    /// The postings of a term.
    Postings {
        /// The current block.
        block: BlockSegmentPostings,
        /// The index in the block.
        at: usize,
    },
    /// Documents that may have a phrase or span of terms; only positions show whether they do.
    Span(Box<Candidates>),
    /// Documents of a set of terms, which is so large that frequencies mean nothing.
    Set(BitSetDocSet),
}

impl List {
    pub(super) fn new(
        source: Source,
        of: (Field, usize),
        norms: FieldNormReader,
        scale: (Arc<Lengths>, f32),
        derived: bool,
    ) -> Self {
        let (lengths, weight) = scale;
        Self {
            source,
            of,
            norms,
            lengths,
            weight,
            derived,
        }
    }

    /// Returns the approximate number of documents.
    pub(super) fn size_hint(&self) -> u32 {
        match &self.source {
            Source::Postings { block, .. } => block.doc_freq(),
            Source::Span(span) => span.size_hint(),
            Source::Set(set) => set.size_hint(),
        }
    }

    /// Returns whether its documents are only candidates, for which positions must be read.
    pub(super) fn is_span(&self) -> bool {
        matches!(self.source, Source::Span(_))
    }

    /// Returns the current document or candidate.
    #[inline]
    pub(super) fn doc(&self) -> DocId {
        match &self.source {
            Source::Postings { block, at } => block.doc(*at),
            Source::Span(span) => span.doc(),
            Source::Set(set) => set.doc(),
        }
    }

    /// Advances to the first document from `target` on.
    pub(super) fn seek(&mut self, target: DocId) -> DocId {
        let doc = self.doc();
        if doc >= target {
            return doc;
        }
        match &mut self.source {
            Source::Postings { block, at } => *at = block.seek(target),
            Source::Span(span) => _ = span.seek(target),
            Source::Set(set) => _ = set.seek(target),
        }
        self.doc()
    }

    /// Returns the frequency of the form in the current document: 0 if it is only a candidate.
    pub(super) fn frequency(&mut self) -> u32 {
        match &mut self.source {
            Source::Postings { block, at } => block.freq(*at),
            Source::Span(span) => span.frequency(),
            Source::Set(_) => 1,
        }
    }

    /// Returns whether the current document has the form.
    pub(super) fn is_there(&mut self) -> bool {
        match &mut self.source {
            Source::Span(span) => span.is_there(),
            Source::Postings { .. } | Source::Set(_) => true,
        }
    }

    /// Returns the length of the field in the current document.
    pub(super) fn length(&self) -> u32 {
        self.norms.fieldnorm(self.doc())
    }

    /// Returns the amount of the form in the current document: its frequency, by the form's weight
    /// and the length of the field. `None` if the document lacks it.
    pub(super) fn amount(&mut self) -> Option<f32> {
        match self.frequency() {
            0 => None,
            n => Some(self.amount_of(n)),
        }
    }

    /// Returns the maximum amount in the current document, without reading positions.
    pub(super) fn at_most(&mut self) -> f32 {
        let n = match &self.source {
            Source::Span(span) => span.at_most(),
            Source::Postings { .. } | Source::Set(_) => self.frequency(),
        };
        self.amount_of(n)
    }

    fn amount_of(&self, n: u32) -> f32 {
        let length = self.norms.fieldnorm_id(self.doc());
        n as f32 * self.weight * self.lengths[usize::from(length)]
    }

    /// Adds all documents of a window, with their amounts if `amounts` is set.
    pub(super) fn fill(&mut self, window: &mut Window, amounts: bool) {
        // The kind of the form is chosen once and not for each posting.
        match self.derived {
            true => self.fill_as::<true>(window, amounts),
            false => self.fill_as::<false>(window, amounts),
        }
    }

    fn fill_as<const DERIVED: bool>(&mut self, window: &mut Window, amounts: bool) {
        self.seek(window.start());
        let end = window.end();
        let (norms, lengths, weight) = (&self.norms, &*self.lengths, self.weight);
        let amount =
            |doc, n: u32| n as f32 * weight * lengths[usize::from(norms.fieldnorm_id(doc))];
        let add = |window: &mut Window, doc, amount| match DERIVED {
            true => window.add_derived(doc, amount),
            false => window.add(doc, amount),
        };
        match &mut self.source {
            Source::Postings { block, at } => loop {
                let docs = &block.docs()[(*at).min(block.block_len())..];
                let inside = match docs.last() {
                    Some(last) if *last < end => docs.len(),
                    _ => docs.partition_point(|doc| *doc < end),
                };
                if amounts {
                    let freqs = &block.freqs()[*at..*at + inside];
                    for (doc, n) in docs[..inside].iter().zip(freqs) {
                        add(window, *doc, amount(*doc, *n));
                    }
                } else {
                    docs[..inside].iter().for_each(|doc| window.set(*doc));
                }
                *at += inside;
                if inside == 0 || *at < block.block_len() {
                    return;
                }
                block.advance();
                *at = 0;
            },
            Source::Span(span) => {
                while span.doc() < end {
                    let doc = span.doc();
                    match amounts {
                        true => match span.frequency() {
                            0 => {}
                            n => add(window, doc, amount(doc, n)),
                        },
                        false if span.is_there() => window.set(doc),
                        false => {}
                    }
                    span.seek(doc + 1);
                }
            }
            Source::Set(set) => {
                let mut doc = set.doc();
                while doc < end {
                    add(window, doc, amount(doc, 1));
                    doc = set.advance();
                }
            }
        }
    }
}
