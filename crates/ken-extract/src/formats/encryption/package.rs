//! An encrypted Office Open XML document: a compound file with the streams `EncryptionInfo`, which
//! says how, and `EncryptedPackage` (MS-OFFCRYPTO 2.3.4).

use ken_core::Kind;

use super::super::by_media_type;
use super::super::ole::Compound;
use super::super::ole::compound::ROOT;
use super::agile::Agile;
use super::standard::Standard;
use super::{OF_EXCEL, Work, damaged, first_that_fits, unknown_method};
use crate::output::Output;
use crate::{Error, Input, Member, Passwords, detect};

/// Reads the package in the place of the input; what it is, its content says.
///
/// # Errors
/// Fails if the file is no encrypted package, or no password fits.
pub(in crate::formats) fn read(
    input: &mut Input<'_>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let limits = output.limits();
    let known: &[&str] = match output.detected().kind {
        Kind::Spreadsheet => &[OF_EXCEL],
        _ => &[],
    };
    let package = decrypt(input.bytes(limits)?, known, &limits.passwords)?;
    read_plain(package, input, output)
}

/// Reads what was decrypted in the place of the input.
pub(in crate::formats) fn read_plain(
    package: Vec<u8>,
    input: &Input<'_>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    // Anything else might be encrypted again, and again.
    if !package.starts_with(b"PK") {
        return Err(damaged());
    }
    output.unpacked(package.len() as u64)?;
    let mut input = Input::member(Member {
        ipath: input.ipath.clone(),
        name: input.name.clone(),
        bytes: package,
        expansion: Some(input.account(output.limits())),
        ..Member::default()
    });
    let detected = detect::detect(&input)?;
    let format = by_media_type(detected.media_type)
        .ok_or_else(|| Error::malformed("there is no document in the encrypted package"))?;
    output.set_detected(detected);
    (format.extract)(&mut input, output)
}

/// Returns the package.
fn decrypt(file: &[u8], known: &[&str], passwords: &Passwords) -> Result<Vec<u8>, Error> {
    let file = Compound::open(file)?;
    let Some(package) = file.stream(ROOT, "EncryptedPackage") else {
        return Err(Error::malformed(
            "a file of Office 97 under the name of a newer format",
        ));
    };
    let Some(info) = file.stream(ROOT, "EncryptionInfo") else {
        // The key is kept by a server of the owner.
        return Err(Error::Encrypted("encrypted by rights management".into()));
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

/// Splits off the number of bytes that the package has without padding.
pub(super) fn with_size(package: Vec<u8>) -> Result<(usize, Vec<u8>), Error> {
    let (size, _) = package.split_first_chunk::<8>().ok_or_else(damaged)?;
    let size = usize::try_from(u64::from_le_bytes(*size)).unwrap_or(usize::MAX);
    let mut content = package;
    content.drain(..8);
    Ok((size, content))
}
