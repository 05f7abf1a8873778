//! Decompresses `compress` files (`.Z`): Lempel–Ziv–Welch with codes of 9 to 16 bits.
//!
//! Sources: the program itself (4.3BSD, 1985) and its description by Terry Welch, "A Technique for
//! High-Performance Data Compression", 1984. Codes are written in groups of eight; when their width
//! changes, the rest of a group is padding.

use std::io::{self, Read};

const MAX_BITS: u32 = 16;
const MIN_BITS: u32 = 9;
/// The code that empties the table, in files whose header declares it.
const CLEAR: usize = 256;

/// Decompresses a stream.
pub(crate) struct LzwReader<R> {
    inner: R,
    max_bits: u32,
    has_clear: bool,
    n_bits: u32,
    group: Group,
    table: Table,
    previous: Option<usize>,
    /// The rest of the last code's string, reversed.
    pending: Vec<u8>,
    first_of_previous: u8,
}

/// Up to eight codes as stored, lowest bits first.
#[derive(Default)]
struct Group {
    bytes: [u8; MAX_BITS as usize + 4],
    n_codes: u32,
    next: u32,
}

/// The string table: each string is an earlier one and one more byte.
struct Table {
    prefixes: Vec<u16>,
    suffixes: Vec<u8>,
    n_codes: usize,
}

impl<R: Read> LzwReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// Fails if the header cannot be read or is wrong.
    pub(crate) fn new(mut inner: R) -> io::Result<Self> {
        let mut header = [0; 3];
        inner.read_exact(&mut header)?;
        let max_bits = u32::from(header[2] & 0x1f);
        let has_clear = header[2] & 0x80 != 0;
        if header[..2] != [0x1f, 0x9d] || !(MIN_BITS..=MAX_BITS).contains(&max_bits) {
            return Err(damaged("no header of compress"));
        }
        Ok(Self {
            inner,
            max_bits,
            has_clear,
            n_bits: MIN_BITS,
            group: Group::default(),
            table: Table::new(max_bits, has_clear),
            previous: None,
            pending: Vec::new(),
            first_of_previous: 0,
        })
    }

    pub(crate) fn into_inner(self) -> R {
        self.inner
    }

    /// Puts the string of the next code into `pending`; returns false at the end.
    fn step(&mut self) -> io::Result<bool> {
        let widest = self.max_bits == self.n_bits;
        if !widest && self.table.n_codes >= 1 << self.n_bits {
            self.group.n_codes = 0;
            self.n_bits += 1;
        }
        let Some(code) = self.next_code()? else {
            return Ok(false);
        };
        if code == CLEAR && self.has_clear {
            // The next code creates an entry that nothing refers to, in place of this one.
            self.table.n_codes = CLEAR;
            self.group.n_codes = 0;
            self.n_bits = MIN_BITS;
            return Ok(true);
        }
        self.unfold(code)?;
        Ok(true)
    }

    fn unfold(&mut self, code: usize) -> io::Result<()> {
        let Some(previous) = self.previous else {
            let byte = u8::try_from(code).map_err(|_| damaged("the first code is no byte"))?;
            self.first_of_previous = byte;
            self.previous = Some(code);
            self.pending.push(byte);
            return Ok(());
        };
        let mut at = code;
        if code >= self.table.n_codes && code >= CLEAR {
            if code > self.table.n_codes {
                return Err(damaged("a code is not known yet"));
            }
            // The string that this code is about to define.
            self.pending.push(self.first_of_previous);
            at = previous;
        }
        while at >= CLEAR {
            self.pending.push(self.table.suffixes[at]);
            at = usize::from(self.table.prefixes[at]);
        }
        self.first_of_previous = at as u8;
        self.pending.push(self.first_of_previous);
        self.table.add(previous, self.first_of_previous);
        self.previous = Some(code);
        Ok(())
    }

    fn next_code(&mut self) -> io::Result<Option<usize>> {
        if self.group.next >= self.group.n_codes {
            self.fill_group()?;
            if self.group.n_codes == 0 {
                return Ok(None);
            }
        }
        let bit = self.group.next * self.n_bits;
        self.group.next += 1;
        let at = (bit / 8) as usize;
        let bytes = &self.group.bytes[at..at + 4];
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        Ok(Some(
            (word >> (bit % 8)) as usize & ((1 << self.n_bits) - 1),
        ))
    }

    fn fill_group(&mut self) -> io::Result<()> {
        let wanted = self.n_bits as usize;
        let mut filled = 0;
        while filled < wanted {
            match self.inner.read(&mut self.group.bytes[filled..wanted]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.group.next = 0;
        self.group.n_codes = filled as u32 * 8 / self.n_bits;
        Ok(())
    }
}

impl Table {
    fn new(max_bits: u32, has_clear: bool) -> Self {
        Self {
            prefixes: vec![0; 1 << max_bits],
            suffixes: vec![0; 1 << max_bits],
            n_codes: if has_clear { CLEAR + 1 } else { CLEAR },
        }
    }

    fn add(&mut self, prefix: usize, suffix: u8) {
        if self.n_codes < self.prefixes.len() {
            self.prefixes[self.n_codes] = prefix as u16;
            self.suffixes[self.n_codes] = suffix;
            self.n_codes += 1;
        }
    }
}

impl<R: Read> Read for LzwReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut n = 0;
        while n < buffer.len() {
            if let Some(byte) = self.pending.pop() {
                buffer[n] = byte;
                n += 1;
                continue;
            }
            match self.step() {
                Ok(true) => {}
                Ok(false) => break,
                // The bytes read so far are returned first; the next call meets the same error.
                Err(_) if n > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(n)
    }
}

fn damaged(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
