//! Encrypted documents (MS-DOC 2.2.6): the encryption header is at the start of the table stream;
//! the start of the main stream stays readable.

use ken_core::Encryption;

use crate::structure::encryption::stream::StreamKey;
use crate::{Error, Passwords};

/// Number of bytes of the main stream that are not encrypted.
const PLAIN_BYTES: usize = 68;
const BLOCK_BYTES: usize = 512;
/// Flags in the byte at offset 11: encrypted, and by a mask only.
const ENCRYPTED: u8 = 1;
const MASKED: u8 = 0x80;

/// Decrypts the streams of an encrypted document and leaves other documents unchanged.
///
/// # Errors
/// Fails if the method is not known, or no password fits.
pub(super) fn decrypt(
    main: &mut [u8],
    table: Option<&mut [u8]>,
    passwords: &Passwords,
) -> Result<(), Error> {
    let flags = main.get(11).copied().unwrap_or_default();
    if flags & ENCRYPTED == 0 {
        return Ok(());
    }
    let unknown = || Error::sealed(Encryption::UnknownMethod);
    let (Some(table), 0) = (table, flags & MASKED) else {
        return Err(unknown());
    };
    let length = main.get(14..).and_then(|rest| rest.first_chunk());
    let length = length.map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize;
    let header = table.get(..length).ok_or_else(unknown)?.to_vec();
    let key = StreamKey::find(&header, &[], passwords)?;
    for (stream, plain) in [(table, length), (main, PLAIN_BYTES)] {
        let plain = stream[..plain.min(stream.len())].to_vec();
        key.decrypt(stream, BLOCK_BYTES);
        stream[..plain.len()].copy_from_slice(&plain);
    }
    Ok(())
}
