//! JPEG (ITU-T T.81, annex B): segments until the compressed data begin.

use super::{Picture, photoshop};
use crate::text;
use crate::{Error, Input};
use ken_core::Field;

/// Maximum number of segments; a file with more is an attack.
const MAX_SEGMENTS: usize = 4096;

const XMP: &[u8] = b"http://ns.adobe.com/xap/1.0/\0";
const PHOTOSHOP: &[u8] = b"Photoshop 3.0\0";

/// Reads a picture that begins at `at`.
pub(super) fn read(input: &Input<'_>, at: u64, picture: &mut Picture) -> Result<(), Error> {
    let mut at = at + 2;
    for _ in 0..MAX_SEGMENTS {
        let head = input.range(at, 9)?;
        let &[0xff, marker, ref rest @ ..] = &*head else {
            return Err(Error::Malformed("a segment has no marker".into()));
        };
        match marker {
            // A fill byte, or a marker without content.
            0xff => at += 1,
            0x01 | 0xd0..=0xd8 => at += 2,
            // The end of the picture, or the compressed data.
            0xd9 | 0xda => return Ok(()),
            _ => {
                let &[high, low, ref content @ ..] = rest else {
                    return Err(Error::Malformed("a segment is cut off".into()));
                };
                let length = u16::from_be_bytes([high, low]);
                if is_frame(marker)
                    && let &[_, h1, h0, w1, w0, ..] = content
                {
                    let size = [[w1, w0], [h1, h0]].map(u16::from_be_bytes).map(u64::from);
                    picture.enlarge(size[0], size[1]);
                }
                if matches!(marker, 0xe1 | 0xed | 0xfe) {
                    let content = input.range(at + 4, usize::from(length.saturating_sub(2)))?;
                    segment(marker, &content, picture);
                }
                at += 2 + u64::from(length.max(2));
            }
        }
    }
    Ok(())
}

/// Returns whether a marker starts a frame: all markers of its row except those of tables.
fn is_frame(marker: u8) -> bool {
    matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc)
}

fn segment(marker: u8, content: &[u8], picture: &mut Picture) {
    if marker == 0xfe {
        let comment = text::decode(content, None);
        picture.comments.text(Field::Description, &comment);
    } else if content.starts_with(b"Exif\0") {
        picture.add_exif(content);
    } else if let Some(packet) = content.strip_prefix(XMP) {
        picture.add_xmp(packet);
    } else if let Some(resources) = content.strip_prefix(PHOTOSHOP) {
        photoshop::resources(resources, picture);
    }
}

/// Reads a raw picture of a Fujifilm camera. Its header holds the offset of a JPEG preview, which
/// holds all metadata.
pub(super) fn read_raf(input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
    let head = input.range(84, 4)?;
    let start: [u8; 4] = (&*head)
        .try_into()
        .map_err(|_| Error::Malformed("the header is cut off".into()))?;
    read(input, u64::from(u32::from_be_bytes(start)), picture)
}
