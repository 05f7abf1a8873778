//! Reads an input that is text under limits: a file larger than the text limit is read in part.

use std::io::Read;

use ken_core::Setting;

use crate::{Error, Input, Limits, text};

/// Reads the text up to the limit; the inner result says whether that is all of it.
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
    let reached = limits.reached(Setting::MaxTextBytes);
    Ok((text::decode_owned(bytes, None), Err(reached)))
}

/// Reads the bytes of a format that is parsed as a whole, up to the limit on files. Of a larger
/// file, reads the start, up to the limit on text.
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
    Ok((bytes, Err(limits.too_large(input.size()))))
}

/// Drops a UTF-8 character that is cut at the end of the bytes, which would look like another
/// charset.
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
