//! The signs of Western typography: quotation marks, dashes, currencies, degrees.
//!
//! Texts of Windows often have no others beyond ASCII. In other code pages their bytes are letters, so what tells
//! is whether they are where such signs stand: before a word, after a number, between spaces.

/// What follows an apostrophe in English, and after which words.
const ENDINGS: [(&str, &[&str]); 7] = [
    ("s", &[]),
    ("t", &[]),
    ("d", &[]),
    ("ll", &[]),
    ("m", &["i"]),
    ("re", &["you", "we", "they", "there", "what", "who"]),
    (
        "ve",
        &[
            "i", "you", "we", "they", "who", "would", "could", "should", "might", "must",
        ],
    ),
];
/// How words of French and Italian end before an apostrophe, besides those of one or two letters.
const BEGINNINGS: [&str; 7] = ["qu", "jourd", "ell", "all", "ull", "oll", "sant"];

/// How the signs of a text in Windows' Western code page stand.
#[derive(Debug, Default)]
pub(super) struct Signs {
    pub(super) n_fitting: usize,
    pub(super) n_misplaced: usize,
    /// Letters beyond ASCII.
    pub(super) n_letters: usize,
}

/// Where a character stands.
#[derive(Debug, PartialEq)]
enum Place {
    Letter,
    Fits,
    /// A sign and a letter might both be here.
    Either,
    Misplaced,
}

impl Signs {
    pub(super) fn of(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        let begins_low = text.iter().any(|sign| matches!(sign, '„' | '‚'));
        let mut signs = Self::default();
        for (at, character) in text.iter().enumerate() {
            if character.is_ascii() {
                continue;
            }
            match place(&text, at, begins_low) {
                Place::Letter => signs.n_letters += 1,
                Place::Fits => signs.n_fitting += 1,
                Place::Either => {}
                Place::Misplaced => signs.n_misplaced += 1,
            }
        }
        signs
    }

    /// Returns whether the signs are signs and not letters of another code page. Among many letters a few may stand
    /// like signs.
    pub(super) fn are_signs(&self) -> bool {
        self.n_fitting > 4 * self.n_misplaced && 4 * self.n_fitting >= self.n_letters
    }

    /// Returns what the signs add to the points of a text.
    pub(super) fn points(&self) -> i32 {
        6 * i32::try_from(self.n_fitting).unwrap_or(0)
            - 2 * i32::try_from(self.n_misplaced).unwrap_or(0)
    }
}

/// Returns where a character stands; quotations of a text may begin low.
fn place(text: &[char], at: usize, begins_low: bool) -> Place {
    let sign = text[at];
    let before = at.checked_sub(1).map_or('\n', |at| text[at]);
    let after = text.get(at + 1).copied().unwrap_or('\n');
    let in_word = before.is_alphanumeric() && after.is_alphanumeric();
    let of_two = |fits: bool| if fits { Place::Fits } else { Place::Misplaced };
    match sign {
        'ª' | 'º' => {
            of_two((before.is_numeric() || matches!(before, 'n' | 'N')) && !after.is_alphanumeric())
        }
        'µ' => of_two(!before.is_alphabetic() && (after.is_ascii_alphabetic() || is_space(after))),
        _ if sign.is_alphabetic() => Place::Letter,
        _ if !is_neighbour(before) || !is_neighbour(after) => Place::Misplaced,
        '“' | '‘' if !before.is_alphanumeric() && !is_space(after) => Place::Fits,
        // Where quotations begin low, they end with these.
        '“' | '‘' => of_two(begins_low && !is_space(before) && !after.is_alphanumeric()),
        '„' | '‚' | '¿' | '¡' => of_two(!before.is_alphanumeric() && !is_space(after)),
        '«' | '»' | '‹' | '›' => of_two(!in_word),
        '”' if !is_space(before) && !after.is_alphanumeric() => Place::Fits,
        '”' if !before.is_alphanumeric() => Place::Either,
        '’' if in_word && is_elision(text, at) => Place::Fits,
        '’' if in_word => Place::Either,
        '’' => of_two(!is_space(before) || after.is_alphanumeric()),
        '–' | '—' => {
            let is_range = before.is_ascii_digit() && after.is_ascii_digit();
            let is_minus = !before.is_alphanumeric() && after.is_ascii_digit();
            match is_range || is_minus || is_space(before) && is_space(after) {
                true => Place::Fits,
                false => Place::Either,
            }
        }
        '…' if in_word => Place::Misplaced,
        '…' if before.is_alphanumeric() => Place::Fits,
        '…' => Place::Either,
        '•' | '·' => of_two(!before.is_alphanumeric() || before == 'l' && after == 'l'),
        '©' => of_two(!before.is_alphanumeric()),
        '®' | '™' => of_two(!after.is_alphanumeric()),
        '°' => of_two(
            !before.is_alphabetic() && (!after.is_alphabetic() || "CFKNSEWO".contains(after)),
        ),
        '£' | '€' | '¥' | '¢' => of_two(!before.is_alphabetic() && !after.is_alphabetic()),
        '½' | '¼' | '¾' => of_two(!before.is_alphabetic() && !after.is_alphanumeric()),
        '²' | '³' | '¹' => of_two(before.is_alphanumeric() && !after.is_alphanumeric()),
        '×' | '÷' | '±' => of_two(!before.is_alphabetic() && !after.is_alphabetic()),
        '§' | '¶' => of_two(!before.is_alphanumeric() && !after.is_alphabetic()),
        '†' | '‡' | '‰' if before.is_ascii_digit() || is_space(before) => {
            of_two(!after.is_alphanumeric())
        }
        '†' | '‡' | '‰' if !in_word => Place::Either,
        '´' | '\u{a0}' | '\u{ad}' => Place::Either,
        _ => Place::Misplaced,
    }
}

fn is_space(character: char) -> bool {
    character.is_whitespace()
}

/// Returns whether a character stands beside signs: of those beyond ASCII, letters and other marks of quotations
/// and pauses.
fn is_neighbour(character: char) -> bool {
    character.is_ascii()
        || character.is_alphabetic()
        || "“”‘’„‚«»‹›–—…¿¡§€£°²³½\u{a0}".contains(character)
}

/// Returns whether an apostrophe is one of English, French or Italian.
fn is_elision(text: &[char], at: usize) -> bool {
    let is_no_letter = |character: &char| !character.is_alphabetic();
    let before = text[..at].rsplit(is_no_letter).next().unwrap_or_default();
    let after = text[at + 1..]
        .split(is_no_letter)
        .next()
        .unwrap_or_default();
    let lower = |word: &[char]| word.iter().collect::<String>().to_lowercase();
    let before = lower(before);
    let ending = ENDINGS.iter().find(|(ending, _)| *ending == lower(after));
    if let Some((_, words)) = ending {
        return words.is_empty() || words.contains(&&*before);
    }
    let is_beginning =
        before.chars().count() <= 2 || BEGINNINGS.iter().any(|end| before.ends_with(end));
    is_beginning && after.len() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_stand_where_they_do() {
        for text in [
            "He said “hello” to me.",
            "Don’t do it – really…",
            "„Guten Tag“, sagte er",
            "l’œuvre d’art, aujourd’hui, dell’arte, qu’il",
            "20°C, £20, 5 €, ± 2, 10 µm, x², 1½, § 5, © 2004, Foo®",
            "¿Qué? ¡Hola!",
            "« oui » – «no»",
            "“Don’t,” he said. “I won’t…”",
        ] {
            let signs = Signs::of(text);
            assert!(signs.are_signs(), "{text}: {signs:?}");
            assert_eq!(signs.n_misplaced, 0, "{text}: {signs:?}");
        }
    }

    #[test]
    fn letters_of_other_pages_are_no_signs() {
        use crate::text::names::tests::in_page;
        for (page, text) in [
            (850, "Le château était près de la forêt; ça coûte à l'élève"),
            (
                437,
                "Die Größe der Fläche heißt: für jeden über fünf Möbelstücke",
            ),
            (852, "Příliš žluťoučký kůň úpěl ďábelské ódy"),
            (10029, "Příliš žluťoučký kůň úpěl ďábelské ódy"),
            (28592, "ja będę później, są różne"),
        ] {
            let western = crate::text::code_page::decode(&in_page(text, page), 1252).into_owned();
            let signs = Signs::of(&western);
            assert!(!signs.are_signs(), "{western}: {signs:?}");
        }
    }
}
