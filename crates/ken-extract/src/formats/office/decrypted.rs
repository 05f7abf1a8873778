//! Reads a decrypted document in place of the file that contains it.

use ken_core::Kind;

use crate::formats::by_media_type;
use crate::output::Output;
use crate::structure::encryption::{self, OF_EXCEL};
use crate::{Error, Input, Member, detect};

/// Reads an encrypted Office Open XML document, whose content determines its format.
///
/// # Errors
/// Fails if the file is no encrypted package, or no password fits.
pub(super) fn read_encrypted(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let known: &[&str] = match output.detected().kind {
        Kind::Spreadsheet => &[OF_EXCEL],
        _ => &[],
    };
    let package = encryption::ooxml::decrypt(input.bytes(limits)?, known, &limits.passwords)?;
    read(package, input, output)
}

/// Reads a decrypted package.
///
/// # Errors
/// Fails if the bytes are no package, or if reading that fails.
pub(super) fn read(
    package: Vec<u8>,
    input: &Input<'_>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    // Anything else might be encrypted again and again.
    if !package.starts_with(b"PK") {
        return Err(encryption::damaged());
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
