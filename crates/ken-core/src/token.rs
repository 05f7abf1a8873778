//! The token of a file: one number that shows whether the index holds the current state of the file.

/// The number of bits of a token that hold the generation.
const GENERATION_BITS: u32 = 16;
/// The place of the hash in a racy token.
const RACY_HASH: u64 = u64::MAX >> GENERATION_BITS;

/// A hash of a file's [`Stamp`](crate::Stamp) in the upper 48 bits, and in the lower 16 the generation of the
/// [`Profile`](crate::Profile) with which the file was read.
///
/// Equal tokens mean an unchanged file that would be read the same way. With 48 bits one in 2.8·10¹⁴ changes goes
/// unnoticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token(u64);

impl Token {
    /// The token of a file that was not indexed to its end. No stamp has it, so the next run reads the file again.
    pub const UNFINISHED: Self = Self(0);

    /// Joins the lower 48 bits of the hash of a stamp and a generation, which is never 0.
    pub(crate) fn new(stamp_hash: u64, generation: u16) -> Self {
        let stamp_hash = match stamp_hash & RACY_HASH {
            RACY_HASH => 0,
            other => other,
        };
        Self(stamp_hash << GENERATION_BITS | u64::from(generation))
    }

    /// Returns the token of a file that was read so soon after its last change that it may have changed again with
    /// the same stamp. No stamp has it, so the next run reads the file again, and searches scan it.
    pub(crate) fn racy(generation: u16) -> Self {
        Self(RACY_HASH << GENERATION_BITS | u64::from(generation))
    }

    /// Returns the token that an index stores as this number.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number as which an index stores the token.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns whether the file was indexed to its end, and certainly as its stamp tells.
    pub const fn is_settled(self) -> bool {
        self.is_finished() && self.stamp_hash() != RACY_HASH
    }

    /// Returns whether a [`Self::stamp_hash`] is that of a file that may have changed without another stamp.
    pub const fn is_racy_hash(stamp_hash: u64) -> bool {
        stamp_hash == RACY_HASH
    }

    /// Returns whether the file was indexed to its end.
    pub const fn is_finished(self) -> bool {
        self.0 != Self::UNFINISHED.0
    }

    /// Returns the hash of the stamp, without the generation.
    pub const fn stamp_hash(self) -> u64 {
        self.0 >> GENERATION_BITS
    }

    /// Returns the generation with which the file was read.
    pub const fn generation(self) -> u16 {
        self.0 as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_hold_the_stamp_and_the_generation() {
        let token = Token::new(0xffff_0000_0000_0005, 7);
        assert_eq!((token.stamp_hash(), token.generation()), (5, 7));
        assert_eq!(Token::from_number(token.number()), token);
        assert!(token.is_finished() && !Token::UNFINISHED.is_finished());
        assert!(Token::new(u64::MAX, 7).is_settled() && !Token::racy(7).is_settled());
    }
}
