//! Encrypted documents (MS-DOC 2.2.6): the header of the encryption stands at the start of the
//! stream of tables; the start of the main stream stays readable.

use crate::structure::encryption::stream::StreamKey;
use crate::{Error, Passwords};

/// How much of the main stream is not encrypted.
const PLAIN_BYTES: usize = 68;
const BLOCK_BYTES: usize = 512;
/// Flags in the byte at 11: encrypted, and by a mask only.
const ENCRYPTED: u8 = 1;
const MASKED: u8 = 0x80;

/// Decrypts the streams of an encrypted document and leaves others as they are.
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
    let unknown = || Error::Encrypted("encrypted by an unknown method".into());
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
