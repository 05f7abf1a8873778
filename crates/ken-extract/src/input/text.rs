//! An input that is text, read under limits: a file larger than the limit on text is read in part.

use std::io::Read;

use crate::{Error, Input, Limits, text};

/// Reads the text, as much of it as the limit allows; the inner result says whether that is all.
pub(crate) fn read(
    input: &Input<'_>,
    limits: &Limits,
) -> Result<(String, Result<(), Error>), Error> {
    let limit = limits.max_text_bytes;
    let unit_bytes = text::unit_bytes(&input.head()?);
    let wanted = (limit as u64).saturating_mul(unit_bytes as u64);
    let mut bytes = Vec::with_capacity(input.size().min(wanted) as usize);
    input.reader()?.take(wanted).read_to_end(&mut bytes)?;
    if input.size() <= wanted {
        return Ok((text::decode_owned(bytes, None), Ok(())));
    }
    cut_character(&mut bytes);
    let message = format!("only the first {limit} bytes of text are searchable (max_text_bytes)");
    Ok((text::decode_owned(bytes, None), Err(Error::Limit(message))))
}

/// Reads the bytes of a format that is parsed as a whole, all that the limit on files allows; of a
/// larger file the start, as much as the limit on text.
pub(crate) fn read_bytes(
    input: &mut Input<'_>,
    limits: &Limits,
) -> Result<(Vec<u8>, Result<(), Error>), Error> {
    if input.size() <= limits.max_file_bytes {
        return Ok((input.take_bytes(limits)?, Ok(())));
    }
    let mut bytes = Vec::new();
    let wanted = limits.max_text_bytes as u64;
    input.reader()?.take(wanted).read_to_end(&mut bytes)?;
    cut_character(&mut bytes);
    let message = format!(
        "only the first {wanted} bytes are read (max_text_bytes) of more than max_file_bytes = {}",
        limits.max_file_bytes
    );
    Ok((bytes, Err(Error::Limit(message))))
}

/// Drops the UTF-8 character that the end of the bytes cuts, which would look like another charset.
pub(crate) fn cut_character(bytes: &mut Vec<u8>) {
    let is_inside = |byte: &&u8| **byte & 0xc0 == 0x80;
    let n_inside = bytes.iter().rev().take(3).take_while(is_inside).count();
    let lead = bytes.len().saturating_sub(n_inside + 1);
    let length = match bytes.get(lead) {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        _ => return,
    };
    if n_inside + 1 < length {
        bytes.truncate(lead);
    }
}
