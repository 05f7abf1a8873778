//! The distinct terms of one field of a segment that is being built.
//!
//! Each term gets a number at its first use. A look-up touches two cache lines: a slot of the
//! table, which holds a part of the hash, and the term's record, which holds number, bytes, and how
//! often it was looked up: counting costs nothing there.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;

/// The longest term that is kept, in bytes; the engine's readers know no longer ones.
pub(super) const MAX_BYTES: usize = 65_530;
/// Bytes of a record before those of its term: how often it was used, its number and its length.
const HEAD_BYTES: usize = 10;
const FIRST_SLOTS: usize = 1 << 6;

/// A place of the table.
#[derive(Clone, Copy, Default)]
pub(super) struct Slot {
    /// The lower half of the hash.
    tag: u32,
    /// Where the record starts, plus one; 0 in an empty slot.
    record: u32,
}

/// Terms and their numbers, 0 for the first one.
pub(super) struct Terms {
    /// At most half of them are in use; a power of two.
    slots: Vec<Slot>,
    records: Vec<u8>,
    /// Where the record of each term starts.
    starts: Vec<u32>,
    /// Keyed anew in each process: nobody can write texts whose terms collide.
    hasher: RandomState,
}

impl Terms {
    /// A slot in which nothing is.
    pub(super) const NO_SLOT: Slot = Slot { tag: 0, record: 0 };

    pub(super) fn new() -> Self {
        Self {
            slots: vec![Slot::default(); FIRST_SLOTS],
            records: Vec::new(),
            starts: Vec::new(),
            hasher: RandomState::default(),
        }
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns the number of a term of at most [`MAX_BYTES`], which is new if it is unknown, and
    /// counts its use.
    pub(super) fn number(&mut self, term: &[u8]) -> u32 {
        let tag = self.tag(term);
        self.number_at(self.slot(tag), tag, term)
    }

    /// Returns the half of a term's hash by which it is looked up.
    #[inline]
    pub(super) fn tag(&self, term: &[u8]) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(term);
        hasher.finish() as u32
    }

    /// Returns the place where a term with this tag is looked for first.
    #[inline]
    pub(super) fn slot(&self, tag: u32) -> Slot {
        self.slots[tag as usize & (self.slots.len() - 1)]
    }

    /// As [`Self::number`], for a term whose tag and first slot are known; that slot may have been read before
    /// others were added.
    #[inline]
    pub(super) fn number_at(&mut self, first: Slot, tag: u32, term: &[u8]) -> u32 {
        match self.count_at(first, tag, term) {
            Some(number) => number,
            None => self.search(tag, term),
        }
    }

    /// Counts a use of a term if the slot is its own; returns its number.
    #[inline]
    fn count_at(&mut self, slot: Slot, tag: u32, term: &[u8]) -> Option<u32> {
        if slot.tag != tag || slot.record == 0 {
            return None;
        }
        let place = (slot.record - 1) as usize;
        let record = Record::at(&self.records, slot.record - 1);
        if !are_same(term, record.term) {
            return None;
        }
        let (number, count) = (record.number, record.count + 1);
        self.records[place..place + 4].copy_from_slice(&count.to_le_bytes());
        Some(number)
    }

    /// Looks from slot to slot.
    fn search(&mut self, tag: u32, term: &[u8]) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = tag as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.record == 0 {
                return self.insert(at, tag, term);
            }
            if let Some(number) = self.count_at(slot, tag, term) {
                return number;
            }
            at = (at + 1) & mask;
        }
    }

    /// Returns the bytes of a term.
    pub(super) fn bytes(&self, number: u32) -> &[u8] {
        Record::at(&self.records, self.starts[number as usize]).term
    }

    /// Returns the number of each term, how often it was used, and its bytes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32, &[u8])> {
        self.starts.iter().map(|start| {
            let record = Record::at(&self.records, *start);
            (record.number, record.count, record.term)
        })
    }

    /// Returns how many bytes of memory the terms take.
    pub(super) fn record_bytes(&self) -> usize {
        self.records.len() + self.starts.len() * size_of::<u32>()
    }

    /// Returns how many bytes of memory the table takes that finds them.
    pub(super) fn table_bytes(&self) -> usize {
        self.slots.len() * size_of::<Slot>()
    }

    /// Forgets all terms. The table, if it was not [forgotten](Self::forget_table), is kept if it takes no more than
    /// so many bytes.
    pub(super) fn clear(&mut self, n_bytes: usize) {
        match !self.slots.is_empty() && self.table_bytes() <= n_bytes {
            true => self.slots.fill(Slot::default()),
            false => self.slots = vec![Slot::default(); FIRST_SLOTS],
        }
        (self.records, self.starts) = (Vec::new(), Vec::new());
    }

    /// Frees that table: no number is asked for any more.
    pub(super) fn forget_table(&mut self) {
        self.slots = Vec::new();
    }

    #[cold]
    fn insert(&mut self, at: usize, tag: u32, term: &[u8]) -> u32 {
        let number = self.starts.len() as u32;
        let start = self.records.len() as u32;
        self.starts.push(start);
        self.records.extend_from_slice(&1_u32.to_le_bytes());
        self.records.extend_from_slice(&number.to_le_bytes());
        self.records
            .extend_from_slice(&(term.len() as u16).to_le_bytes());
        self.records.extend_from_slice(term);
        self.slots[at] = Slot {
            tag,
            record: start + 1,
        };
        if self.starts.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let mut slots = vec![Slot::default(); self.slots.len() * 2];
        let mask = slots.len() - 1;
        for slot in self.slots.iter().filter(|slot| slot.record != 0) {
            let mut at = slot.tag as usize & mask;
            while slots[at].record != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = *slot;
        }
        self.slots = slots;
    }
}

/// Compares terms, most of which are short: without a call.
#[inline]
fn are_same(one: &[u8], other: &[u8]) -> bool {
    /// Compares the first and the last `N` bytes.
    #[inline]
    fn ends<const N: usize>(one: &[u8], other: &[u8]) -> bool {
        one.first_chunk::<N>() == other.first_chunk() && one.last_chunk::<N>() == other.last_chunk()
    }
    one.len() == other.len()
        && match one.len() {
            8..=16 => ends::<8>(one, other),
            4..=7 => ends::<4>(one, other),
            2..=3 => ends::<2>(one, other),
            _ => one == other,
        }
}

/// What is kept of a term.
struct Record<'r> {
    count: u32,
    number: u32,
    term: &'r [u8],
}

impl<'r> Record<'r> {
    #[inline]
    fn at(records: &'r [u8], start: u32) -> Self {
        let record = &records[start as usize..];
        let (head, rest) = record.split_at(HEAD_BYTES);
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let length = u16::from_le_bytes([head[8], head[9]]);
        Self {
            count: number(0),
            number: number(4),
            term: &rest[..length as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_term_keeps_its_number(
            words in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..3), 0..2000)
        ) {
            let mut terms = Terms::new();
            let mut numbers = BTreeMap::new();
            for word in &words {
                let next = numbers.len() as u32;
                let expected = *numbers.entry(word.clone()).or_insert(next);
                prop_assert_eq!(terms.number(word), expected);
            }
            for (word, number) in &numbers {
                let n_uses = words.iter().filter(|other| *other == word).count();
                prop_assert_eq!(terms.bytes(*number), &word[..]);
                prop_assert!(terms.iter().any(|term| term == (*number, n_uses as u32, &word[..])));
            }
            prop_assert_eq!(terms.iter().count(), numbers.len());
            prop_assert_eq!(terms.len(), numbers.len());
        }
    }

    #[test]
    fn the_longest_term_is_kept_whole() {
        let mut terms = Terms::new();
        let long = vec![b'x'; MAX_BYTES];
        assert_eq!(terms.number(b""), 0);
        assert_eq!(terms.number(&long), 1);
        assert_eq!(terms.number(&long), 1);
        assert_eq!(terms.bytes(1), &long[..]);
        assert_eq!(terms.bytes(0), b"");
    }
}
