//! Documents and their fields: the result of extraction.

use serde::{Deserialize, Serialize};

use crate::{Failure, Field, Ipath, Kind};

/// The value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A count, a number of bytes, or seconds since 1970-01-01 UTC.
    Number(i64),
    /// Words or a keyword.
    Text(String),
}

/// A document: a file or a member of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    /// The member path; empty for the file itself.
    pub ipath: Ipath,
    /// Media type without parameters, in lower case, for instance `text/html`.
    pub media_type: String,
    /// The type of the document.
    pub kind: Kind,
    /// Values by field, in no order; a field may have several values. The list never has the body, the path or other
    /// facts that the walk finds.
    pub fields: Vec<(Field, Value)>,
    /// The text, in reading order; a form feed (U+000C) ends each page but the last. No phrase matches over a
    /// [`TEXT_SEPARATOR`].
    pub body: String,
    /// Why the content is missing or incomplete.
    pub failure: Option<Failure>,
    /// A hash of the content as read, the same for duplicates; absent if there is no content.
    #[serde(skip)]
    pub content: Option<u64>,
    /// The number of components of `ipath` that lead to the message that the document is or is a part of; absent
    /// outside messages.
    #[serde(skip)]
    pub message: Option<u8>,
    /// The bytes of the message in its mailbox; absent if the document cannot be read from there.
    #[serde(skip)]
    pub span: Option<MessageSpan>,
}

/// Stands between texts that do not continue each other, such as the parts of a message: the paragraph separator of
/// Unicode.
pub const TEXT_SEPARATOR: &str = "\u{2029}";

/// The bytes of a message in its mailbox: it can be read, or skipped, without what precedes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageSpan {
    /// The number of bytes before the message.
    pub offset: u64,
    /// A hash of everything that its documents are made from: equal offsets with equal hashes mean equal documents.
    pub digest: u64,
}

/// Returns whether a text is ASCII with single spaces between words and no other white space.
fn is_one_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~');
    bytes.iter().all(is_plain)
        && !bytes.windows(2).any(|pair| pair == b"  ")
        && bytes.first() != Some(&b' ')
        && bytes.last() != Some(&b' ')
}

impl Document {
    /// The most values of a document. Adding a value compares it with all others, and a hostile file may have a
    /// million authors.
    pub const MAX_VALUES: usize = 10_000;

    /// Returns a document without fields or text.
    pub fn new(ipath: Ipath, media_type: impl Into<String>, kind: Kind) -> Self {
        Self {
            ipath,
            media_type: media_type.into(),
            kind,
            fields: Vec::new(),
            body: String::new(),
            failure: None,
            content: None,
            message: None,
            span: None,
        }
    }

    /// Adds a text value, trimmed and with runs of white space folded; an empty value is left out.
    pub fn add_text(&mut self, field: Field, text: &str) {
        if self.is_full() {
            return;
        }
        let folded = if is_one_line(text) {
            text.to_owned()
        } else {
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        if !folded.is_empty() {
            self.fields.push((field, Value::Text(folded)));
        }
    }

    /// Adds a text value as it is; an empty value is left out.
    pub fn add_verbatim(&mut self, field: Field, text: &str) {
        if !self.is_full() && !text.is_empty() {
            self.fields.push((field, Value::Text(text.to_owned())));
        }
    }

    /// Adds a text value from outside the document, such as a sidecar, unless the document itself has it.
    pub fn join_text(&mut self, field: Field, text: &str) {
        let n_values = self.fields.len();
        self.add_text(field, text);
        if let Some((last, known)) = self.fields.split_last()
            && self.fields.len() > n_values
            && known.contains(last)
        {
            self.fields.pop();
        }
    }

    /// Adds a number: a count, a size in bytes, or a time in seconds since 1970-01-01 UTC.
    pub fn add_number(&mut self, field: Field, number: i64) {
        if !self.is_full() {
            self.fields.push((field, Value::Number(number)));
        }
    }

    /// Returns whether the document has the most values that are allowed.
    pub fn is_full(&self) -> bool {
        self.fields.len() >= Self::MAX_VALUES
    }

    /// Returns the first text value of a field.
    pub fn text(&self, field: Field) -> Option<&str> {
        self.fields.iter().find_map(|(f, value)| match value {
            Value::Text(text) if *f == field => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns the first number of a field.
    pub fn number(&self, field: Field) -> Option<i64> {
        self.fields.iter().find_map(|(f, value)| match value {
            Value::Number(number) if *f == field => Some(*number),
            _ => None,
        })
    }

    /// Returns the media type of what was read or failed: the document, or the container that did not yield it.
    pub fn extracted_type(&self) -> &str {
        match &self.failure {
            Some(failure) if !failure.container.is_empty() => &failure.container,
            _ => &self.media_type,
        }
    }

    /// Returns the approximate memory of the document in bytes.
    pub fn memory_bytes(&self) -> usize {
        let values: usize = self
            .fields
            .iter()
            .map(|(_, value)| match value {
                Value::Text(text) => text.capacity(),
                Value::Number(_) => 0,
            })
            .sum();
        size_of::<Self>()
            + self.fields.capacity() * size_of::<(Field, Value)>()
            + values
            + self.body.capacity()
            + self.ipath.as_str().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_values_are_folded_and_empty_ones_left_out() {
        let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
        document.add_text(Field::Title, "  Annual\n\treport ");
        document.add_text(Field::Author, " \n");
        document.add_number(Field::Pages, 3);
        assert_eq!(document.text(Field::Title), Some("Annual report"));
        assert_eq!(document.text(Field::Author), None);
        assert_eq!(document.number(Field::Pages), Some(3));
    }

    #[test]
    fn values_are_taken_up_to_a_number() {
        let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
        for number in 0..Document::MAX_VALUES {
            assert!(!document.is_full());
            document.add_text(Field::Author, &format!("author {number}"));
        }
        assert!(document.is_full());
        document.add_text(Field::Author, "one more");
        document.add_number(Field::Pages, 3);
        assert_eq!(document.fields.len(), Document::MAX_VALUES);
    }

    #[test]
    fn a_value_from_beside_is_not_repeated() {
        let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
        for value in ["tax", " ", "income  tax", "tax", "income tax"] {
            document.join_text(Field::Keywords, value);
        }
        document.join_text(Field::Title, "tax");
        assert_eq!(document.fields.len(), 3);
    }
}
