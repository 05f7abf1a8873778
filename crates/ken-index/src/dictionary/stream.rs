//! The terms of many dictionaries as one sorted stream: a merge with a heap of their heads, which
//! holds one term of each dictionary in memory, however many there are.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tantivy::index::InvertedIndexReader;
use tantivy::postings::TermInfo;

use super::{Cursor, Matcher};
use crate::limits::Limits;

/// The merge of the matching terms in some dictionaries.
pub(super) struct Merge<'a> {
    cursors: Vec<Box<dyn Cursor + 'a>>,
    /// The next term of each dictionary, with the index of the dictionary.
    heads: BinaryHeap<Reverse<(Vec<u8>, usize)>>,
    term: Vec<u8>,
    /// The dictionaries whose current term is `term`.
    at: Vec<usize>,
    /// Buffers of earlier terms, for reuse.
    spare: Vec<Vec<u8>>,
}

impl<'a> Merge<'a> {
    pub(super) fn new(
        indexes: &[&'a InvertedIndexReader],
        matcher: &'a Matcher,
        limits: Option<&'a Limits>,
    ) -> tantivy::Result<Self> {
        let mut merge = Merge {
            cursors: Vec::with_capacity(indexes.len()),
            heads: BinaryHeap::with_capacity(indexes.len()),
            term: Vec::new(),
            at: Vec::new(),
            spare: Vec::new(),
        };
        for index in indexes {
            merge.cursors.push(matcher.cursor(index, limits)?);
            merge.refill(merge.cursors.len() - 1);
        }
        Ok(merge)
    }

    /// Returns the next term, with the index and posting info of each dictionary that has it, in
    /// the order of the indexes.
    pub(super) fn next(&mut self) -> Option<(&[u8], impl Iterator<Item = (usize, &TermInfo)>)> {
        for number in std::mem::take(&mut self.at) {
            self.refill(number);
        }
        let Reverse((term, number)) = self.heads.pop()?;
        self.spare.push(std::mem::replace(&mut self.term, term));
        self.at.push(number);
        while let Some(Reverse((next, _))) = self.heads.peek()
            && *next == self.term
        {
            if let Some(Reverse((term, number))) = self.heads.pop() {
                self.spare.push(term);
                self.at.push(number);
            }
        }
        let infos = self.at.iter().map(|n| (*n, self.cursors[*n].info()));
        Some((&self.term, infos))
    }

    fn refill(&mut self, number: usize) {
        let cursor = &mut self.cursors[number];
        if cursor.advance() {
            let mut term = self.spare.pop().unwrap_or_default();
            term.clear();
            term.extend_from_slice(cursor.term());
            self.heads.push(Reverse((term, number)));
        }
    }
}
