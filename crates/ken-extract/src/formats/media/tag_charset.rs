//! Texts of tags that are in another charset than they declare.
//!
//! ID3 knows ISO 8859-1 and Unicode. Programs of Windows wrote the code page of the system as ISO 8859-1, so that
//! `Кино` reads `Êèíî`.

use std::borrow::Cow;

use crate::text::names::Names;

/// How many characters beyond ASCII stand side by side in no language with Latin letters.
const MIN_RUN: usize = 4;

/// Decodes the texts of a file, all of which are in one charset, once more.
#[derive(Default)]
pub(super) struct TagCharset {
    names: Names,
    is_foreign: bool,
}

impl TagCharset {
    /// Takes a text into account for all texts that are decoded later.
    pub(super) fn note(&mut self, text: &str) {
        if let Some(bytes) = bytes(text) {
            self.is_foreign |= longest_run(&bytes) >= MIN_RUN;
            self.names.note(&bytes);
        }
    }

    /// Returns a text in the charset that all texts show, if that has other letters than Latin ones.
    pub(super) fn decode<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let Some(bytes) = bytes(text).filter(|_| self.is_foreign) else {
            return Cow::Borrowed(text);
        };
        let decoded = self.names.decode(&bytes);
        let is_other = |letter: char| letter.is_alphabetic() && letter > '\u{24f}';
        match decoded.contains(is_other) && !decoded.contains('\u{fffd}') {
            true => Cow::Owned(decoded.into_owned()),
            false => Cow::Borrowed(text),
        }
    }
}

/// Returns the bytes of a text in ISO 8859-1; none if it is ASCII or has other characters.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let byte = |character| u8::try_from(u32::from(character)).ok();
    match text.is_ascii() {
        true => None,
        false => text.chars().map(byte).collect(),
    }
}

fn longest_run(bytes: &[u8]) -> usize {
    let runs = bytes.split(u8::is_ascii);
    runs.map(<[u8]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use encoding_rs::{EUC_KR, GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};

    use super::*;

    #[test]
    fn texts_in_the_code_page_of_a_system_are_decoded() {
        for (encoding, texts) in [
            (WINDOWS_1251, ["Кино", "Группа крови"]),
            (GBK, ["邓丽君", "月亮代表我的心"]),
            (SHIFT_JIS, ["宇多田ヒカル", "初恋"]),
            (EUC_KR, ["이문세", "그녀의 웃음소리뿐"]),
            (WINDOWS_1252, ["Sigur Rós", "Ágætis byrjun"]),
            (WINDOWS_1252, ["Motörhead", "Naïve"]),
            (WINDOWS_1252, ["Æøå", "Þórður"]),
        ] {
            let wrong = |text: &str| -> String {
                let (bytes, _, unmappable) = encoding.encode(text);
                assert!(!unmappable);
                bytes.iter().copied().map(char::from).collect()
            };
            let mut charset = TagCharset::default();
            texts.iter().for_each(|text| charset.note(&wrong(text)));
            for text in texts {
                assert_eq!(charset.decode(&wrong(text)), text, "{}", encoding.name());
            }
        }
    }

    #[test]
    fn unicode_is_left_alone() {
        let mut charset = TagCharset::default();
        for text in ["Кино", "Êèíî – ", "So What"] {
            charset.note(text);
            assert_eq!(charset.decode(text), text);
        }
    }
}
