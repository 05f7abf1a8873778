//! Chooses the charset of a text that declares none: the guess of `chardetng`, or a code page that it does not know,
//! of DOS or of the Macintosh.
//!
//! `chardetng` judges letters. Where a text has nothing beyond ASCII but quotation marks or the sign of a currency,
//! `chardetng` guesses at random, so such texts are judged by their signs.

use encoding_rs::{
    Encoding, IBM866, ISO_8859_4, ISO_8859_13, ISO_8859_15, UTF_8, WINDOWS_1252, WINDOWS_1257,
};

use super::code_page;
use super::letters::Languages;
use super::names::{CODE_PAGES, Charset, judged_guess, score};
use super::signs::Signs;

/// The code pages that are tried besides the guess, with their languages. Pages of DOS, which have lines and boxes, come
/// first.
const PAGES: [(u16, Languages); 22] = [
    (437, Languages::WESTERN),
    (850, Languages::WESTERN),
    (852, Languages::CENTRAL),
    (895, Languages::CENTRAL),
    (737, Languages::GREEK),
    (869, Languages::GREEK),
    (775, Languages::BALTIC),
    (857, Languages::TURKISH),
    (860, Languages::WESTERN),
    (861, Languages::WESTERN),
    (865, Languages::WESTERN),
    (862, Languages::HEBREW),
    (866, Languages::CYRILLIC),
    (855, Languages::CYRILLIC),
    (1125, Languages::CYRILLIC),
    // `chardetng` takes Lithuanian for a language of Central Europe.
    (1257, Languages::BALTIC),
    (10000, Languages::WESTERN),
    (10006, Languages::GREEK),
    (10007, Languages::CYRILLIC),
    (10029, Languages::CENTRAL),
    (10081, Languages::TURKISH),
    (10082, Languages::CENTRAL),
];
/// Number of bytes that tell old code pages from other charsets.
const PAGE_BYTES: usize = 8 << 10;
/// The most points that a byte can have: a frequent letter between others, or a sign.
const MOST_POINTS: i32 = 7;
/// Lines, boxes and shades.
const LINE_ART: std::ops::RangeInclusive<u8> = 0xb0..=0xdf;
/// The bytes of lines and shades that are repeated, and how often they must be.
const REPEATED: [u8; 9] = [0xb0, 0xb1, 0xb2, 0xc4, 0xcd, 0xdb, 0xdc, 0xdf, 0xfe];
const N_REPEATED: usize = 5;

/// Returns the charset of a text, of which a sample and the guess of `chardetng` are given.
pub(super) fn of_text(sample: &[u8], web: &'static Encoding) -> Charset {
    if web == UTF_8 {
        return Charset::Web(web);
    }
    let start = &sample[..sample.len().min(PAGE_BYTES)];
    if has_line_art(start, web) {
        return page_with_lines(start);
    }
    let western = code_page::decode(sample, code_page::WESTERN);
    let signs = Signs::of(&western);
    if signs.n_letters == 0 && signs.are_signs() {
        return Charset::Web(WINDOWS_1252);
    }
    if !web.is_single_byte() {
        return Charset::Web(web);
    }
    if signs.n_letters == 1 && signs.n_misplaced == 0 && is_western_letter(&western, web) {
        return Charset::Web(WINDOWS_1252);
    }
    match better_page(start, web) {
        Some(page) => Charset::CodePage(page),
        None if web == WINDOWS_1252 && is_latin_9(&western) => Charset::Web(ISO_8859_15),
        None => Charset::Web(web),
    }
}

/// Returns whether the only letter beyond ASCII is Western. The guess is believed, but for letters that it mostly takes
/// for Baltic ones; those that are common in the West are hardly ever letters of DOS.
fn is_western_letter(text: &str, web: &'static Encoding) -> bool {
    let mut rest = text.chars();
    let letter = rest.find(|c| !c.is_ascii() && c.is_alphabetic());
    match letter {
        // No other language begins words with the letter that has this byte in their page, and a `u`.
        Some('œ' | 'Œ') => rest.next() == Some('u'),
        Some('ï' | 'à') => [WINDOWS_1257, ISO_8859_13, ISO_8859_4, WINDOWS_1252].contains(&web),
        Some('ä' | 'ö' | 'ü' | 'é') => web == WINDOWS_1252,
        _ => false,
    }
}

/// Returns whether fractions stand within words: in ISO 8859-15 they are `œ` and `Œ`.
fn is_latin_9(western: &str) -> bool {
    let text: Vec<char> = western.chars().collect();
    let has_controls = text.iter().any(|c| "€‚„…†‡‰‹‘’“”•–—™›".contains(*c));
    let is_in_word = |three: &[char]| {
        (three[0].is_lowercase() || three[0] == '\'')
            && matches!(three[1], '½' | '¼')
            && three[2].is_lowercase()
    };
    !has_controls && text.windows(3).any(is_in_word)
}

/// Returns the code page in which the bytes make better words than in the guess; none if there is none.
fn better_page(sample: &[u8], web: &'static Encoding) -> Option<u16> {
    let of_web = CODE_PAGES
        .iter()
        .find(|(page, _)| code_page::is_encoding(*page, web));
    // The points of letters are known for some languages only.
    let (_, languages_of_web) = *of_web?;
    let text = web.decode_without_bom_handling(sample).0;
    let signs = Signs::of(&text).points();
    let by_web = judged_guess(sample, web) + signs;
    // Letters of the same languages are counted alike, and those of DOS are no likelier than others of DOS.
    let is_same =
        |languages| languages == languages_of_web && languages_of_web != Languages::WESTERN;
    let by_same = score(&text, languages_of_web) + signs;
    let enough = |languages| match is_same(languages) || web == IBM866 {
        true => by_same + 4,
        false => by_web.max(0) * 3 / 2 + 4,
    };
    let n_letters = sample.iter().filter(|byte| !byte.is_ascii()).count();
    let most = MOST_POINTS.saturating_mul(i32::try_from(n_letters).unwrap_or(i32::MAX));
    let mut best = None;
    for &(page, languages) in &PAGES {
        // Nearly all texts are in the guessed charset, so that no other one can have enough.
        if most <= enough(languages) {
            continue;
        }
        let points = points(sample, page, languages);
        // Letters of the West look like Baltic ones.
        if page == 1257 && points * 4 <= 5 * self::points(sample, 1252, Languages::WESTERN) {
            continue;
        }
        // Texts of DOS are more common than those of the Macintosh.
        let margin = if has_lines(page) { 0 } else { points / 8 };
        if points > enough(languages) && best.is_none_or(|(_, most)| points - margin > most) {
            best = Some((page, points));
        }
    }
    best.map(|(page, _)| page)
}

/// Returns the page of DOS in which the bytes besides lines and boxes make the best words.
fn page_with_lines(sample: &[u8]) -> Charset {
    let is_text = |byte: &u8| !LINE_ART.contains(byte);
    let text: Vec<u8> = sample.iter().copied().filter(is_text).collect();
    let of_dos = PAGES.iter().filter(|(page, _)| has_lines(*page));
    let rated = of_dos.map(|&(page, languages)| (points(&text, page, languages), page));
    // Of equals, the first wins.
    let best = rated.reduce(|best, other| if other.0 > best.0 { other } else { best });
    Charset::CodePage(best.map_or(PAGES[0].0, |(_, page)| page))
}

fn has_lines(page: u16) -> bool {
    page < 1000 || page == 1125
}

/// Returns how much a text in a page looks like words.
fn points(sample: &[u8], page: u16, languages: Languages) -> i32 {
    let text = code_page::decode(sample, page);
    // Pages of DOS have no quotation marks.
    let signs = match has_lines(page) {
        true => 0,
        false => Signs::of(&text).points(),
    };
    score(&text, languages) + signs
}

/// Returns whether a text has lines or shades. Characters of East Asia have the same bytes, so if the guess is one of their
/// charsets, lines must be most of what is beyond ASCII.
fn has_line_art(sample: &[u8], web: &'static Encoding) -> bool {
    let runs = sample.chunk_by(|one, other| one == other);
    let lines = runs.filter(|run| run.len() >= N_REPEATED && REPEATED.contains(&run[0]));
    let n_lines: usize = lines.map(<[u8]>::len).sum();
    let n_beyond = || sample.iter().filter(|byte| !byte.is_ascii()).count();
    n_lines > 0 && (web.is_single_byte() || 2 * n_lines > n_beyond())
}
