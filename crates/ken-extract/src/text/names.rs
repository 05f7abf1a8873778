//! Decodes names in a charset that nothing declares: members of archives, files on disk.
//!
//! A name is UTF-8 if its bytes are valid UTF-8. Otherwise all names of an archive decide together.
//! Archives of DOS and Windows have names in the code page of the console (437, 850, 852, 866) or
//! in that of the system (1252, 1251, 932 …), which `chardetng` does not distinguish. Each candidate
//! is judged by the words that it makes of the bytes: letters of one script, small after capital,
//! common letters, no box drawing.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

use super::code_page;

/// The code pages that are considered besides the guess of `chardetng`. Of equals, the first wins.
const CODE_PAGES: [u16; 8] = [437, 850, 852, 866, 1251, 932, 936, 949];

/// More bytes of names than are needed.
const MAX_EVIDENCE_BYTES: usize = 4096;

#[derive(Clone, Copy)]
enum Charset {
    Web(&'static Encoding),
    CodePage(u16),
}

impl Charset {
    fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Self::Web(encoding) => encoding.decode_without_bom_handling(bytes).0,
            Self::CodePage(page) => code_page::decode(bytes, page),
        }
    }
}

/// Decodes names that share a charset.
#[derive(Default)]
pub(crate) struct Names {
    /// The names so far that are not UTF-8, as lines.
    evidence: Vec<u8>,
    charset: Option<Charset>,
}

impl Names {
    /// Takes a name into account for all names that are decoded later.
    pub(crate) fn note(&mut self, name: &[u8]) {
        if self.evidence.len() < MAX_EVIDENCE_BYTES && std::str::from_utf8(name).is_err() {
            let n_bytes = name.len().min(MAX_EVIDENCE_BYTES);
            self.evidence.extend_from_slice(&name[..n_bytes]);
            self.evidence.push(b'\n');
            self.charset = None;
        }
    }

    /// Returns a name as text.
    pub(crate) fn decode<'n>(&mut self, name: &'n [u8]) -> Cow<'n, str> {
        let utf8 = std::str::from_utf8(name);
        if let Ok(text) = utf8
            && (self.evidence.is_empty() || text.is_ascii())
        {
            return Cow::Borrowed(text);
        }
        let charset = *self.charset.get_or_insert_with(|| guess(&self.evidence));
        let decoded = charset.decode(name);
        match utf8 {
            // A short name in another charset may be valid UTF-8 by accident.
            Ok(text) if score(text) >= score(&decoded) => Cow::Borrowed(text),
            _ => decoded,
        }
    }
}

/// Returns a single name as text.
pub(crate) fn decode(name: &[u8]) -> Cow<'_, str> {
    let mut names = Names::default();
    names.note(name);
    names.decode(name)
}

/// Returns the code page that makes the best words of bytes; of equals, the first wins.
pub(super) fn best_page(bytes: &[u8], first: u16, others: &[u16]) -> u16 {
    let mut best = (first, score(&code_page::decode(bytes, first)));
    for &page in others {
        let score = score(&code_page::decode(bytes, page));
        if score > best.1 {
            best = (page, score);
        }
    }
    best.0
}

/// Returns the code page of DOS in which bytes make better words than in a charset of the web; none if
/// there is no such page. Lines and boxes are drawn in DOS only.
pub(super) fn page_of_dos(mut sample: Vec<u8>, web: &'static Encoding) -> Option<u16> {
    let is_drawn = has_line_art(&sample);
    if is_drawn {
        sample.retain(|byte| !LINE_ART.contains(byte));
    }
    let page = best_page(&sample, CODE_PAGES[0], &PAGES_OF_DOS);
    let scores = (
        score(&code_page::decode(&sample, page)),
        score(&web.decode_without_bom_handling(&sample).0),
    );
    (is_drawn || scores.0 > scores.1.max(0) + scores.1.abs() / 2 + 4).then_some(page)
}

/// The code pages of DOS that texts are in, besides the first.
const PAGES_OF_DOS: [u16; 9] = [850, 852, 737, 775, 857, 860, 861, 865, 866];
/// Lines, boxes and shades.
const LINE_ART: std::ops::RangeInclusive<u8> = 0xb0..=0xdf;
/// The bytes of lines and shades that are repeated, and how often they must be.
const REPEATED: [u8; 9] = [0xb0, 0xb1, 0xb2, 0xc4, 0xcd, 0xdb, 0xdc, 0xdf, 0xfe];
const N_REPEATED: usize = 5;

fn has_line_art(sample: &[u8]) -> bool {
    sample
        .chunk_by(|one, other| one == other)
        .any(|run| run.len() >= N_REPEATED && REPEATED.contains(&run[0]))
}

fn guess(lines: &[u8]) -> Charset {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(lines, true);
    let web = Charset::Web(detector.guess(None, Utf8Detection::Deny));
    let mut best = (web, score(&web.decode(lines)));
    for page in CODE_PAGES.map(Charset::CodePage) {
        let score = score(&page.decode(lines));
        if score > best.1 {
            best = (page, score);
        }
    }
    best.0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Cyrillic,
    EastAsian,
    Hangul,
    Other,
}

fn script(letter: char) -> Script {
    match letter {
        'a'..='z' | 'A'..='Z' | '\u{aa}'..='\u{24f}' => Script::Latin,
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        '\u{3005}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' => Script::EastAsian,
        '\u{ac00}'..='\u{d7a3}' => Script::Hangul,
        _ => Script::Other,
    }
}

/// Returns how much a text looks like names, in proportion to the bytes that it comes from.
fn score(text: &str) -> i32 {
    let mut score = 0;
    let mut before = '\n';
    for character in text.chars() {
        if !character.is_ascii() {
            score += of_character(before, character);
        }
        let counts = !before.is_ascii() || !character.is_ascii();
        if counts && before.is_alphabetic() && character.is_alphabetic() {
            score += of_pair(before, character);
        }
        before = character;
    }
    score
}

fn of_character(before: char, character: char) -> i32 {
    match character {
        // In code page 437, ß is where á is in that of Windows.
        'ß' if "aeiouäöüAEIOUÄÖÜ".contains(before) => 5,
        'ß' => -2,
        _ if "äöüéèêàáíóúñçâîôûåæøÄÖÜÉÅØ".contains(character) => 4,
        _ if "оеаинтсрвлкмдпуяы".contains(character) => 4,
        '\u{3000}'..='\u{3004}' | '\u{3006}'..='\u{303f}' | '\u{ff01}'..='\u{ff5e}' => 1,
        '\u{ff61}'..='\u{ff9f}' => -3,
        _ if character.is_alphabetic() => match script(character) {
            // Two bytes each. Most Chinese text holds none of the bytes of Hangul only.
            Script::EastAsian => 5,
            Script::Hangul => 6,
            Script::Cyrillic => 2,
            Script::Latin => 1,
            Script::Other => -2,
        },
        '\u{fffd}' => -30,
        '\u{80}'..='\u{9f}' => -15,
        // Box drawing.
        '\u{2500}'..='\u{25ff}' => -8,
        _ if before.is_alphabetic() => -4,
        _ => -2,
    }
}

/// Judges two letters side by side.
fn of_pair(before: char, character: char) -> i32 {
    match (script(before), script(character)) {
        (one, other) if one != other => -6,
        _ if before.is_lowercase() && character.is_uppercase() => -7,
        // Few languages have two accents in a row.
        (Script::Latin, _) if !before.is_ascii() && !character.is_ascii() => -2,
        _ => 1,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use encoding_rs::{
        BIG5, EUC_JP, EUC_KR, GBK, IBM866, KOI8_R, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251,
        WINDOWS_1252,
    };

    use super::*;

    /// Encodes text in a code page.
    pub(in crate::text) fn in_page(text: &str, page: u16) -> Vec<u8> {
        let byte_of =
            |c: char| (0..=255_u8).find(|&byte| code_page::decode(&[byte], page).starts_with(c));
        text.chars().map(|c| byte_of(c).unwrap()).collect()
    }

    #[test]
    fn names_of_dos_and_windows_are_told_apart() {
        let mut wrong = Vec::new();
        let mut check = |bytes: &[u8], name: &str| {
            let decoded = decode(bytes);
            if decoded != name {
                wrong.push(format!("{decoded} for {name}"));
            }
        };
        for (page, names) in [
            (
                437,
                &[
                    "Größe.txt",
                    "Straße 12.pdf",
                    "Übersicht März.doc",
                    "café.txt",
                    "mañana",
                ][..],
            ),
            (
                850,
                &[
                    "Présentation à faire.odt",
                    "Ação.txt",
                    "Smørrebrød.txt",
                    "ÄRGER",
                ],
            ),
            (852, &["Příloha č. 1.pdf", "Zażółć gęślą jaźń.txt"]),
            (
                866,
                &[
                    "Привет мир.txt",
                    "отчёт за год.doc",
                    "ДОГОВОР",
                    "Фото/Лето 2009",
                ],
            ),
        ] {
            for name in names {
                check(&in_page(name, page), name);
            }
        }
        for (encoding, names) in [
            (
                WINDOWS_1252,
                &[
                    "Größe.txt",
                    "März.txt",
                    "página.html",
                    "Kjøreplan",
                    "vidéo été",
                ][..],
            ),
            (WINDOWS_1250, &["Příloha č. 1.pdf", "Zażółć gęślą jaźń.txt"]),
            (
                WINDOWS_1251,
                &["Привет мир.txt", "отчёт за год.doc", "ДОГОВОР"],
            ),
            (KOI8_R, &["Привет мир.txt", "отчёт за год.doc"]),
            (IBM866, &["Приложение"]),
            (
                SHIFT_JIS,
                &[
                    "日本語の文書ファイル.txt",
                    "議事録.doc",
                    "新しいフォルダ/メモ.txt",
                ],
            ),
            (EUC_JP, &["日本語の文書ファイル.txt"]),
            (
                GBK,
                &["会议纪要文件.txt", "新建文件夹/照片.jpg", "合同.pdf"],
            ),
            (BIG5, &["會議記錄文件.txt"]),
            (EUC_KR, &["회의록 문서.hwp", "사진.jpg"]),
        ] {
            for name in names {
                check(&encoding.encode(name).0, name);
            }
        }
        assert_eq!(wrong, [""; 0]);
    }

    #[test]
    fn all_names_decide_together() {
        let (long, short) = (GBK.encode("会议纪要文件.txt").0, GBK.encode("图.txt").0);
        let mut names = Names::default();
        names.note(&long);
        assert_eq!(names.decode(&short), "图.txt");
        assert_eq!(names.decode("größe".as_bytes()), "größe");
    }
}
