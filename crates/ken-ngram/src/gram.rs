//! The grams of a text: what an index of it can be asked for.
//!
//! A gram is three bytes in a row. Those that stand in many files say little and take most of the
//! room, so they are not kept; in their place is each of them with the byte that follows. Which
//! ones are so common is a fixed table, [`common`]. A character that is not ASCII also gives a
//! gram of its first two bytes, so that classes of such characters can be asked for.
//!
//! The measure of what is common follows Cho and Rajagopalan, "A fast regular expression indexing
//! engine" (2002): a gram is worth keeping if it is rare and its beginning is not.

use std::sync::OnceLock;

/// Three bytes in a row as a number, or four with a common beginning; a byte that is not there is 0.
pub(crate) type Gram = u32;

/// More different grams of one text are not kept: it then counts as not covered.
const MAX_GRAMS: usize = 1 << 20;

/// A text is taken in blocks of so many bytes, which have no more grams (two for each byte) than a
/// set has room for.
const BLOCK_BYTES: usize = 256;
/// So many grams a block has at most, with what it shares with the next one.
const BLOCK_GRAMS: usize = 2 * (BLOCK_BYTES + GramSet::OVERLAP);

/// The common trigrams in order, three bytes each: those in more than 5 % of the files, as the mean
/// over eleven kinds of text, made by `examples/common.rs`. It is part of the format.
static COMMON: &[u8] = include_bytes!("common.bin");

/// The trigrams that are kept with the next byte only, as a bit for each trigram.
struct Common {
    all: Vec<u64>,
    /// Those of ASCII, 7 bits to a byte: an eighth of the size, which stays in the cache.
    ascii: Box<[u64; ASCII_TRIGRAMS / 64]>,
}

const ASCII_TRIGRAMS: usize = 1 << 21;

fn common() -> &'static Common {
    static TABLE: OnceLock<Common> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Common {
            all: vec![0; 1 << 18],
            ascii: Box::new([0; ASCII_TRIGRAMS / 64]),
        };
        for trigram in COMMON.as_chunks::<3>().0 {
            let joined = |bits: u32| {
                let bytes = trigram.iter();
                bytes.fold(0, |joined, byte| joined << bits | usize::from(*byte))
            };
            let (all, ascii) = (joined(8), joined(7));
            table.all[all >> 6] |= 1 << (all & 63);
            if trigram.is_ascii() {
                table.ascii[ascii >> 6] |= 1 << (ascii & 63);
            }
        }
        table
    })
}

/// Calls `each` with the grams of a text, some of them again and again.
///
/// Which of the two sorts a gram is of cannot be foretold, so it is computed, not branched on: that is
/// twice as fast.
fn each_gram(text: &[u8], mut each: impl FnMut(Gram)) {
    let table = common();
    let four = |bytes: &[u8]| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let kept = |bytes: Gram, is_common: u64| bytes & (0xffff_ff00 | (is_common as u32 * 0xff));
    if text.is_ascii() {
        let start = text.iter().take(2);
        let mut trigram = start.fold(0, |joined, byte| joined << 7 | usize::from(*byte));
        for bytes in text.windows(4) {
            trigram = (trigram << 7 | usize::from(bytes[2])) % ASCII_TRIGRAMS;
            let is_common = table.ascii[trigram >> 6] >> (trigram & 63) & 1;
            each(kept(four(bytes), is_common));
        }
    } else {
        for bytes in text.windows(4).map(four) {
            each(kept(bytes, is_common(table, bytes >> 8).into()));
            if let Some(pair) = lead(bytes >> 16) {
                each(pair);
            }
        }
    }
    // What has no fourth byte.
    for at in text.len().saturating_sub(3)..text.len().saturating_sub(1) {
        let end = &text[at..];
        if let Some(pair) = lead(u32::from(end[0]) << 8 | u32::from(end[1])) {
            each(pair);
        }
        if let [first, second, third] = end {
            let bytes = u32::from_be_bytes([*first, *second, *third, 0]);
            if !is_common(table, bytes >> 8) {
                each(bytes);
            }
        }
    }
}

fn is_common(table: &Common, trigram: Gram) -> bool {
    table.all[(trigram >> 6) as usize] >> (trigram & 63) & 1 == 1
}

/// Returns the gram of two bytes that begin a character that is not ASCII.
fn lead(pair: u32) -> Option<Gram> {
    (pair >= 0xc280 && pair & 0xc0 == 0x80).then_some(pair << 8)
}

/// Returns the different grams of a piece of text, sorted: a text that holds the piece has them all.
pub(crate) fn grams_of(text: &[u8]) -> Vec<Gram> {
    let mut grams = Vec::new();
    each_gram(text, |gram| grams.push(gram));
    grams.sort_unstable();
    grams.dedup();
    grams
}

/// Returns whether a piece of text has any gram.
pub(crate) fn has_grams(text: &[u8]) -> bool {
    let mut any = false;
    each_gram(text, |_| any = true);
    any
}

/// The different grams of a text, or of several; used again for the next one.
///
/// Open addressing, half full at most.
#[derive(Debug)]
pub struct GramSet {
    /// 0 where there is none.
    slots: Vec<Gram>,
    grams: Vec<Gram>,
    overflowed: bool,
}

impl Default for GramSet {
    fn default() -> Self {
        Self {
            slots: vec![0; Self::MIN_SLOTS],
            grams: Vec::new(),
            overflowed: false,
        }
    }
}

impl GramSet {
    /// How many bytes of a text must be given again with the next part of it.
    pub(crate) const OVERLAP: usize = 3;

    const MIN_SLOTS: usize = 1 << 14;

    /// Adds the grams of a text, or of a part that begins with the last [`Self::OVERLAP`] bytes of
    /// the one before. No byte of it may be 0.
    pub fn add(&mut self, text: &[u8]) {
        // Between blocks, so that there is room for those of one.
        for block in (0..text.len()).step_by(BLOCK_BYTES) {
            if self.overflowed {
                return;
            }
            let end = text.len().min(block + BLOCK_BYTES + Self::OVERLAP);
            self.add_block(&text[block..end]);
        }
    }

    /// Adds what another one holds.
    pub(crate) fn join(&mut self, other: &Self) {
        for grams in other.grams.chunks(BLOCK_BYTES) {
            if self.overflowed {
                return;
            }
            for gram in grams {
                self.insert(*gram);
            }
            self.make_room();
        }
        self.overflowed |= other.overflowed;
    }

    fn insert(&mut self, gram: Gram) {
        let mask = self.slots.len() - 1;
        let mut at = hash(gram) & mask;
        while self.slots[at] != gram {
            if self.slots[at] == 0 {
                self.slots[at] = gram;
                self.grams.push(gram);
                return;
            }
            at = (at + 1) & mask;
        }
    }

    /// Most grams are known, which ones cannot be foretold: so those that are not found at once are gathered
    /// without a branch.
    fn add_block(&mut self, text: &[u8]) {
        let (mask, slots) = (self.slots.len() - 1, self.slots.as_slice());
        let (mut others, mut n) = ([0; BLOCK_GRAMS], 0);
        each_gram(text, |gram| {
            others[n] = gram;
            n += usize::from(slots[hash(gram) & mask] != gram);
        });
        for gram in &others[..n] {
            self.insert(*gram);
        }
        self.make_room();
    }

    fn make_room(&mut self) {
        while self.grams.len() * 2 > self.slots.len() {
            self.grow();
        }
        self.overflowed = self.grams.len() > MAX_GRAMS;
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots = vec![0; mask + 1];
        for gram in &self.grams {
            let mut at = hash(*gram) & mask;
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = *gram;
        }
    }

    fn empty_slots(&mut self) {
        /// Of so many slots, one more that is taken makes it cheaper to empty them all.
        const SHARE: usize = 6;
        if self.grams.len() > self.slots.len() / SHARE {
            return self.slots.fill(0);
        }
        let mask = self.slots.len() - 1;
        // The last one first, so that no other one is looked for beyond an empty slot.
        for gram in self.grams.iter().rev() {
            let mut at = hash(*gram) & mask;
            while self.slots[at] != *gram {
                at = (at + 1) & mask;
            }
            self.slots[at] = 0;
        }
    }

    /// Returns whether there are too many to be kept.
    pub fn is_full(&self) -> bool {
        self.overflowed
    }

    /// Returns the grams in no order; none if there are too many to be kept.
    pub(crate) fn grams(&self) -> Option<&[Gram]> {
        (!self.overflowed).then_some(&self.grams)
    }

    /// Forgets all, and what room one large text took.
    pub fn clear(&mut self) {
        if self.slots.len() > 4 * Self::MIN_SLOTS {
            *self = Self::default();
        } else {
            self.empty_slots();
            self.grams.clear();
            self.overflowed = false;
        }
    }
}

/// So many grams are looked for at once.
const AT_ONCE: usize = 32;

/// Numbers grams in the order in which they come first. Open addressing, half full at most.
#[derive(Debug)]
pub(crate) struct Table {
    /// Each a gram and its number; 0 where there is none.
    slots: Vec<u64>,
    /// The grams by their numbers.
    pub(crate) keys: Vec<Gram>,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            slots: vec![0; Self::MIN_SLOTS],
            keys: Vec::new(),
        }
    }
}

impl Table {
    const MIN_SLOTS: usize = 1 << 12;

    /// Calls `each` with the numbers of grams, in order. Where each of some is looked for is read before any of them
    /// is compared: most are known, and their slots are far apart.
    pub(crate) fn number(&mut self, grams: &[Gram], mut each: impl FnMut(u32)) {
        let mut found = [0; AT_ONCE];
        for grams in grams.chunks(AT_ONCE) {
            let (mask, slots) = (self.slots.len() - 1, self.slots.as_slice());
            for (place, gram) in found.iter_mut().zip(grams) {
                *place = slots[hash(*gram) & mask];
            }
            for (slot, gram) in found.iter().zip(grams) {
                match (slot >> 32) as Gram == *gram {
                    true => each(*slot as u32),
                    false => each(self.insert(*gram)),
                }
            }
        }
    }

    /// Returns the number of a gram.
    fn insert(&mut self, gram: Gram) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = hash(gram) & mask;
        loop {
            let slot = self.slots[at];
            if (slot >> 32) as Gram == gram {
                return slot as u32;
            }
            if slot == 0 {
                break;
            }
            at = (at + 1) & mask;
        }
        let number = self.keys.len() as u32;
        self.slots[at] = u64::from(gram) << 32 | u64::from(number);
        self.keys.push(gram);
        if self.keys.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![0; mask + 1];
        for slot in self.slots.iter().filter(|slot| **slot != 0) {
            let mut at = hash((slot >> 32) as Gram) & mask;
            while slots[at] != 0 {
                at = (at + 1) & mask;
            }
            slots[at] = *slot;
        }
        self.slots = slots;
    }

    /// Forgets all but the room.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(0);
        self.keys.clear();
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u64>() + self.keys.capacity() * size_of::<Gram>()
    }
}

/// Returns where to look: the upper half of a product depends on all bits of the gram.
fn hash(gram: Gram) -> usize {
    (u64::from(gram).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gram(text: &[u8]) -> Gram {
        let mut bytes = [0; 4];
        bytes[..text.len()].copy_from_slice(text);
        Gram::from_be_bytes(bytes)
    }

    #[test]
    fn the_table_is_sorted_and_holds_what_is_common() {
        let trigrams = COMMON.as_chunks::<3>().0;
        assert!(trigrams.is_sorted_by(|a, b| a < b));
        assert_eq!(COMMON.len() % 3, 0);
        assert!(trigrams.iter().all(|trigram| !trigram.contains(&0)));
        assert!(trigrams.contains(b"the") && !trigrams.contains(b"xqz"));
    }

    #[test]
    fn common_trigrams_are_kept_with_the_next_byte_only() {
        assert_eq!(grams_of(b"xqz"), [gram(b"xqz")]);
        assert!(grams_of(b"the").is_empty());
        assert_eq!(grams_of(b"theq"), [gram(b"heq"), gram(b"theq")]);
        assert!(grams_of(b"xq").is_empty() && !has_grams(b"the"));
    }

    #[test]
    fn characters_that_are_not_ascii_have_a_gram() {
        let alpha = "α".as_bytes();
        assert_eq!(grams_of(alpha), [gram(&[0, alpha[0], alpha[1]])]);
    }

    #[test]
    fn pieces_have_the_grams_of_the_whole() {
        let text = "the same grams, whether it comes αβγ at once or in pieces".as_bytes();
        let mut set = GramSet::default();
        for start in (0..text.len()).step_by(7) {
            let start = start.saturating_sub(GramSet::OVERLAP);
            set.add(&text[start..text.len().min(start + 7 + GramSet::OVERLAP)]);
        }
        let mut grams = set.grams().unwrap().to_vec();
        grams.sort_unstable();
        assert_eq!(grams, grams_of(text));
        set.clear();
        assert_eq!(set.grams(), Some(&[][..]));
    }

    #[test]
    fn a_text_with_too_many_grams_is_not_covered() {
        let mut set = GramSet::default();
        let mut state = 1_u32;
        let noise = (0..4 << 20).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 24) as u8).max(1)
        });
        set.add(&noise.collect::<Vec<_>>());
        assert!(set.grams().is_none());
    }
}
