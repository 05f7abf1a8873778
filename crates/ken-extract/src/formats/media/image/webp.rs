//! WebP (RFC 9649): chunks of RIFF.

use super::{MAX_BLOCK_BYTES, Picture};
use crate::structure::chunks::{Chunks, Layout};
use crate::{Error, Input};

pub(super) fn read(input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
    let mut chunks = Chunks::of_file(input, Layout::Riff, 12);
    while let Some(chunk) = chunks.next()? {
        match &chunk.kind {
            b"VP8 " | b"VP8L" | b"VP8X" => {
                let head = chunk.content(input, 10)?;
                if let Some((width, height)) = size(&chunk.kind, &head) {
                    picture.enlarge(width.into(), height.into());
                }
            }
            b"EXIF" => picture.add_exif(&chunk.content(input, MAX_BLOCK_BYTES)?),
            b"XMP " => picture.add_xmp(&chunk.content(input, MAX_BLOCK_BYTES)?),
            _ => {}
        }
    }
    Ok(())
}

/// Returns width and height of a key frame (RFC 6386, 9.1), a lossless picture or a canvas.
fn size(kind: &[u8; 4], head: &[u8]) -> Option<(u32, u32)> {
    match (kind, head) {
        (b"VP8 ", &[_, _, _, 0x9d, 0x01, 0x2a, w0, w1, h0, h1, ..]) => {
            let [width, height] = [[w0, w1], [h0, h1]].map(u16::from_le_bytes);
            Some((u32::from(width & 0x3fff), u32::from(height & 0x3fff)))
        }
        (b"VP8L", &[0x2f, a, b, c, d, ..]) => {
            let bits = u32::from_le_bytes([a, b, c, d]);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        (b"VP8X", &[_, _, _, _, w0, w1, w2, h0, h1, h2, ..]) => {
            let [width, height] = [[w0, w1, w2, 0], [h0, h1, h2, 0]].map(u32::from_le_bytes);
            Some((width + 1, height + 1))
        }
        _ => None,
    }
}
