//! The signs of Western typography: quotation marks, dashes, currencies, degrees.
//!
//! Texts of Windows often have no other characters beyond ASCII. In other code pages their bytes are letters, so what tells
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
    /// Signs where a letter may stand, too.
    pub(super) n_unclear: usize,
    pub(super) n_misplaced: usize,
    /// Letters beyond ASCII.
    pub(super) n_letters: usize,
}

/// Where a character stands.
#[derive(Debug, PartialEq)]
enum Place {
    Letter,
    Fits,
    /// Either a sign or a letter may stand here.
    Unclear,
    Misplaced,
}

/// Which marks a text has: some are signs only if they have a counterpart.
struct Quotes {
    has_low: bool,
    has_opening: bool,
    has_high: bool,
    has_closing: bool,
    has_single: bool,
    has_apostrophe: bool,
    has_both_angles: bool,
    has_question: bool,
    has_exclamation: bool,
}

impl Quotes {
    fn of(text: &[char]) -> Self {
        let has = |signs: &str| text.iter().any(|sign| signs.contains(*sign));
        Self {
            has_low: has("„‚"),
            has_opening: has("“„"),
            has_high: has("“"),
            has_closing: has("”"),
            has_single: has("‘"),
            has_apostrophe: has("’"),
            has_both_angles: has("«") && has("»") || has("‹") && has("›"),
            has_question: has("?"),
            has_exclamation: has("!"),
        }
    }
}

impl Signs {
    pub(super) fn of(text: &str) -> Self {
        let text: Vec<char> = text.chars().collect();
        let quotes = Quotes::of(&text);
        let mut signs = Self::default();
        for (at, character) in text.iter().enumerate() {
            if character.is_ascii() {
                continue;
            }
            match place(&text, at, &quotes) {
                Place::Letter => signs.n_letters += 1,
                Place::Fits => signs.n_fitting += 1,
                Place::Unclear => signs.n_unclear += 1,
                Place::Misplaced => signs.n_misplaced += 1,
            }
        }
        signs
    }

    /// Returns whether the signs are signs and not letters of another code page.
    pub(super) fn are_signs(&self) -> bool {
        let n_signs = self.n_fitting + self.n_unclear;
        n_signs > 0 && self.n_misplaced == 0 || self.n_fitting > 4 * self.n_misplaced
    }

    /// Returns what the signs add to the points of a text.
    pub(super) fn points(&self) -> i32 {
        let number = |n: usize| i32::try_from(n).unwrap_or(0);
        6 * number(self.n_fitting) + 3 * number(self.n_unclear) - 2 * number(self.n_misplaced)
    }
}

/// Returns where a character stands.
fn place(text: &[char], at: usize, quotes: &Quotes) -> Place {
    let sign = text[at];
    let before = at.checked_sub(1).map_or('\n', |at| text[at]);
    let after = text.get(at + 1).copied().unwrap_or('\n');
    let in_word = before.is_alphanumeric() && after.is_alphanumeric();
    let of_two = |fits: bool| if fits { Place::Fits } else { Place::Misplaced };
    let fits_or_unclear = |fits: bool| if fits { Place::Fits } else { Place::Unclear };
    match sign {
        'ª' | 'º' => {
            of_two((before.is_numeric() || matches!(before, 'n' | 'N')) && !after.is_alphanumeric())
        }
        'µ' => of_two(!before.is_alphabetic() && is_unit(&text[at + 1..])),
        _ if sign.is_alphabetic() => Place::Letter,
        _ if !is_neighbour(before) || !is_neighbour(after) => Place::Misplaced,
        '“' | '‘' if !before.is_alphanumeric() && !is_space(after) => match sign {
            '“' => fits_or_unclear(quotes.has_closing),
            _ => of_two(quotes.has_apostrophe || after.is_ascii_digit()),
        },
        // Where quotations begin low, they end with these.
        '“' | '‘' => of_two(quotes.has_low && !is_space(before) && !after.is_alphanumeric()),
        '„' | '‚' => {
            let (high, closing) = match sign {
                '„' => (quotes.has_high, quotes.has_closing),
                _ => (quotes.has_single, quotes.has_apostrophe),
            };
            of_two((high || closing) && !before.is_alphanumeric() && !is_space(after))
        }
        '¿' => of_two(quotes.has_question && !before.is_alphanumeric() && !is_space(after)),
        '¡' => of_two(quotes.has_exclamation && !before.is_alphanumeric() && !is_space(after)),
        '«' | '»' | '‹' | '›' if in_word => Place::Misplaced,
        '»' | '›' if before.is_alphabetic() && !quotes.has_both_angles => Place::Misplaced,
        '«' | '»' | '‹' | '›' => fits_or_unclear(quotes.has_both_angles),
        '”' if !is_space(before) && !after.is_alphanumeric() => {
            fits_or_unclear(quotes.has_opening)
        }
        '”' if !before.is_alphanumeric() => Place::Unclear,
        '’' if in_word => fits_or_unclear(is_elision(text, at)),
        '’' if is_space(before) && is_space(after) => Place::Misplaced,
        '’' => fits_or_unclear(!is_space(before) || after.is_ascii_digit()),
        '–' | '—' => {
            let is_range = before.is_ascii_digit() && after.is_ascii_digit();
            let is_minus = !before.is_alphanumeric() && after.is_ascii_digit();
            // `û`, which has the byte of the shorter dash in DOS, is common within words.
            let is_pause = sign == '—' && before.is_ascii_lowercase() && after.is_ascii_lowercase();
            let is_free = is_space(before) && is_space(after);
            fits_or_unclear(is_range || is_minus || is_pause || is_free)
        }
        '…' if after == '.' => Place::Misplaced,
        '…' => Place::Unclear,
        '•' | '·' => of_two(!before.is_alphanumeric() || before == 'l' && after == 'l'),
        '©' => of_two(!after.is_lowercase() && (!before.is_alphanumeric() || after.is_numeric())),
        '®' | '™' => of_two(!after.is_alphanumeric()),
        '°' => of_two(
            !before.is_alphabetic() && (!after.is_alphabetic() || "CFKNSEWO".contains(after)),
        ),
        '£' | '€' | '¥' | '¢' if before.is_ascii_uppercase() => Place::Unclear,
        '£' | '€' | '¥' | '¢' => of_two(!before.is_alphabetic() && !after.is_alphabetic()),
        '½' | '¼' | '¾' => of_two(!before.is_alphabetic() && !after.is_alphanumeric()),
        '¹' => of_two(is_after_number(before) && !after.is_alphanumeric()),
        '²' | '³' => of_two(is_raised(&text[..at]) && !after.is_alphanumeric()),
        '×' if before.is_alphabetic() && after.is_alphabetic() => Place::Unclear,
        '×' | '÷' | '±' => of_two(!before.is_alphabetic() && !after.is_alphabetic()),
        '§' | '¶' => of_two(!before.is_alphanumeric() && !after.is_alphabetic()),
        '†' | '‡' | '‰' if before.is_ascii_digit() => of_two(!after.is_alphanumeric()),
        '†' | '‡' | '‰' if !in_word && !is_space(before) => Place::Unclear,
        '´' | '\u{a0}' | '\u{ad}' => Place::Unclear,
        _ => Place::Misplaced,
    }
}

/// Returns whether a text begins with a unit of one or two letters, or without a letter.
fn is_unit(text: &[char]) -> bool {
    let n_letters = n_letters(text.iter());
    n_letters <= 2 && text[..n_letters].iter().all(char::is_ascii)
}

fn is_after_number(before: char) -> bool {
    before.is_ascii_digit() || before == ')'
}

/// Returns whether a square or a cube may follow: behind a number, a unit or a variable.
fn is_raised(before: &[char]) -> bool {
    let Some(&last) = before.last() else {
        return false;
    };
    is_after_number(last) || n_letters(before.iter().rev()) <= 2 && "mabcntxyMCRX".contains(last)
}

/// Returns how many letters come first, counted to three: a file may have nothing but letters.
fn n_letters<'c>(characters: impl Iterator<Item = &'c char>) -> usize {
    characters.take(3).take_while(|c| c.is_alphabetic()).count()
}

fn is_space(character: char) -> bool {
    character.is_whitespace()
}

/// Returns whether a character stands beside signs: ASCII, a letter, or one of the signs that follow each other.
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
            assert!(signs.n_fitting > 0, "{text}: {signs:?}");
            assert_eq!(signs.n_misplaced, 0, "{text}: {signs:?}");
        }
    }

    #[test]
    fn letters_of_other_languages_are_misplaced_signs() {
        for text in [
            "„hnlich",
            "‚tude",
            "‘re",
            "zosta³",
            "z³",
            "s¹",
            "©koda",
            "chcem by»",
            "µudia",
            "citt….",
            "¿e tak",
        ] {
            let signs = Signs::of(text);
            assert!(
                signs.n_misplaced > 0 && signs.n_fitting == 0,
                "{text}: {signs:?}"
            );
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
