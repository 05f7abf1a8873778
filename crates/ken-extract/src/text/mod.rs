//! Decodes bytes to text: byte order marks, UTF-8, UTF-16 and UTF-32, legacy charsets, control
//! characters.
//!
//! Nearly all text is UTF-8 or ASCII without controls: it is validated and borrowed, not copied.
//! For other text, the encoding follows from the byte order mark, the NUL pattern, the declaration
//! or detection (`chardetng`, Firefox's detector), in this order, and `encoding_rs` decodes it
//! (WHATWG Encoding Standard). Valid UTF-8 takes precedence over a declared single-byte charset:
//! text in such a charset is hardly ever valid UTF-8 by accident, while wrong declarations are
//! common in mail and HTML.

pub(crate) mod charset;
pub(crate) mod encoded;
pub(crate) mod entities;
mod entity_table;
pub(crate) mod foreign;
mod letters;
mod mainframe;
pub(crate) mod names;
mod pages;
mod signs;
mod terminal;
mod wide;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
pub(crate) use ken_mail::code_page;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use ken_mail::Charset;
use wide::{Wide, decode_wide, wide};

/// Number of bytes that the detector of legacy charsets sees, from the first non-ASCII byte.
const DETECTION_BYTES: usize = 64 << 10;

/// Number of ASCII bytes that it sees next to non-ASCII bytes: more than a word.
const DETECTION_CONTEXT_BYTES: usize = 64;

/// The escape sequence of ISO-2022-KR, whose controls switch between Korean and ASCII.
const KOREAN: &[u8] = b"\x1b$)C";
const SHIFT_OUT: u8 = 0x0e;
const SHIFT_IN: u8 = 0x0f;

/// Number of bytes of text that a head with NUL bytes needs to be text.
const MIN_TEXT_BYTES: usize = 8;

/// Number of bytes of text for which one more run of NUL bytes is a stray one.
const BYTES_PER_NUL_RUN: usize = 64;

/// Decodes text; `declared` is the charset that a header or container names.
///
/// Never fails: bytes that cannot be decoded become U+FFFD. Colours and overstrikes of terminals
/// are removed; C0 controls other than tab, line feed, form feed and carriage return become spaces.
/// Lines are kept.
pub(crate) fn decode<'a>(bytes: &'a [u8], declared: Option<&str>) -> Cow<'a, str> {
    match decode_raw(bytes, declared) {
        Cow::Borrowed(text) if has_controls(text.as_bytes()) => {
            Cow::Owned(terminal::displayed(text))
        }
        Cow::Owned(text) if has_controls(text.as_bytes()) => Cow::Owned(terminal::displayed(&text)),
        text => text,
    }
}

/// Decodes like [`decode`], without a copy if the bytes are clean UTF-8.
pub(crate) fn decode_owned(bytes: Vec<u8>, declared: Option<&str>) -> String {
    if let Cow::Owned(text) = decode(&bytes, declared) {
        return text;
    }
    let start = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    // `decode` borrowed, so the bytes are valid and this neither copies nor replaces.
    let mut text = String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    text.drain(..start);
    text
}

/// Returns the number of bytes of one ASCII character, judging by the start of a text: 1, 2 or 4.
pub(crate) fn unit_bytes(head: &[u8]) -> usize {
    match wide(head) {
        Some((Wide::Utf32Le | Wide::Utf32Be, _)) => 4,
        Some(_) => 2,
        None => 1,
    }
}

/// Returns whether the start of a file is not text in any encoding.
///
/// NUL bytes decide, unless they form the pattern of UTF-16 or UTF-32 or are stray ones in a text.
/// Otherwise more than one control character in thirty decides, not counting escape sequences
/// (ISO-2022, terminals) and page breaks.
pub(crate) fn is_binary(head: &[u8]) -> bool {
    has_binary_bytes(head) && !has_stray_nuls(head)
}

/// Returns whether the start of a file has bytes that a text without faults has not: a NUL, or many controls.
pub(crate) fn has_binary_bytes(head: &[u8]) -> bool {
    if wide(head).is_some() {
        return false;
    }
    if memchr::memchr(0, head).is_some() {
        return true;
    }
    // Most texts have no controls, which is faster to check.
    has_controls(head) && n_odd_controls(head) * 30 > head.len() && !mainframe::is_ebcdic(head)
}

fn n_odd_controls(head: &[u8]) -> usize {
    let is_korean = memchr::memmem::find(head, KOREAN).is_some();
    let is_odd = |byte: &&u8| match **byte {
        0x08 | 0x1b => false,
        SHIFT_OUT | SHIFT_IN if is_korean => false,
        byte => is_control(byte),
    };
    head.iter().filter(is_odd).count()
}

/// Returns whether the NUL bytes are stray ones in a text: a few runs, as a crash leaves them in a
/// log or at the end of a file, between lines or words of UTF-8 without other controls.
fn has_stray_nuls(head: &[u8]) -> bool {
    let runs = || head.split(|&byte| byte == 0).filter(|run| !run.is_empty());
    let n_text: usize = runs().map(<[u8]>::len).sum();
    let is_text = |run: &[u8]| {
        let is_odd = |&byte: &u8| is_control(byte) && !matches!(byte, 0x08 | 0x1b);
        // The head may end within a character.
        let is_utf8 = std::str::from_utf8(run).map_or_else(|e| e.error_len().is_none(), |_| true);
        is_utf8 && !run.iter().any(is_odd)
    };
    n_text >= MIN_TEXT_BYTES
        && runs().count() <= 2 + n_text / BYTES_PER_NUL_RUN
        && head.iter().any(u8::is_ascii_whitespace)
        && runs().all(is_text)
}

fn decode_raw<'a>(bytes: &'a [u8], declared: Option<&str>) -> Cow<'a, str> {
    if let Some((wide, bom_bytes)) = wide(bytes) {
        return Cow::Owned(decode_wide(&bytes[bom_bytes..], wide));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let declared = declared.and_then(declared_encoding);
    if let Some(encoding) = declared
        && encoding != UTF_8
        && !encoding.is_single_byte()
    {
        return encoding.decode_without_bom_handling(bytes).0;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let shifted = Charset::by_escapes(bytes).filter(|_| bytes.is_ascii());
            let shifted = shifted.and_then(|charset| charset.decode(bytes));
            shifted.unwrap_or(Cow::Borrowed(text))
        }
        Err(error) => match declared.filter(|&encoding| encoding != UTF_8) {
            Some(encoding) => encoding.decode_without_bom_handling(bytes).0,
            None => guessed(bytes, error.valid_up_to()),
        },
    }
}

/// Returns the encoding of a charset label, if the label is meaningful: `us-ascii` on bytes that
/// are not ASCII is only a default, and UTF-16 is already recognised.
fn declared_encoding(label: &str) -> Option<&'static Encoding> {
    let label = label.trim_matches(|c: char| c.is_ascii_whitespace() || c == '"' || c == '\'');
    if label.eq_ignore_ascii_case("us-ascii") || label.eq_ignore_ascii_case("ascii") {
        return None;
    }
    Encoding::for_label_no_replacement(label.as_bytes())
        .filter(|&encoding| encoding != UTF_16LE && encoding != UTF_16BE)
}

/// Decodes bytes that are not valid UTF-8 from `first_bad` on, in the charset that they suggest.
fn guessed(bytes: &[u8], first_bad: usize) -> Cow<'_, str> {
    if mainframe::is_ebcdic(bytes) {
        return mainframe::decode(bytes);
    }
    let first = bytes[..first_bad].iter().position(|&byte| byte >= 0x80);
    // Valid sequences before the first bad one mean damaged UTF-8, not another charset.
    if let Some(first) = first
        && first_bad - first >= 2
        && n_sequences(&bytes[first..first_bad]) >= 3
    {
        return UTF_8.decode_without_bom_handling(bytes).0;
    }
    let start = first.unwrap_or(first_bad).saturating_sub(256);
    let end = bytes.len().min(start + DETECTION_BYTES);
    let sample = without_ascii(&bytes[start..end]);
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&sample, end == bytes.len());
    let web = detector.guess(None, Utf8Detection::Allow);
    pages::of_text(&sample, web).decode(bytes)
}

/// Leaves out the inner part of long runs of ASCII. The detector runs 27 encodings on each byte,
/// which costs 100 ns, and ASCII among ASCII helps none of them.
fn without_ascii(bytes: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while !rest.is_empty() {
        let (ascii, after) = rest.split_at(Encoding::ascii_valid_up_to(rest));
        if ascii.len() > 2 * DETECTION_CONTEXT_BYTES {
            kept.extend_from_slice(&ascii[..DETECTION_CONTEXT_BYTES]);
            kept.extend_from_slice(&ascii[ascii.len() - DETECTION_CONTEXT_BYTES..]);
        } else {
            kept.extend_from_slice(ascii);
        }
        let others = after.iter().take_while(|byte| !byte.is_ascii()).count();
        kept.extend_from_slice(&after[..others]);
        rest = &after[others..];
    }
    kept
}

fn n_sequences(utf8: &[u8]) -> usize {
    utf8.iter().filter(|&&byte| byte >= 0xc0).count()
}

fn is_control(byte: u8) -> bool {
    (byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c)) || byte == 0x7f
}

fn has_controls(bytes: &[u8]) -> bool {
    // Without an early exit inside a block, the compiler vectorises the test.
    let holds = |block: &[u8]| {
        block
            .iter()
            .fold(false, |any, &byte| any | is_control(byte))
    };
    bytes.chunks(4 << 10).any(holds)
}

#[cfg(test)]
mod tests {
    use encoding_rs::{
        GB18030, ISO_8859_2, KOI8_R, SHIFT_JIS, WINDOWS_1250, WINDOWS_1252, WINDOWS_1254,
        WINDOWS_1257,
    };
    use proptest::prelude::*;

    use super::*;

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    fn utf32(text: &str, to_bytes: fn(u32) -> [u8; 4]) -> Vec<u8> {
        text.chars().flat_map(|c| to_bytes(c as u32)).collect()
    }

    #[test]
    fn clean_utf8_is_borrowed() {
        let text = "Grüße, 世界\r\nline\ttwo\x0cpage two";
        assert!(matches!(decode(text.as_bytes(), None), Cow::Borrowed(same) if same == text));
        assert_eq!(decode(b"\xef\xbb\xbfmarked", None), "marked");
        assert_eq!(decode_owned(b"\xef\xbb\xbfmarked".to_vec(), None), "marked");
    }

    #[test]
    fn utf16_and_utf32_with_and_without_mark() {
        for text in ["Grüße\nan alle", "Привет, мир: 2 слова и 5 цифр 1 2 3\n"]
        {
            let marked = format!("\u{feff}{text}");
            for text_in in [text, &marked] {
                assert_eq!(decode(&utf16(text_in, u16::to_le_bytes), None), text);
                assert_eq!(decode(&utf16(text_in, u16::to_be_bytes), None), text);
            }
            assert_eq!(decode(&utf32(&marked, u32::to_le_bytes), None), text);
            assert_eq!(decode(&utf32(&marked, u32::to_be_bytes), None), text);
        }
        assert_eq!(decode(&utf32("plain", u32::to_le_bytes), None), "plain");
        assert_eq!(decode(&utf32("plain", u32::to_be_bytes), None), "plain");
        assert_eq!(unit_bytes(&utf16("plain", u16::to_be_bytes)), 2);
        assert_eq!(unit_bytes(&utf32("plain", u32::to_be_bytes)), 4);
        assert_eq!(unit_bytes(b"plain"), 1);
    }

    const LEGACY: &[(&Encoding, &str)] = &[
        (
            WINDOWS_1252,
            "Die Größe der Fläche – „schön“ heißt: für jeden über 5 €.",
        ),
        (
            ISO_8859_2,
            "Zażółć gęślą jaźń. Wszyscy ludzie rodzą się wolni i równi pod względem swej godności.",
        ),
        (
            KOI8_R,
            "Все люди рождаются свободными и равными в своём достоинстве и правах.",
        ),
        (
            SHIFT_JIS,
            "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
        ),
        (
            GB18030,
            "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。",
        ),
    ];

    #[test]
    fn legacy_charsets_are_detected() {
        for (encoding, text) in LEGACY {
            let (bytes, _, unmappable) = encoding.encode(text);
            assert!(!unmappable);
            assert_eq!(decode(&bytes, None), *text, "{}", encoding.name());
            assert_eq!(decode(&bytes, Some(encoding.name())), *text);
        }
    }

    #[test]
    fn wide_text_without_ascii_is_recognised() {
        for text in [
            "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
            "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
            "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
        ] {
            assert_eq!(decode(&utf16(text, u16::to_le_bytes), None), text);
            assert_eq!(decode(&utf16(text, u16::to_be_bytes), None), text);
            assert!(!is_binary(&utf16(text, u16::to_le_bytes)), "{text}");
        }
    }

    #[test]
    fn texts_of_dos_and_mainframes_are_recognised() {
        for (page, text) in [
            (
                437,
                "Die Größe der Fläche heißt: für jeden über fünf Möbelstücke.",
            ),
            (
                850,
                "Le château était près de la forêt; ça coûte à l'élève.",
            ),
            (852, "Příliš žluťoučký kůň úpěl ďábelské ódy."),
            (895, "Příliš žluťoučký kůň úpěl ďábelské ódy."),
            (10029, "Příliš žluťoučký kůň úpěl ďábelské ódy."),
            (
                10000,
                "Les élèves étaient près du château, où l’été s’achève.",
            ),
            (
                10007,
                "Все люди рождаются свободными. Они равны в своём достоинстве и правах.",
            ),
            (
                855,
                "Все люди рождаются свободными и равными в своём достоинстве и правах.",
            ),
            (
                1125,
                "Надішліть договір якнайшвидше. Наступна зустріч у Києві.",
            ),
            (869, "Παρακαλώ στείλτε το συμβόλαιο το συντομότερο δυνατό."),
            (28605, "L'œuf est au cœur de l'œuvre."),
            (
                895,
                "Částka, kterou zaměstnanec dostává za práci, se řídí smlouvou.",
            ),
            (
                437,
                "╔══════════════╗\n║ Release Größe ║\n╚══════════════╝\n",
            ),
            (866, "──────────\nПривет, мир\n──────────\n"),
            (
                1047,
                "Hello World, this is a text of a mainframe.\nIt has two lines.\n",
            ),
            (
                273,
                "Die Größe der Fläche heißt für jeden über fünf Möbelstücke.\n",
            ),
        ] {
            let bytes = names::tests::in_page(text, page);
            assert_eq!(decode(&bytes, None), text, "{page}");
            assert!(!is_binary(&bytes), "{text}");
        }
    }

    #[test]
    fn texts_with_hardly_more_than_ascii_are_western() {
        for text in [
            "He said “hello” to me and then “bye”.",
            "Don’t do it. It’s late – really. He’d go…",
            "The price is £20 or so",
            "It costs 50 € or 5 £",
            "Foo® is a mark",
            "he says «yes» to all",
            "a naïve approach",
            "use ¼ cup and ¾ cup of 5 ± 2",
            "10 µm wide",
            "¡Hola! said he",
            "„Guten Tag“, sagte er.",
            "l’œuvre d’art “chaud”",
            "The plan—if there is one—works.",
            "Attention\u{a0}: le fichier",
            "Page\u{a0}5",
            "wait…what",
            "50 m² or 5 km²",
            "EUR€",
        ] {
            let (bytes, _, unmappable) = WINDOWS_1252.encode(text);
            assert!(!unmappable);
            assert_eq!(decode(&bytes, None), text);
        }
    }

    #[test]
    fn repeated_characters_of_east_asia_are_no_lines() {
        for text in [
            "ﾃﾞｰﾀを読み込んでいますｰｰｰｰｰｰ\nしばらくお待ちください。",
            "すべての人間は、生まれながらにしてｰｰｰｰｰ自由であり、かつ、平等である。",
        ] {
            let (bytes, _, unmappable) = SHIFT_JIS.encode(text);
            assert!(!unmappable);
            assert_eq!(decode(&bytes, None), text);
        }
    }

    #[test]
    fn one_letter_is_that_of_the_guess() {
        for (encoding, text) in [
            (WINDOWS_1250, "O dată pe an."),
            (WINDOWS_1250, "Nie został zapisany."),
            (WINDOWS_1254, "Dosya bulunamadı."),
            (WINDOWS_1257, "Vārds nav derīgs."),
            (WINDOWS_1252, "lukeminen epäonnistui"),
            (WINDOWS_1252, "Voilà"),
        ] {
            let (bytes, _, unmappable) = encoding.encode(text);
            assert!(!unmappable);
            assert_eq!(decode(&bytes, None), text);
        }
    }

    #[test]
    fn escapes_of_terminals_within_utf8_are_no_charset() {
        let bytes = b"caf\xc3\xa9 log\x1b$)C then \xc3\xa9t\xc3\xa9";
        assert!(decode(bytes, None).contains("then été"));
    }

    #[test]
    fn korean_in_ascii_is_text() {
        let bytes = b"\x1b$)C\x0eGQ1[\x0f \x0eGQ1[\x0f is Korean";
        assert!(!is_binary(bytes));
        assert_eq!(decode(bytes, None), "한글 한글 is Korean");
    }

    #[test]
    fn far_away_legacy_characters_are_seen() {
        let mut bytes = vec![b'x'; 200_000];
        bytes.extend(KOI8_R.encode(LEGACY[2].1).0.iter());
        assert!(decode(&bytes, None).ends_with(LEGACY[2].1));
        assert!(without_ascii(&bytes).len() < 300);
    }

    #[test]
    fn declarations_decide_what_detection_cannot() {
        assert_eq!(decode(b"\xe4", Some("koi8-r")), "\u{414}");
        assert_eq!(decode(b"\xe4", Some(" \"ISO-8859-1\"")), "ä");
        assert_eq!(decode("für".as_bytes(), Some("iso-8859-1")), "für");
        assert_eq!(decode(b"caf\xe9", Some("us-ascii")), "café");
        assert_eq!(decode(b"plain", Some("utf-16")), "plain");
        assert_eq!(decode(b"plain", Some("no such charset")), "plain");
        let japanese = "\u{65e5}\u{672c}";
        let bytes = b"\x1b$BF|K\\\x1b(B";
        assert_eq!(decode(bytes, None), japanese);
        assert_eq!(decode(bytes, Some("iso-2022-jp")), japanese);
    }

    #[test]
    fn damaged_utf8_stays_utf8() {
        let mut bytes = "Grüße und Küsse für Zoë".as_bytes().to_vec();
        bytes.extend(b" \xff end");
        assert_eq!(decode(&bytes, None), "Grüße und Küsse für Zoë \u{fffd} end");
    }

    #[test]
    fn controls_become_spaces_and_lines_stay() {
        let cleaned = "a b c\x0cd\r\ne\n f";
        assert_eq!(decode(b"a\0b\x07c\x0cd\r\ne\n\x7ff", None), cleaned);
        assert_eq!(decode_owned(b"a\x01b".to_vec(), None), "a b");
    }

    #[test]
    fn binary_is_distinguished_from_text() {
        assert!(is_binary(b"\x7fELF\x02\x01\x01\0\0\0\0"));
        assert!(is_binary(b"\x01\x02\x03\x04 and a bit of text"));
        assert!(!is_binary(b""));
        assert!(!is_binary("Grüße".as_bytes()));
        assert!(!is_binary(b"caf\xe9 \x1b[1mbold\x1b[0m"));
        assert!(!is_binary(&utf16("wide text", u16::to_le_bytes)));
        assert!(is_binary(&[0; 100]));
    }

    #[test]
    fn stray_nul_bytes_leave_a_text_a_text() {
        let line = b"2024-03-05 10:00 server started\n";
        let padding = [0; 8000];
        for text in [
            b"a short note\n\0".to_vec(),
            [&[0; 8][..], line].concat(),
            [&line[..], &[0; 16], line].concat(),
            [&line[..], &padding].concat(),
            "Grüße \0 an alle\n".as_bytes().to_vec(),
        ] {
            assert!(!is_binary(&text), "{}", text.escape_ascii());
        }
        let names = b"one name\0two\0three\0four\0five\0";
        for bytes in [
            &names[..],
            b"KEY\0",
            b"some text\0\x01\x02",
            b"an \xff\xfe\xe9 x\0",
        ] {
            assert!(is_binary(bytes), "{}", bytes.escape_ascii());
        }
        assert!(is_binary(
            &(0..=255).cycle().take(5120).collect::<Vec<u8>>()
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_decode_without_controls(bytes: Vec<u8>, label in "[a-z0-9-]{0,12}") {
            for declared in [None, Some(label.as_str())] {
                let text = decode(&bytes, declared);
                prop_assert!(!has_controls(text.as_bytes()));
                prop_assert_eq!(&*text, decode_owned(bytes.clone(), declared));
            }
        }

        #[test]
        fn the_detector_misses_nothing_of_what_it_is_not_shown(
            language in 0..LEGACY.len(),
            words in proptest::collection::vec(0..12_usize, 1..40),
            ascii in "[a-zA-Z0-9 .,'\"()>\n\x1b-]{200}",
        ) {
            let (encoding, text) = LEGACY[language];
            let foreign: Vec<&str> = text.split_inclusive([' ', '、', ',']).collect();
            let mut bytes = Vec::new();
            for word in words {
                bytes.extend(encoding.encode(foreign[word % foreign.len()]).0.iter());
                bytes.extend(&ascii.as_bytes()[..word * 17 % 201]);
            }
            let guess = |shown: &[u8]| {
                let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
                detector.feed(shown, true);
                detector.guess(None, Utf8Detection::Allow)
            };
            prop_assert_eq!(guess(&bytes), guess(&without_ascii(&bytes)));
        }

        #[test]
        fn utf8_decodes_to_itself(text in "[a-zäöü ж世\n]{0,200}") {
            prop_assert_eq!(decode(text.as_bytes(), None), text.as_str());
        }
    }
}
