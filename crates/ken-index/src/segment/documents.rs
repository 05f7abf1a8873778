//! Documents of a term in columns.
//!
//! The number of a term's documents, and its frequency in each, is unpredictable: code that goes
//! from document to document by branches suffers from mispredictions. Columns are filled, written
//! and read without branches.

use tantivy::DocId;

/// Document and position of an occurrence of a term; memory for these comes as zeros from the
/// system, without being written.
pub(super) type Occurrence = (DocId, u32);

/// The data that are kept for each occurrence of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// The documents only.
    Documents,
    /// Documents, frequencies and positions.
    Positions,
}

/// Maximum number of documents in the columns at a time.
pub(super) const AT_ONCE: usize = 128;

/// Documents of a term, in order.
pub(super) struct Documents {
    n: usize,
    docs: [DocId; AT_ONCE],
    freqs: [u32; AT_ONCE],
    deltas: Vec<u32>,
}

impl Default for Documents {
    fn default() -> Self {
        Self {
            n: 0,
            docs: [0; AT_ONCE],
            freqs: [0; AT_ONCE],
            deltas: Vec::new(),
        }
    }
}

impl Documents {
    pub(super) fn docs(&self) -> &[DocId] {
        &self.docs[..self.n]
    }

    /// Returns the frequency of the term in each; arbitrary numbers if the field does not keep
    /// them.
    pub(super) fn freqs(&self) -> &[u32] {
        &self.freqs[..self.n]
    }

    /// Returns, document by document, the first position, and each further position as the
    /// difference from the previous one; none if they are not kept.
    pub(super) fn deltas(&self) -> &[u32] {
        &self.deltas
    }

    /// Returns the columns of `n` documents, to be filled: documents, frequencies, positions.
    pub(super) fn columns(&mut self, n: usize) -> (&mut [DocId], &mut [u32], &mut Vec<u32>) {
        self.n = n;
        self.deltas.clear();
        (&mut self.docs[..n], &mut self.freqs[..n], &mut self.deltas)
    }

    /// Fills the columns with the first documents among the occurrences of a term, until these have
    /// `max_positions`; returns the other occurrences.
    #[inline]
    pub(super) fn fill<'o>(
        &mut self,
        occurrences: &'o [Occurrence],
        detail: Detail,
        max_positions: usize,
    ) -> &'o [Occurrence] {
        self.deltas.clear();
        let (mut n, mut start, mut end) = (0, 0, 0);
        let (mut last_doc, mut last_position) = (DocId::MAX, 0);
        for &(doc, position) in occurrences {
            let is_next = doc != last_doc;
            let is_full = n == AT_ONCE || self.deltas.len() >= max_positions;
            if is_full && is_next {
                break;
            }
            n += usize::from(is_next);
            let (first, before) = match is_next {
                true => (end, 0),
                false => (start, last_position),
            };
            start = first;
            end += 1;
            self.docs[n - 1] = doc;
            self.freqs[n - 1] = end - start;
            self.deltas.push(position - before);
            (last_doc, last_position) = (doc, position);
        }
        self.n = n;
        if detail == Detail::Documents {
            self.deltas.clear();
        }
        &occurrences[end as usize..]
    }
}

/// Returns the number of documents among the occurrences of a term.
pub(super) fn n_docs(occurrences: &[Occurrence]) -> u32 {
    let pairs = occurrences.array_windows();
    let n_others: u32 = pairs.map(|[one, next]| u32::from(one.0 != next.0)).sum();
    n_others + u32::from(!occurrences.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn columns_hold_all_occurrences(
            steps in proptest::collection::vec((0..3_u32, 0..1000_u32), 0..600),
        ) {
            // Each is in the same document as the previous one, at a later position, or in a later
            // document.
            let (mut doc, mut position) = (0, 0);
            let mut occurrences = Vec::new();
            let mut expected: Vec<(DocId, Vec<u32>)> = Vec::new();
            for (next, delta) in steps {
                let is_first = next > 0 || expected.is_empty();
                (doc, position) = (doc + next, if is_first { delta } else { position + delta });
                occurrences.push((doc, position));
                match expected.last_mut().filter(|_| !is_first) {
                    Some((_, deltas)) => deltas.push(delta),
                    None => expected.push((doc, vec![delta])),
                }
            }
            prop_assert_eq!(n_docs(&occurrences), expected.len() as u32);
            let mut documents = Documents::default();
            let mut found = Vec::new();
            let mut rest = &occurrences[..];
            while !rest.is_empty() {
                rest = documents.fill(rest, Detail::Positions, 200);
                let mut deltas = documents.deltas();
                for (doc, freq) in documents.docs().iter().zip(documents.freqs()) {
                    let own;
                    (own, deltas) = deltas.split_at(*freq as usize);
                    found.push((*doc, own.to_vec()));
                }
                prop_assert!(deltas.is_empty());
            }
            prop_assert_eq!(found, expected);
        }
    }
}
