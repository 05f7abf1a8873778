//! The picture of itself that a document holds: the cover of a book, or the first page that an
//! office program drew.

use image::ImageFormat;

use crate::formats::epub;
use crate::structure::package::Package;
use crate::{Error, Input, Limits};

/// Where office programs put the picture: OpenDocument, and Office Open XML.
const PARTS: &[(&str, &str, ImageFormat)] = &[
    (
        "application/vnd.oasis.opendocument.",
        "Thumbnails/thumbnail.png",
        ImageFormat::Png,
    ),
    (
        "application/vnd.openxmlformats-",
        "docProps/thumbnail.jpeg",
        ImageFormat::Jpeg,
    ),
];

/// Returns the picture that a document holds of itself; none for formats that hold none.
///
/// # Errors
/// Fails if the document cannot be opened, or its format holds a picture and the document does not.
pub(super) fn read(
    input: &mut Input<'_>,
    media_type: &str,
    limits: &Limits,
) -> Result<Option<(Vec<u8>, ImageFormat)>, Error> {
    if media_type == "application/epub+zip" {
        let mut package = Package::open(input, limits)?;
        let name = epub::cover(&mut package)?.ok_or_else(none)?;
        let format = ImageFormat::from_path(&name).ok();
        let format = format
            .filter(ImageFormat::reading_enabled)
            .ok_or_else(none)?;
        return Ok(Some((package.bytes(&name)?, format)));
    }
    let mut parts = PARTS.iter();
    let Some((_, name, format)) = parts.find(|(kind, ..)| media_type.starts_with(kind)) else {
        return Ok(None);
    };
    let mut package = Package::open(input, limits)?;
    match package.has(name) {
        true => Ok(Some((package.bytes(name)?, *format))),
        false => Err(none()),
    }
}

fn none() -> Error {
    Error::unsupported("the document holds no picture of itself")
}
