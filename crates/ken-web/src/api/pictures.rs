//! `/api/v1/documents/{id}/picture` and `words`: how a document looks, and where on a page its words are.

use ken_extract::Original;
use ken_extract::picture::Area;
use ken_search::service::SCHEMA;
use serde_json::{Value, json};

use super::documents::with_document;
use super::parameter::{Parameter, one};
use crate::answer::{Answer, Error, object, whole};
use crate::drawn::{undrawn, wanted};
use crate::{Asked, Web, original};

/// The width of a picture if nothing else is said, and the greatest, in pixels.
const WIDTH: u32 = 1400;
const MAX_WIDTH: u32 = 4000;

pub(super) fn parameters() -> Vec<Parameter> {
    vec![
        one("page", "integer", "The page, from 1"),
        one(
            "width",
            "integer",
            "The width in pixels; pictures are not made larger",
        ),
    ]
}

pub(super) fn word_parameters() -> Vec<Parameter> {
    vec![one("page", "integer", "The page, from 1")]
}

/// Returns the number of a page, from 0.
fn page(asked: &Asked) -> Result<u32, Error> {
    let page = asked.number("page")?.unwrap_or(1);
    let page = page
        .checked_sub(1)
        .and_then(|page| u32::try_from(page).ok());
    page.ok_or_else(|| Error {
        status: 400,
        message: "pages are counted from 1".to_owned(),
    })
}

fn width(asked: &Asked) -> Result<u32, Error> {
    let width = asked.number("width")?.unwrap_or(WIDTH.into());
    let width = u32::try_from(width)
        .ok()
        .filter(|width| (1..=MAX_WIDTH).contains(width));
    width.ok_or_else(|| Error {
        status: 400,
        message: format!("a width is a number from 1 to {MAX_WIDTH}"),
    })
}

/// Hands on the document with an identifier, as the drawer wants it.
fn with_original(
    web: &Web,
    asked: &Asked,
    id: &str,
    answer: impl FnOnce(&Original<'_>) -> Result<Answer, Error>,
) -> Result<Answer, Error> {
    with_document(web, asked, id, |service, named| {
        let file = original::open(
            service.source(),
            &named.stored.location,
            asked.asker.as_ref(),
        )?;
        answer(&wanted(service.source(), &named.stored, &file)?)
    })
}

/// Answers with a page of a document, or with the picture that it is.
pub(super) fn answer(web: &Web, asked: &Asked, id: &str) -> Result<Answer, Error> {
    let (page, width) = (page(asked)?, width(asked)?);
    with_original(web, asked, id, |original| {
        let picture = web.setup.pictures.page(original, page, width);
        let picture = picture.map_err(|cause| undrawn(&cause))?;
        Ok(whole(200, picture.encoding.media_type(), picture.bytes))
    })
}

/// Answers with the words of a page and their areas, as parts of its width and height.
pub(super) fn words(web: &Web, asked: &Asked, id: &str) -> Result<Answer, Error> {
    let page = page(asked)?;
    with_original(web, asked, id, |original| {
        let text = web.setup.pictures.words(original, page);
        let text = text.map_err(|cause| undrawn(&cause))?;
        let words = text.words.iter().map(|word| {
            let Area {
                left,
                top,
                width,
                height,
            } = word.area;
            let of_word = text.text.get(word.range.clone()).unwrap_or_default();
            json!({ "text": of_word, "x": left, "y": top, "width": width, "height": height })
        });
        let words: Vec<Value> = words.collect();
        Ok(object(
            &json!({ "v": SCHEMA, "id": id, "page": u64::from(page) + 1, "words": words }),
        ))
    })
}
