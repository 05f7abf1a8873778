//! Lists terms with their counts, for `ken terms`.
//!
//! A dictionary counts documents that were deleted but not merged away yet, and it counts no
//! occurrences. The postings of each listed term are therefore read, so that the counts equal those
//! of a search.

use std::ops::ControlFlow;

use ken_core::{Field, FieldKind};
use ken_engine::{TermCount, TermList};
use tantivy::SegmentReader;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;

use super::stream::Merge;
use super::{Dictionaries, Matcher, has_terms};
use crate::limits::Pace;

/// Calls `each` with the terms that are asked for, in the order of their bytes, until a limit is reached.
pub(crate) fn each(
    dictionaries: &Dictionaries,
    list: &TermList<'_>,
    matcher: &Matcher,
    each: &mut dyn FnMut(TermCount<'_>) -> ControlFlow<()>,
) -> tantivy::Result<()> {
    let limits = list.limits.map(|limits| &**limits);
    let mut counters = Vec::new();
    for field in list.fields.iter().filter(|field| has_terms(**field)) {
        for (number, segment) in dictionaries.segments().iter().enumerate() {
            let index = dictionaries.of(*field, number)?.as_ref();
            if index.terms().num_terms() > 0 {
                counters.push(Counter::new(*field, number, segment, index));
            }
        }
    }
    let indexes: Vec<_> = counters.iter().map(|counter| counter.index).collect();
    let mut terms = Merge::new(&indexes, matcher, limits)?;
    let mut groups = Groups::new(list.by_field);
    let mut pace = Pace::default();
    while let Some((term, infos)) = terms.next() {
        // A limit that ended the merge may have left out dictionaries that have the term.
        if pace.step(limits) {
            break;
        }
        // Terms are text; anything else would be from another program.
        let Ok(term) = std::str::from_utf8(term) else {
            continue;
        };
        groups.clear();
        for (number, info) in infos {
            groups.add(&mut counters[number], info)?;
        }
        if groups.hand_out(term, each).is_break() {
            break;
        }
    }
    Ok(())
}

/// The sums of one term.
struct Groups {
    by_field: bool,
    sums: Vec<(Field, u64, u64)>,
    /// Documents with the term, if fields are counted together: segment and number.
    documents: Vec<(usize, u32)>,
}

impl Groups {
    fn new(by_field: bool) -> Self {
        Self {
            by_field,
            sums: Vec::new(),
            documents: Vec::new(),
        }
    }

    fn clear(&mut self) {
        self.sums.clear();
        self.documents.clear();
    }

    fn add(&mut self, counter: &mut Counter<'_>, info: &TermInfo) -> tantivy::Result<()> {
        let before = self.documents.len();
        let (documents, occurrences) = counter.count(info, &mut self.documents)?;
        match self.sums.last_mut() {
            Some((field, d, o)) if *field == counter.field => {
                *d += documents;
                *o += occurrences;
            }
            _ => self.sums.push((counter.field, documents, occurrences)),
        }
        if self.by_field {
            self.documents.truncate(before);
        }
        Ok(())
    }

    fn hand_out(
        &mut self,
        term: &str,
        each: &mut dyn FnMut(TermCount<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if !self.by_field {
            if self.sums.len() > 1 {
                self.documents.sort_unstable();
                self.documents.dedup();
            }
            let occurrences = self.sums.iter().map(|(_, _, o)| o).sum();
            return give(None, term, self.documents.len() as u64, occurrences, each);
        }
        for (field, documents, occurrences) in &self.sums {
            give(Some(*field), term, *documents, *occurrences, each)?;
        }
        ControlFlow::Continue(())
    }
}

/// Passes on a term, unless all its documents were deleted.
fn give(
    field: Option<Field>,
    term: &str,
    documents: u64,
    occurrences: u64,
    each: &mut dyn FnMut(TermCount<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if documents == 0 {
        return ControlFlow::Continue(());
    }
    each(TermCount {
        field,
        term,
        documents,
        occurrences,
    })
}

/// Counts in the postings of one field of one segment.
struct Counter<'a> {
    field: Field,
    number: usize,
    segment: &'a SegmentReader,
    index: &'a InvertedIndexReader,
    /// Opened at the first term, then moved from term to term.
    postings: Option<BlockSegmentPostings>,
}

impl<'a> Counter<'a> {
    fn new(
        field: Field,
        number: usize,
        segment: &'a SegmentReader,
        index: &'a InvertedIndexReader,
    ) -> Self {
        Self {
            field,
            number,
            segment,
            index,
            postings: None,
        }
    }

    /// Returns the numbers of documents and occurrences that are not deleted, and adds the
    /// documents to a list.
    fn count(
        &mut self,
        info: &TermInfo,
        documents: &mut Vec<(usize, u32)>,
    ) -> tantivy::Result<(u64, u64)> {
        // Keywords are kept without frequencies: each value occurs once.
        let has_counts = self.field.info().kind != FieldKind::Keyword;
        let option = match has_counts {
            true => IndexRecordOption::WithFreqs,
            false => IndexRecordOption::Basic,
        };
        let mut postings = match self.postings.take() {
            Some(mut postings) => {
                self.index
                    .reset_block_postings_from_terminfo(info, &mut postings)?;
                postings
            }
            None => self.index.read_block_postings_from_terminfo(info, option)?,
        };
        let (before, mut occurrences) = (documents.len(), 0);
        let alive = self.segment.alive_bitset();
        while !postings.docs().is_empty() {
            for (at, doc) in postings.docs().iter().enumerate() {
                if alive.is_none_or(|alive| alive.is_alive(*doc)) {
                    documents.push((self.number, *doc));
                    occurrences += match has_counts {
                        true => u64::from(postings.freq(at)),
                        false => 1,
                    };
                }
            }
            postings.advance();
        }
        self.postings = Some(postings);
        Ok(((documents.len() - before) as u64, occurrences))
    }
}
