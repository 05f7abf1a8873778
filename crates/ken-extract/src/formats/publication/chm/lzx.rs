//! The compressed section of a CHM file: LZX in blocks of 32 KiB, decoded by `lzxd`.
//!
//! The decoder restarts every few blocks, at positions in a table, so that a damaged block affects
//! only the blocks up to the next such position.

use lzxd::{Lzxd, WindowSize};

use super::Directory;
use crate::structure::cursor::Cursor;
use crate::{Error, Input};

/// Unpacked size of a block, except the last one.
const BLOCK_BYTES: u64 = 32 << 10;
/// Maximum stored size of a block.
const MAX_PACKED_BYTES: u64 = 2 * BLOCK_BYTES;
/// Maximum number of entries in the table: 32 GiB of content.
const MAX_BLOCKS: usize = 1 << 20;

/// Reads the section from start to end.
pub(super) struct Section<'i> {
    input: &'i Input<'i>,
    /// Offset of the compressed bytes.
    start: u64,
    packed_bytes: u64,
    unpacked_bytes: u64,
    /// Offset of each block in the compressed bytes.
    offsets: Vec<u64>,
    /// Number of blocks after which the decoder restarts.
    interval: usize,
    decoder: Lzxd,
    /// The number of the next block for the decoder.
    next: usize,
    /// The last decoded block, and its number.
    block: Vec<u8>,
    number: Option<usize>,
}

impl<'i> Section<'i> {
    /// Returns the section that a directory describes; none if the description is missing or wrong.
    pub(super) fn open(input: &'i Input<'i>, directory: &Directory) -> Option<Self> {
        let packed = directory.system("Content")?;
        let control = directory.content(input, directory.system("ControlData")?, 28)?;
        let table =
            directory.content(input, directory.system("ResetTable")?, 40 + 8 * MAX_BLOCKS)?;
        let mut control = Cursor(&control);
        let _length = control.le_u32()?;
        let _signature = control.take(4)?;
        // From version 2 on, sizes are in blocks.
        let unit = if control.le_u32()? >= 2 {
            BLOCK_BYTES
        } else {
            1
        };
        let interval = u64::from(control.le_u32()?) * unit / BLOCK_BYTES;
        let window = window_size(u64::from(control.le_u32()?) * unit)?;
        let mut header = Cursor(&table);
        header.take(4)?;
        let n_blocks = header.le_u32()? as usize;
        header.take(4)?;
        let table_start = header.le_u32()? as usize;
        let unpacked_bytes = header.le_u64()?;
        let packed_bytes = header.le_u64()?;
        let entries = table.get(table_start..)?.as_chunks::<8>().0;
        Some(Self {
            input,
            start: directory.contents_start.checked_add(packed.offset)?,
            packed_bytes: packed_bytes.min(packed.length),
            unpacked_bytes,
            offsets: entries
                .iter()
                .take(n_blocks)
                .map(|entry| u64::from_le_bytes(*entry))
                .collect(),
            interval: usize::try_from(interval).ok()?.max(1),
            decoder: Lzxd::new(window),
            next: 0,
            block: Vec::new(),
            number: None,
        })
    }

    /// Returns the bytes of an entry. Entries must be read in storage order.
    pub(super) fn read(&mut self, offset: u64, length: u64) -> Result<Vec<u8>, Error> {
        let end = offset
            .checked_add(length)
            .filter(|end| *end <= self.unpacked_bytes);
        let Some(end) = end else {
            return Err(Error::Malformed(
                "it lies beyond the end of the section".into(),
            ));
        };
        let mut content = Vec::new();
        let mut at = offset;
        while at < end {
            let block = self.block((at / BLOCK_BYTES) as usize)?;
            let from = (at % BLOCK_BYTES) as usize;
            let to = block.len().min(from + (end - at) as usize);
            let Some(part) = block.get(from..to).filter(|part| !part.is_empty()) else {
                return Err(Error::Malformed("a block is too short".into()));
            };
            content.extend_from_slice(part);
            at += part.len() as u64;
        }
        Ok(content)
    }

    fn block(&mut self, wanted: usize) -> Result<&[u8], Error> {
        if self.number == Some(wanted) {
            return Ok(&self.block);
        }
        if wanted < self.next {
            // Seeking backwards would let a small file take unlimited time.
            let message = "it overlaps another entry, or follows a damaged block";
            return Err(Error::Malformed(message.into()));
        }
        // Starts at the last position that depends on nothing before it.
        let fresh = wanted - wanted % self.interval;
        self.next = self.next.max(fresh);
        self.decode_to(wanted, BLOCK_BYTES).or_else(|error| {
            // Some compilers pad the last block, others end it with the content.
            let rest = self
                .unpacked_bytes
                .saturating_sub(wanted as u64 * BLOCK_BYTES);
            if rest >= BLOCK_BYTES {
                return Err(error);
            }
            self.next = fresh;
            self.decode_to(wanted, rest)
        })?;
        Ok(&self.block)
    }

    /// Decodes blocks up to the wanted one, and `n_bytes` of that.
    fn decode_to(&mut self, wanted: usize, n_bytes: u64) -> Result<(), Error> {
        while self.next < wanted {
            self.decode(BLOCK_BYTES)?;
        }
        self.decode(n_bytes)
    }

    fn decode(&mut self, n_bytes: u64) -> Result<(), Error> {
        let number = self.next;
        self.next += 1;
        self.number = None;
        if number.is_multiple_of(self.interval) {
            self.decoder.reset();
        }
        let cut_off = || Error::Malformed("the compressed section is cut off".into());
        let start = *self.offsets.get(number).ok_or_else(cut_off)?;
        let end = self
            .offsets
            .get(number + 1)
            .copied()
            .unwrap_or(self.packed_bytes);
        let packed_bytes = end
            .checked_sub(start)
            .ok_or_else(cut_off)?
            .min(MAX_PACKED_BYTES);
        let packed = self
            .input
            .range(self.start.saturating_add(start), packed_bytes as usize)?;
        let unpacked = self
            .decoder
            .decompress_next(&packed, n_bytes as usize)
            .map_err(Error::malformed)?;
        self.block.clear();
        self.block.extend_from_slice(unpacked);
        self.number = Some(number);
        Ok(())
    }
}

fn window_size(n_bytes: u64) -> Option<WindowSize> {
    Some(match n_bytes {
        0x8000 => WindowSize::KB32,
        0x1_0000 => WindowSize::KB64,
        0x2_0000 => WindowSize::KB128,
        0x4_0000 => WindowSize::KB256,
        0x8_0000 => WindowSize::KB512,
        0x10_0000 => WindowSize::MB1,
        0x20_0000 => WindowSize::MB2,
        _ => return None,
    })
}
