//! Values in the form of columns, for sorting and counting.
//!
//! A column of texts holds each value once, in byte order, and a number for each document. The
//! stored value has case and diacritics folded, so that `anna` and `Anna` are adjacent and counted
//! as one. If the value is written differently, a NUL and the original form follow: for ASCII the
//! positions of its capitals, which take a fifth of its size; for other text the whole text after
//! one more NUL.

use std::borrow::Cow;

use ken_core::{Field, FieldKind};

use crate::analysis::folded;

/// Maximum number of values of one field of a document that are sorted and counted.
pub(crate) const MAX_VALUES: u8 = 250;
/// Maximum size of a value; of a longer one the start is kept.
const MAX_BYTES: usize = 256;
const SEPARATOR: char = '\0';
/// A step to a capital of at least this size takes one more byte.
const FAR: u8 = 127;

/// Returns the column's form of a value of a field.
pub(crate) fn column_value(field: Field, text: &str) -> String {
    if field.info().kind == FieldKind::Path {
        return text.to_owned();
    }
    let text = text.trim();
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    // Contacts are displayed as they are written.
    let keeps_form = field.info().kind != FieldKind::Keyword || field == Field::Replyto;
    if text.is_ascii() && !text.contains(SEPARATOR) {
        return ascii_value(text, keeps_form);
    }
    let text = text.replace(SEPARATOR, "\u{fffd}");
    let mut value = folded(&text);
    if keeps_form && value != text {
        value.extend([SEPARATOR; 2]);
        value.push_str(&text);
    }
    value
}

fn ascii_value(text: &str, keeps_form: bool) -> String {
    let mut value = String::with_capacity(text.len() + text.len() / 4 + 2);
    value.push_str(text);
    value.make_ascii_lowercase();
    if !keeps_form || value == text {
        return value;
    }
    value.push(SEPARATOR);
    let mut last = 0;
    for (at, byte) in (1..).zip(text.bytes()) {
        if byte.is_ascii_uppercase() {
            let step: usize = at - last;
            value.extend(std::iter::repeat_n(
                char::from(FAR),
                step / usize::from(FAR),
            ));
            value.push(char::from((step % usize::from(FAR)) as u8));
            last = at;
        }
    }
    value
}

/// Returns the common part of values that count as one.
pub(crate) fn common(value: &str) -> &str {
    value
        .split_once(SEPARATOR)
        .map_or(value, |(common, _)| common)
}

/// Returns a value as it was written.
pub(crate) fn written(value: &str) -> Cow<'_, str> {
    let Some((common, form)) = value.split_once(SEPARATOR) else {
        return Cow::Borrowed(value);
    };
    if let Some(text) = form.strip_prefix(SEPARATOR) {
        return Cow::Borrowed(text);
    }
    let mut text = common.to_owned();
    let mut at = 0;
    for step in form.bytes() {
        at += usize::from(step);
        let range = at.saturating_sub(1)..at;
        if let Some(letter) = text.get_mut(range).filter(|_| step < FAR) {
            letter.make_ascii_uppercase();
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_sort_without_case_and_show_as_written() {
        let value = |text| column_value(Field::Author, text);
        let mut values = ["Zoe", "émile", "anna", "Emile", "Anna"].map(value);
        values.sort();
        let shown = values.each_ref().map(|value| written(value));
        assert_eq!(shown, ["anna", "Anna", "émile", "Emile", "Zoe"]);
        assert_eq!(common(&values[2]), common(&values[3]));
        assert_eq!(column_value(Field::Ext, "PDF"), "pdf");
        assert_eq!(column_value(Field::Dir, "/Home"), "/Home");
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let value = column_value(Field::Title, &"ü".repeat(1000));
        assert_eq!(common(&value), "u".repeat(128));
        assert_eq!(written(&value), "ü".repeat(128));
        let value = column_value(Field::Title, "a\0B");
        assert_eq!(common(&value), "a\u{fffd}b");
        assert_eq!(written(&value), "a\u{fffd}B");
    }

    proptest! {
        #[test]
        fn values_are_given_as_they_were_written(
            text in "([a-zA-Z]{0,8}|[a-z .]{120,140}|[A-Z]?|[é\u{0}Ü]?){0,4}"
        ) {
            let value = column_value(Field::Title, &text);
            let shown = text.trim().replace('\0', "\u{fffd}");
            let whole = written(&value);
            prop_assert!(shown.starts_with(&*whole));
            prop_assert!(whole.len() == shown.len() || whole.len() + 6 > MAX_BYTES);
            prop_assert_eq!(common(&value), folded(&whole));
        }
    }
}
