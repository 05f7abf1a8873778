//! Sketches of texts: 64 bits for each document, by which near copies of one text are recognised.
//!
//! A text is taken as the set of its runs of three words. Each run falls into one of 64 bins by its hash, and the smallest
//! hash of a bin gives one bit. Two texts that share a part *j* of their runs (the Jaccard index) differ in about
//! 32 × (1 − *j*) bits. An empty bin takes the bit of the next one that is not (P. Li, A. Owen and C. Zhang, "One
//! permutation hashing", 2012; P. Li and C. König, "b-Bit minwise hashing", 2010; A. Shrivastava and P. Li, "Densifying
//! one permutation hashing", 2014).

/// Number of words in a run.
const RUN: usize = 3;
const N_BINS: usize = 64;

/// A text of fewer runs has no sketch: a form letter differs from the next one in a few words.
const MIN_RUNS: u32 = 40;

/// Near copies differ in at most this many bits. Texts that share 0.9 of their runs are recognised in 93 of 100 cases, and
/// texts that share half of them are mistaken in 4 of 1,000.
const MAX_DIFFERENT: u32 = 6;
/// The same for texts of fewer than [`SHORT`] words: two statements of one account share nine tenths of their runs.
const MAX_DIFFERENT_SHORT: u32 = 1;
const SHORT: u32 = 150;

/// Odd numbers without a pattern in their bits: digits of π.
const FACTORS: [u64; 2] = [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7345];

/// Returns whether two sketches are of near copies, the shorter of which has `n_words`.
pub(crate) fn are_near(one: u64, other: u64, n_words: u32) -> bool {
    let most = match n_words {
        ..SHORT => MAX_DIFFERENT_SHORT,
        _ => MAX_DIFFERENT,
    };
    (one ^ other).count_ones() <= most
}

/// A sketch in the making.
pub(crate) struct Sketch {
    /// The smallest hash of each bin.
    least: [u64; N_BINS],
    /// The hashes of the words before.
    before: [u64; RUN - 1],
    n_words: u32,
}

impl Sketch {
    /// Starts a text.
    pub(crate) fn new() -> Self {
        Self {
            least: [u64::MAX; N_BINS],
            before: [0; RUN - 1],
            n_words: 0,
        }
    }

    /// Adds the next word of the text.
    #[inline]
    pub(crate) fn word(&mut self, word: &[u8]) {
        let hash = hash(word);
        let [first, second] = self.before;
        self.before = [second, hash];
        self.n_words += 1;
        if self.n_words < RUN as u32 {
            return;
        }
        let run = mixed(
            first.rotate_left(21) ^ second.rotate_left(42) ^ hash,
            FACTORS[1],
        );
        let bin = (run >> (u64::BITS - N_BINS.ilog2())) as usize;
        self.least[bin] = self.least[bin].min(run);
    }

    /// Returns the sketch of the text; `None` if the text is too short for one.
    pub(crate) fn finish(&self) -> Option<u64> {
        if self.n_words < MIN_RUNS + RUN as u32 - 1 {
            return None;
        }
        let full = |bin: &usize| self.least[*bin] != u64::MAX;
        let bit = |bin: usize| {
            let next = (bin..bin + N_BINS).map(|bin| bin % N_BINS).find(full)?;
            // The top bits are those of the bin. Whence a borrowed bit comes matters, or many bins would agree at once.
            let distance = ((next + N_BINS - bin) % N_BINS) as u64;
            let bit = mixed(self.least[next].wrapping_add(distance), FACTORS[0]) >> 63;
            Some(bit << bin)
        };
        (0..N_BINS).map(bit).sum()
    }
}

/// Returns a hash that is the same in each run of the program, and on each machine.
#[inline]
fn hash(word: &[u8]) -> u64 {
    let chunks = word.chunks(8).map(|chunk| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(bytes)
    });
    chunks.fold(word.len() as u64, |hash, chunk| {
        mixed(hash ^ chunk, FACTORS[0])
    })
}

/// Multiplies to 128 bits and folds these: each bit of the result depends on all bits.
#[inline]
fn mixed(number: u64, factor: u64) -> u64 {
    let product = u128::from(number ^ FACTORS[1]) * u128::from(factor);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sketch(words: &[String]) -> Option<u64> {
        let mut sketch = Sketch::new();
        words.iter().for_each(|word| sketch.word(word.as_bytes()));
        sketch.finish()
    }

    /// A text of its own for each seed.
    fn text(seed: u64, n_words: u64) -> Vec<String> {
        let word = |at| format!("w{}", mixed(seed * 1_000_003 + at, FACTORS[1]) % 5000);
        (0..n_words).map(word).collect()
    }

    /// Replaces every n-th word.
    fn changed(words: &[String], n: usize) -> Vec<String> {
        let change = |(at, word): (usize, &String)| match at % n {
            0 => format!("changed{at}"),
            _ => word.clone(),
        };
        words.iter().enumerate().map(change).collect()
    }

    #[test]
    fn near_copies_are_recognised_and_others_are_not() {
        let (mut n_near, mut n_half, mut n_other) = (0, 0, 0);
        for seed in 0..200 {
            let words = text(seed, 60 + 20 * (seed % 40));
            let own = sketch(&words).unwrap();
            assert_eq!(Some(own), sketch(&words));
            let near =
                |words: &[String]| sketch(words).is_some_and(|other| are_near(own, other, SHORT));
            n_near += u32::from(near(&changed(&words, 100)));
            // One word of eight is another: 5 of 11 runs of both are common.
            n_half += u32::from(near(&changed(&words, 8)));
            n_other += u32::from(near(&text(seed + 1000, 400)));
        }
        assert!(n_near >= 180, "{n_near} of 200 near copies");
        assert!(n_half <= 10, "{n_half} of 200 half copies");
        assert_eq!(n_other, 0);
    }

    /// Statements of an account differ in a month, an amount and a number.
    #[test]
    fn forms_that_are_filled_in_differ() {
        let n_near = (0..100).filter(|seed| {
            let form = text(*seed, 120);
            let mut other = form.clone();
            for at in [20, 60, 100] {
                other[at] = format!("other{at}");
            }
            let sketches = sketch(&form).zip(sketch(&other));
            sketches.is_some_and(|(one, other)| are_near(one, other, 120))
        });
        assert!(n_near.count() < 25);
    }

    #[test]
    fn short_texts_have_no_sketch() {
        assert_eq!(sketch(&text(1, 41)), None);
        assert!(sketch(&text(1, 42)).is_some());
    }
}
