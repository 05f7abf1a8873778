//! Pages as pictures, which ken draws in its sandbox, with boxes over what the query found.

use ken_core::{Field, Ipath};
use ken_engine::{MessageId, Source, Stored};
use ken_extract::Original;
use ken_extract::picture::{Area, Encoding};
use ken_search::service::cause_text;
use ken_search::snippet::Finder;
use serde::Serialize;

use super::look::Looker;
use super::state::State;
use crate::answer::{Answer, Error, set, whole};
use crate::{Asked, Web, original};

/// The width of a picture in pixels.
const WIDTH: u32 = 1400;
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
        if !is_drawn(stored) {
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
pub(super) fn is_drawn(stored: &Stored) -> bool {
    stored.document.media_type == "application/pdf"
}

/// Returns the words of a page with their places.
fn words(
    looker: &Looker<'_>,
    stored: &Stored,
    finder: &Finder,
    page: usize,
) -> Result<Vec<Word>, Error> {
    let file = original::open(looker.source, &stored.location)?;
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

/// Returns what the drawer needs to know of a document.
fn wanted<'a>(
    source: &dyn Source,
    stored: &'a Stored,
    file: &'a std::fs::File,
) -> Result<Original<'a>, Error> {
    let (path, ipath) = (&stored.location.path, &stored.location.ipath);
    let hasher = source.meta().hasher;
    let message = match ipath.is_root() {
        true => None,
        false => {
            let message = MessageId::of(&Ipath::from_joined(ipath.prefix(1)), 1);
            source.mail().message_span(hasher.key(path), message)?
        }
    };
    Ok(Original {
        path,
        file,
        ipath,
        message: message.map(|span| (span, hasher.seed())),
    })
}

/// Answers with the picture of a page, or with the picture that a document is.
pub(super) fn answer(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let (state, snapshot) = (State::of(asked), web.index.at(None)?);
    let looker = Looker::new(web, asked, &*snapshot, &state);
    let stored = looker.document(&state.doc)?.stored;
    let file = original::open(&*snapshot, &stored.location)?;
    let original = wanted(&*snapshot, &stored, &file)?;
    let page = u32::try_from(state.page - 1).unwrap_or(u32::MAX);
    let picture = web.setup.pictures.page(&original, page, WIDTH);
    let picture = picture.map_err(|cause| undrawn(&cause))?;
    let mime = match picture.encoding {
        Encoding::Png => "image/png",
        Encoding::Jpeg => "image/jpeg",
    };
    let mut answer = whole(200, mime, picture.bytes);
    set(
        &mut answer,
        http::header::CACHE_CONTROL,
        "private, max-age=300",
    );
    Ok(answer)
}

fn undrawn(cause: &ken_core::Cause) -> Error {
    Error {
        status: 404,
        message: format!("this page cannot be drawn: {}", cause_text(cause)),
    }
}

/// Returns the address of the picture that a document is, if it is one that ken draws.
pub(super) fn of_image(stored: &Stored, id: &str) -> Option<String> {
    const DRAWN: [&str; 6] = ["png", "jpeg", "gif", "webp", "bmp", "tiff"];
    let kind = stored.document.media_type.strip_prefix("image/")?;
    let is_large = stored
        .document
        .number(Field::Size)
        .is_some_and(|size| size > 0);
    (is_large && DRAWN.contains(&kind)).then(|| format!("picture?doc={id}"))
}
