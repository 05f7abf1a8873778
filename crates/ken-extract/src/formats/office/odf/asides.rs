//! What stands beside the text of a paragraph: notes, comments with their authors, and boxes.

use super::text::OdfReader;

impl OdfReader {
    /// Puts the author of a comment before its text.
    pub(super) fn author(&mut self, author: &str) {
        if !self.asides.is_empty() {
            self.body.author(author);
        }
    }

    /// Adds the title or the description of a picture or shape, beside the text.
    pub(super) fn describe(&mut self, text: &str) {
        self.start_aside();
        self.body.line(text.trim());
        self.end_aside();
    }

    /// Begins a note or box: inside a paragraph or cell it is moved aside, otherwise its text is
    /// ordinary text.
    pub(super) fn start_aside(&mut self) {
        let is_aside = self.paragraphs > 0 || self.body.is_in_cell();
        if is_aside {
            self.body.begin_aside();
        }
        self.asides.push((self.paragraphs, is_aside));
        self.paragraphs = 0;
    }

    pub(super) fn end_aside(&mut self) {
        let (paragraphs, was_aside) = self.asides.pop().unwrap_or_default();
        self.paragraphs = paragraphs;
        if was_aside {
            self.body.end_aside();
        }
    }
}
