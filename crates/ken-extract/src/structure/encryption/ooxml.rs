//! Decrypts an Office Open XML document: a compound file with the streams `EncryptionInfo`, which
//! says how, and `EncryptedPackage` (MS-OFFCRYPTO 2.3.4).

use ken_core::Encryption;

use super::agile::Agile;
use super::standard::Standard;
use super::{Work, damaged, first_that_fits, unknown_method};
use crate::structure::compound::Compound;
use crate::structure::compound::ROOT;
use crate::{Error, Passwords};

/// Returns the package of an encrypted document; `known` are passwords that programs use by
/// default.
///
/// # Errors
/// Fails if the file is not an encrypted package, or no password fits.
pub(crate) fn decrypt(
    file: &[u8],
    known: &[&str],
    passwords: &Passwords,
) -> Result<Vec<u8>, Error> {
    let file = Compound::open(file)?;
    let Some(package) = file.stream(ROOT, "EncryptedPackage") else {
        return Err(Error::malformed(
            "a file of Office 97 under the name of a newer format",
        ));
    };
    let Some(info) = file.stream(ROOT, "EncryptionInfo") else {
        // A server of the owner keeps the key.
        return Err(Error::sealed(Encryption::Rights));
    };
    let (version, info) = info.split_first_chunk::<4>().ok_or_else(damaged)?;
    let mut work = Work::new();
    match version {
        [4, 0, 4, 0] => {
            let agile = Agile::read(info.get(4..).ok_or_else(damaged)?)?;
            let key = first_that_fits(known, passwords, |password| agile.key(password, &mut work))?;
            agile.decrypt(package, &key)
        }
        [2..=4, 0, 2, 0] => {
            let standard = Standard::read(info)?;
            let key = first_that_fits(known, passwords, |password| {
                standard.key(password, &mut work)
            })?;
            standard.decrypt(package, &key)
        }
        _ => Err(unknown_method()),
    }
}
