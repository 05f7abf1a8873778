//! All terms that a pattern matches, as one list of documents and positions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ken_core::Written;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, TERMINATED, TantivyError};

use crate::dictionary::Matcher;
use crate::dictionary::Shortcut;
use crate::limits::Limits;

/// Maximum number of terms that the patterns of a span may match together in a segment; each takes about 4 KiB.
const MAX_TERMS: usize = 10_000;

/// How many more terms a span may open in a segment.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MAX_TERMS)
    }
}

impl Room {
    fn take(&mut self) -> tantivy::Result<()> {
        self.0 = self.0.checked_sub(1).ok_or_else(|| {
            TantivyError::InvalidArgument(format!(
                "patterns beside other words mean more than {MAX_TERMS} words; write more letters of them"
            ))
        })?;
        Ok(())
    }
}

/// Maximum number of terms whose frequencies are summed to bound the number of positions.
const MAX_SUMMED: usize = 16;

pub(super) struct Leaf {
    /// For several terms: their next documents, the first document first.
    waiting: BinaryHeap<Reverse<(DocId, usize)>>,
    postings: Vec<SegmentPostings>,
    pub(super) n_documents: u32,
    pub(super) form: Option<Written>,
    /// The only positions that count, in order, if they are limited.
    pub(super) allowed: Option<Vec<u32>>,
}

impl Leaf {
    /// Returns `None` if the segment has none of the terms.
    pub(super) fn open(
        matcher: &Matcher,
        index: &InvertedIndexReader,
        shortcut: Shortcut<'_>,
        room: &mut Room,
        limits: Option<&Limits>,
    ) -> tantivy::Result<Option<Self>> {
        let mut postings = Vec::new();
        let mut n_documents = 0_u32;
        matcher.each_info(index, shortcut, limits, |info| {
            room.take()?;
            let option = IndexRecordOption::WithFreqsAndPositions;
            postings.push(index.read_postings_from_terminfo(info, option)?);
            n_documents = n_documents.saturating_add(info.doc_freq);
            Ok(())
        })?;
        let waiting = postings.iter().enumerate();
        let waiting = waiting.map(|(number, of)| Reverse((of.doc(), number)));
        Ok((!postings.is_empty()).then_some(Self {
            waiting: waiting.collect(),
            postings,
            n_documents,
            form: match matcher {
                Matcher::Written(_, form) => Some(form.clone()),
                _ => None,
            },
            allowed: None,
        }))
    }

    /// Returns the first document from `target` on that has one of the terms.
    pub(super) fn seek(&mut self, target: DocId) -> DocId {
        if let [only] = self.postings.as_mut_slice() {
            return match only.doc() {
                doc if doc >= target => doc,
                _ => only.seek(target),
            };
        }
        while let Some(mut top) = self.waiting.peek_mut() {
            let Reverse((doc, number)) = *top;
            if doc >= target {
                return doc;
            }
            let next = self.postings[number].seek(target);
            *top = Reverse((next, number));
        }
        TERMINATED
    }

    /// Returns the maximum number of positions in a document.
    pub(super) fn at_most(&self, doc: DocId) -> u32 {
        match self.postings.as_slice() {
            [only] => only.term_freq(),
            several if several.len() <= MAX_SUMMED => {
                let here = several.iter().filter(|of| of.doc() == doc);
                here.map(Postings::term_freq).fold(0, u32::saturating_add)
            }
            _ => u32::MAX,
        }
    }

    /// Fills in the positions of the terms in a document, in order, each shifted by `by`.
    pub(super) fn positions(&mut self, doc: DocId, by: u32, found: &mut Vec<u32>) {
        found.clear();
        if let [only] = self.postings.as_mut_slice() {
            if only.doc() == doc {
                only.append_positions_with_offset(by, found);
            }
        } else {
            let here = self.waiting.iter().filter(|Reverse((at, _))| *at == doc);
            for Reverse((_, number)) in here {
                self.postings[*number].append_positions_with_offset(by, found);
            }
            found.sort_unstable();
            found.dedup();
        }
        if let Some(allowed) = &self.allowed {
            found.retain(|at| allowed.binary_search(&(at - by)).is_ok());
        }
    }
}
