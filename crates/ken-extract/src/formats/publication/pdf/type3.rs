//! Type 3 fonts, whose glyphs are content streams (ISO 32000-2, 9.6.4): how large they are, and what
//! they are if they have no names.

use std::ops::Range;

use hayro_syntax::object::{Array, Dict};

use super::normal::Text;

/// Heights of Type 3 fonts for size 1 that leave the size meaningful.
const USUAL_EM: Range<f64> = 0.4..2.5;
/// Returns the height of the glyphs of a Type 3 font for size 1. Bitmap fonts are shown at sizes that
/// say nothing of their glyphs.
pub(super) fn em(dict: &Dict<'_>) -> f32 {
    let [across, .., scale, _, _] = dict
        .get::<[f64; 6]>(b"FontMatrix")
        .unwrap_or([0.001, 0.0, 0.0, 0.001, 0.0, 0.0]);
    let height = dict
        .get::<[f64; 4]>(b"FontBBox")
        .map(|[_, bottom, _, top]| ((top - bottom) * scale).abs());
    let is_some = |height: &f64| height.is_normal();
    let height = height.filter(is_some);
    // Glyphs are about twice as high as wide.
    let height = height.or_else(|| Some(2.0 * mean_width(dict)? * across.abs()).filter(is_some));
    let height = height.unwrap_or(1.0);
    // Most fonts are drawn for their size, and a box around a few glyphs tells less.
    match USUAL_EM.contains(&height) {
        true => 1.0,
        false => height as f32,
    }
}

fn mean_width(font: &Dict<'_>) -> Option<f64> {
    let widths = font.get::<Array<'_>>(b"Widths")?;
    let widths: Vec<f64> = widths
        .iter::<f64>()
        .take(256)
        .filter(|&width| width > 0.0)
        .collect();
    (!widths.is_empty()).then(|| widths.iter().sum::<f64>() / widths.len() as f64)
}

/// Guesses the text of a glyph in a Type 3 font with invented glyph names. Such fonts are the
/// bitmaps of old TeX files: ASCII, with ligatures where TeX's encodings OT1 and T1 have them.
pub(super) fn bitmap_char(code: u32) -> Text {
    const LIGATURES: [&str; 5] = ["ff", "fi", "fl", "ffi", "ffl"];
    match code {
        0x0B..=0x0F => Text::Chars(LIGATURES[code as usize - 0x0B].into()),
        0x1B..=0x1F => Text::Chars(LIGATURES[code as usize - 0x1B].into()),
        0x21..=0x7E | 0xC0..=0xFE => char::from_u32(code).map_or(Text::Unknown, Text::Char),
        _ => Text::Unknown,
    }
}
