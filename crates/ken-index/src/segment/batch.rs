//! Batches of tokens that are looked up together.
//!
//! A look-up reads a slot and a record, neither of which is in the processor's cache for rare
//! words. The processor could wait for several look-ups at once, but does not see that far ahead,
//! because text is analysed between two of them, with unpredictable branches. Tokens are therefore
//! collected; then all slots are read, and then all records.

use super::terms::{Key, SHORT_BYTES, Terms};

/// A larger batch gains nothing.
const MAX_TOKENS: usize = 32;
/// Longer terms, which are rare, are not batched.
pub(super) const MAX_TERM_BYTES: usize = crate::analysis::MAX_TERM_BYTES;

/// Tokens of one value, in order.
pub(super) struct Batch {
    tokens: [Token; MAX_TOKENS],
    /// The bytes of terms that are too long for a number.
    long: [[u8; MAX_TERM_BYTES]; MAX_TOKENS],
    length: usize,
}

#[derive(Clone, Copy, Default)]
struct Token {
    /// The term, if it is short.
    number: u128,
    n_bytes: u32,
    tag: u32,
    position: u32,
}

impl Batch {
    pub(super) fn new() -> Self {
        Self {
            tokens: [Token::default(); MAX_TOKENS],
            long: [[0; MAX_TERM_BYTES]; MAX_TOKENS],
            length: 0,
        }
    }

    /// Adds a token, whose term has at most [`MAX_TERM_BYTES`]; returns whether there is room for
    /// another one.
    #[inline]
    pub(super) fn push(&mut self, tag: u32, term: Key<'_>, position: u32) -> bool {
        let (number, n_bytes) = match term {
            Key::Short(number, n_bytes) => (number, n_bytes),
            Key::Long(term) => {
                self.long[self.length][..term.len()].copy_from_slice(term);
                (0, term.len())
            }
        };
        self.tokens[self.length] = Token {
            number,
            n_bytes: n_bytes as u32,
            tag,
            position,
        };
        self.length += 1;
        self.length < MAX_TOKENS
    }

    /// Removes all tokens.
    pub(super) fn clear(&mut self) {
        self.length = 0;
    }

    /// Looks up all tokens and removes them; calls back with the number of the term and the
    /// position of each.
    #[inline]
    pub(super) fn look_up(&mut self, terms: &mut Terms, mut found: impl FnMut(u32, u32)) {
        let tokens = &self.tokens[..self.length];
        let mut slots = [Terms::NO_SLOT; MAX_TOKENS];
        for (slot, token) in slots.iter_mut().zip(tokens) {
            *slot = terms.slot(token.tag);
        }
        for ((slot, token), long) in slots.iter().zip(tokens).zip(&self.long) {
            let term = match token.n_bytes as usize {
                n_bytes @ ..=SHORT_BYTES => Key::Short(token.number, n_bytes),
                n_bytes => Key::Long(&long[..n_bytes]),
            };
            found(terms.number_at(*slot, token.tag, term), token.position);
        }
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_found_as_one_by_one() {
        // Known and new terms of each length, more than initially fit into the table.
        let word = |number: usize| format!("{number}").repeat(1 + number % 9);
        let words: Vec<String> = (0..1000).flat_map(|n| [word(n), word(n / 3)]).collect();
        let (mut together, mut single) = (Terms::new(), Terms::new());
        let mut batch = Batch::new();
        let mut numbers = Vec::new();
        for (position, word) in words.iter().enumerate() {
            let term = Key::new(word.as_bytes());
            if !batch.push(together.tag(term), term, position as u32) {
                batch.look_up(&mut together, |number, at| numbers.push((number, at)));
            }
        }
        batch.look_up(&mut together, |number, at| numbers.push((number, at)));
        let expected: Vec<_> = (0..)
            .zip(&words)
            .map(|(at, word)| (single.number(Key::new(word.as_bytes())), at))
            .collect();
        assert_eq!(numbers, expected);
        assert!(together.iter().eq(single.iter()));
    }
}
