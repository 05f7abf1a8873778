//! One form of a word in one field of a segment: which documents have it, and how much it counts.

use std::sync::Arc;

use ken_core::Field;
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::BlockSegmentPostings;
use tantivy::query::BitSetDocSet;
use tantivy::{DocId, DocSet};

use super::window::Window;
use crate::query::span::Candidates;

/// How much one occurrence counts, by the length of the field; lengths are told by one byte.
pub(super) type Lengths = [f32; 256];

/// The documents that have a form in a field, in order.
pub(super) struct List {
    source: Source,
    /// Which field, and which form of the word.
    pub(super) of: (Field, usize),
    norms: FieldNormReader,
    lengths: Arc<Lengths>,
    weight: f32,
    /// See [`ken_core::Form::derived`].
    pub(super) derived: bool,
}

/// Where the documents come from.
#[allow(clippy::large_enum_variant)] // nearly all are of the large one
pub(super) enum Source {
    /// The postings of a term.
    Postings {
        /// The block in which it stands.
        block: BlockSegmentPostings,
        /// Where in the block.
        at: usize,
    },
    /// What may have a stretch of terms; who wants to know whether it has reads positions.
    Span(Box<Candidates>),
    /// Documents of so many terms that how often they are there says nothing.
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

    /// Returns about how many documents it has.
    pub(super) fn size_hint(&self) -> u32 {
        match &self.source {
            Source::Postings { block, .. } => block.doc_freq(),
            Source::Span(span) => span.size_hint(),
            Source::Set(set) => set.size_hint(),
        }
    }

    /// Returns whether its documents are candidates, for which positions must be read.
    pub(super) fn is_span(&self) -> bool {
        matches!(self.source, Source::Span(_))
    }

    /// Returns the current document, or candidate.
    #[inline]
    pub(super) fn doc(&self) -> DocId {
        match &self.source {
            Source::Postings { block, at } => block.doc(*at),
            Source::Span(span) => span.doc(),
            Source::Set(set) => set.doc(),
        }
    }

    /// Goes to the first document from `target` on.
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

    /// Returns how often the current document has the form: not at all, if it is a candidate only.
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

    /// Returns how much the current document has of the form: how often, by its weight and by the
    /// length of the field. `None` if it lacks it.
    pub(super) fn amount(&mut self) -> Option<f32> {
        match self.frequency() {
            0 => None,
            n => Some(self.amount_of(n)),
        }
    }

    /// Returns how much the current document has at most, without reading positions.
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

    /// Adds all documents of a window, and if `amounts` is set how much they have.
    pub(super) fn fill(&mut self, window: &mut Window, amounts: bool) {
        self.seek(window.start());
        let end = window.end();
        let (norms, lengths, weight) = (&self.norms, &*self.lengths, self.weight);
        let amount =
            |doc, n: u32| n as f32 * weight * lengths[usize::from(norms.fieldnorm_id(doc))];
        let add = match self.derived {
            true => Window::add_derived,
            false => Window::add,
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
