//! Checks the start of a 7z archive before the crate reads it.
//!
//! The list of members is mostly compressed. The crate unpacks it whole, whatever size and
//! dictionary it declares; this module refuses lists that are bombs.

use ken_core::Setting;

use super::MAX_DECODER_BYTES;
use crate::expansion::max_expanded;
use crate::structure::cursor::Cursor;
use crate::{Error, Input, Limits};

const START_BYTES: u64 = 32;
/// The description of a compressed list takes a few dozen bytes.
const MAX_DESCRIPTION_BYTES: usize = 4 << 10;
const MAX_CODERS: u64 = 32;

const ENCODED_HEADER: u8 = 0x17;
const PACK_INFO: u8 = 0x06;
const UNPACK_INFO: u8 = 0x07;
const SIZES: u8 = 0x09;
const CHECKSUMS: u8 = 0x0a;
const FOLDERS: u8 = 0x0b;
const UNPACK_SIZES: u8 = 0x0c;

/// Refuses a list of members that expands too far or needs too much memory.
pub(super) fn check(input: &Input<'_>, limits: &Limits) -> Result<(), Error> {
    let start = input.range(12, 8)?;
    let Some(offset) = Cursor(&start).le_u64() else {
        return Err(Error::Malformed("the header is cut off".into()));
    };
    let at = START_BYTES.saturating_add(offset);
    let description = input.range(at, MAX_DESCRIPTION_BYTES)?;
    // The crate refuses what cannot be read here, with its own message.
    let Some(list) = PackedList::read(Cursor(&description)) else {
        return Ok(());
    };
    check_window(list.window_bytes)?;
    if list.unpacked_bytes > max_expanded(input.size(), limits.max_expansion) {
        return Err(limits.reached(Setting::MaxExpansion));
    }
    if list.unpacked_bytes > limits.max_file_bytes {
        return Err(limits.too_large(list.unpacked_bytes));
    }
    Ok(())
}

/// Refuses decoders that together need too much memory.
pub(super) fn check_window(n_bytes: u64) -> Result<(), Error> {
    if n_bytes > MAX_DECODER_BYTES {
        return Err(Error::built_in(format!(
            "decompressing it needs {n_bytes} bytes of memory, more than {MAX_DECODER_BYTES}"
        )));
    }
    Ok(())
}

/// Returns the memory that a coder requests: in LZMA, LZMA2 and PPMd the header sets it.
pub(super) fn window_bytes(method: &[u8], properties: &[u8]) -> u64 {
    match (method, properties) {
        ([3, 1 | 4, 1], [_, size @ ..]) => Cursor(size).le_u32().map_or(0, u64::from),
        ([0x21], [bits, ..]) if *bits < 40 => u64::from(2 | bits & 1) << (bits / 2 + 11),
        ([0x21], [_, ..]) => u64::from(u32::MAX),
        _ => 0,
    }
}

/// The description of a compressed list.
struct PackedList {
    unpacked_bytes: u64,
    window_bytes: u64,
}

impl PackedList {
    fn read(mut cursor: Cursor<'_>) -> Option<Self> {
        expect(&mut cursor, ENCODED_HEADER)?;
        skip_pack_info(&mut cursor)?;
        expect(&mut cursor, UNPACK_INFO)?;
        expect(&mut cursor, FOLDERS)?;
        let n_folders = number(&mut cursor)?;
        let _external = cursor.byte()?;
        // A list is one folder; the crate reads the first one if there are several.
        let mut list = Self {
            unpacked_bytes: 0,
            window_bytes: 0,
        };
        let mut n_streams = 0;
        for _ in 0..n_folders.min(MAX_CODERS) {
            n_streams += list.read_folder(&mut cursor)?;
        }
        expect(&mut cursor, UNPACK_SIZES)?;
        for _ in 0..n_streams.min(MAX_CODERS) {
            list.unpacked_bytes = list.unpacked_bytes.max(number(&mut cursor)?);
        }
        Some(list)
    }

    /// Reads the coders of a folder and returns the number of their outputs.
    fn read_folder(&mut self, cursor: &mut Cursor<'_>) -> Option<u64> {
        let n_coders = number(cursor)?;
        let (mut n_in, mut n_out) = (0_u64, 0_u64);
        for _ in 0..n_coders.min(MAX_CODERS) {
            let flags = cursor.byte()?;
            let method = cursor.take(usize::from(flags & 15))?;
            let (ins, outs) = match flags & 0x10 {
                0 => (1, 1),
                _ => (number(cursor)?, number(cursor)?),
            };
            (n_in, n_out) = (n_in.saturating_add(ins), n_out.saturating_add(outs));
            if flags & 0x20 != 0 {
                let n_bytes = usize::try_from(number(cursor)?).ok()?;
                let window = window_bytes(method, cursor.take(n_bytes)?);
                self.window_bytes = self.window_bytes.saturating_add(window);
            }
        }
        let n_bonds = n_out.checked_sub(1)?;
        for _ in 0..n_bonds.min(MAX_CODERS) {
            number(cursor)?;
            number(cursor)?;
        }
        let n_packed = n_in.checked_sub(n_bonds)?;
        if n_packed > 1 {
            for _ in 0..n_packed.min(MAX_CODERS) {
                number(cursor)?;
            }
        }
        Some(n_out)
    }
}

fn skip_pack_info(cursor: &mut Cursor<'_>) -> Option<()> {
    expect(cursor, PACK_INFO)?;
    let _position = number(cursor)?;
    let n_streams = number(cursor)?;
    loop {
        match cursor.byte()? {
            0 => return Some(()),
            SIZES => {
                for _ in 0..n_streams.min(MAX_CODERS) {
                    number(cursor)?;
                }
            }
            CHECKSUMS if cursor.byte()? != 0 => {
                let n_bytes = n_streams.min(MAX_CODERS) as usize * 4;
                cursor.take(n_bytes)?;
            }
            _ => return None,
        }
    }
}

fn expect(cursor: &mut Cursor<'_>, id: u8) -> Option<()> {
    (cursor.byte()? == id).then_some(())
}

/// Reads a number of one to nine bytes: the leading ones of the first byte are the number of bytes
/// that follow.
fn number(cursor: &mut Cursor<'_>) -> Option<u64> {
    let first = cursor.byte()?;
    let n_more = first.leading_ones();
    let mut value = 0;
    for digit in 0..n_more {
        value |= u64::from(cursor.byte()?) << (8 * digit);
    }
    let mask = 0xff_u64 >> (n_more + 1).min(8);
    Some(value | (u64::from(first) & mask) << (8 * n_more).min(63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_to_nine_bytes() {
        let read = |bytes: &[u8]| number(&mut Cursor(bytes));
        assert_eq!(read(&[0x7f]), Some(0x7f));
        assert_eq!(read(&[0x81, 0x02]), Some(0x102));
        assert_eq!(read(&[0xc1, 0x02, 0x03]), Some(0x1_0302));
        let all = [0xff, 1, 0, 0, 0, 0, 0, 0, 0x80];
        assert_eq!(read(&all), Some(0x8000_0000_0000_0001));
        assert_eq!(read(&[0x81]), None);
    }

    #[test]
    fn greedy_lists_are_refused() {
        let archive = |size: &[u8], window: [u8; 4]| {
            let mut bytes = b"7z\xbc\xaf\x27\x1c\0\x04\0\0\0\0".to_vec();
            bytes.extend([0; 20]);
            bytes.extend([
                ENCODED_HEADER,
                PACK_INFO,
                0,
                1,
                SIZES,
                9,
                0,
                UNPACK_INFO,
                FOLDERS,
            ]);
            bytes.extend([1, 0, 1, 0x23, 3, 1, 1, 5, 0x5d]);
            bytes.extend(window);
            bytes.push(UNPACK_SIZES);
            bytes.extend(size);
            bytes
        };
        let refused = |bytes: Vec<u8>| {
            let input = Input::bytes_of("a.7z", &bytes);
            check(&input, &Limits::default()).is_err_and(|error| error.is_limit())
        };
        assert!(!refused(archive(&[100], [0, 0, 1, 0])));
        assert!(refused(archive(&[100], [0xff; 4])));
        assert!(refused(archive(&[0xf0, 0, 0, 0, 0x10], [0, 0, 1, 0])));
    }
}
