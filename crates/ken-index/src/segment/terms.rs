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

/// A term of so many bytes is one number.
pub(super) const SHORT_BYTES: usize = 16;
/// By length, the bits that are a short term's own.
const MASKS: [u128; SHORT_BYTES + 1] = {
    let mut masks = [0; SHORT_BYTES + 1];
    let mut length = 1;
    while length <= SHORT_BYTES {
        masks[length] = u128::MAX >> (8 * (SHORT_BYTES - length));
        length += 1;
    }
    masks
};

/// A term as it is looked up. Lengths of words cannot be foretold, so nothing that is done with a short one branches on
/// its length, but to make it a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key<'t> {
    /// The bytes, the first one lowest, and how many they are.
    Short(u128, usize),
    Long(&'t [u8]),
}

impl<'t> Key<'t> {
    #[inline]
    pub(super) fn new(term: &'t [u8]) -> Self {
        /// The first and the last `N` bytes, which may overlap.
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
    /// Ends with [`SHORT_BYTES`] zeros, so that as many can be read of each term.
    records: Vec<u8>,
    /// How many there are.
    n: u32,
    /// Keyed anew in each process: nobody can write texts whose terms collide.
    hasher: RandomState,
}

impl Terms {
    /// A slot in which nothing is.
    pub(super) const NO_SLOT: Slot = Slot { tag: 0, record: 0 };

    pub(super) fn new() -> Self {
        Self {
            slots: vec![Slot::default(); FIRST_SLOTS],
            records: vec![0; SHORT_BYTES],
            n: 0,
            hasher: RandomState::default(),
        }
    }

    /// Returns how many there are.
    pub(super) fn len(&self) -> usize {
        self.n as usize
    }

    /// Returns the number of a term of at most [`MAX_BYTES`], which is new if it is unknown, and
    /// counts its use.
    pub(super) fn number(&mut self, term: Key<'_>) -> u32 {
        let tag = self.tag(term);
        self.number_at(self.slot(tag), tag, term)
    }

    /// Returns the half of a term's hash by which it is looked up.
    #[inline]
    pub(super) fn tag(&self, term: Key<'_>) -> u32 {
        let mut hasher = self.hasher.build_hasher();
        match term {
            Key::Short(number, _) => hasher.write_u128(number),
            Key::Long(term) => hasher.write(term),
        }
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

    /// Looks from slot to slot.
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

    /// Returns the bytes of the term that was [given](Self::iter) with a place.
    pub(super) fn bytes(&self, place: u32) -> &[u8] {
        Record::of(&self.records[place as usize..]).term
    }

    /// Returns all, by their numbers, and the place of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, Record<'_>)> {
        let mut next = 0;
        (0..self.n).map(move |_| {
            let place = next;
            let record = Record::of(&self.records[place as usize..]);
            next += (HEAD_BYTES + record.term.len()) as u32;
            (place, record)
        })
    }

    /// Returns how many bytes of memory the terms take.
    pub(super) fn record_bytes(&self) -> usize {
        self.records.len()
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
        (self.records, self.n) = (vec![0; SHORT_BYTES], 0);
    }

    /// Frees that table: no number is asked for any more.
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

/// What is kept of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record<'r> {
    /// How often it was used.
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

    /// Returns how many bytes the term of a record has.
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

    /// Adds one, which was used once.
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

    /// Of few different bytes, also zeros, and of each length that is looked up in its own way.
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
            for (number, (place, record)) in (0..).zip(terms.iter()) {
                let expected = Record { count: n_uses[&record.term.to_vec()], number, term: terms.bytes(place) };
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
