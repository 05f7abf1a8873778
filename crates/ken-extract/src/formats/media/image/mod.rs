//! Pictures: their size, and the metadata that cameras, programs and people wrote into them.
//!
//! Only headers and metadata blocks are read, never pixels, so a large picture costs a few reads. A
//! picture may describe itself in four ways at once: EXIF ([`tiff`]), XMP
//! ([`crate::formats::media::xmp`]), IPTC ([`iptc`]), and comments of its own format. They are
//! merged in this order, each value once.

mod bmp;
mod boxes;
mod gif;
mod iptc;
mod jpeg;
mod photoshop;
mod png;
mod tiff;
mod webp;
mod xcf;

use std::io::BufReader;

use ken_core::Field;

use crate::formats::media::xmp;
use crate::output::Output;
use crate::output::metadata::Metadata;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "picture",
    &[
        "image/avif",
        "image/bmp",
        "image/gif",
        "image/heic",
        "image/jp2",
        "image/jpeg",
        "image/jxl",
        "image/png",
        "image/tiff",
        "image/vnd.adobe.photoshop",
        "image/vnd.microsoft.icon",
        "image/webp",
        "image/x-adobe-dng",
        "image/x-canon-cr2",
        "image/x-canon-cr3",
        "image/x-dds",
        "image/x-exr",
        "image/x-fuji-raf",
        "image/x-nikon-nef",
        "image/x-olympus-orf",
        "image/x-panasonic-rw2",
        "image/x-pentax-pef",
        "image/x-portable-anymap",
        "image/x-portable-bitmap",
        "image/x-portable-graymap",
        "image/x-portable-pixmap",
        "image/x-qoi",
        "image/x-sony-arw",
        "image/x-tga",
        "image/x-xcf",
    ],
    extract,
)
.fields(&[
    Field::Title,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Lang,
    Field::Camera,
    Field::Created,
    Field::Date,
    Field::Pages,
    Field::Width,
    Field::Height,
])
.in_worker()
.version(3)
.streams();

/// Maximum size of a metadata block; larger ones are left out.
const MAX_BLOCK_BYTES: usize = 4 << 20;

/// The metadata of a picture.
#[derive(Default)]
struct Picture {
    /// Width and height in pixels.
    size: Option<(u64, u64)>,
    n_pages: Option<u64>,
    exif: Metadata,
    xmp: Metadata,
    iptc: Metadata,
    comments: Metadata,
}

impl Picture {
    /// Takes a size if it is larger than the current one, since files also hold previews and tiles.
    fn enlarge(&mut self, width: u64, height: u64) {
        let area = |(width, height): (u64, u64)| width.saturating_mul(height);
        if self.size.map_or(0, area) < area((width, height)) {
            self.size = Some((width, height));
        }
    }

    /// Reads a block of EXIF in a file of another format, with or without its mark.
    fn add_exif(&mut self, block: &[u8]) {
        let block = block.strip_prefix(b"Exif\0\0").unwrap_or(block);
        // Damage in a block is not a failure of the picture.
        let _ = tiff::read_exif(&Input::bytes_of("", block), &mut self.exif);
    }

    fn add_xmp(&mut self, packet: &[u8]) {
        self.xmp.merge(xmp::read(packet));
    }

    fn finish(self, output: &mut Output<'_>) {
        let mut metadata = self.exif;
        metadata.merge(self.xmp);
        metadata.merge(self.iptc);
        metadata.merge(self.comments);
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        if let Some((width, height)) = self.size {
            metadata.number(Field::Width, number(width));
            metadata.number(Field::Height, number(height));
        }
        if let Some(n_pages) = self.n_pages {
            metadata.number(Field::Pages, number(n_pages));
        }
        metadata.add_to(output.own());
    }
}

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let mut picture = Picture::default();
    let result = read(input, output.detected().media_type, &mut picture);
    picture.finish(output);
    result
}

fn read(input: &Input<'_>, media_type: &str, picture: &mut Picture) -> Result<(), Error> {
    match media_type {
        "image/jpeg" => jpeg::read(input, 0, picture)?,
        "image/png" => png::read(input, picture)?,
        "image/gif" => gif::read(input, picture)?,
        "image/webp" => webp::read(input, picture)?,
        "image/bmp" => bmp::read(input, picture)?,
        "image/vnd.adobe.photoshop" => photoshop::read(input, picture)?,
        "image/x-xcf" => xcf::read(input, picture)?,
        "image/x-fuji-raf" => jpeg::read_raf(input, picture)?,
        "image/tiff" => tiff::read(input, true, picture)?,
        "image/x-adobe-dng"
        | "image/x-canon-cr2"
        | "image/x-nikon-nef"
        | "image/x-olympus-orf"
        | "image/x-panasonic-rw2"
        | "image/x-pentax-pef"
        | "image/x-sony-arw" => {
            tiff::read(input, false, picture)?;
        }
        "image/avif" | "image/heic" | "image/jp2" | "image/x-canon-cr3" => {
            boxes::read(input, picture)?;
        }
        "image/jxl" => {
            boxes::read(input, picture)?;
            return measure(input, picture);
        }
        _ => return measure(input, picture),
    }
    match picture.size {
        Some(_) => Ok(()),
        None => Err(Error::Malformed(
            "the size of the picture is missing".into(),
        )),
    }
}

/// Reads the size of a picture whose format holds little else. `imagesize` does not know rare
/// variants; such a picture has no size, but nothing is wrong with it.
fn measure(input: &Input<'_>, picture: &mut Picture) -> Result<(), Error> {
    if let Ok(size) = imagesize::reader_size(BufReader::new(input.seekable()?)) {
        picture.enlarge(size.width as u64, size.height as u64);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
