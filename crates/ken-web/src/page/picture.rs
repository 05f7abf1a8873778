//! Pages as pictures, which ken draws in its sandbox, with boxes over what the query found.

use ken_core::{Cause, Document, Field};
use ken_engine::Stored;
use ken_extract::picture::{Area, Picture};
use ken_extract::{Original, Pictures};
use ken_search::snippet::Finder;
use serde::Serialize;

use super::look::Looker;
use super::state::State;
use crate::answer::{Answer, Error, set, whole};
use crate::drawn::{undrawn, wanted};
use crate::{Asked, Web, original};

/// The width of a picture in pixels.
const WIDTH: u32 = 1400;
/// The width of a small picture in pixels: twice that of its place in the list, for screens with fine pixels.
const THUMBNAIL: u32 = 144;
/// A picture of one transparent pixel.
const NOTHING: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\0\0\0!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";
/// The units of the boxes in the width and in the height of a page.
const UNITS: f32 = 1000.0;
/// The most words of a page that can be selected.
const MAX_WORDS: usize = 4000;

/// A page of a document, as a picture.
#[derive(Serialize)]
pub(super) struct Sheet {
    page: usize,
    n_pages: usize,
    picture: String,
    words: Vec<Word>,
    previous: Option<String>,
    next: Option<String>,
}

/// A word of a page, and where it is.
#[derive(Serialize)]
struct Word {
    text: String,
    x: f32,
    y: f32,
    width: f32,
    height: f32,
    /// Whether the query found it.
    mark: bool,
}

impl Sheet {
    /// Returns a page of a PDF file; none for other documents, and if the page cannot be drawn.
    pub(super) fn of(
        looker: &Looker<'_>,
        stored: &Stored,
        finder: &Finder,
        page: usize,
    ) -> Option<Self> {
        if !is_drawn(&stored.document) {
            return None;
        }
        let state = looker.state;
        let n_pages = 1 + stored.document.body.matches('\u{c}').count();
        let page = page.clamp(1, n_pages);
        let at = |page| {
            State {
                sheet: Some(page),
                ..state.clone()
            }
            .href()
        };
        Some(Self {
            page,
            n_pages,
            picture: format!("picture?doc={}&page={page}", state.doc),
            words: words(looker, stored, finder, page).ok()?,
            previous: (page > 1).then(|| at(page - 1)),
            next: (page < n_pages).then(|| at(page + 1)),
        })
    }
}

/// Returns whether pages of a document are shown as pictures.
pub(super) fn is_drawn(document: &Document) -> bool {
    document.media_type == "application/pdf"
}

/// Returns the words of a page with their places.
fn words(
    looker: &Looker<'_>,
    stored: &Stored,
    finder: &Finder,
    page: usize,
) -> Result<Vec<Word>, Error> {
    let file = original::open(looker.source, &stored.location, looker.asker())?;
    let original = wanted(looker.source, stored, &file)?;
    let number = u32::try_from(page - 1).unwrap_or(u32::MAX);
    let text = looker.web.setup.pictures.words(&original, number);
    let text = text.map_err(|cause| undrawn(&cause))?;
    let found = finder.ranges(&text.text, &|| false);
    let is_found = |start: usize, end: usize| {
        let first = found.partition_point(|found| found.end <= start);
        found.get(first).is_some_and(|found| found.start < end)
    };
    let words = text.words.iter().take(MAX_WORDS).map(|word| {
        let Area {
            left,
            top,
            width,
            height,
        } = word.area;
        Word {
            text: text
                .text
                .get(word.range.clone())
                .unwrap_or_default()
                .to_owned(),
            x: left * UNITS,
            y: top * UNITS,
            width: width * UNITS,
            height: height * UNITS,
            mark: is_found(word.range.start, word.range.end),
        }
    });
    Ok(words.collect())
}

/// Answers with the picture of a page, or with the picture that a document is.
pub(super) fn page(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let picture = drawn(web, asked, |pictures, original, page| {
        pictures.page(original, page, WIDTH)
    })?;
    let picture = picture.map_err(|cause| undrawn(&cause))?;
    Ok(kept(picture.encoding.media_type(), picture.bytes))
}

/// Answers with a small picture of a document. If it cannot be drawn, the picture is empty: browsers would show a sign of
/// their own for one that is missing, and the list shows the symbol of the type anyway.
pub(super) fn thumbnail(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let picture = drawn(web, asked, |pictures, original, _| {
        pictures.thumbnail(original, THUMBNAIL)
    });
    match picture {
        Ok(Ok(picture)) => Ok(kept(picture.encoding.media_type(), picture.bytes)),
        Err(error) if error.status == 404 => Err(error),
        Ok(Err(_)) | Err(_) => Ok(kept("image/gif", NOTHING.into())),
    }
}

/// Returns what `draw` makes of the document and the page that a request names.
fn drawn(
    web: &Web,
    asked: &Asked,
    draw: impl FnOnce(&Pictures, &Original<'_>, u32) -> Result<Picture, Cause>,
) -> Result<Result<Picture, Cause>, Error> {
    let (state, snapshot) = (State::of(asked), web.at(asked, None)?);
    let looker = Looker::new(web, asked, &*snapshot, &state);
    let stored = looker.document(&state.doc)?.stored;
    let file = original::open(&*snapshot, &stored.location, looker.asker())?;
    let original = wanted(&*snapshot, &stored, &file)?;
    let page = u32::try_from(state.page - 1).unwrap_or(u32::MAX);
    Ok(draw(&web.setup.pictures, &original, page))
}

/// Returns an answer that the browser keeps for a while.
fn kept(mime: &'static str, bytes: Vec<u8>) -> Answer {
    let mut answer = whole(200, mime, bytes);
    set(
        &mut answer,
        http::header::CACHE_CONTROL,
        "private, max-age=300",
    );
    answer
}

/// Returns the address of the picture that a document is, if it is one that ken draws.
pub(super) fn of_image(document: &Document, id: &str) -> Option<String> {
    is_image(document).then(|| format!("picture?doc={id}"))
}

/// Returns the address of the small picture of a document, if it is a picture or has pages that ken draws.
pub(super) fn of_thumbnail(document: &Document, id: &str) -> Option<String> {
    let cause = document.failure.as_ref().map(|failure| &failure.cause);
    let is_closed = matches!(
        cause,
        Some(Cause::Password { .. } | Cause::Encrypted { .. })
    );
    let is_drawn = is_drawn(document) || is_image(document);
    (is_drawn && !is_closed).then(|| format!("thumbnail?doc={id}"))
}

fn is_image(document: &Document) -> bool {
    const DRAWN: [&str; 6] = ["png", "jpeg", "gif", "webp", "bmp", "tiff"];
    let kind = document.media_type.strip_prefix("image/");
    let is_large = document.number(Field::Size).is_some_and(|size| size > 0);
    is_large && kind.is_some_and(|kind| DRAWN.contains(&kind))
}
