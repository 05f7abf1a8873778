//! The offsets of the lists of each term, by its rank.
//!
//! Terms are grouped in blocks of 256. Each offset is stored relative to the first of its block, in
//! as many bits as the last of them needs. The lists of a term end where those of the next one
//! begin.
//!
//! ```text
//! all     size of the entries of blocks, number of terms (u64 each), these entries, packed offsets
//! entry   where the packed offsets begin (u64); for the first term its number of documents (u32), the offset of its
//!         postings (u64), their size (u32), the same two of its positions; bits of a number of documents, an offset of
//!         postings, an offset of positions (a byte each)
//! packed  for each term but the first: offset of postings, offset of positions, number of documents; finally the two
//!         offsets after the last term
//! ```

use std::io::{self, Write};

use tantivy_bitpacker::{BitPacker, compute_num_bits};

const BLOCK: usize = 256;

/// Where the lists of a term begin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TermInfo {
    pub(super) n_docs: u32,
    pub(super) postings: u64,
    pub(super) positions: u64,
}

/// The offsets of a field.
#[derive(Default)]
pub(super) struct TermInfos {
    block: Vec<TermInfo>,
    entries: Vec<u8>,
    packed: Vec<u8>,
    n: u64,
}

impl TermInfos {
    /// Adds the next term, whose lists begin where those of the last one end.
    ///
    /// # Errors
    /// Fails if lists exceed the format's maximum of 4 GiB.
    #[inline]
    pub(super) fn add(&mut self, info: TermInfo) -> io::Result<()> {
        if self.block.len() == BLOCK {
            self.pack(info)?;
        }
        self.block.push(info);
        self.n += 1;
        Ok(())
    }

    /// Packs the block, whose lists end at `end`.
    fn pack(&mut self, end: TermInfo) -> io::Result<()> {
        let Some((first, others)) = self.block.split_first() else {
            return Ok(());
        };
        let most_docs = others.iter().map(|info| info.n_docs).max();
        let n_docs_bits = compute_num_bits(most_docs.unwrap_or(0).into());
        let postings_bits = compute_num_bits(end.postings - first.postings);
        let positions_bits = compute_num_bits(end.positions - first.positions);

        let entries = &mut self.entries;
        let first_end = others.first().unwrap_or(&end);
        entries.extend_from_slice(&(self.packed.len() as u64).to_le_bytes());
        entries.extend_from_slice(&first.n_docs.to_le_bytes());
        for (start, end) in [
            (first.postings, first_end.postings),
            (first.positions, first_end.positions),
        ] {
            entries.extend_from_slice(&start.to_le_bytes());
            let length = u32::try_from(end - start).map_err(io::Error::other)?;
            entries.extend_from_slice(&length.to_le_bytes());
        }
        entries.extend([n_docs_bits, postings_bits, positions_bits]);

        let (mut packer, out) = (BitPacker::new(), &mut self.packed);
        for info in others {
            packer.write(info.postings - first.postings, postings_bits, out)?;
            packer.write(info.positions - first.positions, positions_bits, out)?;
            packer.write(info.n_docs.into(), n_docs_bits, out)?;
        }
        packer.write(end.postings - first.postings, postings_bits, out)?;
        packer.write(end.positions - first.positions, positions_bits, out)?;
        packer.flush(out)?;
        self.block.clear();
        Ok(())
    }

    /// Writes everything; the lists of the last term end at `end`. Returns the number of bytes.
    pub(super) fn finish(mut self, end: TermInfo, out: &mut impl Write) -> io::Result<u64> {
        self.pack(end)?;
        let numbers = [self.entries.len() as u64, self.n];
        for number in numbers {
            out.write_all(&number.to_le_bytes())?;
        }
        out.write_all(&self.entries)?;
        out.write_all(&self.packed)?;
        Ok((size_of_val(&numbers) + self.entries.len() + self.packed.len()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_more_than_4_gib_are_refused() {
        for (size, fits) in [(u32::MAX.into(), true), (1 << 32, false)] {
            let mut infos = TermInfos::default();
            infos.add(TermInfo::default()).unwrap();
            let end = TermInfo {
                positions: size,
                ..TermInfo::default()
            };
            assert_eq!(infos.finish(end, &mut Vec::new()).is_ok(), fits, "{size}");
        }
    }
}
