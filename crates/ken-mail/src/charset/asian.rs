//! Character sets of Korea and Taiwan that the web does not use: Johab (KS X 1001, annex 3) and EUC-TW (CNS 11643).
//!
//! Both have the characters of one that the web uses, in other places; Hangul in Johab is made of its letters.

use encoding_rs::{BIG5, EUC_KR, Encoding};

/// Decodes Johab.
pub(super) fn johab(bytes: &[u8]) -> String {
    decode(bytes, |rest| {
        let [first, second, ..] = *rest else {
            return None;
        };
        let character = hangul(first, second).or_else(|| hanja(first, second))?;
        Some((character, 2))
    })
}

/// Decodes EUC-TW: the first plane in two bytes, all planes in four.
pub(super) fn euc_tw(bytes: &[u8]) -> String {
    decode(bytes, |rest| {
        match *rest {
            [
                0x8e,
                plane @ 0xa1..=0xb0,
                first @ 0xa1..=0xff,
                second @ 0xa1..=0xff,
                ..,
            ] => {
                // Of the planes that Big5 has no characters of, one stands for each.
                let character = of_plane(plane - 0xa0, [first, second]);
                Some((character.unwrap_or(char::REPLACEMENT_CHARACTER), 4))
            }
            [first @ 0xa1..=0xff, second, ..] => Some((of_plane(1, [first, second])?, 2)),
            _ => None,
        }
    })
}

/// Reads text, of which `next` returns the first character, if it is beyond ASCII, and how many bytes it takes.
fn decode(bytes: &[u8], next: impl Fn(&[u8]) -> Option<(char, usize)>) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        if byte.is_ascii() {
            text.push(char::from(byte));
            rest = after;
        } else {
            let (character, n_bytes) = next(rest).unwrap_or((char::REPLACEMENT_CHARACTER, 1));
            text.push(character);
            rest = rest.get(n_bytes..).unwrap_or_default();
        }
    }
    text
}

/// The consonants and clusters at the end of a syllable, as letters of their own.
const FINALS: [char; 27] = [
    'ㄱ', 'ㄲ', 'ㄳ', 'ㄴ', 'ㄵ', 'ㄶ', 'ㄷ', 'ㄹ', 'ㄺ', 'ㄻ', 'ㄼ', 'ㄽ', 'ㄾ', 'ㄿ', 'ㅀ', 'ㅁ',
    'ㅂ', 'ㅄ', 'ㅅ', 'ㅆ', 'ㅇ', 'ㅈ', 'ㅊ', 'ㅋ', 'ㅌ', 'ㅍ', 'ㅎ',
];
const INITIALS: [char; 19] = [
    'ㄱ', 'ㄲ', 'ㄴ', 'ㄷ', 'ㄸ', 'ㄹ', 'ㅁ', 'ㅂ', 'ㅃ', 'ㅅ', 'ㅆ', 'ㅇ', 'ㅈ', 'ㅉ', 'ㅊ', 'ㅋ',
    'ㅌ', 'ㅍ', 'ㅎ',
];

/// Returns a syllable of Johab, whose three letters have five bits each, or one letter without the others.
fn hangul(first: u8, second: u8) -> Option<char> {
    let code = u32::from(u16::from_be_bytes([first, second]));
    let initial = match code >> 10 & 31 {
        1 => None,
        number @ 2..=20 => Some(number - 2),
        _ => return None,
    };
    let vowel = match code >> 5 & 31 {
        2 => None,
        number @ 3..=7 => Some(number - 3),
        number @ 10..=15 => Some(number - 5),
        number @ 18..=23 => Some(number - 7),
        number @ 26..=29 => Some(number - 9),
        _ => return None,
    };
    let last = match code & 31 {
        1 => 0,
        number @ 2..=17 => number - 1,
        number @ 19..=29 => number - 2,
        _ => return None,
    };
    match (initial, vowel, last) {
        (Some(initial), Some(vowel), last) => {
            char::from_u32(0xac00 + (initial * 21 + vowel) * 28 + last)
        }
        (Some(initial), None, 0) => INITIALS.get(initial as usize).copied(),
        (None, Some(vowel), 0) => char::from_u32(0x314f + vowel),
        (None, None, 1..) => FINALS.get(last as usize - 1).copied(),
        _ => None,
    }
}

/// Returns a sign or a Chinese character of Johab, which are those of EUC-KR in half as many rows.
fn hanja(first: u8, second: u8) -> Option<char> {
    let row = match first {
        0xd9..=0xde => 2 * u16::from(first - 0xd9),
        0xe0..=0xf9 => 2 * u16::from(first) - 0x197,
        _ => return None,
    };
    let column = match second {
        0x31..=0x7e => second - 0x31,
        0x91..=0xfe => second - 0x43,
        _ => return None,
    };
    let (row, column) = match column {
        ..94 => (row, column),
        _ => (row + 1, column - 94),
    };
    one(EUC_KR, [u8::try_from(row + 0xa1).ok()?, column + 0xa1])
}

/// Returns a character of a plane, by its place in Big5.
fn of_plane(plane: u8, [first, second]: [u8; 2]) -> Option<char> {
    const TRAILS: u16 = 157;
    let runs: &[(u16, u16, u16)] = match plane {
        1 => &FIRST_PLANE,
        2 => &SECOND_PLANE,
        _ => return None,
    };
    let column = second.checked_sub(0xa1).filter(|column| *column < 94)?;
    let at = u16::from(first.checked_sub(0xa1)?) * 94 + u16::from(column);
    let run = runs.partition_point(|(start, ..)| *start <= at);
    let (start, place, length) = *runs.get(run.checked_sub(1)?)?;
    let place = place + Some(at - start).filter(|step| *step < length)?;
    let trail = (place % TRAILS) as u8;
    let trail = if trail < 63 {
        trail + 0x40
    } else {
        trail - 63 + 0xa1
    };
    one(BIG5, [(place / TRAILS) as u8 + 0xa1, trail])
}

/// Decodes two bytes that are one character.
fn one(encoding: &'static Encoding, pair: [u8; 2]) -> Option<char> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(&pair)?;
    text.chars().next()
}

/// Runs of characters that stand side by side both in CNS 11643 and in Big5: where they begin in the one and in the other, and how many
/// they are. Both were made of the same list, and corrected in different places.
#[rustfmt::skip] // a table reads better as one
const FIRST_PLANE: [(u16, u16, u16); 50] = [
    (0, 0, 5), (6, 6, 8), (15, 15, 6), (21, 23, 2), (24, 22, 1), (29, 29, 44), (73, 74, 1),
    (74, 73, 1), (75, 75, 22), (98, 98, 1), (100, 100, 27), (127, 128, 1), (128, 127, 1),
    (129, 129, 19), (148, 149, 1), (149, 148, 1), (150, 150, 4), (155, 21, 1), (156, 156, 1),
    (156, 158, 1), (157, 157, 1), (157, 159, 1), (160, 160, 1), (162, 162, 1), (165, 165, 69),
    (282, 234, 29), (312, 264, 1), (314, 266, 142), (470, 6101, 20), (3290, 471, 17),
    (3307, 263, 1), (3307, 488, 87), (3394, 265, 1), (3394, 575, 1308), (4702, 1884, 424),
    (5126, 1883, 1), (5127, 2308, 1876), (7003, 4571, 1), (7004, 4184, 387), (7391, 4572, 525),
    (7916, 5286, 1), (7917, 5097, 105), (8023, 5203, 83), (8106, 5287, 84), (8190, 5517, 1),
    (8191, 5371, 54), (8245, 5426, 1), (8246, 5425, 1), (8247, 5427, 90), (8337, 5518, 354),
];

#[rustfmt::skip]
const SECOND_PLANE: [(u16, u16, u16); 49] = [
    (0, 6280, 10), (10, 6291, 33), (43, 6372, 1), (44, 6324, 48), (92, 6373, 46),
    (138, 6586, 1), (139, 6419, 167), (306, 6587, 1840), (2146, 9074, 1), (2147, 8428, 108),
    (2255, 8537, 537), (2792, 8427, 1), (2793, 9075, 100), (2893, 8536, 1), (2894, 9175, 399),
    (3293, 9575, 1637), (4930, 11761, 1), (4931, 11212, 146), (5077, 11899, 1),
    (5078, 11358, 287), (5365, 12508, 1), (5366, 11645, 116), (5482, 11762, 137),
    (5619, 11900, 104), (5723, 12425, 1), (5724, 12004, 222), (5946, 12227, 198),
    (6144, 12426, 82), (6226, 12509, 86), (6312, 12226, 1), (6313, 12595, 8),
    (6321, 12604, 153), (6474, 12758, 56), (6530, 13114, 1), (6531, 12814, 113),
    (6644, 12603, 1), (6645, 12927, 142), (6787, 12757, 1), (6788, 13069, 45),
    (6833, 13115, 71), (6904, 13380, 1), (6905, 13186, 194), (7099, 13381, 490),
    (7589, 13914, 1), (7590, 13871, 43), (7633, 13915, 1), (7634, 13917, 11), (7645, 13916, 1),
    (7646, 13928, 4),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_iconv_are_decoded() {
        let korean = b"\xa1\xa1\x97e \xb7\xa5\x88e\xb7e \xc8\x81\xb4\xe1\x90i \x98\x81\xa6\x81\xc8\xe1 \xb8a\xb7A\x9d\xa1\xb6\x81\xa1a \xb9\xa5\xb4\xf1\x89\xc1 \x8a\xa5\x9f\xa1, \xe4\xde\xf7\xdb\xe8U\xe2\xd0 \x88A\x84a\x84D";
        assert_eq!(
            johab(korean),
            "모든 인간은 태어날 때부터 자유로우며 존엄과 권리, 大韓民國 ㄱㅏㄳ"
        );
        let chinese = b"\xc4\xa9\xc4\xa9\xc6\xed\xc8\xd4\xc8\xdc\xc6\xf1\xa1\xa2\xc7\xe3\xde\xf1\xf9\xe4\xcc\xcf\xfb\xe2\xc9\xb3\xc4\xb8\xc4\xa1\xd1\xa3\xc6\xcd\xe1\xab\xa1\xa4\xea\xd7\xfd\xa4 \x8e\xa2\xa1\xe5\x8e\xa2\xb0\xe9 \x8e\xa2\xf2\xbb";
        assert_eq!(
            euc_tw(chinese),
            "人人生而自由，在尊嚴和權利上一律平等。臺灣 犰狳 驫"
        );
    }

    #[test]
    fn bytes_without_a_character_are_replaced() {
        assert_eq!(johab(b"a\xffb\x88"), "a\u{fffd}b\u{fffd}");
        assert_eq!(euc_tw(b"a\x8e\xa3\xa1\xa1b\xa4"), "a\u{fffd}b\u{fffd}");
        for first in 0x80..=0xff_u8 {
            for second in 0..=0xff_u8 {
                for bytes in [&[first, second][..], &[0x8e, 0xa2, first, second]] {
                    assert!(!johab(bytes).is_empty() && !euc_tw(bytes).is_empty());
                }
            }
        }
    }
}
