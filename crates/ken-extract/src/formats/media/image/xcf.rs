//! XCF, the pictures of GIMP (<https://developer.gimp.org/core/standards/xcf/>): the size, and the
//! comment, which is a *parasite* among the properties.

use ken_core::Field;

use super::Picture;
use crate::structure::cursor::Cursor;
use crate::{Error, Input, text};

/// Maximum size of the properties, which are short and precede the layers.
const MAX_BYTES: usize = 256 << 10;

const END: u32 = 0;
const PARASITES: u32 = 21;

pub(super) fn read(input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
    let bytes = input.range(0, MAX_BYTES)?;
    let mut header = Cursor(bytes.get(9..).unwrap_or_default());
    let size = properties(&mut header, picture);
    size.ok_or_else(|| Error::Malformed("the header is cut off".into()))
}

fn properties(header: &mut Cursor<'_>, picture: &mut Picture) -> Option<()> {
    let version = header.take(5)?;
    picture.enlarge(header.be_u32()?.into(), header.be_u32()?.into());
    let _base_type = header.be_u32()?;
    // Version 4 introduced the precision of the channels.
    if version > &b"v003\0"[..] {
        header.be_u32()?;
    }
    loop {
        let (kind, length) = (header.be_u32()?, header.be_u32()?);
        let content = header.take(length as usize)?;
        match kind {
            END => return Some(()),
            // A damaged parasite is left out.
            PARASITES => drop(parasites(&mut Cursor(content), picture)),
            _ => {}
        }
    }
}

fn parasites(list: &mut Cursor<'_>, picture: &mut Picture) -> Option<()> {
    loop {
        let name = string(list)?;
        let _flags = list.be_u32()?;
        let content = string(list)?;
        if name == b"gimp-comment\0" {
            let comment = text::decode(content, None);
            picture.comments.text(Field::Description, &comment);
        }
    }
}

/// Reads a string after its length.
fn string<'a>(list: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let length = list.be_u32()?;
    list.take(length as usize)
}
