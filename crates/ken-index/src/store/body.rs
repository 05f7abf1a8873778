//! The bodies of stored documents; large ones are in separately compressed pieces, so that several
//! threads can unpack one.
//!
//! The engine compresses what it stores in blocks, with a document in one block, whatever its size.
//! Unpacking a text of 4 MB from a block writes it three times (the block is zeroed, filled, and
//! copied for the document), on one thread: 11 of the 20 ms in which a command shows one line of
//! it. The block therefore holds the packed body, which does not shrink any more.
//!
//! ```text
//! length of the text   u64, little endian
//! lengths of pieces    u32 each, one for each PIECE_BYTES of the text
//! pieces               zstd frames (RFC 8878) with checksums
//! ```

use std::io;
use std::sync::{Mutex, PoisonError};

use ken_engine::Body;
use tantivy::directory::OwnedBytes;
use zstd::bulk::{Compressor, decompress_to_buffer};

use crate::parallel;

/// Returns the body that is a part of a stored document's bytes.
pub(crate) fn within(document: &OwnedBytes, text: &str) -> Body {
    let start = text.as_ptr().addr() - document.as_slice().as_ptr().addr();
    Body::shared(Box::new(document.slice(start..start + text.len())))
}

/// Size of the text in a piece. Of six texts of 1.6 to 16 MB, four would take up to 4 % less in one
/// piece, and two headers of registers, with repetitions far apart, 29 and 50 % less; in pieces of
/// a quarter they would take 2 to 51 % more.
const PIECE_BYTES: usize = 256 << 10;
/// The zstd level for stored bodies.
pub(crate) const LEVEL: i32 = 1;
const LENGTH_BYTES: usize = size_of::<u64>();
const PIECE_LENGTH_BYTES: usize = size_of::<u32>();

/// Returns the packed form of a body; none if it is stored unpacked.
///
/// # Errors
/// Fails if there is no memory to compress it.
pub(crate) fn packed(text: &str) -> io::Result<Option<Vec<u8>>> {
    if text.len() <= PIECE_BYTES {
        return Ok(None);
    }
    let mut compressor = Compressor::new(LEVEL)?;
    compressor.include_checksum(true)?;
    let pieces = text.as_bytes().chunks(PIECE_BYTES);
    let mut packed = (text.len() as u64).to_le_bytes().to_vec();
    let lengths = packed.len();
    packed.resize(lengths + pieces.len() * PIECE_LENGTH_BYTES, 0);
    let mut room = vec![0; zstd::zstd_safe::compress_bound(PIECE_BYTES)];
    for (number, piece) in pieces.enumerate() {
        let n_bytes = compressor.compress_to_buffer(piece, &mut room)?;
        packed.extend_from_slice(&room[..n_bytes]);
        let at = lengths + number * PIECE_LENGTH_BYTES;
        let length = &mut packed[at..at + PIECE_LENGTH_BYTES];
        length.copy_from_slice(&(n_bytes as u32).to_le_bytes());
    }
    Ok(Some(packed))
}

/// Returns the original body, unpacked by at most `max_threads`; none if it is damaged.
pub(crate) fn unpacked(packed: &[u8], max_threads: usize) -> Option<String> {
    let (length, rest) = packed.split_first_chunk::<LENGTH_BYTES>()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    // Before memory is taken: a body that claims to be large has as many pieces.
    let frames = frames(rest, length.div_ceil(PIECE_BYTES))?;
    let mut text = vec![0; length];
    let pieces = text.chunks_mut(PIECE_BYTES).map(Mutex::new);
    let pieces: Vec<_> = frames.into_iter().zip(pieces).collect();
    let unpack = |_, (frame, piece): &(&[u8], Mutex<&mut [u8]>)| {
        let mut piece = piece.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = piece.len();
        match decompress_to_buffer(frame, &mut piece) {
            Ok(n_bytes) if n_bytes == wanted => Ok(()),
            _ => Err(()),
        }
    };
    parallel::each(&pieces, |_| 1, max_threads, unpack).ok()?;
    drop(pieces);
    String::from_utf8(text).ok()
}

/// Returns `n_pieces` packed pieces; none if the number of pieces differs.
fn frames(from: &[u8], n_pieces: usize) -> Option<Vec<&[u8]>> {
    let (lengths, mut rest) = from.split_at_checked(n_pieces.checked_mul(PIECE_LENGTH_BYTES)?)?;
    let (lengths, _) = lengths.as_chunks::<PIECE_LENGTH_BYTES>();
    let mut frames = Vec::with_capacity(n_pieces);
    for n_bytes in lengths {
        let n_bytes = usize::try_from(u32::from_le_bytes(*n_bytes)).ok()?;
        let (frame, after) = rest.split_at_checked(n_bytes)?;
        frames.push(frame);
        rest = after;
    }
    rest.is_empty().then_some(frames)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn prose(n_bytes: usize) -> String {
        let mut text = String::new();
        for number in 0_u64.. {
            text += &format!("größe {} ", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            if text.len() >= n_bytes {
                break;
            }
        }
        text.truncate(text.floor_char_boundary(n_bytes));
        text
    }

    #[test]
    fn small_ones_stay_as_they_are() {
        assert_eq!(packed(&prose(PIECE_BYTES)).unwrap(), None);
    }

    #[test]
    fn large_ones_come_back() {
        for n_bytes in [PIECE_BYTES + 1, 2 * PIECE_BYTES, 9 * PIECE_BYTES + 77] {
            let text = prose(n_bytes);
            let packed = packed(&text).unwrap();
            let packed = packed.filter(|packed| packed.len() < text.len()).unwrap();
            for threads in [1, 3] {
                assert_eq!(unpacked(&packed, threads).as_ref(), Some(&text));
            }
        }
    }

    #[test]
    fn one_that_says_too_much_takes_no_memory() {
        let mut packed = packed(&prose(PIECE_BYTES + 1)).unwrap().unwrap();
        assert!(frames(&packed[LENGTH_BYTES..], 2).is_some());
        for n_pieces in [0, 1, 3, 4096, 1 << 40, usize::MAX] {
            assert_eq!(frames(&packed[LENGTH_BYTES..], n_pieces), None);
        }
        for length in [u64::MAX, 1 << 50, 1 << 32] {
            packed[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
            assert_eq!(unpacked(&packed, 2), None);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn damaged_ones_are_reported_or_right(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in 0_usize..9) {
            let text = prose(PIECE_BYTES + 5000);
            let mut packed = packed(&text).unwrap().unwrap();
            let at = at.index(packed.len());
            packed[at] = byte;
            packed.truncate(packed.len() - cut);
            if let Some(found) = unpacked(&packed, 1) {
                prop_assert_eq!(&found, &text);
            }
            prop_assert!(cut == 0 || unpacked(&packed, 1).is_none());
        }
    }
}
