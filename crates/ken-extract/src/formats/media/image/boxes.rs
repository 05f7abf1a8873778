//! Pictures made of boxes: HEIF and AVIF (ISO/IEC 23008-12), JPEG 2000 (ISO/IEC 15444-1), JPEG XL
//! (ISO/IEC 18181-2), and raw pictures of Canon (CR3).

use super::{MAX_BLOCK_BYTES, Picture, tiff};
use crate::structure::chunks::{Chunk, Chunks, Layout};
use crate::structure::cursor::Cursor;
use crate::{Error, Input};

/// Maximum number of pieces of a metadata block, which is in one piece or few.
const MAX_EXTENTS: usize = 1024;

/// Identifier of a box with XMP.
const XMP_ID: &[u8] = b"\xbe\x7a\xcf\xcb\x97\xa9\x42\xe8\x9c\x71\x99\x94\x91\xe3\xaf\xac";
/// Identifier of the box with Canon's blocks of EXIF.
const CANON_ID: &[u8] = b"\x85\xc0\xb6\x87\x82\x0f\x11\xe0\x81\x11\xf4\xce\x46\x2b\x6a\x48";

pub(super) fn read(input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
    let head = input.range(0, 16)?;
    if let [0xff, 0x4f, 0xff, 0x51, _, _, _, _, size @ ..] = &*head {
        // JPEG 2000 without boxes: only the header of its code stream.
        return measure(size, picture);
    }
    let mut boxes = Chunks::of_file(input, Layout::Iso, 0);
    while let Some(found) = boxes.next()? {
        match &found.kind {
            b"meta" => Items::of(&found, input, picture)?.read(input, picture)?,
            b"jp2h" => {
                let mut children = found.children(input, 0);
                while let Some(child) = children.next()? {
                    if &child.kind == b"ihdr" {
                        let size = child.content(input, 8)?;
                        let mut size = Cursor(&size);
                        if let (Some(height), Some(width)) = (size.be_u32(), size.be_u32()) {
                            picture.enlarge(width.into(), height.into());
                        }
                    }
                }
            }
            b"Exif" => exif_item(&found.content(input, MAX_BLOCK_BYTES)?, picture),
            b"xml " => picture.add_xmp(&found.content(input, MAX_BLOCK_BYTES)?),
            b"uuid" => {
                let content = found.content(input, MAX_BLOCK_BYTES)?;
                if let Some(packet) = content.strip_prefix(XMP_ID) {
                    picture.add_xmp(packet);
                }
            }
            b"moov" => canon(&found, input, picture)?,
            _ => {}
        }
    }
    Ok(())
}

fn measure(size: &[u8], picture: &mut Picture) -> Result<(), Error> {
    let mut size = Cursor(size);
    let (Some(width), Some(height)) = (size.be_u32(), size.be_u32()) else {
        return Err(Error::Malformed("the header is cut off".into()));
    };
    picture.enlarge(width.into(), height.into());
    Ok(())
}

/// Reads a block of EXIF, which an offset precedes.
fn exif_item(content: &[u8], picture: &mut Picture) {
    let mut cursor = Cursor(content);
    let offset = cursor.be_u32().unwrap_or_default();
    if cursor.take(offset as usize).is_some() {
        picture.add_exif(cursor.0);
    }
}

/// Reads Canon's blocks `CMT1` and `CMT2`, the first two directories of EXIF.
fn canon(moov: &Chunk, input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
    let mut boxes = moov.children(input, 0);
    while let Some(found) = boxes.next()? {
        if &found.kind != b"uuid" || &*found.content(input, CANON_ID.len())? != CANON_ID {
            continue;
        }
        let mut blocks = found.children(input, CANON_ID.len() as u64);
        while let Some(block) = blocks.next()? {
            let content = block.content(input, MAX_BLOCK_BYTES)?;
            match &block.kind {
                b"CMT1" => tiff::read(&Input::bytes_of("", &content), false, picture)?,
                b"CMT2" => picture.add_exif(&content),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The items of a HEIF file: the picture itself, and those that hold metadata.
#[derive(Default)]
struct Items {
    primary: Option<u32>,
    exif: Option<u32>,
    xmp: Option<u32>,
    /// Extents of the items: identifier, start, length.
    extents: Vec<(u32, u64, u64)>,
}

impl Items {
    fn of(meta: &Chunk, input: &Input<'_>, picture: &mut Picture) -> Result<Self, Error> {
        let mut items = Self::default();
        let (mut locations, mut properties) = (None, None);
        let mut boxes = meta.children(input, 4);
        while let Some(found) = boxes.next()? {
            match &found.kind {
                b"pitm" => {
                    let content = found.content(input, 8)?;
                    let version = content.first().copied().unwrap_or_default();
                    let mut id = Cursor(content.get(4..).unwrap_or_default());
                    items.primary = id
                        .be_number(if version == 0 { 2 } else { 4 })
                        .map(|id| id as u32);
                }
                b"iinf" => items.name(&found, input)?,
                b"iloc" => locations = Some(found),
                b"iprp" => properties = Some(found),
                _ => {}
            }
        }
        // The boxes may be in any order.
        if let Some(locations) = locations {
            let content = locations.content(input, MAX_BLOCK_BYTES)?;
            // A damaged list ends early.
            let _ = items.locate(&mut Cursor(&content));
        }
        if let Some(properties) = properties {
            items.measure(&properties, input, picture)?;
        }
        Ok(items)
    }

    /// Finds the items that hold EXIF and XMP.
    fn name(&mut self, iinf: &Chunk, input: &Input<'_>) -> Result<(), Error> {
        let is_short = iinf.content(input, 1)?.first() == Some(&0);
        let mut entries = iinf.children(input, if is_short { 6 } else { 8 });
        while let Some(entry) = entries.next()? {
            let content = entry.content(input, 128)?;
            let mut cursor = Cursor(&content);
            let version = cursor.byte();
            let _flags = cursor.take(3);
            let id = match version {
                Some(2) => cursor.be_u16().map(u32::from),
                _ => cursor.be_u32(),
            };
            let _protection = cursor.be_u16();
            match cursor.take(4) {
                Some(b"Exif") => self.exif = id,
                // A name, then a media type.
                Some(b"mime") if memchr::memmem::find(cursor.0, b"rdf+xml").is_some() => {
                    self.xmp = id;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn locate(&mut self, iloc: &mut Cursor<'_>) -> Option<()> {
        let version = iloc.byte()?;
        iloc.take(3)?;
        let sizes = iloc.be_u16()?;
        let size = |nibble: u32| usize::from(sizes >> (12 - 4 * nibble) & 0xf);
        let (offset_bytes, length_bytes, base_bytes) = (size(0), size(1), size(2));
        let index_bytes = if version == 0 { 0 } else { size(3) };
        let wide = if version < 2 { 2 } else { 4 };
        let n_items = iloc.be_number(wide)?;
        for _ in 0..n_items {
            let id = u32::try_from(iloc.be_number(wide)?).ok()?;
            let is_in_file = version == 0 || iloc.be_u16()? & 0xf == 0;
            let _data_reference = iloc.be_u16()?;
            let base = iloc.be_number(base_bytes)?;
            let n_extents = usize::from(iloc.be_u16()?);
            // Extents without numbers would cost time but no bytes.
            let is_empty = index_bytes + offset_bytes + length_bytes == 0;
            for _ in 0..if is_empty {
                n_extents.min(1)
            } else {
                n_extents
            } {
                iloc.take(index_bytes)?;
                let offset = iloc.be_number(offset_bytes)?;
                let length = iloc.be_number(length_bytes)?;
                let is_wanted = self.exif == Some(id) || self.xmp == Some(id);
                if is_in_file && is_wanted && self.extents.len() < MAX_EXTENTS {
                    self.extents.push((id, base.saturating_add(offset), length));
                }
            }
        }
        Some(())
    }

    fn read(&self, input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
        if let Some(id) = self.exif {
            exif_item(&self.content(id, input)?, picture);
        }
        if let Some(id) = self.xmp {
            picture.add_xmp(&self.content(id, input)?);
        }
        Ok(())
    }

    fn content(&self, wanted: u32, input: &Input<'_>) -> Result<Vec<u8>, Error> {
        let mut content = Vec::new();
        for (id, start, length) in &self.extents {
            let left = MAX_BLOCK_BYTES - content.len();
            if *id == wanted && left > 0 {
                let length = usize::try_from(*length).unwrap_or(left).min(left);
                content.extend_from_slice(&input.range(*start, length)?);
            }
        }
        Ok(content)
    }

    /// Sets the size of the primary item, which may be a grid of smaller tiles; if it has none, the
    /// largest size.
    fn measure(&self, iprp: &Chunk, input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
        let mut sizes = Vec::new();
        let mut primary = Vec::new();
        let mut boxes = iprp.children(input, 0);
        while let Some(found) = boxes.next()? {
            match &found.kind {
                b"ipco" => {
                    let mut properties = found.children(input, 0);
                    let mut n_properties = 0;
                    while let Some(property) = properties.next()? {
                        n_properties += 1;
                        let content = property.content(input, 12)?;
                        let mut size = Cursor(content.get(4..).unwrap_or_default());
                        if &property.kind == b"ispe"
                            && let (Some(width), Some(height)) = (size.be_u32(), size.be_u32())
                        {
                            sizes.push((n_properties, width, height));
                        }
                    }
                }
                b"ipma" => {
                    let content = found.content(input, MAX_BLOCK_BYTES)?;
                    let _ = self.associate(&mut Cursor(&content), &mut primary);
                }
                _ => {}
            }
        }
        let is_primary = |number| primary.contains(&number);
        let any = !sizes.iter().any(|(number, ..)| is_primary(*number));
        for (number, width, height) in sizes {
            if any || is_primary(number) {
                picture.enlarge(width.into(), height.into());
            }
        }
        Ok(())
    }

    /// Collects the property numbers of the primary item.
    fn associate(&self, ipma: &mut Cursor<'_>, primary: &mut Vec<u32>) -> Option<()> {
        let version = ipma.byte()?;
        let is_wide = ipma.be_number(3)? & 1 == 1;
        for _ in 0..ipma.be_u32()? {
            let id = ipma.be_number(if version == 0 { 2 } else { 4 })?;
            for _ in 0..ipma.byte()? {
                // The highest bit says whether a program must know the property.
                let number = if is_wide {
                    u32::from(ipma.be_u16()? & 0x7fff)
                } else {
                    u32::from(ipma.byte()? & 0x7f)
                };
                if self.primary.map(u64::from) == Some(id) && primary.len() < 256 {
                    primary.push(number);
                }
            }
        }
        Some(())
    }
}
