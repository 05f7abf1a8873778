//! Decodes names in a charset that nothing declares: members of archives, files on disk.
//!
//! A name is UTF-8 if its bytes are valid UTF-8. Otherwise all names of an archive decide together.
//! Archives of DOS and Windows have names in the code page of the console (437, 850, 852, 866) or
//! in that of the system (1252, 1251, 932 …), which `chardetng` does not distinguish. Each candidate
//! is judged by the words that it makes of the bytes: letters of one script, small after capital,
//! common letters, no box drawing.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, EUC_JP, Encoding};

use super::code_page;
use super::letters::{Languages, NO_LANGUAGES, east_asian};
use super::signs::Signs;

/// The code pages that are considered besides the guess of `chardetng`, with their languages. Of
/// equals, the first wins.
pub(super) const CODE_PAGES: [(u16, Languages); 28] = [
    (437, Languages::WESTERN),
    (850, Languages::WESTERN),
    (1252, Languages::WESTERN),
    (865, Languages::WESTERN),
    (860, Languages::WESTERN),
    (861, Languages::WESTERN),
    (852, Languages::CENTRAL),
    (1250, Languages::CENTRAL),
    (28592, Languages::CENTRAL),
    (895, Languages::CENTRAL),
    (866, Languages::CYRILLIC),
    (1251, Languages::CYRILLIC),
    (20866, Languages::CYRILLIC),
    (21866, Languages::CYRILLIC),
    (1125, Languages::CYRILLIC),
    (10007, Languages::CYRILLIC),
    (737, Languages::GREEK),
    (1253, Languages::GREEK),
    (869, Languages::GREEK),
    (857, Languages::TURKISH),
    (1254, Languages::TURKISH),
    (775, Languages::BALTIC),
    (1257, Languages::BALTIC),
    (862, Languages::HEBREW),
    (1255, Languages::HEBREW),
    (720, Languages::ARABIC),
    (1256, Languages::ARABIC),
    (874, Languages::THAI),
];

/// The charsets of characters of two bytes.
const EAST_ASIAN: [Charset; 5] = [
    Charset::CodePage(932),
    Charset::CodePage(936),
    Charset::Web(BIG5),
    Charset::CodePage(949),
    Charset::Web(EUC_JP),
];

/// More bytes of names than are needed.
const MAX_EVIDENCE_BYTES: usize = 4096;
/// As many as ten names have.
const ENOUGH_EVIDENCE_BYTES: usize = 256;
/// How much more the guess of `chardetng` counts, in percent.
const GUESS_PERCENT: i32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    Web(&'static Encoding),
    CodePage(u16),
}

impl Charset {
    pub(super) fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
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

    /// Returns whether a name is not UTF-8 and there is too little evidence for its charset.
    pub(crate) fn is_undecided(&self, name: &[u8]) -> bool {
        self.evidence.len() < ENOUGH_EVIDENCE_BYTES && std::str::from_utf8(name).is_err()
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
            Ok(text) if score(text, NO_LANGUAGES) >= score(&decoded, NO_LANGUAGES) => {
                Cow::Borrowed(text)
            }
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
    let score = |page| score(&code_page::decode(bytes, page), NO_LANGUAGES);
    let mut best = (first, score(first));
    for &page in others {
        let score = score(page);
        if score > best.1 {
            best = (page, score);
        }
    }
    best.0
}

/// Returns the number of the code page that bytes are in; none if they are ASCII.
pub(crate) fn page_of(bytes: &[u8]) -> Option<u16> {
    let first = bytes.iter().position(|byte| !byte.is_ascii())?;
    let start = first.saturating_sub(256);
    let sample = super::without_ascii(&bytes[start..]);
    match guess(&sample[..sample.len().min(MAX_EVIDENCE_BYTES)]) {
        Charset::CodePage(page) => Some(page),
        Charset::Web(encoding) => {
            let pages = [932, 936, 949, 950, 51_932, 65_001].into_iter();
            let mut pages = pages
                .chain(CODE_PAGES.map(|(page, _)| page))
                .chain(1250..=1258);
            pages.find(|&page| code_page::is_encoding(page, encoding))
        }
    }
}

/// Returns the code page of Windows in which bytes make much better words than in the Western one; none
/// if there is no such page.
pub(crate) fn page_of_windows(text: &[u8]) -> Option<u16> {
    let lines: Vec<u8> = text
        .iter()
        .map(|&byte| if byte < b' ' { b'\n' } else { byte })
        .collect();
    let sample = super::without_ascii(&lines);
    let sample = &sample[..sample.len().min(MAX_EVIDENCE_BYTES)];
    let western = score(
        &code_page::decode(sample, code_page::WESTERN),
        Languages::WESTERN,
    );
    let is_of_windows = |(page, _): &&(u16, Languages)| (1250..1258).contains(page);
    let mut best = (code_page::WESTERN, western.max(0) + western.abs() / 2 + 4);
    for (page, languages) in CODE_PAGES.iter().filter(is_of_windows) {
        let score = score(&code_page::decode(sample, *page), *languages);
        if score > best.1 {
            best = (*page, score);
        }
    }
    (best.0 != code_page::WESTERN).then_some(best.0)
}

/// Returns the page in which all that is beyond ASCII are signs where such signs stand, `20°C`: `chardetng` judges
/// letters only.
fn page_of_signs(lines: &[u8]) -> Option<u16> {
    [1252, 850, 437].into_iter().find(|&page| {
        let signs = Signs::of(&code_page::decode(lines, page));
        signs.n_fitting > 0 && signs.n_misplaced == 0 && signs.n_letters == 0
    })
}

fn guess(lines: &[u8]) -> Charset {
    if let Some(page) = page_of_signs(lines) {
        return Charset::CodePage(page);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(lines, true);
    let web = detector.guess(None, Utf8Detection::Deny);
    let mut best = (Charset::Web(web), judged_guess(lines, web));
    let pages = CODE_PAGES.map(|(page, languages)| {
        let charset = Charset::CodePage(page);
        (charset, score(&charset.decode(lines), languages))
    });
    let east_asian = EAST_ASIAN.map(|charset| {
        let points = score(&charset.decode(lines), NO_LANGUAGES);
        (charset, points + of_bytes(charset, lines))
    });
    for candidate in pages.into_iter().chain(east_asian) {
        if candidate.1 > best.1 {
            best = candidate;
        }
    }
    best.0
}

/// Judges the guess of `chardetng`, which knows the languages of the web.
pub(super) fn judged_guess(lines: &[u8], web: &'static Encoding) -> i32 {
    let same = |charset: &Charset| match *charset {
        Charset::Web(other) => other == web,
        Charset::CodePage(page) => code_page::is_encoding(page, web),
    };
    let text = web.decode_without_bom_handling(lines).0;
    let languages = CODE_PAGES
        .iter()
        .find(|(page, _)| code_page::is_encoding(*page, web));
    let mut points = score(
        &text,
        languages.map_or(NO_LANGUAGES, |(_, languages)| *languages),
    );
    if let Some(charset) = EAST_ASIAN.iter().find(|charset| same(charset)) {
        points += of_bytes(*charset, lines);
    }
    points + points.abs() * GUESS_PERCENT / 100
}

/// Judges characters of two bytes by where the charset has them.
fn of_bytes(charset: Charset, lines: &[u8]) -> i32 {
    let rank: fn(u8, u8) -> i32 = match charset {
        Charset::CodePage(932) => east_asian::shift_jis,
        Charset::CodePage(936) => east_asian::gbk,
        Charset::CodePage(949) => east_asian::euc_kr,
        Charset::Web(encoding) if encoding == BIG5 => east_asian::big5,
        _ => east_asian::euc_jp,
    };
    let mut points = 0;
    let mut bytes = lines.iter();
    while let Some(&first) = bytes.next() {
        if first >= 0x80
            && let Some(&second) = bytes.next()
        {
            points += rank(first, second);
        }
    }
    points
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Cyrillic,
    Greek,
    Hebrew,
    Arabic,
    Thai,
    EastAsian,
    Hangul,
    Other,
}

fn script(letter: char) -> Script {
    match letter {
        'a'..='z' | 'A'..='Z' | '\u{aa}'..='\u{24f}' => Script::Latin,
        '\u{370}'..='\u{3ff}' => Script::Greek,
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        '\u{590}'..='\u{5ff}' => Script::Hebrew,
        '\u{600}'..='\u{6ff}' => Script::Arabic,
        '\u{e00}'..='\u{e7f}' => Script::Thai,
        '\u{3005}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' => Script::EastAsian,
        '\u{ac00}'..='\u{d7a3}' => Script::Hangul,
        _ => Script::Other,
    }
}

/// Returns how much a text looks like names, in proportion to the bytes that it comes from.
pub(super) fn score(text: &str, languages: Languages) -> i32 {
    let mut score = 0;
    let mut before = '\n';
    let mut n_consonants = 0;
    for character in text.chars() {
        if !character.is_ascii() {
            score += of_character(before, character, languages);
        }
        n_consonants = if is_consonant(character) {
            n_consonants + 1
        } else {
            0
        };
        if n_consonants >= MAX_CONSONANTS {
            score -= 4;
        }
        let counts = !before.is_ascii() || !character.is_ascii();
        let is_thai = script(character) == Script::Thai;
        if counts && before.is_alphabetic() && (character.is_alphabetic() || is_thai) {
            score += of_pair(before, character);
        }
        before = character;
    }
    score
}

/// Words of Greek and Cyrillic have hardly ever more consonants in a row.
const MAX_CONSONANTS: usize = 4;

fn is_consonant(letter: char) -> bool {
    let is_vowel = || "аеёиоуыэюяьъіїєАЕЁИОУЫЭЮЯЬЪІЇЄαεηιουωάέήίόύώϊϋΑΕΗΙΟΥΩ".contains(letter);
    matches!(script(letter), Script::Cyrillic | Script::Greek)
        && letter.is_alphabetic()
        && !is_vowel()
}

fn of_character(before: char, character: char, languages: Languages) -> i32 {
    match character {
        // In code page 437, ß is where á is in that of Windows.
        'ß' if "aeiouäöüAEIOUÄÖÜ".contains(before) => 5,
        'ß' => -2,
        '\u{3000}'..='\u{3004}' | '\u{3006}'..='\u{303f}' | '\u{ff01}'..='\u{ff5e}' => 1,
        '\u{ff61}'..='\u{ff9f}' => -3,
        // The long mark of Japanese.
        'ー' => 5,
        _ if character.is_alphabetic() || script(character) == Script::Thai => {
            match script(character) {
                // Two bytes each.
                Script::EastAsian if east_asian::is_frequent(character) => 6,
                Script::EastAsian => 3,
                Script::Hangul if east_asian::is_frequent(character) => 6,
                Script::Hangul => 3,
                _ => languages.points(character),
            }
        }
        '\u{fffd}' => -30,
        '\u{80}'..='\u{9f}' => -15,
        // Marks of vowels.
        '\u{5b0}'..='\u{5c7}' | '\u{64b}'..='\u{652}' => -1,
        // Box drawing.
        '\u{2500}'..='\u{25ff}' => -8,
        _ if before.is_alphabetic() => -4,
        _ => -2,
    }
}

/// Judges two letters of Thai, where a mark follows a consonant, and a vowel before its consonant.
fn of_thai(before: char, character: char) -> i32 {
    let is_mark = |c| matches!(c, '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}');
    let is_consonant = |c| matches!(c, '\u{e01}'..='\u{e2e}');
    match (before, character) {
        (before, mark) if is_mark(mark) && !is_consonant(before) && !is_mark(before) => -8,
        ('\u{e40}'..='\u{e44}', other) if !is_consonant(other) => -8,
        _ => 0,
    }
}

/// Judges two letters side by side.
fn of_pair(before: char, character: char) -> i32 {
    match (script(before), script(character)) {
        (one, other) if one != other => -6,
        (Script::Hebrew, _) if "ךםןףץ".contains(before) => -6,
        (Script::Greek, _) if before == 'ς' => -6,
        (Script::Thai, _) => of_thai(before, character),
        // The frequent endings of Portuguese, which in code page 437 end in other letters.
        (Script::Latin, _) if matches!((before, character), ('ã', 'o' | 'e') | ('õ', 'e')) => 3,
        (Script::Latin, _) if matches!((before, character), ('ä', 'o') | ('ö', 'e')) => -4,
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
            (895, &["Příloha č. 1.pdf", "Žluťoučký kůň.txt"]),
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
    fn names_with_signs_only_are_told_apart() {
        for (page, name) in [
            (1252, "Don’t panic.txt"),
            (1252, "“Quoted”.txt"),
            (1252, "Price £20.txt"),
            (1252, "Foo – Bar.txt"),
            (1252, "© 2004.txt"),
            (850, "20°C.txt"),
            (850, "Price £20.txt"),
            (437, "½ price.txt"),
            // Letters in the places of signs.
            (437, "città.txt"),
            (850, "più.txt"),
            (850, "sjö.txt"),
            (850, "ähnlich.txt"),
            (850, "étude.txt"),
            (850, "Æble.txt"),
            (865, "ære.txt"),
            (437, "último índice.txt"),
        ] {
            assert_eq!(decode(&in_page(name, page)), name, "{page}");
        }
    }

    #[test]
    fn names_of_an_archive_show_its_charset() {
        let mut wrong = Vec::new();
        for (page, names) in [
            (932, &["新しいテキスト.txt", "議事録.doc", "見積書.pdf"][..]),
            (936, &["会议纪要.doc", "新建文件夹/照片.jpg", "说明书.pdf"]),
            (950, &["會議記錄.doc", "新資料夾/照片.jpg", "說明書.pdf"]),
            (949, &["회의록.doc", "새 폴더/사진.jpg", "계약서.hwp"]),
            (866, &["Отчёт за год.txt", "ДОГОВОР.doc", "Фото/лето.jpg"]),
            (1125, &["Звіт за рік.doc", "Їжак.txt", "Світлини/пісня.mp3"]),
            (1251, &["Отчёт за год.txt", "ДОГОВОР.doc", "Фото/лето.jpg"]),
            (10007, &["Отчёт за год.txt", "Договор.doc", "Фото/лето.jpg"]),
            (
                852,
                &[
                    "Příloha č. 1.pdf",
                    "Žádost o dovolenou.doc",
                    "Účetnictví.xls",
                ],
            ),
            (
                1250,
                &["Wniosek żony.doc", "Zdjęcia/łódka.jpg", "Świadectwo.pdf"],
            ),
            (
                860,
                &[
                    "Ação judicial.doc",
                    "Relatório de gestão.pdf",
                    "Não esquecer.txt",
                ],
            ),
            (
                737,
                &["Αναφορά έτους.doc", "Οδηγίες χρήσης.txt", "Μουσική.mp3"],
            ),
            (
                1253,
                &["Αναφορά έτους.doc", "Οδηγίες χρήσης.txt", "Μουσική.mp3"],
            ),
            (
                857,
                &["Yıllık rapor.doc", "Fatura örneği.pdf", "Sözleşme.doc"],
            ),
            (
                775,
                &[
                    "Sąskaita faktūra.pdf",
                    "Žinios.txt",
                    "Metų sutartis šiandien.doc",
                ],
            ),
            (862, &["דוח שנתי.doc", "תיקיה חדשה/מסמך.txt", "חשבונית.pdf"]),
            (1256, &["تقرير السنة.doc", "مجلد جديد/نص.txt", "فاتورة.pdf"]),
            (874, &["รายงานประจำปี.doc", "รูปภาพ/ฤดูร้อน.jpg", "คู่มือ.txt"]),
        ] {
            let encoded: Vec<Vec<u8>> = names.iter().map(|name| encoded(name, page)).collect();
            let mut group = Names::default();
            encoded.iter().for_each(|name| group.note(name));
            for (name, bytes) in names.iter().zip(&encoded) {
                let decoded = group.decode(bytes);
                if decoded != *name {
                    wrong.push(format!("{page}: {decoded} for {name}"));
                }
            }
        }
        assert_eq!(wrong, [""; 0]);
    }

    /// Encodes a name in any code page.
    fn encoded(name: &str, page: u16) -> Vec<u8> {
        let east_asian = [(932, SHIFT_JIS), (936, GBK), (949, EUC_KR), (950, BIG5)];
        match east_asian.iter().find(|(number, _)| *number == page) {
            Some((_, encoding)) => encoding.encode(name).0.into_owned(),
            None => in_page(name, page),
        }
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
