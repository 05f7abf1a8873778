//! Pictures (`\pict`), of which only metafiles hold text.

use crate::formats::drawing::metafile;
use crate::output::body::Body;

/// More bytes than the texts of a diagram have.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Bytes that are written as hexadecimal digits.
#[derive(Default)]
pub(super) struct Digits {
    half_byte: Option<u8>,
}

impl Digits {
    /// Adds bytes behind those before, up to `max_bytes`; a half byte waits for its other half.
    pub(super) fn push(&mut self, digits: &[u8], bytes: &mut Vec<u8>, max_bytes: usize) {
        let digits = digits
            .iter()
            .filter_map(|&byte| (byte as char).to_digit(16));
        for digit in digits {
            let digit = digit as u8;
            match self.half_byte.take() {
                Some(high) if bytes.len() < max_bytes => bytes.push(high << 4 | digit),
                Some(_) => {}
                None => self.half_byte = Some(digit),
            }
        }
    }
}

/// The picture that is read.
#[derive(Default)]
pub(super) struct Picture {
    pub(super) is_metafile: bool,
    pub(super) bytes: Vec<u8>,
}

impl Picture {
    /// Takes a control word, which may name the kind of the picture.
    pub(super) fn word(&mut self, word: &[u8]) {
        self.is_metafile |= matches!(word, b"emfblip" | b"wmetafile");
    }

    /// Adds the texts of the picture behind the paragraph, once in the document.
    pub(super) fn end(self, body: &mut Body) {
        if self.is_metafile {
            body.begin_aside();
            body.once(&metafile::text_of(&self.bytes, MAX_TEXT_BYTES));
            body.end_aside();
        }
    }
}
