//! Photoshop documents, and the image resource blocks that programs put into other formats
//! (Adobe Photoshop File Formats Specification, "Image Resources Section").

use super::{MAX_BLOCK_BYTES, Picture, iptc};
use crate::structure::cursor::Cursor;
use crate::{Error, Input};

const IPTC: u16 = 0x0404;
const EXIF: u16 = 0x0422;
const XMP: u16 = 0x0424;

/// Reads a document: its header, then the resources.
pub(super) fn read(input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
    let cut_off = || Error::Malformed("the header is cut off".into());
    let head = input.range(14, 16)?;
    let mut head = Cursor(&head);
    let mut number = || head.be_u32().ok_or_else(cut_off);
    let (height, width) = (number()?, number()?);
    picture.enlarge(width.into(), height.into());
    let _depth_and_mode = number()?;
    let start = 30 + u64::from(number()?);
    let length = Cursor(&input.range(start, 4)?)
        .be_u32()
        .ok_or_else(cut_off)? as usize;
    let block = input.range(start + 4, length.min(MAX_BLOCK_BYTES))?;
    resources(&block, picture);
    Ok(())
}

/// Reads image resource blocks: signature, number, padded name, padded content.
pub(super) fn resources(block: &[u8], picture: &mut Picture) {
    let mut rest = block;
    while let [b'8', b'B', b'I', b'M', n1, n0, name_length, after @ ..] = rest {
        let number = u16::from_be_bytes([*n1, *n0]);
        // The name takes an even number of bytes, including its length.
        let name_bytes = usize::from(*name_length) | 1;
        let Some((length, after)) = after
            .get(name_bytes..)
            .and_then(|after| after.split_first_chunk())
        else {
            return;
        };
        let length = u32::from_be_bytes(*length) as usize;
        let content = &after[..length.min(after.len())];
        match number {
            IPTC => iptc::read(content, &mut picture.iptc),
            EXIF => picture.add_exif(content),
            XMP => picture.add_xmp(content),
            _ => {}
        }
        rest = after
            .get(length.saturating_add(length & 1)..)
            .unwrap_or_default();
    }
}
