//! The oldest protection of workbooks: sixteen repeated bytes (MS-OFFCRYPTO 2.3.7.1 to 2.3.7.3).
//! Excel 5 and 95 use it, and later versions where stronger encryption was forbidden.

/// Maximum length of a password.
const MAX_BYTES: usize = 15;
/// Bytes that pad the password.
const PADDING: [u8; MAX_BYTES] = [
    0xbb, 0xff, 0xff, 0xba, 0xff, 0xff, 0xb9, 0x80, 0x00, 0xbe, 0x0f, 0x00, 0xbf, 0x0f, 0x00,
];

/// Returns the sixteen bytes if the password yields this key and hash.
pub(super) fn key(password: &str, key: u16, hash: u16) -> Option<[u8; 16]> {
    // Characters beyond Latin 1 cannot occur in a password.
    let bytes: Option<Vec<u8>> = password.chars().map(|c| u8::try_from(c).ok()).collect();
    let bytes = bytes.filter(|bytes| (1..=MAX_BYTES).contains(&bytes.len()))?;
    if key_of(&bytes) != key || hash_of(&bytes) != hash {
        return None;
    }
    let mut array = [0; 16];
    let characters = bytes.iter().chain(&PADDING);
    for ((byte, character), key) in array
        .iter_mut()
        .zip(characters)
        .zip(key.to_le_bytes().iter().cycle())
    {
        *byte = (character ^ key).rotate_right(1);
    }
    Some(array)
}

/// Computes the key with a feedback shift register; the specification lists its results in a table
/// of 105 numbers.
fn key_of(password: &[u8]) -> u16 {
    let shifted = |register: u16| {
        let register = register.rotate_left(1);
        register ^ if register & 1 == 1 { 0x1020 } else { 0 }
    };
    let (mut key, mut register, mut last) = (0, 0x8000, 0xffff);
    for byte in password.iter().rev() {
        for bit in 0..8 {
            (register, last) = (shifted(register), shifted(last));
            if byte & 0x7f & 1 << bit != 0 {
                key ^= register;
            }
        }
    }
    key ^ last
}

fn hash_of(password: &[u8]) -> u16 {
    let length = password.len() as u16;
    let characters = password.iter().rev().map(|&byte| u16::from(byte));
    let hash = characters.chain([length]).fold(0, |hash: u16, character| {
        (hash >> 14 & 1 | hash << 1 & 0x7fff) ^ character
    });
    hash ^ 0xce4b
}
