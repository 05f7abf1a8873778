//! Values as columns keep them: to be sorted and counted by.
//!
//! A column of texts holds each value once, in the order of its bytes, and a number for each
//! document. So that `anna` and `Anna` stand side by side and are counted as one, what is kept is the
//! value with case and diacritics folded; where the value is written otherwise, a NUL and that.

use std::hash::{BuildHasher, Hasher};

use foldhash::quality::FixedState;
use ken_core::{Field, FieldKind, Ipath};

use crate::analysis::folded;

/// More values of one field of a document are not sorted or counted by.
pub(crate) const MAX_VALUES: u8 = 64;
/// Of a longer value the start is kept.
const MAX_BYTES: usize = 256;
const SEPARATOR: char = '\0';

/// Returns what the column of a field keeps of a value.
pub(crate) fn column_value(field: Field, text: &str) -> String {
    if field.info().kind == FieldKind::Path {
        return text.to_owned();
    }
    let text = text.trim().replace(SEPARATOR, "\u{fffd}");
    let text = &text[..text.floor_char_boundary(MAX_BYTES)];
    let mut value = folded(text);
    if field.info().kind != FieldKind::Keyword && value != text {
        value.push(SEPARATOR);
        value.push_str(text);
    }
    value
}

/// Returns what values that count as one have in common, and how this one is written.
pub(crate) fn parts(value: &str) -> (&str, &str) {
    value.split_once(SEPARATOR).unwrap_or((value, value))
}

/// Returns the number that the column of messages keeps: nearly the same for no other message of
/// the file, and with the number of components in its last bits.
pub(crate) fn message(ipath: &Ipath, components: u8) -> u64 {
    let mut hasher = FixedState::default().build_hasher();
    hasher.write(ipath.prefix(components.into()).as_bytes());
    hasher.finish() << 8 | u64::from(components)
}

/// Returns how many components of its internal path lead to a document's message.
pub(crate) fn components(message: u64) -> u8 {
    message as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_sort_without_case_and_show_as_written() {
        let value = |text| column_value(Field::Author, text);
        let mut values = ["Zoe", "émile", "anna", "Emile", "Anna"].map(value);
        values.sort();
        let shown = values.each_ref().map(|value| parts(value).1);
        assert_eq!(shown, ["anna", "Anna", "Emile", "émile", "Zoe"]);
        assert_eq!(parts(&values[2]).0, parts(&values[3]).0);
        assert_eq!(column_value(Field::Ext, "PDF"), "pdf");
        assert_eq!(column_value(Field::Dir, "/Home"), "/Home");
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let value = column_value(Field::Title, &"ü".repeat(1000));
        assert_eq!(
            parts(&value),
            ("u".repeat(128).as_str(), "ü".repeat(128).as_str())
        );
        assert_eq!(
            parts(&column_value(Field::Title, "a\0B")),
            ("a\u{fffd}b", "a\u{fffd}B")
        );
    }

    #[test]
    fn parts_of_a_message_have_its_number() {
        let mail = Ipath::root().child("12");
        let attached = mail.child("2").child("a.txt");
        assert_eq!(message(&mail, 1), message(&attached, 1));
        assert_ne!(message(&mail, 1), message(&Ipath::root().child("13"), 1));
        assert_eq!(components(message(&attached, 3)), 3);
    }
}
