//! The distinct terms of one field of a segment under construction.
//!
//! Each term gets a number at its first use. A look-up touches two cache lines: a slot of the
//! table, which holds a part of the hash, and the term's record, which holds number, bytes, and the
//! number of its uses: counting costs nothing there.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;

/// Maximum length of a term in bytes, which is that of the engine's readers.
pub(super) const MAX_BYTES: usize = 65_530;
/// Size of a record before the bytes of its term: number of uses, number and length.
const HEAD_BYTES: usize = 10;
const FIRST_SLOTS: usize = 1 << 6;

/// A term up to this length is one number.
pub(super) const SHORT_BYTES: usize = 16;
/// By length, the bits that belong to a short term.
const MASKS: [u128; SHORT_BYTES + 1] = {
    let mut masks = [0; SHORT_BYTES + 1];
    let mut length = 1;
    while length <= SHORT_BYTES {
        masks[length] = u128::MAX >> (8 * (SHORT_BYTES - length));
        length += 1;
    }
    masks
};

/// A term in the form for look-ups. Lengths of words are unpredictable, so nothing branches on the
/// length of a short term, except its conversion to a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key<'t> {
    /// The bytes, with the first one lowest, and their number.
    Short(u128, usize),
    Long(&'t [u8]),
}

impl<'t> Key<'t> {
    #[inline]
    pub(super) fn new(term: &'t [u8]) -> Self {
        /// Returns the first and the last `N` bytes, which may overlap.
        #[inline]
        fn ends<const N: usize>(term: &[u8]) -> u128 {
            let number = |bytes: Option<&[u8; N]>| {
                let mut number = [0; SHORT_BYTES];
                number[..N].copy_from_slice(bytes.unwrap_or(&[0; N]));
                u128::from_le_bytes(number)
            };
            number(term.first_chunk()) | number(term.last_chunk()) << (8 * (term.len() - N))
        }
        let number = match term.len() {
            0 => 0,
            1 => ends::<1>(term),
            2..=3 => ends::<2>(term),
            4..=7 => ends::<4>(term),
            8..=SHORT_BYTES => ends::<8>(term),
            _ => return Self::Long(term),
        };
        Self::Short(number, term.len())
    }
}

/// A slot of the table.
#[derive(Clone, Copy, Default)]
pub(super) struct Slot {
    /// The lower half of the hash.
    tag: u32,
    /// Offset of the record plus one; 0 in an empty slot.
    record: u32,
}

/// Terms and their numbers, which start at 0.
pub(super) struct Terms {
    /// At most half of the slots are used; their number is a power of two.
    slots: Vec<Slot>,
    /// Ends with [`SHORT_BYTES`] zeros, so that this many bytes can be read at each term.
    records: Vec<u8>,
    /// Number of terms.
    n: u32,
    /// With a new key in each process, so that nobody can write texts whose terms collide.
    hasher: RandomState,
}

impl Terms {
    /// An empty slot.
    pub(super) const NO_SLOT: Slot = Slot { tag: 0, record: 0 };

    pub(super) fn new() -> Self {
        Self {
            slots: vec![Slot::default(); FIRST_SLOTS],
            records: vec![0; SHORT_BYTES],
            n: 0,
            hasher: RandomState::default(),
        }
    }

    /// Returns the number of terms.
    pub(super) fn len(&self) -> usize {
        self.n as usize
    }

    /// Returns the number of a term of at most [`MAX_BYTES`], which is new if the term is unknown,
    /// and counts its use.
    pub(super) fn number(&mut self, term: Key<'_>) -> u32 {
        let tag = self.tag(term);
        self.number_at(self.slot(tag), tag, term)
    }

    /// Returns the half of a term's hash that is used for look-ups.
    #[inline]
    pub(super) fn tag(&self, term: Key<'_>) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        match term {
            Key::Short(number, _) => hasher.write_u128(number),
            Key::Long(term) => hasher.write(term),
        }
        hasher.finish() as u32
    }

    /// Returns the first slot for a term with this tag.
    #[inline]
    pub(super) fn slot(&self, tag: u32) -> Slot {
        self.slots[tag as usize & (self.slots.len() - 1)]
    }

    /// Does the same as [`Self::number`] for a term whose tag and first slot are known; the slot
    /// may have been read before other terms were added.
    #[inline]
    pub(super) fn number_at(&mut self, first: Slot, tag: u32, term: Key<'_>) -> u32 {
        match self.count_at(first, tag, term) {
            Some(number) => number,
            None => self.search(tag, term),
        }
    }

    /// Counts a use of a term if the slot is its own; returns its number.
    #[inline]
    fn count_at(&mut self, slot: Slot, tag: u32, term: Key<'_>) -> Option<u32> {
        if slot.tag != tag || slot.record == 0 {
            return None;
        }
        let record = &mut self.records[(slot.record - 1) as usize..];
        let is_same = match term {
            Key::Short(number, length) => {
                let bytes = record[HEAD_BYTES..].first_chunk().copied();
                let bytes = u128::from_le_bytes(bytes.unwrap_or_default());
                bytes & MASKS[length] == number && Record::length(record) == length
            }
            Key::Long(term) => Record::of(record).term == term,
        };
        is_same.then(|| Record::count(record))
    }

    /// Searches slot by slot.
    #[cold]
    fn search(&mut self, tag: u32, term: Key<'_>) -> u32 {
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

    /// Returns the bytes of the term with an offset from [`Self::iter`].
    pub(super) fn bytes(&self, offset: u32) -> &[u8] {
        Record::of(&self.records[offset as usize..]).term
    }

    /// Returns all terms in order of their numbers, each with its offset.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Record<'_>)> {
        let mut next = 0;
        (0..self.n).map(move |_| {
            let offset = next;
            let record = Record::of(&self.records[offset as usize..]);
            next += (HEAD_BYTES + record.term.len()) as u32;
            (offset, record)
        })
    }

    /// Returns the size of the terms in bytes.
    pub(super) fn record_bytes(&self) -> usize {
        self.records.len()
    }

    /// Returns the size of the table in bytes.
    pub(super) fn table_bytes(&self) -> usize {
        self.slots.len() * size_of::<Slot>()
    }

    /// Removes all terms. Keeps the table, unless it was [forgotten](Self::forget_table), if it
    /// takes at most `n_bytes`.
    pub(super) fn clear(&mut self, n_bytes: usize) {
        match !self.slots.is_empty() && self.table_bytes() <= n_bytes {
            true => self.slots.fill(Slot::default()),
            false => self.slots = vec![Slot::default(); FIRST_SLOTS],
        }
        (self.records, self.n) = (vec![0; SHORT_BYTES], 0);
    }

    /// Frees the table; no number can be looked up after that.
    pub(super) fn forget_table(&mut self) {
        self.slots = Vec::new();
    }

    fn insert(&mut self, at: usize, tag: u32, term: Key<'_>) -> u32 {
        let number = self.n;
        self.n += 1;
        let start = self.records.len() - SHORT_BYTES;
        self.records.truncate(start);
        let bytes;
        let term = match term {
            Key::Short(number, length) => {
                bytes = number.to_le_bytes();
                &bytes[..length]
            }
            Key::Long(term) => term,
        };
        Record::push(number, term, &mut self.records);
        self.records.extend([0; SHORT_BYTES]);
        self.slots[at] = Slot {
            tag,
            record: start as u32 + 1,
        };
        if self.len() * 2 > self.slots.len() {
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

/// The record of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'r> {
    /// Number of uses.
    pub(super) count: u32,
    pub(super) number: u32,
    pub(super) term: &'r [u8],
}

impl<'r> Record<'r> {
    /// Returns the first of some records.
    #[inline]
    fn of(records: &'r [u8]) -> Self {
        let (head, rest) = records.split_at(HEAD_BYTES);
        Self {
            count: four(head, 0),
            number: four(head, 4),
            term: &rest[..Self::length(head)],
        }
    }

    /// Returns the length of the term in a record.
    #[inline]
    fn length(record: &[u8]) -> usize {
        u16::from_le_bytes([record[8], record[9]]).into()
    }

    /// Counts a use; returns the number of the term.
    #[inline]
    fn count(record: &mut [u8]) -> u32 {
        let count = four(record, 0) + 1;
        record[..4].copy_from_slice(&count.to_le_bytes());
        four(record, 4)
    }

    /// Adds a record with one use.
    fn push(number: u32, term: &[u8], records: &mut Vec<u8>) {
        records.extend(1_u32.to_le_bytes());
        records.extend(number.to_le_bytes());
        records.extend((term.len() as u16).to_le_bytes());
        records.extend_from_slice(term);
    }
}

#[inline]
fn four(record: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// Generates terms of few different bytes, including zeros, in each length that has its own
    /// look-up.
    fn any_term() -> impl Strategy<Value = Vec<u8>> {
        let long = proptest::collection::vec(0..2_u8, 0..20);
        prop_oneof![proptest::collection::vec(any::<u8>(), 0..3), long]
    }

    proptest! {
        #[test]
        fn a_term_keeps_its_number(
            words in proptest::collection::vec(any_term(), 0..2000)
        ) {
            let mut terms = Terms::new();
            let mut numbers = BTreeMap::new();
            for word in &words {
                let next = numbers.len() as u32;
                let expected = *numbers.entry(word.clone()).or_insert(next);
                prop_assert_eq!(terms.number(Key::new(word)), expected);
            }
            let mut n_uses = BTreeMap::new();
            words.iter().for_each(|word| *n_uses.entry(word).or_insert(0) += 1);
            for (number, (offset, record)) in (0..).zip(terms.iter()) {
                let expected = Record { count: n_uses[&record.term.to_vec()], number, term: terms.bytes(offset) };
                prop_assert_eq!(record, expected);
                prop_assert_eq!(numbers[record.term], number);
            }
            prop_assert_eq!(terms.iter().count(), numbers.len());
            prop_assert_eq!(terms.len(), numbers.len());
        }
    }

    #[test]
    fn the_longest_term_is_kept_whole() {
        let mut terms = Terms::new();
        let long = vec![b'x'; MAX_BYTES];
        assert_eq!(terms.number(Key::new(b"")), 0);
        assert_eq!(terms.number(Key::new(&long)), 1);
        assert_eq!(terms.number(Key::new(&long)), 1);
        let known: Vec<_> = terms.iter().map(|(_, record)| record.term).collect();
        assert_eq!(known, [&b""[..], &long]);
    }
}
