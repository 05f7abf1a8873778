//! The binary header of standard encryption and of RC4 with CryptoAPI (MS-OFFCRYPTO 2.3.2 and
//! 2.3.3).

use crate::structure::cursor::Cursor;

/// How the content is encrypted, and how a password is verified.
pub(super) struct Header<'a> {
    pub(super) algorithm: u32,
    pub(super) key_bytes: usize,
    pub(super) salt: &'a [u8],
    /// The encrypted form of a random value and its hash.
    pub(super) verifier: &'a [u8],
    pub(super) hash_of_verifier: &'a [u8],
}

impl<'a> Header<'a> {
    /// Reads the header after its version.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut bytes = Cursor(bytes);
        let _flags = bytes.le_u32()?;
        let length = bytes.le_u32()? as usize;
        let mut header = Cursor(bytes.take(length)?);
        header.take(8)?;
        let algorithm = header.le_u32()?;
        let _hash = header.le_u32()?;
        let key_bits = header.le_u32()?;
        let salt_bytes = bytes.le_u32()? as usize;
        let salt = bytes.take(salt_bytes)?;
        let verifier = bytes.take(16)?;
        let _hash_bytes = bytes.le_u32()?;
        Some(Self {
            algorithm,
            key_bytes: key_bits as usize / 8,
            salt,
            verifier,
            hash_of_verifier: bytes.0,
        })
    }
}
