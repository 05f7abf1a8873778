//! PDF: text page by page, metadata, attachments.
//!
//! `hayro-syntax` reads the file's structure (even of damaged and encrypted files), `hayro-font`
//! the fonts. ken adds its own interpreter of content streams, which executes only operators that
//! matter for text ([`content`]), what the codes of a font most likely are where `hayro-font` finds
//! no text ([`font`]), and its own layout ([`segment`], [`layout`]). Pages do not depend on each
//! other; what they share is in [`content::Shared`]. Source: ISO 32000-2:2020.

mod annotation;
mod attachment;
mod collection;
mod content;
mod encryption;
mod font;
mod glyph_name;
mod hole;
mod layers;
mod layout;
mod metadata;
mod nesting;
mod normal;
mod outline;
mod program;
mod run;
mod script;
mod segment;
mod stream;
#[cfg(test)]
pub(crate) mod tests;
mod to_unicode;
mod type3;
mod words;
mod xfa;

use ken_core::{Field, Setting};
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hayro_font::kurbo::{Affine, Rect};
use hayro_syntax::Pdf;
use hayro_syntax::object::{Array, Dict, Object, Stream};
use hayro_syntax::page::Page;

use self::content::{Interpreter, Resources, Shared};
use self::encryption::Opened;
use self::layers::Layers;
use self::segment::{Segments, Word};
use self::stream::{Budget, MAX_CONTENT_BYTES};
use crate::output::Output;
use crate::{Error, Format, Input, Limits};

pub(crate) use self::words::page_text;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("PDF", &["application/pdf"], extract)
    .fields(&[
        Field::Title,
        Field::Headings,
        Field::Author,
        Field::Description,
        Field::Keywords,
        Field::Lang,
        Field::Created,
        Field::Date,
        Field::Pages,
        Field::Camera,
    ])
    .sections("pages")
    .members("embedded files")
    .in_worker()
    .version(10);

/// Content streams of one document beyond this number of bytes are left out.
const MAX_DOCUMENT_BYTES: usize = 1 << 30;

/// Reads a PDF file.
pub(crate) fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let Opened { pdf, is_sealed } = open_file(input, output.limits())?;
    let catalog: Dict<'_> = pdf.xref().get(pdf.xref().root_id()).unwrap_or_default();
    metadata::read(&pdf, &catalog, output.own());
    let limits = output.limits();
    let pages = read_pages(&pdf, &catalog, limits, &mut output.own().body);
    for heading in outline::read(&catalog) {
        output.own().add_text(Field::Headings, &heading);
    }
    xfa::read(&catalog, &mut output.own().body);
    attachment::read(&pdf, is_sealed, &catalog, output)?;
    pages
}

/// Opens a file without a password, or with the first one that fits.
pub(crate) fn open(input: &mut Input<'_>, limits: &Limits) -> Result<Pdf, Error> {
    Ok(open_file(input, limits)?.pdf)
}

fn open_file(input: &mut Input<'_>, limits: &Limits) -> Result<Opened, Error> {
    let mut bytes = input.take_bytes(limits)?;
    nesting::flatten(&mut bytes);
    encryption::open(bytes, &limits.passwords)
}

/// Appends the text of all readable pages, with a form feed between pages.
fn read_pages(
    pdf: &Pdf,
    catalog: &Dict<'_>,
    limits: &Limits,
    body: &mut String,
) -> Result<(), Error> {
    let mut shared = Shared::new(Layers::new(catalog), Budget::new(MAX_DOCUMENT_BYTES));
    let mut n_crashed = 0;
    let pages = pdf.pages();
    let max_pages = usize::try_from(limits.max_pages).unwrap_or(usize::MAX);
    for (index, page) in pages.iter().take(max_pages).enumerate() {
        if index > 0 {
            body.push('\u{C}');
        }
        let start = body.len();
        // A panic in a parser loses only its page.
        let read = catch_unwind(AssertUnwindSafe(|| read_page(page, &mut shared, body)));
        if read.is_err() {
            body.truncate(start);
            shared.fonts = font::Fonts::new();
            n_crashed += 1;
        }
        if body.len() > limits.max_text_bytes {
            break;
        }
    }
    if n_crashed > 0 {
        let n_pages = pages.len();
        return Err(Error::Malformed(format!(
            "{n_crashed} of {n_pages} pages could not be read"
        )));
    }
    if shared.budget.is_exhausted() {
        return Err(Error::built_in(format!(
            "the pages draw more than {MAX_DOCUMENT_BYTES} bytes, and the rest is left out"
        )));
    }
    if pages.len() > max_pages {
        return Err(limits.reached(Setting::MaxPages));
    }
    Ok(())
}

fn read_page<'a>(page: &Page<'a>, shared: &mut Shared<'a>, body: &mut String) {
    read_into(page, shared, Segments::new(sheet(page)), body);
}

/// Returns the whole sheet of a page, of which a viewer may show less, in the coordinates of what it
/// shows.
fn sheet(page: &Page<'_>) -> Rect {
    let matrix = Affine::new(page.initial_transform(false).as_coeffs());
    let sheet = page.media_box();
    matrix.transform_rect_bbox(Rect::new(sheet.x0, sheet.y0, sheet.x1, sheet.y1))
}

/// Appends the text of a page, and returns its words if `segments` notes them.
fn read_into<'a>(
    page: &Page<'a>,
    shared: &mut Shared<'a>,
    mut segments: Segments,
    body: &mut String,
) -> Vec<Word> {
    let matrix = Affine::new(page.initial_transform(false).as_coeffs());
    let resources = Resources::of_page(page);
    let content = page_content(page.raw());
    let mut interpreter = Interpreter::new(shared, &mut segments, matrix);
    interpreter.run(&content, &resources);
    let notes = annotation::run(page.raw(), &resources, shared, &mut segments, matrix);
    segments.finish_segment();
    let start = body.len();
    let words = layout::write(&segments, body);
    annotation::write(&notes, body, start);
    words
}

/// Returns the content streams of a page as one. The page itself would keep them in memory until
/// the document is closed.
fn page_content<'a>(page: &Dict<'a>) -> Cow<'a, [u8]> {
    if let Some(stream) = page.get::<Stream<'a>>(b"Contents") {
        return stream::decode(&stream, MAX_CONTENT_BYTES).unwrap_or_default();
    }
    let mut content = Vec::new();
    let streams = page.get::<Array<'a>>(b"Contents").unwrap_or_default();
    for object in streams.iter::<Object<'a>>() {
        let left = MAX_CONTENT_BYTES.saturating_sub(content.len());
        if left == 0 {
            break;
        }
        if let Some(stream) = object.into_stream()
            && let Some(decoded) = stream::decode(&stream, left)
        {
            content.extend_from_slice(&decoded);
            content.push(b' ');
        }
    }
    Cow::Owned(content)
}
