//! The postings of one field of a segment under construction.
//!
//! While documents are added, each token costs one look-up of its term and four bytes: the tokens
//! form a stream, in text order, of term numbers. At the end the stream is sorted by counting: the
//! frequency of each term determines the positions of its occurrences, and one pass puts them
//! there, in term order. In large segments this is done for one range of terms at a time.

use std::io;

use tantivy::DocId;
use tantivy::fieldnorm::FieldNormReader;

use super::batch::{self, Batch};
use super::documents::{Detail, Documents, Occurrence, n_docs};
use super::terms::{Key, MAX_BYTES, Terms};
use super::thresholds::Thresholds;
use crate::analysis::BORDER;

/// The output of postings: terms in order, each with its documents in order.
pub(super) trait Sink {
    /// Begins a term with `n_docs` documents.
    fn term(&mut self, term: &[u8], n_docs: u32) -> io::Result<()>;
    /// Adds documents of the term.
    fn documents(&mut self, documents: &Documents) -> io::Result<()>;
    /// Ends the term.
    fn end_term(&mut self) -> io::Result<()>;
}

/// A token of the stream is the number of its term and, in the lowest bits, the step of its
/// position from the previous token.
const STEP_BITS: u32 = 2;
/// The value of a step that is stored separately, as the next number of the stream.
const STEP_FOLLOWS: u32 = 2;
/// Gap between two values of a field that is not text, so that no phrase spans both.
pub(crate) const VALUE_GAP: u32 = 1;

/// The offset of a term that is not being sorted now.
const NOT_NOW: u32 = u32::MAX;

/// The start of a document in the stream.
struct Start {
    doc: DocId,
    /// Offset of its tokens.
    at: u32,
}

/// Collects the tokens of a field.
pub(super) struct Postings {
    detail: Detail,
    thresholds: Thresholds,
    terms: Terms,
    stream: Vec<u32>,
    /// Number of bytes of the stream's memory that were in use before it was cleared.
    kept: usize,
    docs: Vec<Start>,
    /// The coded number of tokens of each document, up to the last one with a token; none if the
    /// field is not ranked.
    norms: Option<Vec<u8>>,
    n_tokens: u64,
    current: Current,
}

/// The state of the current document.
#[derive(Default)]
struct Current {
    n_tokens: u32,
    /// Number of these tokens that are already in the field's sum.
    n_counted: u32,
    /// Position of the last token.
    position: u32,
    /// Start of the positions of the next value.
    next_value: u32,
}

impl Current {
    /// Adds a term at a position, which must not be before the last one.
    #[inline]
    fn step(&mut self, number: u32, position: u32, stream: &mut Vec<u32>) {
        let step = position - self.position;
        let token = number << STEP_BITS;
        if step < STEP_FOLLOWS {
            stream.push(token | step);
        } else {
            stream.extend([token | STEP_FOLLOWS, step]);
        }
        self.position = position;
    }
}

/// Memory for writing one field after the other.
#[derive(Default)]
pub(super) struct Room {
    occurrences: Vec<Occurrence>,
    documents: Documents,
    order: Vec<Ordered>,
    /// End of the occurrences of each term, by its number.
    ends: Vec<u32>,
}

impl Room {
    /// Returns the size of the memory that it keeps.
    pub(super) fn bytes(&self) -> usize {
        self.occurrences.len() * size_of::<Occurrence>()
    }

    /// Keeps memory for occurrences, up to `n_bytes`. All other memory is large for parts of many
    /// terms, which have few occurrences each; no part needs both.
    pub(super) fn keep(&mut self, n_bytes: usize) {
        let occurrences = std::mem::take(&mut self.occurrences);
        *self = Self::default();
        if occurrences.len() * size_of::<Occurrence>() <= n_bytes {
            self.occurrences = occurrences;
        }
    }
}

/// Returns room for `n` occurrences.
fn room_for(occurrences: &mut Vec<Occurrence>, n: usize) -> &mut [Occurrence] {
    if occurrences.len() < n {
        // Not the old content: growing would copy it.
        *occurrences = Vec::new();
        *occurrences = vec![(0, 0); n];
    }
    &mut occurrences[..n]
}

impl Postings {
    pub(super) fn new(detail: Detail, has_norms: bool, thresholds: Thresholds) -> Self {
        Self {
            detail,
            thresholds,
            terms: Terms::new(),
            stream: Vec::new(),
            kept: 0,
            docs: Vec::new(),
            norms: has_norms.then(Vec::new),
            n_tokens: 0,
            current: Current::default(),
        }
    }

    /// Removes the postings so far, but not the lengths of documents. Keeps at most `n_bytes` of
    /// memory; returns the size of the kept memory.
    pub(super) fn clear(&mut self, n_bytes: usize) -> usize {
        // A table that leaves no room in a part would make a part of each document.
        self.terms.clear(n_bytes.min(self.thresholds.table_bytes()));
        let table = self.terms.table_bytes();
        self.kept = self.kept.max(self.stream.len());
        self.stream.clear();
        if table + self.kept * size_of::<u32>() > n_bytes {
            (self.stream, self.kept) = (Vec::new(), 0);
        }
        self.docs = Vec::new();
        self.current = Current::default();
        table + self.kept * size_of::<u32>()
    }

    /// Frees the table of terms; nothing can be added after that.
    pub(super) fn forget_table(&mut self) {
        self.terms.forget_table();
    }

    /// Returns the size of its terms in bytes.
    pub(super) fn term_bytes(&self) -> usize {
        self.terms.record_bytes()
    }

    pub(super) fn detail(&self) -> Detail {
        self.detail
    }

    /// Returns whether no document has a term.
    pub(super) fn is_empty(&self) -> bool {
        self.stream.is_empty()
    }

    /// Returns the first document with a token or a value, if there is one.
    pub(super) fn first_doc(&self) -> DocId {
        self.docs.first().map_or(0, |start| start.doc)
    }

    /// Returns the number of tokens in all documents.
    pub(super) fn n_tokens(&self) -> u64 {
        self.n_tokens
    }

    /// Returns the size of the lengths of documents in bytes.
    pub(super) fn norms_bytes(&self) -> usize {
        self.norms.as_ref().map_or(0, Vec::len)
    }

    /// Returns the size of all other memory in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.terms.record_bytes()
            + self.terms.table_bytes()
            + self.stream.len() * size_of::<u32>()
            + self.docs.len() * size_of::<Start>()
    }

    /// Returns the number of bytes that it keeps in addition to the expected need.
    pub(super) fn spare_bytes(&self) -> usize {
        self.kept.saturating_sub(self.stream.len()) * size_of::<u32>()
    }

    /// Returns the number of bytes of [`Room`] for sorting its terms.
    pub(super) fn ordering_bytes(&self) -> usize {
        self.terms.len() * (size_of::<u32>() + size_of::<Ordered>())
    }

    /// Returns the number of bytes of [`Room`] for its occurrences.
    pub(super) fn occurrence_bytes(&self) -> usize {
        self.stream.len().min(self.thresholds.occurrences) * size_of::<Occurrence>()
    }

    /// Starts one value of the field of a document, which must not precede earlier documents.
    pub(super) fn value<'p>(&'p mut self, doc: DocId, batch: &'p mut Batch) -> Value<'p> {
        if self.docs.last().is_none_or(|last| last.doc != doc) {
            let at = self.stream.len() as u32;
            self.docs.push(Start { doc, at });
            self.current = Current::default();
        }
        let base = self.current.next_value;
        // A value whose analysis panicked may have left some of its tokens.
        batch.clear();
        let mut value = Value {
            postings: self,
            batch,
            doc,
            base,
            end: base,
        };
        // Neighbouring values share a border: the second begins where the first ends.
        if value.has_borders() && base == 0 {
            value.put(BORDER.as_bytes(), base);
            value.base += 1;
        }
        value
    }

    /// Returns the coded numbers of tokens of `n_docs` documents, if the field is ranked.
    pub(super) fn norms(&mut self, n_docs: DocId) -> Option<&[u8]> {
        let norms = self.norms.as_mut()?;
        norms.resize(n_docs as usize, 0);
        Some(norms)
    }

    /// Writes all terms with their postings.
    pub(super) fn write(&mut self, room: &mut Room, sink: &mut impl Sink) -> io::Result<()> {
        let Room {
            occurrences,
            documents,
            order,
            ends,
        } = room;
        in_order(&self.terms, order);
        ends.clear();
        ends.resize(self.terms.len(), NOT_NOW);
        let mut rest = &order[..];
        while !rest.is_empty() {
            let now;
            (now, rest) = rest.split_at(at_once(rest, self.thresholds.occurrences));
            let occurrences = self.turn(now, ends, occurrences);
            let mut start = 0;
            for Ordered { number, offset, .. } in now {
                let end = std::mem::replace(&mut ends[*number as usize], NOT_NOW) as usize;
                let term = self.terms.bytes(*offset);
                self.write_term(term, &occurrences[start..end], documents, sink)?;
                start = end;
            }
        }
        Ok(())
    }

    /// Returns all occurrences of some terms, grouped by term in this order, and sets the end of
    /// each group.
    fn turn<'r>(
        &self,
        terms: &[Ordered],
        ends: &mut [u32],
        room: &'r mut Vec<Occurrence>,
    ) -> &'r [Occurrence] {
        let mut total = 0;
        for term in terms {
            ends[term.number as usize] = total;
            total += term.count;
        }
        let occurrences = room_for(room, total as usize);
        self.each(|number, doc, position| {
            let end = &mut ends[number as usize];
            if *end != NOT_NOW {
                occurrences[*end as usize] = (doc, position);
                *end += 1;
            }
        });
        occurrences
    }

    fn write_term(
        &self,
        term: &[u8],
        occurrences: &[Occurrence],
        documents: &mut Documents,
        sink: &mut impl Sink,
    ) -> io::Result<()> {
        sink.term(term, n_docs(occurrences))?;
        let mut rest = occurrences;
        while !rest.is_empty() {
            rest = documents.fill(rest, self.detail, self.thresholds.positions);
            sink.documents(documents)?;
        }
        sink.end_term()
    }

    /// Calls back with each token of the stream: number of the term, document, position.
    #[inline]
    fn each(&self, mut found: impl FnMut(u32, DocId, u32)) {
        let ends = self.docs.iter().skip(1).map(|next| next.at as usize);
        let ends = ends.chain([self.stream.len()]);
        for (start, end) in self.docs.iter().zip(ends) {
            let mut position = 0;
            let mut tokens = self.stream[start.at as usize..end].iter();
            while let Some(token) = tokens.next() {
                position += match token & ((1 << STEP_BITS) - 1) {
                    STEP_FOLLOWS => tokens.next().copied().unwrap_or_default(),
                    step => step,
                };
                found(token >> STEP_BITS, start.doc, position);
            }
        }
    }
}

/// A value of a field whose tokens are being added.
pub(super) struct Value<'p> {
    postings: &'p mut Postings,
    batch: &'p mut Batch,
    doc: DocId,
    /// Start of the value's positions.
    base: u32,
    /// End of the positions so far.
    end: u32,
}

impl Value<'_> {
    /// Adds a token, whose position must not precede the last one.
    #[inline]
    pub(super) fn token(&mut self, term: &[u8], position: u32) {
        if term.len() > MAX_BYTES {
            return;
        }
        self.postings.current.n_tokens += 1;
        let position = self.base + position;
        // A value that is not text has few tokens.
        if term.len() > batch::MAX_TERM_BYTES || !self.has_borders() {
            self.look_up();
            return self.put(term, position);
        }
        let term = Key::new(term);
        let tag = self.postings.terms.tag(term);
        if !self.batch.push(tag, term, position) {
            self.look_up();
        }
    }

    /// Adds the batched tokens.
    fn look_up(&mut self) {
        let Postings {
            terms,
            stream,
            current,
            ..
        } = &mut *self.postings;
        self.batch.look_up(terms, |number, position| {
            current.step(number, position, stream);
            self.end = position + 1;
        });
    }

    /// Returns whether the value is text, which is ranked.
    fn has_borders(&self) -> bool {
        self.postings.norms.is_some()
    }

    /// Adds a term that does not count for the length.
    #[inline]
    fn put(&mut self, term: &[u8], position: u32) {
        let postings = &mut *self.postings;
        let number = postings.terms.number(Key::new(term));
        postings
            .current
            .step(number, position, &mut postings.stream);
        self.end = position + 1;
    }

    /// Ends the value.
    pub(super) fn end(mut self) {
        self.look_up();
        let gap = if self.has_borders() { 0 } else { VALUE_GAP };
        // Not without a token: the border would be the beginning of another value.
        if self.has_borders() && self.end > self.base {
            self.put(BORDER.as_bytes(), self.end);
        }
        let postings = self.postings;
        let n_before =
            std::mem::replace(&mut postings.current.n_counted, postings.current.n_tokens);
        postings.n_tokens += u64::from(postings.current.n_tokens - n_before);
        postings.current.next_value = self.end + gap;
        if let Some(norms) = &mut postings.norms {
            norms.resize(self.doc as usize + 1, 0);
            norms[self.doc as usize] = FieldNormReader::fieldnorm_to_id(postings.current.n_tokens);
        }
    }
}

/// A term while terms are sorted.
#[derive(Clone, Copy)]
struct Ordered {
    /// Its [first bytes](first_bytes).
    first: u128,
    /// Offset of its bytes.
    offset: u32,
    number: u32,
    /// Its frequency.
    count: u32,
}

/// Fills in the terms in byte order.
fn in_order(terms: &Terms, order: &mut Vec<Ordered>) {
    order.clear();
    order.extend(terms.iter().map(|(offset, record)| Ordered {
        first: first_bytes(record.term),
        offset,
        number: record.number,
        count: record.count,
    }));
    // Most terms differ in their first bytes, which are already loaded.
    order.sort_unstable_by(|a, b| {
        let by_rest = || terms.bytes(a.offset).cmp(terms.bytes(b.offset));
        a.first.cmp(&b.first).then_with(by_rest)
    });
}

/// Returns how many of the terms can be sorted at once; at least one.
fn at_once(order: &[Ordered], max_occurrences: usize) -> usize {
    let mut total = 0;
    let fitting = order.iter().take_while(|term| {
        total += term.count as usize;
        total <= max_occurrences
    });
    fitting.count().max(1)
}

/// Returns the first sixteen bytes as a number with the same order.
#[inline]
pub(super) fn first_bytes(term: &[u8]) -> u128 {
    match Key::new(term) {
        Key::Short(number, _) => number.swap_bytes(),
        Key::Long(term) => u128::from_be_bytes(term.first_chunk().copied().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_that_of_terms_and_of_tokens() {
        let mut postings = Postings::new(Detail::Positions, true, Thresholds::SMALL);
        let empty = postings.memory_bytes();
        let mut batch = Batch::new();
        let mut value = postings.value(0, &mut batch);
        for position in 0..10_000 {
            value.token(format!("{position:020}").as_bytes(), position);
        }
        value.end();
        let n_terms = 10_001;
        assert!(postings.term_bytes() > 20 * 10_000);
        let n_tokens = postings.stream.len();
        assert!(n_tokens >= n_terms);
        let n_slots = 2 * n_terms.next_power_of_two();
        let table = n_slots * 2 * size_of::<u32>();
        let known = postings.term_bytes() + n_tokens * size_of::<u32>() + table;
        assert!((known..known + 1000).contains(&postings.memory_bytes()));
        assert_eq!(
            postings.ordering_bytes(),
            n_terms * (size_of::<Ordered>() + size_of::<u32>())
        );
        postings.forget_table();
        assert!((known..known + 1000).contains(&(postings.memory_bytes() + table)));
        postings.clear(0);
        assert_eq!(postings.memory_bytes(), empty);
    }
}
