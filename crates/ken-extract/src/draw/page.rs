//! Draws a page of a PDF file, by `hayro`.

use hayro::hayro_interpret::InterpreterSettings;
use hayro::kurbo::Affine;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::vello_cpu::{Pixmap, RasterizerSettings, RenderContext, Resources, TargetInit};
use hayro::{RenderCache, RenderSettings, render_into};
use image::{DynamicImage, RgbImage};

use super::bounds::Bounds;
use crate::formats::pdf;
use crate::{Error, Input, Limits};

/// Draws a page, counted from 0, on white paper.
pub(super) fn draw(
    input: &mut Input<'_>,
    page: u32,
    bounds: Bounds,
    limits: &Limits,
) -> Result<DynamicImage, Error> {
    let pdf = pdf::open(input, limits)?;
    let pages = pdf.pages();
    let found = pages.get(page as usize);
    let page = found.ok_or_else(|| Error::no_page(page, pages.len()))?;
    let (page_width, page_height) = page.render_dimensions();
    let (page_width, page_height) = (f64::from(page_width), f64::from(page_height));
    let (width, height) = bounds.fit(page_width, page_height);
    let scale = Affine::scale_non_uniform(
        f64::from(width) / page_width,
        f64::from(height) / page_height,
    );
    let matrix = scale * Affine::new(page.initial_transform(true).as_coeffs());
    let [width, height] = [width, height].map(|length| u16::try_from(length).unwrap_or(u16::MAX));
    let mut context = RenderContext::new(width, height);
    render_into(
        page,
        &RenderCache::new(),
        &InterpreterSettings::default(),
        &RenderSettings::default(),
        &mut context,
        matrix,
    );
    context.flush();
    let mut pixels = Pixmap::new(width, height);
    let settings = RasterizerSettings {
        target_init: TargetInit::Clear(WHITE),
        ..RasterizerSettings::default()
    };
    context.render_with(&mut pixels, &mut Resources::default(), settings);
    Ok(opaque(&pixels))
}

/// Returns the pixels of a picture without transparency.
fn opaque(pixels: &Pixmap) -> DynamicImage {
    let (width, height) = (pixels.width().into(), pixels.height().into());
    let bytes = pixels
        .data()
        .iter()
        .flat_map(|pixel| [pixel.r, pixel.g, pixel.b]);
    let image = RgbImage::from_raw(width, height, bytes.collect());
    image.unwrap_or_default().into()
}
