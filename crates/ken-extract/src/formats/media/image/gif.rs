//! GIF (<https://www.w3.org/Graphics/GIF/spec-gif89a.txt>): blocks, among them comments and XMP.

use ken_core::Field;
use memchr::memmem;

use super::Picture;
use crate::{Error, Input, text};

/// Maximum number of bytes that are read: comments are near the start, and an animation's pixels
/// are not read for one at its end.
const MAX_BYTES: usize = 256 << 10;

const IMAGE: u8 = 0x2c;
const EXTENSION: u8 = 0x21;
const COMMENT: u8 = 0xfe;
const APPLICATION: u8 = 0xff;

pub(super) fn read(input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
    let bytes = input.range(0, MAX_BYTES)?;
    let [_, _, _, _, _, _, w0, w1, h0, h1, flags, _, _, rest @ ..] = &*bytes else {
        return Err(Error::Malformed("the header is cut off".into()));
    };
    let size = [[*w0, *w1], [*h0, *h1]]
        .map(u16::from_le_bytes)
        .map(u64::from);
    picture.enlarge(size[0], size[1]);
    let mut rest = after_colours(rest, *flags);
    loop {
        rest = match rest {
            [EXTENSION, COMMENT, blocks @ ..] => {
                let (comment, rest) = joined(blocks);
                let comment = text::decode(&comment, None);
                picture.comments.text(Field::Description, &comment);
                rest
            }
            // The packet is stored unchanged, with an end that reads as blocks.
            [EXTENSION, APPLICATION, 11, rest @ ..] if rest.starts_with(b"XMP DataXMP") => {
                let packet = &rest[11..];
                let end = memmem::find(packet, b"<?xpacket end").unwrap_or(packet.len());
                picture.add_xmp(&packet[..end]);
                skip(&packet[end..])
            }
            [EXTENSION, _, blocks @ ..] => skip(blocks),
            [IMAGE, _, _, _, _, _, _, _, _, flags, rest @ ..] => {
                // Plus one byte: the size of the first code.
                skip(after_colours(rest, *flags).get(1..).unwrap_or_default())
            }
            _ => return Ok(()),
        }
    }
}

/// Skips a colour table, if the flags announce one.
fn after_colours(rest: &[u8], flags: u8) -> &[u8] {
    let n_bytes = match flags & 0x80 {
        0 => 0,
        _ => 3 << ((flags & 7) + 1),
    };
    rest.get(n_bytes..).unwrap_or_default()
}

/// Skips blocks up to the empty one.
fn skip(mut rest: &[u8]) -> &[u8] {
    while let [length, after @ ..] = rest
        && *length > 0
    {
        rest = after.get(usize::from(*length)..).unwrap_or_default();
    }
    rest.get(1..).unwrap_or_default()
}

fn joined(mut rest: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut content = Vec::new();
    while let [length, after @ ..] = rest
        && *length > 0
    {
        let (block, after) = after.split_at(usize::from(*length).min(after.len()));
        content.extend_from_slice(block);
        rest = after;
    }
    (content, rest.get(1..).unwrap_or_default())
}
