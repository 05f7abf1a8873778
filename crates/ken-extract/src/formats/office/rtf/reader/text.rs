//! Sends text and data to the destination of their group.

use ken_core::Field;

use super::{Destination, MAX_INSTRUCTION_BYTES, MAX_OBJECTS, RtfReader};
use crate::formats::office::rtf::charset;
use crate::formats::office::rtf::picture::Digits;
use crate::output::body::is_note_number;

impl RtfReader<'_> {
    pub(super) fn push_character(&mut self, character: char) {
        self.end_run();
        self.emit(character.encode_utf8(&mut [0; 4]));
    }

    /// Adds bytes in the code page of the font.
    pub(super) fn push_bytes(&mut self, bytes: &[u8]) {
        let passed = self.fallbacks.min(bytes.len());
        self.fallbacks -= passed;
        match self.state.destination {
            Destination::Object | Destination::Picture => self.push_digits(bytes),
            Destination::Body
            | Destination::Info(_)
            | Destination::Instruction
            | Destination::PropertyName
            | Destination::PropertyValue
            | Destination::CommentAuthor => self.run.extend(&bytes[passed..]),
            _ => {}
        }
    }

    pub(super) fn end_run(&mut self) {
        if self.run.is_empty() {
            return;
        }
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        let page = match self.state.destination {
            Destination::Info(_) => self.charsets.page_of_file(self.default_font),
            _ => self.charsets.page(self.state.font),
        };
        charset::decode(&self.run, page, &mut text);
        self.run.clear();
        self.emit(&text);
        self.text = text;
    }

    pub(super) fn emit(&mut self, text: &str) {
        match self.state.destination {
            Destination::Body if !self.state.is_deleted => {
                if std::mem::take(&mut self.section.is_new) && !self.section.flows_on {
                    self.body.break_page();
                }
                if self.state.is_raised && is_note_number(self.body.joined(), text) {
                    self.body.push(" ");
                }
                self.body.push(text);
            }
            Destination::Instruction if self.instruction.len() < MAX_INSTRUCTION_BYTES => {
                self.instruction.push_str(text);
            }
            Destination::CommentAuthor if self.comment_author.len() < MAX_INSTRUCTION_BYTES => {
                self.comment_author.push_str(text);
            }
            Destination::PropertyName if self.property.name.len() < MAX_INSTRUCTION_BYTES => {
                self.property.name.push_str(text);
            }
            Destination::PropertyValue if self.property.value.len() < MAX_INSTRUCTION_BYTES => {
                self.property.value.push_str(text);
            }
            Destination::Info(field) if field != Field::Body => {
                if let Some((_, value)) = self.info.last_mut() {
                    value.push_str(text);
                }
            }
            _ => {}
        }
    }

    pub(super) fn begin_object(&mut self) {
        self.digits = Digits::default();
        if self.objects.len() < MAX_OBJECTS {
            self.objects.push(Vec::new());
        }
    }

    /// Returns where the bytes of an object or a metafile go; none for those of other pictures.
    pub(super) fn bytes_of_group(&mut self) -> Option<&mut Vec<u8>> {
        match self.state.destination {
            Destination::Object => self.objects.last_mut(),
            Destination::Picture if self.picture.is_metafile => Some(&mut self.picture.bytes),
            _ => None,
        }
    }

    /// Adds the binary data of an object or a picture.
    pub(super) fn push_binary(&mut self, data: &[u8]) {
        let max_bytes = self.max_object_bytes;
        if let Some(bytes) = self.bytes_of_group() {
            let n_left = max_bytes.saturating_sub(bytes.len());
            bytes.extend_from_slice(&data[..data.len().min(n_left)]);
        }
    }

    pub(super) fn push_digits(&mut self, digits: &[u8]) {
        let max_bytes = self.max_object_bytes;
        let mut half = std::mem::take(&mut self.digits);
        if let Some(bytes) = self.bytes_of_group() {
            half.push(digits, bytes, max_bytes);
        }
        self.digits = half;
    }
}
