//! Small pseudo-random numbers, the same for the same seed (SplitMix64, Steele, Lea, Flood 2014).

#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// Returns numbers that differ for each seed and each number of a run.
    pub fn new(seed: u64, number: u64) -> Self {
        let mut random = Self(seed);
        random.0 = random.next() ^ number;
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `limit`; 0 if that is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub fn byte(&mut self) -> u8 {
        self.next() as u8
    }
}
