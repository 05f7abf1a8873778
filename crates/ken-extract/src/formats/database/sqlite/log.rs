//! The write-ahead log of a database: pages of transactions that are not in the file yet. The
//! version of a page in the last committed transaction counts.
//!
//! A frame belongs to the log if it holds the salts of the log's header and the right checksum,
//! which continues that of the previous frame. The first frame for which this is not true is the
//! end of the log. Source: "Database File Format", section 4,
//! <https://www.sqlite.org/fileformat2.html#walformat>.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

use crate::Input;
use crate::structure::cursor::Cursor;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// The last bit is the byte order in which checksums are computed.
const MAGIC: u32 = 0x377f_0682;
/// Approximate size of a read.
const READ_BYTES: u64 = 256 << 10;

/// The pages of a log.
pub(super) struct Log<'a> {
    input: &'a Input<'a>,
    pub(super) page_bytes: u64,
    /// Offset in the log of the last version of each page.
    offsets: HashMap<u64, u64>,
    /// Number of pages of the database after the last transaction.
    pub(super) n_pages: u64,
}

impl<'a> Log<'a> {
    /// Reads the log of a database of `database_bytes`; returns none if it holds no transaction.
    pub(super) fn open(input: &'a Input<'a>, database_bytes: u64) -> io::Result<Option<Self>> {
        let header = input.range(0, HEADER_BYTES)?;
        let Some(mut frames) = Frames::after(&header) else {
            return Ok(None);
        };
        let page_bytes = frames.page_bytes;
        let frame_bytes = FRAME_HEADER_BYTES as u64 + page_bytes;
        let n_frames = input.size().saturating_sub(HEADER_BYTES as u64) / frame_bytes;
        // A page is in the file or in the log, except for one that SQLite leaves out.
        let max_pages = database_bytes / page_bytes + n_frames + 1;
        let mut log = Self {
            input,
            page_bytes,
            offsets: HashMap::new(),
            n_pages: 0,
        };
        let mut waiting = Vec::new();
        let n_at_once = (READ_BYTES / frame_bytes).max(1);
        for first in (0..n_frames).step_by(n_at_once as usize) {
            let at = HEADER_BYTES as u64 + first * frame_bytes;
            let block = input.range(at, (n_at_once * frame_bytes) as usize)?;
            for (number, frame) in block.chunks_exact(frame_bytes as usize).enumerate() {
                let Some(frame) = frames.next(frame).filter(|frame| frame.page <= max_pages) else {
                    return Ok(log.into_used());
                };
                let offset = at + number as u64 * frame_bytes + FRAME_HEADER_BYTES as u64;
                waiting.push((frame.page, offset));
                if frame.n_pages > 0 {
                    log.offsets.extend(waiting.drain(..));
                    log.n_pages = frame.n_pages.min(max_pages);
                }
            }
        }
        Ok(log.into_used())
    }

    fn into_used(self) -> Option<Self> {
        (self.n_pages > 0).then_some(self)
    }

    /// Returns up to `n_bytes` of a page, if the log holds it.
    pub(super) fn page(&self, number: u64, n_bytes: usize) -> io::Result<Option<Cow<'a, [u8]>>> {
        let offset = self.offsets.get(&number);
        offset.map(|&at| self.input.range(at, n_bytes)).transpose()
    }
}

/// The header of a frame.
struct Frame {
    page: u64,
    /// Number of pages of the database if this frame ends a transaction, otherwise 0.
    n_pages: u64,
}

/// Checks frames one after the other.
struct Frames {
    page_bytes: u64,
    salts: u64,
    is_big_endian: bool,
    sum: (u32, u32),
}

impl Frames {
    fn after(header: &[u8]) -> Option<Self> {
        let mut cursor = Cursor(header);
        let magic = cursor.be_u32()?;
        cursor.be_u32()?;
        let page_bytes = u64::from(cursor.be_u32()?);
        cursor.be_u32()?;
        let salts = cursor.be_u64()?;
        if magic & !1 != MAGIC
            || !(512..=65_536).contains(&page_bytes)
            || !page_bytes.is_power_of_two()
        {
            return None;
        }
        let mut frames = Self {
            page_bytes,
            salts,
            is_big_endian: magic & 1 == 1,
            sum: (0, 0),
        };
        frames.count(&header[..24]);
        let sum = cursor.be_u64()?;
        frames.is_sum(sum).then_some(frames)
    }

    /// Returns the header of the next frame; none if the frame does not belong to this log.
    fn next(&mut self, frame: &[u8]) -> Option<Frame> {
        let (head, page) = frame.split_at_checked(FRAME_HEADER_BYTES)?;
        let mut cursor = Cursor(head);
        let (number, n_pages) = (cursor.be_u32()?, cursor.be_u32()?);
        if cursor.be_u64()? != self.salts || number == 0 {
            return None;
        }
        self.count(&head[..8]);
        self.count(page);
        let sum = cursor.be_u64()?;
        self.is_sum(sum).then_some(Frame {
            page: number.into(),
            n_pages: n_pages.into(),
        })
    }

    /// Continues the checksum over these bytes, which are pairs of numbers.
    fn count(&mut self, bytes: &[u8]) {
        let number = match self.is_big_endian {
            true => u32::from_be_bytes,
            false => u32::from_le_bytes,
        };
        let (mut first, mut second) = self.sum;
        for &[a, b, c, d, e, f, g, h] in bytes.as_chunks().0 {
            first = first
                .wrapping_add(number([a, b, c, d]))
                .wrapping_add(second);
            second = second
                .wrapping_add(number([e, f, g, h]))
                .wrapping_add(first);
        }
        self.sum = (first, second);
    }

    /// Returns whether this is the current checksum. Fuzzing skips the test, since no fuzzer would
    /// ever pass it.
    fn is_sum(&self, sum: u64) -> bool {
        cfg!(fuzzing) || sum == u64::from(self.sum.0) << 32 | u64::from(self.sum.1)
    }
}
