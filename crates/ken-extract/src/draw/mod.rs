//! Draws one document, or reads where the words of its page are. A worker runs this.

mod bounds;
mod cover;
mod encode;
mod page;
mod raster;

use std::panic::{AssertUnwindSafe, catch_unwind};

use image::ImageFormat;
use ken_core::{Cause, Crash, Reader};

use self::bounds::Bounds;
use self::encode::encode;
use crate::formats::pdf;
use crate::picture::{Drawn, NAME, Order};
use crate::{Error, Input, Limits, panic_text};

/// Makes of a document what is ordered.
pub(crate) fn draw(input: &mut Input<'_>, order: Order, limits: &Limits) -> Result<Drawn, Cause> {
    let drawn = catch_unwind(AssertUnwindSafe(|| drawn(input, order, limits)));
    drawn
        .map_err(|panic| Cause::Crashed {
            reader: Reader::Parser(NAME.to_owned()),
            how: Crash::Panicked,
            said: panic_text(&*panic).to_owned(),
        })?
        .map_err(Cause::from)
}

fn drawn(input: &mut Input<'_>, order: Order, limits: &Limits) -> Result<Drawn, Error> {
    let media_type = input.detect()?.media_type;
    let is_pdf = media_type == "application/pdf";
    let image = match order {
        Order::Text { page } if is_pdf => {
            return pdf::page_text(input, page, limits).map(Drawn::Text);
        }
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
    encode(image).map(Drawn::Picture)
}

/// Returns the format of a picture that can be drawn.
fn format_of(media_type: &str) -> Result<ImageFormat, Error> {
    let format = ImageFormat::from_mime_type(media_type);
    let format = format.filter(ImageFormat::reading_enabled);
    format.ok_or_else(|| Error::unsupported(format!("ken draws no pictures of {media_type}")))
}
