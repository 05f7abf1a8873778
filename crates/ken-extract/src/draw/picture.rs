//! Draws a page or a thumbnail, and encodes it.

use image::ImageFormat;

use super::PDF;
use super::bounds::Bounds;
use super::encode::encode;
use super::{cover, page, raster};
use crate::picture::{Order, Picture};
use crate::{Error, Input, Limits};

/// Returns the picture that is ordered of a document of this media type, encoded.
///
/// # Errors
/// Fails if ken draws no such documents, if there is no such page, or if the document is malformed.
pub(super) fn draw(
    input: &mut Input<'_>,
    media_type: &str,
    order: Order,
    limits: &Limits,
) -> Result<Picture, Error> {
    let is_pdf = media_type == PDF;
    let image = match order {
        Order::Page { page, width } if is_pdf => {
            page::draw(input, page, Bounds::of_page(width), limits)?
        }
        Order::Thumbnail { width } if is_pdf => {
            page::draw(input, 0, Bounds::of_thumbnail(width), limits)?
        }
        Order::Page { page: 0, width } => {
            let format = format_of(media_type)?;
            raster::draw(input.bytes(limits)?, format, Bounds::of_page(width), limits)?
        }
        Order::Thumbnail { width } => {
            let held = cover::read(input, media_type, limits)?;
            let (bytes, format) = match &held {
                Some((bytes, format)) => (&**bytes, *format),
                None => {
                    let format = format_of(media_type)?;
                    (input.bytes(limits)?, format)
                }
            };
            raster::draw(bytes, format, Bounds::of_thumbnail(width), limits)?
        }
        Order::Page { page, .. } | Order::Text { page } => {
            format_of(media_type)?;
            return Err(Error::no_page(page, 1));
        }
    };
    encode(image)
}

/// Returns the format of a picture that can be drawn.
fn format_of(media_type: &str) -> Result<ImageFormat, Error> {
    let format = ImageFormat::from_mime_type(media_type);
    let format = format.filter(ImageFormat::reading_enabled);
    format.ok_or_else(|| Error::unsupported(format!("ken draws no pictures of {media_type}")))
}
