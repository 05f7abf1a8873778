//! Decodes a picture and scales it down, upright as its camera was held.

use std::io::Cursor;

use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader};
use ken_core::Setting;

use super::bounds::Bounds;
use crate::{Error, Limits};

/// Pictures with more pixels than this are not decoded.
const MAX_PIXELS: u64 = 100_000_000;

/// Decodes a picture, and scales it into the bounds if it is larger.
pub(super) fn draw(
    bytes: &[u8],
    format: ImageFormat,
    bounds: Bounds,
    limits: &Limits,
) -> Result<DynamicImage, Error> {
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    let mut memory = image::Limits::no_limits();
    memory.max_alloc = Some(limits.worker_memory / 2);
    reader.limits(memory);
    let mut decoder = reader
        .into_decoder()
        .map_err(|error| failed(&error, limits))?;
    check(&decoder, limits)?;
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let image = DynamicImage::from_decoder(decoder).map_err(|error| failed(&error, limits))?;
    let mut image = scaled(image, orientation, bounds);
    image.apply_orientation(orientation);
    Ok(image)
}

/// Refuses a picture whose pixels take too much memory, before any of it is taken.
fn check(decoder: &impl ImageDecoder, limits: &Limits) -> Result<(), Error> {
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(Error::built_in(format!(
            "{width} × {height} pixels are more than ken draws"
        )));
    }
    if decoder.total_bytes() > limits.worker_memory / 2 {
        return Err(limits.reached(Setting::WorkerMemory));
    }
    Ok(())
}

/// Scales a picture that is larger than it may be when it is upright.
fn scaled(image: DynamicImage, orientation: Orientation, bounds: Bounds) -> DynamicImage {
    let (width, height) = (image.width(), image.height());
    let is_on_side = matches!(
        orientation,
        Orientation::Rotate90
            | Orientation::Rotate270
            | Orientation::Rotate90FlipH
            | Orientation::Rotate270FlipH
    );
    let (wanted_width, wanted_height) = match is_on_side {
        false => bounds.fit(width.into(), height.into()),
        true => {
            let (upright_width, upright_height) = bounds.fit(height.into(), width.into());
            (upright_height, upright_width)
        }
    };
    match wanted_width < width || wanted_height < height {
        true => image.thumbnail_exact(wanted_width, wanted_height),
        false => image,
    }
}

fn failed(error: &ImageError, limits: &Limits) -> Error {
    match error {
        ImageError::Limits(_) => limits.reached(Setting::WorkerMemory),
        ImageError::Unsupported(what) => Error::unsupported(what.to_string()),
        _ => Error::malformed(error),
    }
}
