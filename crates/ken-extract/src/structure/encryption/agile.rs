//! Agile encryption of Office 2010 and later (MS-OFFCRYPTO 2.3.4.10 to 2.3.4.15): AES in segments
//! of 4096 bytes, with a random key that the password's key encrypts.

use aes::cipher::consts::U16;
use aes::cipher::{BlockModeDecrypt, BlockSizeUser, KeyIvInit};
use aes::{Aes128, Aes192, Aes256};
use base64ct::{Base64, Encoding};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};

use ken_core::Encryption;

use super::{Work, damaged, unknown_method, utf16, with_size};
use crate::Error;
use crate::structure::xml::decode_xml;
use crate::structure::xml::{Node, Start, Xml};

const SEGMENT_BYTES: usize = 4096;
const BLOCK_BYTES: usize = 16;

/// Bytes that are mixed into the password's hash, one constant for each use.
const FOR_VERIFIER: [u8; 8] = [0xfe, 0xa7, 0xd2, 0x76, 0x3b, 0x4b, 0x9e, 0x79];
const FOR_HASH_OF_VERIFIER: [u8; 8] = [0xd7, 0xaa, 0x0f, 0x6d, 0x30, 0x61, 0x34, 0x4e];
const FOR_KEY: [u8; 8] = [0x14, 0x6e, 0x0b, 0xe7, 0xab, 0xac, 0xd0, 0xd6];

/// The content of the stream `EncryptionInfo`.
pub(super) struct Agile {
    of_package: Method,
    of_password: Method,
    rounds: u32,
    verifier: Vec<u8>,
    hash_of_verifier: Vec<u8>,
    key: Vec<u8>,
}

struct Method {
    hash: Hash,
    key_bytes: usize,
    salt: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Agile {
    pub(super) fn read(xml: &[u8]) -> Result<Self, Error> {
        let text = decode_xml(xml.to_vec());
        let mut xml = Xml::new(&text);
        let mut of_package = None;
        while let Some(node) = xml.next()? {
            let Node::Start(tag) = node else { continue };
            match tag.name() {
                "keyData" => of_package = Some(Method::read(&tag)?),
                // Keys of certificates have no rounds.
                "encryptedKey" if tag.attribute("spinCount").is_some() => {
                    return Ok(Self {
                        of_package: of_package.ok_or_else(damaged)?,
                        of_password: Method::read(&tag)?,
                        rounds: number(&tag, "spinCount")?,
                        verifier: binary(&tag, "encryptedVerifierHashInput")?,
                        hash_of_verifier: binary(&tag, "encryptedVerifierHashValue")?,
                        key: binary(&tag, "encryptedKeyValue")?,
                    });
                }
                _ => {}
            }
        }
        Err(Error::sealed(Encryption::Key))
    }

    /// Returns the package's key if the password fits.
    pub(super) fn key(&self, password: &str, work: &mut Work) -> Result<Option<Vec<u8>>, Error> {
        work.take(u64::from(self.rounds))?;
        let method = &self.of_password;
        let hash = method
            .hash
            .many(&method.salt, &utf16(password), self.rounds);
        let open = |purpose: &[u8], sealed: &[u8]| {
            let key = sized(method.hash.of(&[&hash, purpose]), method.key_bytes);
            decrypt(sealed.to_vec(), &key, &iv(&method.salt))
        };
        let verifier = open(&FOR_VERIFIER, &self.verifier)?;
        let expected = open(&FOR_HASH_OF_VERIFIER, &self.hash_of_verifier)?;
        let verifier = &verifier[..verifier.len().min(method.salt.len())];
        let hash = method.hash.of(&[verifier]);
        if expected.get(..hash.len()) != Some(&hash) {
            return Ok(None);
        }
        let mut key = open(&FOR_KEY, &self.key)?;
        key.truncate(self.of_package.key_bytes);
        Ok(Some(key))
    }

    pub(super) fn decrypt(&self, package: Vec<u8>, key: &[u8]) -> Result<Vec<u8>, Error> {
        let (size, mut content) = with_size(package)?;
        content.truncate(content.len() / BLOCK_BYTES * BLOCK_BYTES);
        let method = &self.of_package;
        for (number, segment) in content.chunks_mut(SEGMENT_BYTES).enumerate() {
            let number = (number as u32).to_le_bytes();
            let iv = iv(&method.hash.of(&[&method.salt, &number]));
            decrypt_in_place(segment, key, &iv)?;
        }
        content.truncate(size);
        Ok(content)
    }
}

impl Method {
    fn read(tag: &Start<'_>) -> Result<Self, Error> {
        let is = |name, value| tag.attribute(name).as_deref() == Some(value);
        if !is("cipherAlgorithm", "AES") || !is("cipherChaining", "ChainingModeCBC") {
            return Err(unknown_method());
        }
        let hash = match tag.attribute("hashAlgorithm").as_deref() {
            Some("SHA1" | "SHA-1") => Hash::Sha1,
            Some("SHA256" | "SHA-256") => Hash::Sha256,
            Some("SHA384" | "SHA-384") => Hash::Sha384,
            Some("SHA512" | "SHA-512") => Hash::Sha512,
            _ => return Err(unknown_method()),
        };
        let key_bytes = match number(tag, "keyBits")? {
            bits @ (128 | 192 | 256) => bits as usize / 8,
            _ => return Err(unknown_method()),
        };
        Ok(Self {
            hash,
            key_bytes,
            salt: binary(tag, "saltValue")?,
        })
    }
}

impl Hash {
    fn of(self, parts: &[&[u8]]) -> Vec<u8> {
        match self {
            Self::Sha1 => once::<Sha1>(parts),
            Self::Sha256 => once::<Sha256>(parts),
            Self::Sha384 => once::<Sha384>(parts),
            Self::Sha512 => once::<Sha512>(parts),
        }
    }

    fn many(self, salt: &[u8], password: &[u8], rounds: u32) -> Vec<u8> {
        match self {
            Self::Sha1 => many::<Sha1>(salt, password, rounds),
            Self::Sha256 => many::<Sha256>(salt, password, rounds),
            Self::Sha384 => many::<Sha384>(salt, password, rounds),
            Self::Sha512 => many::<Sha512>(salt, password, rounds),
        }
    }
}

fn once<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
    let mut digest = D::new();
    for part in parts {
        digest.update(part);
    }
    digest.finalize().to_vec()
}

/// Hashes a password with its salt, then repeats the hash `rounds` times.
pub(super) fn many<D: Digest>(salt: &[u8], password: &[u8], rounds: u32) -> Vec<u8> {
    let mut hash = D::new()
        .chain_update(salt)
        .chain_update(password)
        .finalize();
    for round in 0..rounds {
        let digest = D::new().chain_update(round.to_le_bytes());
        hash = digest.chain_update(&hash).finalize();
    }
    hash.to_vec()
}

/// Cuts or pads to `length`, as for all keys and vectors.
fn sized(mut bytes: Vec<u8>, length: usize) -> Vec<u8> {
    bytes.resize(length, 0x36);
    bytes
}

fn iv(bytes: &[u8]) -> Vec<u8> {
    sized(bytes.to_vec(), BLOCK_BYTES)
}

fn decrypt(mut bytes: Vec<u8>, key: &[u8], iv: &[u8]) -> Result<Vec<u8>, Error> {
    decrypt_in_place(&mut bytes, key, iv)?;
    Ok(bytes)
}

/// Decrypts whole blocks by AES, chained (CBC).
///
/// # Errors
/// Fails if key or vector have a wrong length.
pub(super) fn decrypt_in_place(bytes: &mut [u8], key: &[u8], iv: &[u8]) -> Result<(), Error> {
    fn run<C: BlockModeDecrypt + KeyIvInit + BlockSizeUser<BlockSize = U16>>(
        bytes: &mut [u8],
        key: &[u8],
        iv: &[u8],
    ) -> Result<(), Error> {
        let mut cipher = C::new_from_slices(key, iv).map_err(|_| damaged())?;
        let (blocks, _) = bytes.as_chunks_mut::<BLOCK_BYTES>();
        for block in blocks {
            cipher.decrypt_block(block.into());
        }
        Ok(())
    }
    match key.len() {
        16 => run::<cbc::Decryptor<Aes128>>(bytes, key, iv),
        24 => run::<cbc::Decryptor<Aes192>>(bytes, key, iv),
        32 => run::<cbc::Decryptor<Aes256>>(bytes, key, iv),
        _ => Err(damaged()),
    }
}

fn number(tag: &Start<'_>, name: &str) -> Result<u32, Error> {
    let value = tag.attribute(name).ok_or_else(damaged)?;
    value.trim().parse().map_err(|_| damaged())
}

fn binary(tag: &Start<'_>, name: &str) -> Result<Vec<u8>, Error> {
    let value = tag.attribute(name).ok_or_else(damaged)?;
    Base64::decode_vec(value.trim()).map_err(|_| damaged())
}
