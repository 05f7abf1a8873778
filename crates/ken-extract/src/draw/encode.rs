//! Encodes pixels anew: as PNG, or as JPEG where that takes less than half as much, as for
//! photographs and scanned pages. A page of text takes 0.05 to 0.1 bytes a pixel as PNG, and to
//! encode it as JPEG takes longer than to draw it, so that is not tried.

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ImageEncoder, ImageError};

use crate::Error;
use crate::picture::{Encoding, Picture};

/// The quality of a JPEG, of 100.
const QUALITY: u8 = 85;
/// A PNG up to this size is small enough.
const SMALL_BYTES: usize = 8 << 10;
/// A PNG with this many pixels for each byte is small enough.
const SMALL_PIXELS: usize = 4;
/// On pages of text, level 2 of 9 takes 1.2 times the bytes of the default and a third of its time.
const LEVEL: CompressionType = CompressionType::Level(2);

/// Encodes a picture.
pub(super) fn encode(image: DynamicImage) -> Result<Picture, Error> {
    let image = simple(image);
    let (width, height) = (image.width(), image.height());
    let mut bytes = png(&image).map_err(Error::malformed)?;
    let mut encoding = Encoding::Png;
    let n_pixels = width as usize * height as usize;
    let is_small = bytes.len() <= SMALL_BYTES.max(n_pixels / SMALL_PIXELS);
    if !is_small && !image.color().has_alpha() {
        let jpeg = jpeg(&image).map_err(Error::malformed)?;
        if jpeg.len() < bytes.len() / 2 {
            (bytes, encoding) = (jpeg, Encoding::Jpeg);
        }
    }
    Ok(Picture {
        encoding,
        width,
        height,
        bytes,
    })
}

/// Returns the picture with 8 bits for each channel, without colour or transparency that it does not
/// use.
fn simple(image: DynamicImage) -> DynamicImage {
    if image.color().has_alpha() {
        let pixels = image.into_rgba8();
        return match pixels.pixels().all(|pixel| pixel.0[3] == u8::MAX) {
            true => simple(DynamicImage::from(pixels).into_rgb8().into()),
            false => pixels.into(),
        };
    }
    if !image.color().has_color() {
        return image.into_luma8().into();
    }
    let pixels = image.into_rgb8();
    let is_grey = |[red, green, blue]: [u8; 3]| red == green && green == blue;
    match pixels.pixels().all(|pixel| is_grey(pixel.0)) {
        true => DynamicImage::from(pixels).into_luma8().into(),
        false => pixels.into(),
    }
}

fn png(image: &DynamicImage) -> Result<Vec<u8>, ImageError> {
    let mut bytes = Vec::new();
    // Filters make colours smaller, and print larger.
    let filter = match image.color().has_color() {
        true => FilterType::Adaptive,
        false => FilterType::NoFilter,
    };
    let encoder = PngEncoder::new_with_quality(&mut bytes, LEVEL, filter);
    let (width, height) = (image.width(), image.height());
    encoder.write_image(image.as_bytes(), width, height, image.color().into())?;
    Ok(bytes)
}

fn jpeg(image: &DynamicImage) -> Result<Vec<u8>, ImageError> {
    let mut bytes = Vec::new();
    JpegEncoder::new_with_quality(&mut bytes, QUALITY).encode_image(image)?;
    Ok(bytes)
}
