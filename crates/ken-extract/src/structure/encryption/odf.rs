//! Decrypts OpenDocument files (ODF 1.4 part 2, 3.4 and 4.8). The manifest says how each part is
//! encrypted. Newer LibreOffice encrypts a whole package as one part of another.
//!
//! A part is deflated, then encrypted. The password is hashed, stretched by PBKDF2 or Argon2id with
//! the salt of the part, and verified by a checksum of the deflated bytes or the tag of GCM.

use std::collections::HashMap;

use aes_gcm::aead::array::Array;
use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes128Gcm, Aes256Gcm};
use argon2::{Algorithm, Argon2, Params, Version};
use base64ct::{Base64, Encoding};
use blowfish::Blowfish;
use cfb_mode::cipher::KeyIvInit;
use sha1::Sha1;
use sha2::{Digest, Sha256};

use ken_core::Encryption;

use super::agile::decrypt_in_place;
use super::{Work, damaged, unknown_method};
use crate::structure::xml::{Node, Start, Xml};
use crate::{Error, Passwords};

/// The name of the part that is a whole package.
pub(crate) const PACKAGE: &str = "encrypted-package";
/// Maximum KiB that Argon2 may fill; LibreOffice asks for 64 MiB.
const MAX_ARGON2_KIB: u32 = 256 << 10;
/// Rounds of PBKDF2 that take the time of one KiB filled by Argon2.
const ROUNDS_OF_KIB: u64 = 8;
/// Number of bytes that the checksum covers.
const CHECKED_BYTES: usize = 1024;

/// The encryption of each part of a package, by name.
#[derive(Default)]
pub(crate) struct Manifest {
    parts: HashMap<String, Sealed>,
    is_by_key: bool,
}

/// The encryption of one part.
#[derive(Default)]
struct Sealed {
    checksum: Vec<u8>,
    is_checked_by_sha1: bool,
    cipher: Option<Cipher>,
    iv: Vec<u8>,
    starts_with_sha256: bool,
    derivation: Option<Derivation>,
    key_bytes: usize,
    salt: Vec<u8>,
}

#[derive(Clone, Copy)]
enum Cipher {
    Blowfish,
    Cbc,
    Gcm,
}

#[derive(Clone, Copy)]
enum Derivation {
    Pbkdf2 { rounds: u32 },
    Argon2id { passes: u32, kib: u32, lanes: u32 },
}

impl Manifest {
    pub(crate) fn read(text: &str) -> Result<Self, Error> {
        let mut manifest = Self::default();
        let mut xml = Xml::new(text);
        let mut name = String::new();
        while let Some(node) = xml.next()? {
            let Node::Start(tag) = node else { continue };
            match tag.name() {
                "file-entry" => name = text_of(&tag, "full-path"),
                "encryption-data" => {
                    let sealed = Sealed::new(&tag);
                    manifest.parts.insert(name.clone(), sealed);
                }
                "encrypted-key" => manifest.is_by_key = true,
                _ => {
                    if let Some(sealed) = manifest.parts.get_mut(&name) {
                        sealed.note(&tag);
                    }
                }
            }
        }
        Ok(manifest)
    }

    /// Returns the name of the part on which passwords are tried.
    pub(crate) fn part_for_passwords(&self) -> Option<&str> {
        let usual = [PACKAGE, "content.xml"];
        let usual = usual
            .into_iter()
            .find(|name| self.parts.contains_key(*name));
        usual.or_else(|| self.parts.keys().map(String::as_str).min())
    }

    /// Finds the password that fits a part with these bytes.
    ///
    /// # Errors
    /// Fails if no password fits.
    pub(crate) fn unlock(
        self,
        part: &str,
        bytes: &[u8],
        passwords: &Passwords,
    ) -> Result<Keys, Error> {
        if self.is_by_key {
            return Err(Error::sealed(Encryption::Key));
        }
        let sealed = self.parts.get(part).ok_or_else(damaged)?;
        let mut work = Work::new();
        let password = super::first_that_fits(&[], passwords, |password| {
            let opened = sealed.open(bytes, password, &mut work)?;
            Ok(opened.map(|_| password.to_owned()))
        })?;
        Ok(Keys {
            manifest: self,
            password,
            work,
        })
    }
}

/// A manifest with the password that fits.
pub(crate) struct Keys {
    manifest: Manifest,
    password: String,
    work: Work,
}

impl Keys {
    /// Returns the deflated content of a part; none if the part is not encrypted.
    ///
    /// # Errors
    /// Fails if the part is encrypted differently from the others.
    pub(crate) fn open(&mut self, part: &str, bytes: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let Some(sealed) = self.manifest.parts.get(part) else {
            return Ok(None);
        };
        let opened = sealed.open(bytes, &self.password, &mut self.work)?;
        opened.map(Some).ok_or_else(damaged)
    }
}

impl Sealed {
    fn new(tag: &Start<'_>) -> Self {
        let kind = text_of(tag, "checksum-type").to_ascii_lowercase();
        Self {
            checksum: binary(tag, "checksum"),
            is_checked_by_sha1: kind.contains("sha1"),
            // Newer versions name what the first version fixed.
            key_bytes: 16,
            ..Self::default()
        }
    }

    fn note(&mut self, tag: &Start<'_>) {
        match tag.name() {
            "algorithm" => {
                let name = text_of(tag, "algorithm-name").to_ascii_lowercase();
                self.iv = binary(tag, "initialisation-vector");
                self.cipher = match () {
                    () if name.contains("blowfish") => Some(Cipher::Blowfish),
                    () if name.ends_with("-cbc") => Some(Cipher::Cbc),
                    () if name.ends_with("-gcm") => Some(Cipher::Gcm),
                    () => None,
                };
            }
            "start-key-generation" => {
                let name = text_of(tag, "start-key-generation-name");
                self.starts_with_sha256 = name.to_ascii_lowercase().ends_with("sha256");
            }
            "key-derivation" => {
                let name = text_of(tag, "key-derivation-name").to_ascii_lowercase();
                let number = |name| number(tag, name);
                self.derivation = if name.ends_with("argon2id") {
                    Some(Derivation::Argon2id {
                        passes: number("argon2-iterations"),
                        kib: number("argon2-memory"),
                        lanes: number("argon2-lanes"),
                    })
                } else {
                    name.ends_with("pbkdf2").then(|| Derivation::Pbkdf2 {
                        rounds: number("iteration-count"),
                    })
                };
                self.salt = binary(tag, "salt");
                if tag.attribute("key-size").is_some() {
                    self.key_bytes = number("key-size") as usize;
                }
            }
            _ => {}
        }
    }

    /// Returns the deflated content if the password fits.
    fn open(
        &self,
        bytes: &[u8],
        password: &str,
        work: &mut Work,
    ) -> Result<Option<Vec<u8>>, Error> {
        let key = self.key(password, work)?;
        let opened = match self.cipher.ok_or_else(unknown_method)? {
            Cipher::Gcm => return self.open_gcm(bytes, &key),
            Cipher::Cbc => {
                let mut opened = bytes.to_vec();
                decrypt_in_place(&mut opened, &key, &self.iv)?;
                let padding = opened.last().map_or(0, |&byte| usize::from(byte));
                opened.truncate(opened.len().saturating_sub(padding));
                opened
            }
            Cipher::Blowfish => {
                let cipher = cfb_mode::Decryptor::<Blowfish>::new_from_slices(&key, &self.iv);
                let mut opened = bytes.to_vec();
                cipher.map_err(|_| damaged())?.decrypt(&mut opened);
                opened
            }
        };
        let checked = &opened[..opened.len().min(CHECKED_BYTES)];
        let checksum = match self.is_checked_by_sha1 {
            true => Sha1::digest(checked).to_vec(),
            false => Sha256::digest(checked).to_vec(),
        };
        Ok((checksum == self.checksum).then_some(opened))
    }

    /// Decrypts content with the vector before it and the tag after it.
    fn open_gcm(&self, bytes: &[u8], key: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let (iv, rest) = bytes.split_first_chunk::<12>().ok_or_else(damaged)?;
        let (sealed, tag) = rest.split_last_chunk::<16>().ok_or_else(damaged)?;
        let (iv, tag) = (Array(*iv), Array(*tag));
        let mut opened = sealed.to_vec();
        let buffer = opened.as_mut_slice().into();
        let fits = if let Ok(cipher) = Aes256Gcm::new_from_slice(key) {
            cipher.decrypt_inout_detached(&iv, &[], buffer, &tag)
        } else {
            let cipher = Aes128Gcm::new_from_slice(key).map_err(|_| unknown_method())?;
            cipher.decrypt_inout_detached(&iv, &[], buffer, &tag)
        };
        Ok(fits.is_ok().then_some(opened))
    }

    fn key(&self, password: &str, work: &mut Work) -> Result<Vec<u8>, Error> {
        let start = match self.starts_with_sha256 {
            true => Sha256::digest(password).to_vec(),
            false => Sha1::digest(password).to_vec(),
        };
        if !(1..=64).contains(&self.key_bytes) {
            return Err(damaged());
        }
        let mut key = vec![0; self.key_bytes];
        match self.derivation.ok_or_else(unknown_method)? {
            Derivation::Pbkdf2 { rounds } => {
                let n_blocks = key.len().div_ceil(20) as u64;
                work.take(u64::from(rounds).saturating_mul(n_blocks))?;
                pbkdf2::pbkdf2_hmac::<Sha1>(&start, &self.salt, rounds, &mut key);
            }
            Derivation::Argon2id { passes, kib, lanes } => {
                if kib > MAX_ARGON2_KIB {
                    return Err(Error::built_in(format!(
                        "trying a password takes {kib} KiB of memory, more than {MAX_ARGON2_KIB}"
                    )));
                }
                let filled = u64::from(kib) * u64::from(passes);
                work.take(filled.saturating_mul(ROUNDS_OF_KIB))?;
                let params = Params::new(kib, passes, lanes, Some(key.len()));
                let argon2 = params.map(|p| Argon2::new(Algorithm::Argon2id, Version::V0x13, p));
                argon2
                    .and_then(|argon2| argon2.hash_password_into(&start, &self.salt, &mut key))
                    .map_err(|_| damaged())?;
            }
        }
        Ok(key)
    }
}

fn text_of(tag: &Start<'_>, name: &str) -> String {
    tag.attribute(name).unwrap_or_default().into_owned()
}

fn number(tag: &Start<'_>, name: &str) -> u32 {
    text_of(tag, name).trim().parse().unwrap_or_default()
}

fn binary(tag: &Start<'_>, name: &str) -> Vec<u8> {
    Base64::decode_vec(text_of(tag, name).trim()).unwrap_or_default()
}
