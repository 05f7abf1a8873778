//! The n-grams of a text: what an index of it can be asked for.
//!
//! An n-gram is three bytes in a row. Those that stand in many files say little and take most of the
//! room, so they are not kept; in their place is each of them with the byte that follows. Which
//! ones are so common is a fixed table, [`common`]. A character that is not ASCII also gives a
//! n-gram of its first two bytes, so that classes of such characters can be asked for.
//!
//! The measure of what is common follows Cho and Rajagopalan, "A fast regular expression indexing
//! engine" (2002): an n-gram is worth keeping if it is rare and its beginning is not.

use std::sync::OnceLock;

/// Three bytes in a row as a number, or four with a common beginning; a byte that is not there is 0.
pub(crate) type Ngram = u32;

/// More different n-grams of one text are not kept: it then counts as not covered.
const MAX_GRAMS: usize = 1 << 20;

/// A text is taken in blocks of so many bytes, which have no more n-grams (two for each byte) than a
/// set has room for.
const BLOCK_BYTES: usize = 256;
/// So many windows of four bytes are known at most to have been seen; 32 KiB, as much as the nearest cache holds.
const SEEN: usize = 1 << 13;

/// The common trigrams in order, three bytes each: those in more than 5 % of the files, as the mean
/// over eleven kinds of text, made by `examples/common.rs`. It is part of the format.
static COMMON: &[u8] = include_bytes!("common.bin");

/// The trigrams that are kept with the next byte only, as a bit for each trigram.
struct Common(Vec<u64>);

fn common() -> &'static Common {
    static TABLE: OnceLock<Common> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut bits = vec![0; 1 << 18];
        for trigram in COMMON.as_chunks::<3>().0 {
            let [first, second, third] = trigram.map(usize::from);
            let trigram = first << 16 | second << 8 | third;
            bits[trigram >> 6] |= 1 << (trigram & 63);
        }
        Common(bits)
    })
}

impl Common {
    fn has(&self, trigram: Ngram) -> bool {
        self.0[(trigram >> 6) as usize] >> (trigram & 63) & 1 == 1
    }

    /// Returns the n-gram that the first of four bytes begin. Which of the two sorts it is of cannot be foretold, so
    /// it is computed, not branched on.
    fn ngram(&self, window: u32) -> Ngram {
        window & (0xffff_ff00 | (u32::from(self.has(window >> 8)) * 0xff))
    }
}

/// Returns all four bytes in a row of a text.
fn windows(text: &[u8]) -> impl Iterator<Item = u32> {
    text.array_windows()
        .map(|window| u32::from_be_bytes(*window))
}

/// Calls `each` with the n-grams of a text, some of them again and again.
fn each_ngram(text: &[u8], mut each: impl FnMut(Ngram)) {
    for window in windows(text) {
        each(common().ngram(window));
        if let Some(pair) = lead(window >> 16) {
            each(pair);
        }
    }
    each_ngram_of_end(text, each);
}

/// Calls `each` with the n-grams of a text that begin where no fourth byte is.
fn each_ngram_of_end(text: &[u8], mut each: impl FnMut(Ngram)) {
    for at in text.len().saturating_sub(3)..text.len().saturating_sub(1) {
        let end = &text[at..];
        if let Some(pair) = lead(u32::from(end[0]) << 8 | u32::from(end[1])) {
            each(pair);
        }
        if let [first, second, third] = end {
            let bytes = u32::from_be_bytes([*first, *second, *third, 0]);
            if !common().has(bytes >> 8) {
                each(bytes);
            }
        }
    }
}

/// Returns the n-gram of two bytes that begin a character that is not ASCII.
fn lead(pair: u32) -> Option<Ngram> {
    (pair >= 0xc280 && pair & 0xc0 == 0x80).then_some(pair << 8)
}

/// Returns the different n-grams of a piece of text, sorted: a text that holds the piece has them all.
pub(crate) fn ngrams_of(text: &[u8]) -> Vec<Ngram> {
    let mut ngrams = Vec::new();
    each_ngram(text, |ngram| ngrams.push(ngram));
    ngrams.sort_unstable();
    ngrams.dedup();
    ngrams
}

/// Returns whether a piece of text has any n-gram.
pub(crate) fn has_ngrams(text: &[u8]) -> bool {
    let mut any = false;
    each_ngram(text, |_| any = true);
    any
}

/// The different n-grams of a text, or of several; used again for the next one.
///
/// Open addressing, half full at most.
#[derive(Debug)]
pub struct NgramSet {
    /// 0 where there is none.
    slots: Vec<Ngram>,
    ngrams: Vec<Ngram>,
    /// Some of the windows whose n-grams it has, each in one place: most are seen again soon.
    seen: Box<[u32; SEEN]>,
    /// What of a block goes on to the next step: kept, so that it need not be emptied for each.
    unseen: [u32; BLOCK_BYTES],
    new: [Ngram; BLOCK_BYTES],
    others: [Ngram; 2 * BLOCK_BYTES],
    overflowed: bool,
}

impl Default for NgramSet {
    fn default() -> Self {
        Self {
            slots: vec![0; Self::MIN_SLOTS],
            ngrams: Vec::new(),
            seen: Box::new([0; SEEN]),
            unseen: [0; BLOCK_BYTES],
            new: [0; BLOCK_BYTES],
            others: [0; 2 * BLOCK_BYTES],
            overflowed: false,
        }
    }
}

impl NgramSet {
    /// How many bytes of a text must be given again with the next part of it.
    pub(crate) const OVERLAP: usize = 3;

    const MIN_SLOTS: usize = 1 << 14;

    /// Adds the n-grams of a text, or of a part that begins with the last [`Self::OVERLAP`] bytes of
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
        each_ngram_of_end(text, |ngram| self.insert(ngram));
        self.make_room();
    }

    /// Adds what another one holds.
    pub(crate) fn join(&mut self, other: &Self) {
        for ngrams in other.ngrams.chunks(BLOCK_BYTES) {
            if self.overflowed {
                return;
            }
            for ngram in ngrams {
                self.insert(*ngram);
            }
            self.make_room();
        }
        self.overflowed |= other.overflowed;
    }

    fn insert(&mut self, ngram: Ngram) {
        let mask = self.slots.len() - 1;
        let mut at = hash(ngram) & mask;
        while self.slots[at] != ngram {
            if self.slots[at] == 0 {
                self.slots[at] = ngram;
                self.ngrams.push(ngram);
                return;
            }
            at = (at + 1) & mask;
        }
    }

    /// Three steps, each of which leaves less for the next: windows that were not seen, those of their n-grams whose
    /// place is another's, and these are inserted. What goes on cannot be foretold, so it is gathered without a branch.
    fn add_block(&mut self, text: &[u8]) {
        let mut n_unseen = 0;
        for window in text.array_windows() {
            // The first byte lowest, which is no work; those that go on are turned round.
            let window = u32::from_le_bytes(*window);
            // A block has no more windows than that.
            self.unseen[n_unseen % BLOCK_BYTES] = window;
            n_unseen += usize::from(self.seen[place(window)] != window);
        }
        let common = common();
        let (mask, slots) = (self.slots.len() - 1, self.slots.as_mut_slice());
        let (mut n_new, mut n_others) = (0, 0);
        for &window in &self.unseen[..n_unseen] {
            self.seen[place(window)] = window;
            let window = window.swap_bytes();
            let ngram = common.ngram(window);
            let slot = &mut slots[hash(ngram) & mask];
            let is_new = *slot == 0;
            *slot = if is_new { ngram } else { *slot };
            self.new[n_new % BLOCK_BYTES] = ngram;
            n_new += usize::from(is_new);
            self.others[n_others % (2 * BLOCK_BYTES)] = ngram;
            n_others += usize::from(*slot != ngram);
            if let Some(pair) = lead(window >> 16) {
                self.others[n_others % (2 * BLOCK_BYTES)] = pair;
                n_others += 1;
            }
        }
        self.ngrams.extend_from_slice(&self.new[..n_new]);
        for at in 0..n_others {
            self.insert(self.others[at]);
        }
        self.make_room();
    }

    fn make_room(&mut self) {
        while self.ngrams.len() * 2 > self.slots.len() {
            self.grow();
        }
        self.overflowed = self.ngrams.len() > MAX_GRAMS;
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        self.slots = vec![0; mask + 1];
        for ngram in &self.ngrams {
            let mut at = hash(*ngram) & mask;
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = *ngram;
        }
    }

    fn empty_slots(&mut self) {
        /// Of so many slots, one more that is taken makes it cheaper to empty them all.
        const SHARE: usize = 20;
        if self.ngrams.len() > self.slots.len() / SHARE {
            return self.slots.fill(0);
        }
        let mask = self.slots.len() - 1;
        for ngram in &self.ngrams {
            let mut at = hash(*ngram) & mask;
            while self.slots[at] != *ngram {
                at = (at + 1) & mask;
            }
            self.slots[at] = 0;
        }
    }

    /// Returns whether there are too many to be kept.
    pub fn is_full(&self) -> bool {
        self.overflowed
    }

    /// Returns the n-grams in no order; none if there are too many to be kept.
    pub(crate) fn ngrams(&self) -> Option<&[Ngram]> {
        (!self.overflowed).then_some(&self.ngrams)
    }

    /// Forgets all, and what room one large text took.
    pub fn clear(&mut self) {
        if self.slots.len() > 4 * Self::MIN_SLOTS {
            *self = Self::default();
        } else if !self.ngrams.is_empty() {
            self.empty_slots();
            self.ngrams.clear();
            self.seen.fill(0);
            self.overflowed = false;
        }
    }
}

/// Returns where a window is, if it was seen: the upper bits of a product depend on all of it.
fn place(window: u32) -> usize {
    (window.wrapping_mul(0x9e37_79b1) >> (u32::BITS - SEEN.ilog2())) as usize
}

/// Returns where to look: the upper half of a product depends on all bits of the n-gram.
fn hash(ngram: Ngram) -> usize {
    (u64::from(ngram).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ngram(text: &[u8]) -> Ngram {
        let mut bytes = [0; 4];
        bytes[..text.len()].copy_from_slice(text);
        Ngram::from_be_bytes(bytes)
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
        assert_eq!(ngrams_of(b"xqz"), [ngram(b"xqz")]);
        assert!(ngrams_of(b"the").is_empty());
        assert_eq!(ngrams_of(b"theq"), [ngram(b"heq"), ngram(b"theq")]);
        assert!(ngrams_of(b"xq").is_empty() && !has_ngrams(b"the"));
    }

    #[test]
    fn characters_that_are_not_ascii_have_a_gram() {
        let alpha = "α".as_bytes();
        assert_eq!(ngrams_of(alpha), [ngram(&[0, alpha[0], alpha[1]])]);
    }

    #[test]
    fn pieces_have_the_grams_of_the_whole() {
        let text = "the same ngrams, whether it comes αβγ at once or in pieces".as_bytes();
        let mut set = NgramSet::default();
        for start in (0..text.len()).step_by(7) {
            let start = start.saturating_sub(NgramSet::OVERLAP);
            set.add(&text[start..text.len().min(start + 7 + NgramSet::OVERLAP)]);
        }
        let mut ngrams = set.ngrams().unwrap().to_vec();
        ngrams.sort_unstable();
        assert_eq!(ngrams, ngrams_of(text));
        set.clear();
        assert_eq!(set.ngrams(), Some(&[][..]));
    }

    #[test]
    fn a_text_with_too_many_grams_is_not_covered() {
        let mut set = NgramSet::default();
        let mut random = fastrand::Rng::with_seed(1);
        let noise = (0..4 << 20).map(|_| random.u8(1..));
        set.add(&noise.collect::<Vec<_>>());
        assert!(set.ngrams().is_none());
    }
}
