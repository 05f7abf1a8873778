//! Standard encryption of Office 2007 (MS-OFFCRYPTO 2.3.4.5 to 2.3.4.9): AES block by block, with
//! the key made from the password.

use aes::cipher::consts::U16;
use aes::cipher::{BlockCipherDecrypt, BlockSizeUser, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use sha1::Sha1;
use sha2::Digest;

use super::agile::many;
use super::header::Header;
use super::{Work, damaged, unknown_method, utf16, with_size};
use crate::Error;

const ROUNDS: u32 = 50_000;
const HASH_BYTES: usize = 20;
/// The identifiers of AES with keys of 128, 192 and 256 bits.
const AES: std::ops::RangeInclusive<u32> = 0x660e..=0x6610;

pub(super) struct Standard<'a>(Header<'a>);

impl<'a> Standard<'a> {
    pub(super) fn read(info: &'a [u8]) -> Result<Self, Error> {
        let header = Header::read(info).ok_or_else(damaged)?;
        if !AES.contains(&header.algorithm) || !matches!(header.key_bytes, 16 | 24 | 32) {
            return Err(unknown_method());
        }
        Ok(Self(header))
    }

    /// Returns the key if the password fits.
    pub(super) fn key(&self, password: &str, work: &mut Work) -> Result<Option<Vec<u8>>, Error> {
        work.take(u64::from(ROUNDS))?;
        let hash = many::<Sha1>(self.0.salt, &utf16(password), ROUNDS);
        let hash = Sha1::new()
            .chain_update(hash)
            .chain_update([0; 4])
            .finalize();
        let mut key = [stretched(&hash, 0x36), stretched(&hash, 0x5c)].concat();
        key.truncate(self.0.key_bytes);
        let mut verifier = self.0.verifier.to_vec();
        let mut expected = self.0.hash_of_verifier.to_vec();
        decrypt_in_place(&mut verifier, &key)?;
        decrypt_in_place(&mut expected, &key)?;
        let fits = expected.get(..HASH_BYTES) == Some(&Sha1::digest(&verifier)[..]);
        Ok(fits.then_some(key))
    }

    pub(super) fn decrypt(&self, package: Vec<u8>, key: &[u8]) -> Result<Vec<u8>, Error> {
        let (size, mut content) = with_size(package)?;
        decrypt_in_place(&mut content, key)?;
        content.truncate(size);
        Ok(content)
    }
}

fn stretched(hash: &[u8], fill: u8) -> Vec<u8> {
    let mut block = [fill; 64];
    for (byte, hash) in block.iter_mut().zip(hash) {
        *byte ^= hash;
    }
    Sha1::digest(block).to_vec()
}

fn decrypt_in_place(bytes: &mut [u8], key: &[u8]) -> Result<(), Error> {
    fn run<C: BlockCipherDecrypt + KeyInit + BlockSizeUser<BlockSize = U16>>(
        bytes: &mut [u8],
        key: &[u8],
    ) -> Result<(), Error> {
        let cipher = C::new_from_slice(key).map_err(|_| damaged())?;
        for block in bytes.as_chunks_mut::<16>().0 {
            cipher.decrypt_block(block.into());
        }
        Ok(())
    }
    match key.len() {
        16 => run::<Aes128>(bytes, key),
        24 => run::<Aes192>(bytes, key),
        _ => run::<Aes256>(bytes, key),
    }
}
