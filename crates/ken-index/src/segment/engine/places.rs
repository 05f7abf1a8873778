//! Where the lists of each term are, by its rank.
//!
//! Terms are taken in blocks of 256, and each place is kept by how far it is behind the first of its block, in as many
//! bits as the last of them needs. What is said of a term ends where that of the next one begins.
//!
//! ```text
//! all     how many bytes the entries of blocks take, how many terms there are (u64 each), these entries, packed places
//! entry   where the packed places begin (u64); of the first term how many documents it has (u32), where its postings
//!         begin (u64), how many bytes they take (u32), the same two of its positions; bits of a number of documents, a
//!         place of postings, a place of positions (a byte each)
//! packed  for each term but the first: place of postings, place of positions, how many documents; at last the two
//!         places behind the last term
//! ```

use std::io::{self, Write};

const BLOCK: usize = 256;

/// Where the lists of a term begin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) n_docs: u32,
    pub(super) postings: u64,
    pub(super) positions: u64,
}

/// The places of a field.
#[derive(Default)]
pub(super) struct Places {
    block: Vec<Place>,
    /// Where the lists of its first term end, and those of its last.
    first_end: Place,
    end: Place,
    entries: Vec<u8>,
    packed: Vec<u8>,
    n: u64,
}

impl Places {
    /// Adds the next term.
    #[inline]
    ///
    /// # Errors
    /// Fails if its lists are larger than the format has a number for: 4 GiB.
    pub(super) fn add(&mut self, place: Place, end: Place) -> io::Result<()> {
        if self.block.is_empty() {
            self.first_end = end;
        }
        self.end = end;
        self.block.push(place);
        self.n += 1;
        match self.block.len() == BLOCK {
            true => self.pack(),
            false => Ok(()),
        }
    }

    fn pack(&mut self) -> io::Result<()> {
        let Some(first) = self.block.first().copied() else {
            return Ok(());
        };
        let others = &self.block[1..];
        let n_docs_bits = bits(
            others
                .iter()
                .map(|place| place.n_docs)
                .max()
                .unwrap_or(0)
                .into(),
        );
        let postings_bits = bits(self.end.postings - first.postings);
        let positions_bits = bits(self.end.positions - first.positions);

        let entries = &mut self.entries;
        entries.extend_from_slice(&(self.packed.len() as u64).to_le_bytes());
        entries.extend_from_slice(&first.n_docs.to_le_bytes());
        for (start, end) in [
            (first.postings, self.first_end.postings),
            (first.positions, self.first_end.positions),
        ] {
            entries.extend_from_slice(&start.to_le_bytes());
            let length = u32::try_from(end - start).map_err(io::Error::other)?;
            entries.extend_from_slice(&length.to_le_bytes());
        }
        entries.extend([n_docs_bits, postings_bits, positions_bits]);

        let mut packed = Bits::new(&mut self.packed);
        for place in others {
            packed.put(place.postings - first.postings, postings_bits);
            packed.put(place.positions - first.positions, positions_bits);
            packed.put(place.n_docs.into(), n_docs_bits);
        }
        packed.put(self.end.postings - first.postings, postings_bits);
        packed.put(self.end.positions - first.positions, positions_bits);
        packed.finish();
        self.block.clear();
        Ok(())
    }

    /// Writes all; returns how many bytes that is.
    pub(super) fn finish(mut self, out: &mut impl Write) -> io::Result<u64> {
        self.pack()?;
        let numbers = [self.entries.len() as u64, self.n];
        for number in numbers {
            out.write_all(&number.to_le_bytes())?;
        }
        out.write_all(&self.entries)?;
        out.write_all(&self.packed)?;
        Ok((size_of_val(&numbers) + self.entries.len() + self.packed.len()) as u64)
    }
}

/// Returns how many bits a number needs; the engine reads all 64 of one that needs more than 56.
fn bits(number: u64) -> u8 {
    match (u64::BITS - number.leading_zeros()) as u8 {
        n @ ..=56 => n,
        _ => 64,
    }
}

/// Numbers of some bits, from the lowest bit of the first byte on.
struct Bits<'o> {
    out: &'o mut Vec<u8>,
    waiting: u128,
    n_waiting: u32,
}

impl<'o> Bits<'o> {
    fn new(out: &'o mut Vec<u8>) -> Self {
        Self {
            out,
            waiting: 0,
            n_waiting: 0,
        }
    }

    #[inline]
    fn put(&mut self, number: u64, n_bits: u8) {
        self.waiting |= u128::from(number) << self.n_waiting;
        self.n_waiting += u32::from(n_bits);
        if self.n_waiting >= u64::BITS {
            self.out
                .extend_from_slice(&(self.waiting as u64).to_le_bytes());
            self.waiting >>= u64::BITS;
            self.n_waiting -= u64::BITS;
        }
    }

    fn finish(self) {
        let bytes = (self.waiting as u64).to_le_bytes();
        self.out
            .extend_from_slice(&bytes[..self.n_waiting.div_ceil(u8::BITS) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_more_than_56_bits_take_64() {
        for (number, n_bits) in [
            (0, 0),
            (1, 1),
            (255, 8),
            (1 << 55, 56),
            (1 << 56, 64),
            (u64::MAX, 64),
        ] {
            assert_eq!(bits(number), n_bits, "{number}");
        }
    }

    #[test]
    fn lists_of_more_than_4_gib_are_refused() {
        let mut places = Places::default();
        let end = Place {
            positions: 1 << 32,
            ..Place::default()
        };
        places.add(Place::default(), end).unwrap();
        assert!(places.finish(&mut Vec::new()).is_err());
    }
}
