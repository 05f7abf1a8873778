//! Documents that a password encrypts: Office, old and new (MS-OFFCRYPTO), and OpenDocument.
//!
//! Each form makes a key of the password by many rounds of hashing, and keeps a value by which to
//! tell whether it fits. The number of rounds stands in the file, so it is hostile: all passwords
//! that are tried on one file share a bounded amount of [`Work`]. What is decrypted takes the place
//! of the file. The primitives are those of RustCrypto.

mod agile;
mod header;
pub(crate) mod odf;
pub(crate) mod ooxml;
mod standard;
pub(crate) mod stream;
mod xor;

use crate::{Error, Passwords};

/// Rounds of hashing for one file: some ten seconds. Office writes 100,000 for a password,
/// LibreOffice as many for each part of a document.
const MAX_ROUNDS: u64 = 50_000_000;

/// The password by which Excel encrypts a workbook that is only to be kept from changes.
pub(crate) const OF_EXCEL: &str = "VelvetSweatshop";
/// The same of PowerPoint.
pub(crate) const OF_POWERPOINT: &str = "/01Hannes Ruescher/01";

/// How much hashing the passwords of one file may still cost.
pub(crate) struct Work {
    rounds: u64,
}

impl Work {
    pub(crate) fn new() -> Self {
        Self { rounds: MAX_ROUNDS }
    }

    /// Counts rounds before they are done.
    ///
    /// # Errors
    /// Fails when they are more than a file may ask for.
    fn take(&mut self, rounds: u64) -> Result<(), Error> {
        let left = self.rounds.checked_sub(rounds).ok_or_else(|| {
            Error::Limit(format!(
                "encrypted, and trying the passwords takes more than {MAX_ROUNDS} rounds of hashing"
            ))
        })?;
        self.rounds = left;
        Ok(())
    }
}

/// Returns what the first password that fits opens; `known` are those that programs use on their
/// own.
///
/// # Errors
/// Fails if none fits.
fn first_that_fits<T>(
    known: &[&str],
    passwords: &Passwords,
    mut open: impl FnMut(&str) -> Result<Option<T>, Error>,
) -> Result<T, Error> {
    for password in known.iter().copied().chain(passwords.iter()) {
        if let Some(opened) = open(password)? {
            return Ok(opened);
        }
    }
    Err(Error::encrypted(passwords))
}

/// Returns a password as Office hashes it.
fn utf16(password: &str) -> Vec<u8> {
    let units = password.encode_utf16();
    units.flat_map(u16::to_le_bytes).collect()
}

fn unknown_method() -> Error {
    Error::Encrypted("encrypted by an unknown method".into())
}

/// Returns the failure of a file whose encryption is damaged.
pub(crate) fn damaged() -> Error {
    Error::malformed("damaged encryption")
}

/// Splits off the number of bytes that the package has without padding.
pub(crate) fn with_size(package: Vec<u8>) -> Result<(usize, Vec<u8>), Error> {
    let (size, _) = package.split_first_chunk::<8>().ok_or_else(damaged)?;
    let size = usize::try_from(u64::from_le_bytes(*size)).unwrap_or(usize::MAX);
    let mut content = package;
    content.drain(..8);
    Ok((size, content))
}

#[cfg(test)]
mod tests;
