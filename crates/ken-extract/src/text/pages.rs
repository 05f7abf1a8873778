//! Chooses the charset of a text that declares none, among the guess of `chardetng` and code pages that it does
//! not know: of DOS and of the Macintosh.
//!
//! `chardetng` judges letters. If a text has nothing beyond ASCII but quotation marks or a sign of a currency, it
//! guesses at random, so such texts are judged by their signs.

use encoding_rs::{Encoding, ISO_8859_15, UTF_8, WINDOWS_1252};

use super::code_page;
use super::letters::Languages;
use super::names::{CODE_PAGES, Charset, judged_guess, score};
use super::signs::Signs;

/// The code pages that texts are in, of those that names have, besides the guess of `chardetng`.
const PAGES_OF_TEXTS: [u16; 15] = [
    437,
    850,
    852,
    895,
    737,
    775,
    857,
    860,
    861,
    865,
    862,
    869,
    1125,
    1257,
    MAC_CYRILLIC,
];
/// Those that have lines and boxes.
const PAGES_OF_DOS: [u16; 10] = [437, 850, 852, 895, 737, 775, 857, 860, 861, 865];
/// Further code pages of texts: of DOS, and of the Macintosh.
const FURTHER_PAGES: [(u16, Languages); 5] = [
    (855, Languages::CYRILLIC),
    (10000, Languages::WESTERN),
    (10029, Languages::CENTRAL),
    (10006, Languages::GREEK),
    (10081, Languages::TURKISH),
];
/// The most points that a byte can have: a frequent letter between others, or a sign.
const MOST_POINTS: i32 = 7;
/// The Cyrillic code page of the Macintosh.
const MAC_CYRILLIC: u16 = 10007;
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
    let western = code_page::decode(sample, code_page::WESTERN);
    let signs = Signs::of(&western);
    if signs.are_signs() && signs.n_letters == 0 {
        return Charset::Web(WINDOWS_1252);
    }
    if !web.is_single_byte() {
        return Charset::Web(web);
    }
    let better = match signs.are_signs() {
        true => None,
        false => better_page(sample, web),
    };
    match better {
        Some(page) => Charset::CodePage(page),
        // One letter tells nothing.
        None if signs.n_letters == 1 && signs.n_misplaced == 0 && has_western_letter(&western) => {
            Charset::Web(WINDOWS_1252)
        }
        None if web == WINDOWS_1252 && is_latin_9(&western) => Charset::Web(ISO_8859_15),
        None => Charset::Web(web),
    }
}

fn has_western_letter(text: &str) -> bool {
    let mut letters = text.chars().filter(|c| !c.is_ascii() && c.is_alphabetic());
    letters.any(|letter| Languages::WESTERN.points(letter) > 0)
}

/// Returns whether fractions and accents without a letter stand in words: in ISO 8859-15 they are `œ` and `š`.
fn is_latin_9(western: &str) -> bool {
    let text: Vec<char> = western.chars().collect();
    let has_controls = text.iter().any(|c| "€‚„…†‡‰‹‘’“”•–—™›".contains(*c));
    let is_in_word = |three: &[char]| {
        (three[0].is_alphabetic() || three[0] == '\'')
            && matches!(three[1], '½' | '¼' | '¨' | '¦')
            && three[2].is_alphabetic()
    };
    !has_controls && text.windows(3).any(is_in_word)
}

/// Returns the page that a charset of the web is not, and in which bytes make better words; none if there is no
/// such page. Lines and boxes are drawn in DOS only.
fn better_page(sample: &[u8], web: &'static Encoding) -> Option<u16> {
    let is_drawn = has_line_art(sample);
    let is_text = |byte: &u8| !is_drawn || !LINE_ART.contains(byte);
    let sample: Vec<u8> = sample.iter().copied().filter(is_text).collect();
    let of_web = CODE_PAGES
        .iter()
        .find(|(page, _)| code_page::is_encoding(*page, web));
    let of_web = of_web.map(|(_, languages)| *languages);
    let text = web.decode_without_bom_handling(&sample).0;
    let signs = Signs::of(&text).points();
    let by_web = judged_guess(&sample, web) + signs;
    // Letters of the same languages are counted alike.
    let same = of_web.filter(|same| *same != Languages::WESTERN);
    let by_same = same.map(|same| score(&text, same) + signs);
    let enough = |languages| match by_same {
        Some(by_same) if same == Some(languages) => by_same + 4,
        _ => by_web.max(0) * 3 / 2 + 4,
    };
    let n_letters = sample.iter().filter(|byte| !byte.is_ascii()).count();
    let most = MOST_POINTS.saturating_mul(i32::try_from(n_letters).unwrap_or(i32::MAX));
    let is_candidate = |(page, _): &&(u16, Languages)| PAGES_OF_TEXTS.contains(page);
    let pages = CODE_PAGES.iter().filter(is_candidate).chain(&FURTHER_PAGES);
    let mut best = None;
    for &(page, languages) in pages {
        let is_enough = |points| match is_drawn {
            true => PAGES_OF_DOS.contains(&page),
            false => points > enough(languages),
        };
        // Nearly all texts are in the guessed charset, so that no other one can have enough.
        if !is_enough(most) {
            continue;
        }
        let points = points(&sample, page, languages);
        if is_enough(points) && best.is_none_or(|(_, most)| points > most) {
            best = Some((page, points));
        }
    }
    best.map(|(page, _)| page)
}

/// Returns how much a text in a page looks like words.
fn points(sample: &[u8], page: u16, languages: Languages) -> i32 {
    let text = code_page::decode(sample, page);
    // Pages of DOS have no quotation marks.
    let signs = match page {
        10_000.. => Signs::of(&text).points(),
        _ => 0,
    };
    score(&text, languages) + signs
}

fn has_line_art(sample: &[u8]) -> bool {
    sample
        .chunk_by(|one, other| one == other)
        .any(|run| run.len() >= N_REPEATED && REPEATED.contains(&run[0]))
}
