//! A line of text that the user edits.

use unicode_segmentation::UnicodeSegmentation;

/// The most bytes that can be typed: a text that is pasted by mistake must not become a query.
const MAX_BYTES: usize = 10_000;

/// A line of text with a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    text: String,
    /// The byte before which the next character goes.
    at: usize,
    /// Whether the text is a proposal, which the first character replaces.
    is_proposed: bool,
}

impl Field {
    /// Returns a line with this text and the cursor at its end.
    pub(crate) fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            at: text.len(),
            is_proposed: false,
        }
    }

    /// Returns a line with a text that what is typed first replaces. Every other key keeps it.
    pub(crate) fn proposed(text: &str) -> Self {
        Self {
            is_proposed: !text.is_empty(),
            ..Self::new(text)
        }
    }

    pub(crate) fn is_proposed(&self) -> bool {
        self.is_proposed
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before the cursor.
    pub(crate) fn before(&self) -> &str {
        &self.text[..self.at]
    }

    pub(crate) fn insert(&mut self, text: &str) {
        if self.is_proposed {
            *self = Self::default();
        }
        if self.text.len() + text.len() <= MAX_BYTES {
            self.text.insert_str(self.at, text);
            self.at += text.len();
        }
    }

    pub(crate) fn left(&mut self) {
        self.is_proposed = false;
        self.at = self.previous();
    }

    pub(crate) fn right(&mut self) {
        self.is_proposed = false;
        let next = self.text[self.at..].graphemes(true).next();
        self.at += next.map_or(0, str::len);
    }

    pub(crate) fn home(&mut self) {
        self.is_proposed = false;
        self.at = 0;
    }

    pub(crate) fn end(&mut self) {
        self.is_proposed = false;
        self.at = self.text.len();
    }

    /// Removes the character before the cursor.
    pub(crate) fn backspace(&mut self) {
        self.is_proposed = false;
        let previous = self.previous();
        self.text.drain(previous..self.at);
        self.at = previous;
    }

    /// Removes the character behind the cursor.
    pub(crate) fn delete(&mut self) {
        let at = self.at;
        self.right();
        self.text.drain(at..self.at);
        self.at = at;
    }

    /// Removes the word before the cursor.
    pub(crate) fn delete_word(&mut self) {
        self.is_proposed = false;
        let kept = self.before().trim_end();
        let start = kept.rfind(char::is_whitespace).map_or(0, |space| {
            space + kept[space..].chars().next().map_or(0, char::len_utf8)
        });
        self.text.drain(start..self.at);
        self.at = start;
    }

    /// Removes everything before the cursor.
    pub(crate) fn delete_before(&mut self) {
        self.is_proposed = false;
        self.text.drain(..self.at);
        self.at = 0;
    }

    fn previous(&self) -> usize {
        let last = self.before().graphemes(true).next_back();
        self.at - last.map_or(0, str::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_moves_by_what_is_seen_as_one_character() {
        let mut field = Field::new("a👩‍👩‍👧é");
        field.left();
        field.left();
        assert_eq!(field.before(), "a");
        field.delete();
        assert_eq!(field.text(), "aé");
        field.end();
        field.backspace();
        field.insert("b c");
        assert_eq!(field.text(), "ab c");
        field.left();
        field.delete_before();
        assert_eq!((field.text(), field.before()), ("c", ""));
    }

    #[test]
    fn words_are_removed_with_the_space_behind_them() {
        let mut field = Field::new("annual report\u{3000}2026  ");
        field.delete_word();
        assert_eq!(field.text(), "annual report\u{3000}");
        field.delete_word();
        assert_eq!(field.text(), "annual ");
        field.delete_word();
        field.delete_word();
        assert_eq!(field.text(), "");
    }
}
