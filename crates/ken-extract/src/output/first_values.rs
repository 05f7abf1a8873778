//! Remembers which fields of a document already have a value, for fields whose first value counts.
//!
//! Looking up a title searches all values of a document, of which hostile files have thousands; one
//! look-up for each line would be quadratic. After the first value, no look-up is made.

use ken_core::{Document, Field};

/// The fields that have a value.
#[derive(Default)]
pub(crate) struct FirstValues(Vec<Field>);

impl FirstValues {
    /// Adds a text unless the field has a value.
    pub(crate) fn add_text(&mut self, document: &mut Document, field: Field, text: &str) {
        if !text.trim().is_empty() && !self.has(field, || document.text(field).is_some()) {
            document.add_text(field, text);
        }
    }

    /// Adds a number unless the field has a value.
    pub(crate) fn add_number(&mut self, document: &mut Document, field: Field, number: i64) {
        if !self.has(field, || document.number(field).is_some()) {
            document.add_number(field, number);
        }
    }

    /// Returns whether the field has a value, and records that it has one from now on.
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
