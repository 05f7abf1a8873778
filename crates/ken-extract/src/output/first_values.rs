//! Fields of which the first value counts.
//!
//! To ask a document for a title means to search all its values, of which hostile files have
//! thousands; asked on each line, that is quadratic. Once there is a value, nobody asks again.

use ken_core::{Document, Field};

/// Remembers which fields have their value.
#[derive(Default)]
pub(crate) struct FirstValues(Vec<Field>);

impl FirstValues {
    /// Adds a text unless the document has one.
    pub(crate) fn add_text(&mut self, document: &mut Document, field: Field, text: &str) {
        if !text.trim().is_empty() && !self.has(field, || document.text(field).is_some()) {
            document.add_text(field, text);
        }
    }

    /// Adds a number unless the document has one.
    pub(crate) fn add_number(&mut self, document: &mut Document, field: Field, number: i64) {
        if !self.has(field, || document.number(field).is_some()) {
            document.add_number(field, number);
        }
    }

    /// Returns whether there is a value; from now on there is.
    fn has(&mut self, field: Field, in_document: impl FnOnce() -> bool) -> bool {
        if self.0.contains(&field) {
            return true;
        }
        self.0.push(field);
        in_document()
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Ipath, Kind, Value};

    use super::*;

    #[test]
    fn the_first_value_counts() {
        let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
        document.add_text(Field::Author, "before");
        let mut first = FirstValues::default();
        for text in [" ", "one", "two"] {
            first.add_text(&mut document, Field::Title, text);
            first.add_text(&mut document, Field::Author, text);
        }
        first.add_number(&mut document, Field::Date, 1);
        first.add_number(&mut document, Field::Date, 2);
        let text = |text: &str| Value::Text(text.to_owned());
        assert_eq!(
            document.fields,
            [
                (Field::Author, text("before")),
                (Field::Title, text("one")),
                (Field::Date, Value::Number(1)),
            ]
        );
    }
}
