//! Tokens that wait to be looked up together.
//!
//! A look-up reads a slot and a record, and of rare words neither is in the processor's cache. It would wait
//! for several look-ups at once, but does not see that far ahead: between two of them text is analysed, by
//! branches that nobody can foretell. So tokens are gathered, and then all slots are read, and then all records.

use super::terms::Terms;

/// More gain nothing.
const MAX_TOKENS: usize = 32;
/// Longer terms, which are rare, do not wait.
pub(super) const MAX_TERM_BYTES: usize = 32;

/// Tokens of one value, in their order.
pub(super) struct Batch {
    terms: [[u8; MAX_TERM_BYTES]; MAX_TOKENS],
    tokens: [Token; MAX_TOKENS],
    length: usize,
}

/// What is kept of a token beside the bytes of its term.
#[derive(Clone, Copy, Default)]
struct Token {
    tag: u32,
    n_bytes: u32,
    position: u32,
}

impl Batch {
    pub(super) fn new() -> Self {
        Self {
            terms: [[0; MAX_TERM_BYTES]; MAX_TOKENS],
            tokens: [Token::default(); MAX_TOKENS],
            length: 0,
        }
    }

    /// Adds a token, whose term has [`MAX_TERM_BYTES`] at most; returns whether there is room for another one.
    #[inline]
    pub(super) fn push(&mut self, tag: u32, term: &[u8], position: u32) -> bool {
        copy(term, &mut self.terms[self.length]);
        self.tokens[self.length] = Token {
            tag,
            n_bytes: term.len() as u32,
            position,
        };
        self.length += 1;
        self.length < MAX_TOKENS
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    /// Looks all up and forgets them; calls back with the number of the term and the position of each.
    #[inline]
    pub(super) fn look_up(&mut self, terms: &mut Terms, mut found: impl FnMut(u32, u32)) {
        let tokens = &self.tokens[..self.length];
        let mut slots = [Terms::NO_SLOT; MAX_TOKENS];
        for (slot, token) in slots.iter_mut().zip(tokens) {
            *slot = terms.slot(token.tag);
        }
        for ((slot, token), term) in slots.iter().zip(tokens).zip(&self.terms) {
            let term = &term[..token.n_bytes as usize];
            found(terms.number_at(*slot, token.tag, term), token.position);
        }
        self.length = 0;
    }
}

/// Copies a short term, most of which are very short: without a call.
#[inline]
fn copy(term: &[u8], to: &mut [u8; MAX_TERM_BYTES]) {
    /// Copies the first and the last `N` bytes.
    #[inline]
    fn ends<const N: usize>(term: &[u8], to: &mut [u8]) {
        if let (Some(first), Some(last)) = (term.first_chunk::<N>(), term.last_chunk::<N>()) {
            to[..N].copy_from_slice(first);
            to[term.len() - N..term.len()].copy_from_slice(last);
        }
    }
    match term.len() {
        8..=16 => ends::<8>(term, to),
        4..=7 => ends::<4>(term, to),
        2..=3 => ends::<2>(term, to),
        n => to[..n].copy_from_slice(term),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_found_as_one_by_one() {
        // Of each length, known and new ones, and more than the table has room for at first.
        let word = |number: usize| format!("{number}").repeat(1 + number % 9);
        let words: Vec<String> = (0..1000).flat_map(|n| [word(n), word(n / 3)]).collect();
        let (mut together, mut single) = (Terms::new(), Terms::new());
        let mut batch = Batch::new();
        let mut numbers = Vec::new();
        for (position, word) in words.iter().enumerate() {
            let tag = together.tag(word.as_bytes());
            if !batch.push(tag, word.as_bytes(), position as u32) {
                batch.look_up(&mut together, |number, at| numbers.push((number, at)));
            }
        }
        batch.look_up(&mut together, |number, at| numbers.push((number, at)));
        let expected: Vec<_> = (0..)
            .zip(&words)
            .map(|(at, word)| (single.number(word.as_bytes()), at))
            .collect();
        assert_eq!(numbers, expected);
        assert!(together.iter().eq(single.iter()));
    }
}
