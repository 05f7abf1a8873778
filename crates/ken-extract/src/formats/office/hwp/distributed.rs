//! Documents for distribution, whose sections are encrypted with a key that stands before them (Hancom's description of
//! documents for distribution, revision 1.2): anyone may read them, and only printing and copying is refused.

use aes::Aes128;
use aes::cipher::{BlockCipherDecrypt, KeyInit};

use super::record;
use crate::structure::cursor::Cursor;

/// The kind of the first record, which holds the key.
const KEY_RECORD: u32 = 28;
const KEY_BYTES: usize = 16;

/// Returns the content of a section; none if its key is missing.
pub(super) fn decrypted(stream: &[u8]) -> Option<Vec<u8>> {
    let mut rest = Cursor(stream);
    let first = record::next(&mut rest)?;
    let head: &[u8; 256] = first.data.try_into().ok()?;
    let cipher = Aes128::new_from_slice(&key(head))
        .ok()
        .filter(|_| first.kind == KEY_RECORD)?;
    let mut content = rest.0.to_vec();
    for block in content.as_chunks_mut::<16>().0 {
        cipher.decrypt_block(block.into());
    }
    Some(content)
}

/// Returns the key, which is hidden in random bytes.
pub(super) fn key(head: &[u8; 256]) -> [u8; KEY_BYTES] {
    let seed = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let mut random = seed;
    // The generator of Microsoft's C library.
    let mut next = || {
        random = random.wrapping_mul(214_013).wrapping_add(2_531_011);
        (random >> 16 & 0x7fff) as u8
    };
    let mut plain = *head;
    let (mut mask, mut n_left) = (0, 0);
    for (at, byte) in plain.iter_mut().enumerate() {
        if n_left == 0 {
            mask = next();
            n_left = (next() & 0xf) + 1;
        }
        if at >= 4 {
            *byte ^= mask;
        }
        n_left -= 1;
    }
    let start = 4 + (seed & 0xf) as usize;
    let mut key = [0; KEY_BYTES];
    key.copy_from_slice(&plain[start..start + KEY_BYTES]);
    key
}
