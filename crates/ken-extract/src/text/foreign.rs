//! Texts in the code page of another alphabet, in formats that allow only Latin-1 or Unicode.
//!
//! ID3 and PDF know a superset of ASCII for the West, and Unicode. Programs of Windows wrote the code page of the
//! system in place of the first, so that `Кино` reads `Êèíî`.

use super::names::Names;

/// How many characters beyond ASCII, and how many different ones, stand side by side in no language with Latin letters.
const MIN_RUN: usize = 4;
const MIN_DIFFERENT: usize = 3;

/// Texts that are in one charset.
#[derive(Default)]
pub(crate) struct Foreign {
    names: Names,
    is_foreign: bool,
}

impl Foreign {
    /// Takes a text into account for all texts that are decoded later.
    pub(crate) fn note(&mut self, bytes: &[u8]) {
        self.is_foreign |= is_foreign(bytes);
        self.names.note(bytes);
    }

    /// Returns a text in the charset that all texts show; none if that has no other letters than Latin ones.
    pub(crate) fn decode(&mut self, bytes: &[u8]) -> Option<String> {
        if !self.is_foreign || bytes.is_ascii() {
            return None;
        }
        let text = self.names.decode(bytes);
        let is_other = |letter: char| letter.is_alphabetic() && letter > '\u{24f}';
        (text.contains(is_other) && !text.contains('\u{fffd}')).then(|| text.into_owned())
    }
}

/// Returns a text that decides alone.
pub(crate) fn decode(bytes: &[u8]) -> Option<String> {
    let mut texts = Foreign::default();
    texts.note(bytes);
    texts.decode(bytes)
}

fn is_foreign(bytes: &[u8]) -> bool {
    bytes.split(u8::is_ascii).any(|run| {
        let is_new = |at: &usize| !run[..*at].contains(&run[*at]);
        run.len() >= MIN_RUN
            && (0..run.len())
                .filter(is_new)
                .nth(MIN_DIFFERENT - 1)
                .is_some()
    })
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
        ] {
            let encoded = texts.map(|text| encoding.encode(text).0);
            let mut charset = Foreign::default();
            encoded.iter().for_each(|bytes| charset.note(bytes));
            for (bytes, text) in encoded.iter().zip(texts) {
                let decoded = charset.decode(bytes);
                assert_eq!(decoded.as_deref(), Some(text), "{}", encoding.name());
            }
        }
    }

    #[test]
    fn western_texts_are_left_alone() {
        for text in [
            "Sigur Rós",
            "Ágætis byrjun",
            "Naïve",
            "Þórður",
            "€€€€€€",
            "So What",
            "Æøå",
        ] {
            let (bytes, _, unmappable) = WINDOWS_1252.encode(text);
            assert!(!unmappable);
            assert_eq!(decode(&bytes), None, "{text}");
        }
    }
}
