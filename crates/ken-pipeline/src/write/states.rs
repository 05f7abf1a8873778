//! The two states of documents that say whether the text in pictures was recognised.

use ken_core::{Document, Field, Value};

/// State of a document with a page, or a picture, whose text is not known.
pub const TEXTLESS: &str = "textless";
/// State of a document whose pictures were searched for text.
pub const RECOGNISED: &str = "ocr";

/// Returns whether the pictures of a document were searched for text.
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

/// Sets one of the two states of a document and removes the other.
pub(crate) fn set_state(document: &mut Document, state: &str) {
    document.fields.retain(|(field, value)| {
        let is_old = matches!(value, Value::Text(text) if text == TEXTLESS || text == RECOGNISED);
        *field != Field::Is || !is_old
    });
    document.add_text(Field::Is, state);
}
