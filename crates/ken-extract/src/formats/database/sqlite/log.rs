//! The write-ahead log beside a database: pages of transactions that are not in the file yet. Of a
//! page the version of the last committed transaction counts.
//!
//! A frame belongs to the log if it holds the salts of its header and its checksum, which goes on
//! from that of the frame before; the first that does not is the log's end. Source: "Database File
//! Format", section 4, <https://www.sqlite.org/fileformat2.html#walformat>.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

use crate::Input;
use crate::structure::cursor::Cursor;

const HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;
/// The last bit tells the order of bytes that checksums are counted in.
const MAGIC: u32 = 0x377f_0682;
/// About so much is read at once.
const READ_BYTES: u64 = 256 << 10;

/// The pages of a log.
pub(super) struct Log<'a> {
    input: &'a Input<'a>,
    pub(super) page_bytes: u64,
    /// Where in the log the last version of each page is.
    places: HashMap<u64, u64>,
    /// How many pages the database has after the last transaction.
    pub(super) n_pages: u64,
}

impl<'a> Log<'a> {
    /// Reads the log beside a database of this many bytes; none if it holds no transaction.
    pub(super) fn open(input: &'a Input<'a>, database_bytes: u64) -> io::Result<Option<Self>> {
        let header = input.range(0, HEADER_BYTES)?;
        let Some(mut frames) = Frames::after(&header) else {
            return Ok(None);
        };
        let page_bytes = frames.page_bytes;
        let frame_bytes = FRAME_HEADER_BYTES as u64 + page_bytes;
        let n_frames = input.size().saturating_sub(HEADER_BYTES as u64) / frame_bytes;
        // A page is in the file or here, but for one that SQLite leaves out.
        let max_pages = database_bytes / page_bytes + n_frames + 1;
        let mut log = Self {
            input,
            page_bytes,
            places: HashMap::new(),
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
                let place = at + number as u64 * frame_bytes + FRAME_HEADER_BYTES as u64;
                waiting.push((frame.page, place));
                if frame.n_pages > 0 {
                    log.places.extend(waiting.drain(..));
                    log.n_pages = frame.n_pages.min(max_pages);
                }
            }
        }
        Ok(log.into_used())
    }

    fn into_used(self) -> Option<Self> {
        (self.n_pages > 0).then_some(self)
    }

    /// Returns up to so many bytes of a page, if the log holds it.
    pub(super) fn page(&self, number: u64, n_bytes: usize) -> io::Result<Option<Cow<'a, [u8]>>> {
        let place = self.places.get(&number);
        place.map(|&at| self.input.range(at, n_bytes)).transpose()
    }
}

/// What the header of a frame says.
struct Frame {
    page: u64,
    /// Of the database, if this frame ends a transaction; else 0.
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

    /// Returns what the next frame says; none if it is none of this log.
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

    /// Goes on with the checksum over these bytes, pairs of numbers.
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

    /// Returns whether this is the checksum so far; no fuzzer would ever get beyond it.
    fn is_sum(&self, sum: u64) -> bool {
        cfg!(fuzzing) || sum == u64::from(self.sum.0) << 32 | u64::from(self.sum.1)
    }
}
