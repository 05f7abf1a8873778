//! Decrypts streams of Word, Excel and PowerPoint before 2007: RC4 with one key for each block of a
//! stream, of 40 bits (MS-OFFCRYPTO 2.3.6) or with CryptoAPI (2.3.5), or just a mask of sixteen
//! bytes.

use md5::Md5;
use rc4::{KeyInit, Rc4, StreamCipher};
use sha1::Sha1;
use sha2::Digest;

use super::header::Header;
use super::{first_that_fits, unknown_method, utf16, xor};
use crate::{Error, Passwords};

const RC4: u32 = 0x6801;

/// The material from which the keys of all blocks are made.
pub(crate) enum StreamKey {
    Short([u8; 5]),
    CryptoApi { hash: Vec<u8>, key_bytes: usize },
}

impl StreamKey {
    /// Finds the password for an encryption header, which begins with its version.
    ///
    /// # Errors
    /// Fails if the method is not known, or no password fits.
    pub(crate) fn find(
        header: &[u8],
        known: &[&str],
        passwords: &Passwords,
    ) -> Result<Self, Error> {
        let (version, header) = header.split_first_chunk::<4>().ok_or_else(unknown_method)?;
        match version {
            [1, 0, 1, 0] => {
                let header = header.first_chunk::<48>().ok_or_else(unknown_method)?;
                first_that_fits(known, passwords, |password| {
                    Ok(Self::short(header, password))
                })
            }
            [2..=4, 0, 2, 0] => {
                let header = Header::read(header).ok_or_else(unknown_method)?;
                if header.algorithm != RC4 {
                    return Err(unknown_method());
                }
                first_that_fits(known, passwords, |password| {
                    Ok(Self::crypto_api(&header, password))
                })
            }
            _ => Err(unknown_method()),
        }
    }

    fn short(header: &[u8; 48], password: &str) -> Option<Self> {
        let (salt, mut sealed) = (&header[..16], header[16..].to_vec());
        let password = Md5::digest(utf16(password));
        let hash = Md5::digest([&password[..5], salt].concat().repeat(16));
        let key = Self::Short(*hash.first_chunk()?);
        key.cipher(0).apply_keystream(&mut sealed);
        let (verifier, expected) = sealed.split_at(16);
        (Md5::digest(verifier)[..] == *expected).then_some(key)
    }

    fn crypto_api(header: &Header<'_>, password: &str) -> Option<Self> {
        let digest = Sha1::new().chain_update(header.salt);
        let hash = digest.chain_update(utf16(password)).finalize().to_vec();
        let key = Self::CryptoApi {
            hash,
            // Zero means the shortest.
            key_bytes: match header.key_bytes {
                0 => 5,
                n => n.min(20),
            },
        };
        let mut sealed = [header.verifier, header.hash_of_verifier].concat();
        key.cipher(0).apply_keystream(&mut sealed);
        let (verifier, expected) = sealed.split_at(header.verifier.len());
        (expected.get(..20) == Some(&Sha1::digest(verifier)[..])).then_some(key)
    }

    fn cipher(&self, block: u32) -> Rc4 {
        let block = block.to_le_bytes();
        let key = match self {
            Self::Short(hash) => Md5::new()
                .chain_update(hash)
                .chain_update(block)
                .finalize()
                .to_vec(),
            Self::CryptoApi { hash, key_bytes } => {
                let digest = Sha1::new().chain_update(hash).chain_update(block);
                let mut key = digest.finalize()[..*key_bytes].to_vec();
                // Keys of 40 bits are padded with zeros.
                if key.len() == 5 {
                    key.resize(16, 0);
                }
                key
            }
        };
        Rc4::new_from_slice(&key).expect("a key of 5 to 20 bytes")
    }

    /// Decrypts bytes that share one key.
    pub(crate) fn decrypt_block(&self, bytes: &mut [u8], block: u32) {
        self.cipher(block).apply_keystream(bytes);
    }

    /// Decrypts a stream from its start.
    pub(crate) fn decrypt(&self, stream: &mut [u8], block_bytes: usize) {
        for (number, block) in stream.chunks_mut(block_bytes).enumerate() {
            self.decrypt_block(block, number as u32);
        }
    }
}

/// Returns the mask of a workbook with this key and hash.
///
/// # Errors
/// Fails if no password fits.
pub(crate) fn mask(
    key: u16,
    hash: u16,
    known: &[&str],
    passwords: &Passwords,
) -> Result<[u8; 16], Error> {
    first_that_fits(known, passwords, |password| {
        Ok(xor::key(password, key, hash))
    })
}
