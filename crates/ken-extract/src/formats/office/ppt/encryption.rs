//! Encrypted presentations (MS-PPT 2.3.7): each part is encrypted separately, with the key of its
//! number. The tables stay readable, as does the part with the encryption header.

use ken_core::Encryption;

use super::record::number;
use super::tables::Tables;
use crate::structure::encryption::OF_POWERPOINT;
use crate::structure::encryption::stream::StreamKey;
use crate::{Error, Passwords};

/// The record of the encryption header.
const SESSION: u16 = 0x2f14;
/// Value in the stream `Current User` of an encrypted presentation.
const ENCRYPTED: u32 = 0xf3d1_c4df;
const HEAD_BYTES: usize = 8;
/// How often, on average, each byte may be decrypted, since parts may overlap.
const MAX_REREADS: usize = 2;

/// Decrypts the parts of an encrypted presentation and leaves other presentations unchanged.
///
/// # Errors
/// Fails if the method is not known, or no password fits.
pub(super) fn decrypt(
    user: &[u8],
    stream: &mut [u8],
    tables: &Tables,
    passwords: &Passwords,
) -> Result<(), Error> {
    if tables.session.is_none() && number(user, 12) != Some(ENCRYPTED) {
        return Ok(());
    }
    let session = tables.session.and_then(|part| tables.part(stream, part));
    let Some(session) = session.filter(|record| record.kind == SESSION) else {
        return Err(Error::sealed(Encryption::UnknownMethod));
    };
    let key = StreamKey::find(session.data, &[OF_POWERPOINT], passwords)?;
    let sealed = stream.to_vec();
    let mut left = sealed.len().saturating_mul(MAX_REREADS);
    for (part, offset) in tables.offsets() {
        let offset = offset as usize;
        let Some(head) = sealed.get(offset..).and_then(|rest| rest.get(..HEAD_BYTES)) else {
            continue;
        };
        if Some(part) == tables.session {
            continue;
        }
        let mut head = head.to_vec();
        key.decrypt_block(&mut head, part);
        let length = number(&head, 4).unwrap_or_default() as usize;
        let end = (offset + HEAD_BYTES)
            .saturating_add(length)
            .min(sealed.len());
        left = left.checked_sub(end - offset).ok_or_else(|| {
            Error::Malformed("parts of the encrypted presentation overlap".into())
        })?;
        let target = &mut stream[offset..end];
        target.copy_from_slice(&sealed[offset..end]);
        key.decrypt_block(target, part);
    }
    Ok(())
}
