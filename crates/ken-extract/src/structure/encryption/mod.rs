//! Decrypts documents with a password: Office, old and new (MS-OFFCRYPTO), and OpenDocument.
//!
//! Each scheme derives a key from the password by many rounds of hashing, and stores a value that
//! verifies the key. The file sets the number of rounds, so the number is hostile: all passwords
//! that are tried on one file share a bounded amount of [`Work`]. The decrypted content takes the
//! place of the file. The primitives come from RustCrypto.

mod agile;
mod header;
pub(crate) mod odf;
pub(crate) mod ooxml;
mod standard;
pub(crate) mod stream;
mod xor;

use ken_core::Encryption;

use crate::{Error, Passwords};

/// Rounds of hashing for one file: about ten seconds. Office uses 100,000 rounds for a password,
/// LibreOffice the same number for each part of a document.
const MAX_ROUNDS: u64 = 50_000_000;

/// The password with which Excel encrypts a workbook that is only protected from changes.
pub(crate) const OF_EXCEL: &str = "VelvetSweatshop";
/// PowerPoint's password for the same purpose.
pub(crate) const OF_POWERPOINT: &str = "/01Hannes Ruescher/01";

/// The hashing that the passwords of one file may still cost.
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
    /// Fails when the file asks for more rounds than allowed.
    fn take(&mut self, rounds: u64) -> Result<(), Error> {
        let left = self.rounds.checked_sub(rounds).ok_or_else(|| {
            Error::built_in(format!(
                "trying the passwords takes more than {MAX_ROUNDS} rounds of hashing"
            ))
        })?;
        self.rounds = left;
        Ok(())
    }
}

/// Returns the result of the first password that fits; `known` are passwords that programs use by
/// default.
///
/// # Errors
/// Fails if no password fits.
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

/// Returns a password in the form that Office hashes.
fn utf16(password: &str) -> Vec<u8> {
    let units = password.encode_utf16();
    units.flat_map(u16::to_le_bytes).collect()
}

fn unknown_method() -> Error {
    Error::sealed(Encryption::UnknownMethod)
}

/// Returns the failure of a file whose encryption is damaged.
pub(crate) fn damaged() -> Error {
    Error::malformed("the encryption is damaged")
}

/// Splits the package from its size without padding.
pub(crate) fn with_size(package: Vec<u8>) -> Result<(usize, Vec<u8>), Error> {
    let (size, _) = package.split_first_chunk::<8>().ok_or_else(damaged)?;
    let size = usize::try_from(u64::from_le_bytes(*size)).unwrap_or(usize::MAX);
    let mut content = package;
    content.drain(..8);
    Ok((size, content))
}

#[cfg(test)]
mod tests;
