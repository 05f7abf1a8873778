//! Encrypted workbooks (MS-XLS 2.2.10): a record `FILEPASS` holds the method. The heads of records
//! stay readable, as do some whole records.

use ken_core::Encryption;

use crate::structure::encryption::OF_EXCEL;
use crate::structure::encryption::stream::{StreamKey, mask};
use crate::{Error, Passwords};

const FILEPASS: u16 = 0x2f;
/// Records that are never encrypted: `BOF`, `FILEPASS`, `INTERFACEHDR` and those of sharing.
const PLAIN: [u16; 7] = [0x809, FILEPASS, 0xe1, 0x138, 0x194, 0x195, 0x196];
/// A record that begins with a stream offset, which stays readable.
const SHEET: u16 = 0x85;
/// Number of bytes of the stream after which a new key is used.
const BLOCK_BYTES: usize = 1024;
const HEAD_BYTES: usize = 4;

/// Returns the decrypted stream of a workbook.
///
/// # Errors
/// Fails if no password fits.
pub(super) fn decrypt(mut stream: Vec<u8>, passwords: &Passwords) -> Result<Vec<u8>, Error> {
    let Some(record) = records(&stream).find(|record| record.number == FILEPASS) else {
        return Ok(stream);
    };
    let known = &[OF_EXCEL];
    let plain = match *record.data(&stream) {
        [1, 0, ref header @ ..] => {
            let key = StreamKey::find(header, known, passwords)?;
            let mut plain = stream.clone();
            key.decrypt(&mut plain, BLOCK_BYTES);
            plain
        }
        // Excel 5 and 95 have one method and do not name it.
        [0, 0, k0, k1, h0, h1] | [k0, k1, h0, h1] => {
            let (key, hash) = (u16::from_le_bytes([k0, k1]), u16::from_le_bytes([h0, h1]));
            unmasked(&stream, mask(key, hash, known, passwords)?)
        }
        _ => return Err(Error::sealed(Encryption::UnknownMethod)),
    };
    let ranges: Vec<RecordRange> = records(&stream).collect();
    for record in ranges {
        if record.number == FILEPASS {
            stream[record.at..record.at + 2].fill(0);
        }
        if !PLAIN.contains(&record.number) {
            let start = record.at + HEAD_BYTES + if record.number == SHEET { 4 } else { 0 };
            let end = record.at + HEAD_BYTES + record.length;
            if start < end {
                stream[start..end].copy_from_slice(&plain[start..end]);
            }
        }
    }
    Ok(stream)
}

/// Removes the mask, which restarts with each record.
fn unmasked(stream: &[u8], mask: [u8; 16]) -> Vec<u8> {
    let mut plain = stream.to_vec();
    for record in records(stream) {
        let start = record.at + HEAD_BYTES;
        for (at, byte) in plain.iter_mut().enumerate().skip(start).take(record.length) {
            *byte = (*byte ^ mask[(at + record.length) % mask.len()]).rotate_left(3);
        }
    }
    plain
}

/// The range of a record.
struct RecordRange {
    at: usize,
    number: u16,
    length: usize,
}

impl RecordRange {
    fn data<'a>(&self, stream: &'a [u8]) -> &'a [u8] {
        &stream[self.at + HEAD_BYTES..][..self.length]
    }
}

/// Returns all complete records.
fn records(stream: &[u8]) -> impl Iterator<Item = RecordRange> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let &[n0, n1, l0, l1] = stream.get(at..)?.first_chunk()?;
        let length = usize::from(u16::from_le_bytes([l0, l1]));
        let record = RecordRange {
            at,
            number: u16::from_le_bytes([n0, n1]),
            length,
        };
        at += HEAD_BYTES + length;
        (at <= stream.len()).then_some(record)
    })
}
