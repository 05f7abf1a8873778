//! The text of one page, with the place of each word on it.
//!
//! The text is exactly what extraction finds on the page. Words are ranges of it, so that what a
//! search finds in the text can be shown on a picture of the page. A word that is hyphenated at the
//! end of a line is one word of the text with two places.

use hayro_font::kurbo::Rect;
use hayro_syntax::object::Dict;

use super::content::Shared;
use super::layers::Layers;
use super::segment::Segments;
use super::stream::Budget;
use super::{MAX_DOCUMENT_BYTES, open, read_into, sheet};
use crate::picture::{Area, PageText, PlacedWord};
use crate::{Error, Input, Limits};

/// Words of one page beyond this number have no place.
pub(crate) const MAX_WORDS: usize = 100_000;

/// Reads the text of a page, counted from 0.
pub(crate) fn page_text(
    input: &mut Input<'_>,
    page: u32,
    limits: &Limits,
) -> Result<PageText, Error> {
    let pdf = open(input, limits)?;
    let catalog: Dict<'_> = pdf.xref().get(pdf.xref().root_id()).unwrap_or_default();
    let mut shared = Shared::new(Layers::new(&catalog), Budget::new(MAX_DOCUMENT_BYTES));
    let pages = pdf.pages();
    let found = pages.get(page as usize);
    let page = found.ok_or_else(|| Error::no_page(page, pages.len()))?;
    let (width, height) = page.render_dimensions();
    let segments = Segments::new(sheet(page)).with_words();
    let mut text = String::new();
    let words = read_into(page, &mut shared, segments, &mut text);
    let placed = words.into_iter().filter_map(|word| {
        let area = area_on_page(word.area, width.into(), height.into())?;
        let range = word.range;
        (!range.is_empty()).then_some(PlacedWord { range, area })
    });
    Ok(PageText {
        words: placed.take(MAX_WORDS).collect(),
        text,
    })
}

/// Returns the part of a rectangle that is on the page, whose origin is below; none if it is outside.
fn area_on_page(rect: Rect, width: f64, height: f64) -> Option<Area> {
    let rect = rect.intersect(Rect::new(0.0, 0.0, width, height));
    let is_inside = rect.width() > 0.0 && rect.height() > 0.0;
    is_inside.then_some(Area {
        left: (rect.x0 / width) as f32,
        top: ((height - rect.y1) / height) as f32,
        width: (rect.width() / width) as f32,
        height: (rect.height() / height) as f32,
    })
}
