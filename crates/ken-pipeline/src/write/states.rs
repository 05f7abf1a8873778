//! The two states of documents that tell whether text in pictures was recognised.

use ken_core::{Document, Field, Value};

/// State of a document with a page, or a picture, whose text is not known.
pub const TEXTLESS: &str = "textless";
/// State of a document in whose pictures text was looked for.
pub const RECOGNISED: &str = "ocr";

/// Returns whether text was looked for in the pictures of a document.
pub(crate) fn is_recognised(document: &Document) -> bool {
    has_state(document, RECOGNISED)
}

/// Returns whether a document has a state.
pub(crate) fn has_state(document: &Document, state: &str) -> bool {
    let is_it = |(field, value): &(Field, Value)| {
        *field == Field::Is && matches!(value, Value::Text(text) if text == state)
    };
    document.fields.iter().any(is_it)
}

/// Gives a document one of the two states and takes the other one away.
pub(crate) fn set_state(document: &mut Document, state: &str) {
    document.fields.retain(|(field, value)| {
        let is_old = matches!(value, Value::Text(text) if text == TEXTLESS || text == RECOGNISED);
        *field != Field::Is || !is_old
    });
    document.add_text(Field::Is, state);
}
