//! Which characters form words, and which scripts write words without spaces between them.

use unicode_normalization::char::is_combining_mark;

/// Separates words where no space is visible: in Thai and Khmer.
const ZERO_WIDTH_SPACE: char = '\u{200b}';

/// The apostrophe that Unicode counts as a letter. It separates words as the others do, so that all
/// spellings of `п'ять` and `Anna's` are the same.
const APOSTROPHE: char = '\u{2bc}';

/// Returns whether a character belongs to a word.
pub(super) fn is_word(character: char) -> bool {
    // The characters of most text are classified without the tables of Unicode.
    match character {
        'À'..='Ö' | 'Ø'..='ö' | 'ø'..='\u{148}' | '\u{14a}'..='\u{2af}' | 'Ѐ'..='ҁ' | 'Ҋ'..='ԯ' =>
        {
            return true;
        }
        '\u{904}'..='\u{963}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => return true,
        '\u{80}'..='©' | APOSTROPHE | '\u{2010}'..='\u{203f}' | '\u{3000}'..='\u{3004}' => {
            return false;
        }
        _ => {}
    }
    (character.is_alphanumeric() && !is_composite(character))
        || character == '_'
        || is_mark(character)
        || (is_invisible(character) && character != ZERO_WIDTH_SPACE)
}

/// Returns whether a character is a mark on a letter, rather than on a musical note.
fn is_mark(character: char) -> bool {
    is_combining_mark(character) && !matches!(character, '\u{1d165}'..='\u{1d1ad}')
}

/// Returns whether a number or letter represents several words or signs: `½` is `1⁄2`, `⑴` is
/// `(1)`.
fn is_composite(character: char) -> bool {
    matches!(character,
        '\u{bc}'..='\u{be}' | '\u{149}' | '\u{37a}' | '\u{2150}'..='\u{215f}' | '\u{2189}'
        | '\u{2474}'..='\u{249b}' | '\u{3220}'..='\u{3229}' | '\u{fc5e}'..='\u{fc63}'
        | '\u{309f}' | '\u{30ff}' | '\u{fdfa}' | '\u{fdfb}'
        | '\u{ff9e}' | '\u{ff9f}' | '\u{1b123}'..='\u{1b126}' | '\u{1f100}'..='\u{1f10a}')
        || (('\u{fe70}'..='\u{fe7e}').contains(&character) && u32::from(character) % 2 == 0)
}

/// Returns whether a character outside of words may represent some: `½`, `㎏`, `™`. Common
/// characters, which do not, are decided without the tables of Unicode.
pub(super) fn may_be_composite(character: char) -> bool {
    !matches!(character,
        ..'\u{bc}' | '\u{bf}'..='\u{148}' | '\u{14a}'..'\u{37a}' | '\u{2000}'..='\u{206f}' | '\u{20a0}'..='\u{20a7}' | '\u{2190}'..='\u{2473}'
        | '\u{2500}'..='\u{2e9e}' | '\u{2ff0}'..='\u{3098}' | '\u{3100}'..='\u{3195}')
}

/// Returns whether a character is invisible and does not separate words: soft hyphens, joiners,
/// variants.
pub(super) fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Returns whether a character belongs to a word and is not a digit.
pub(super) fn is_letter(character: char) -> bool {
    is_word(character) && character != '_' && !character.is_numeric()
}

/// Returns the last letter of a word without the marks on it.
pub(super) fn last_letter(word: &str) -> Option<char> {
    word.chars().rev().find(|c| !is_combining_mark(*c))
}

/// Returns whether a word contains more than marks.
pub(super) fn holds_a_letter(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric)
}

/// Returns whether a character belongs to a script without spaces between words. Digits do not:
/// numbers are words.
pub(super) fn has_no_spaces(character: char) -> bool {
    let code = u32::from(character);
    if code < 0x0e00 {
        return false;
    }
    matches!(code,
        0x0e01..=0x0e3a | 0x0e40..=0x0e4e       // Thai
        | 0x0e80..=0x0ecf | 0x0eda..=0x0edf     // Lao
        | 0x1000..=0x103f | 0x104a..=0x108f | 0x109a..=0x109f   // Myanmar
        | 0xa9e0..=0xa9ef | 0xa9fa..=0xa9fe | 0xaa60..=0xaa7f
        | 0x1780..=0x17d3                       // Khmer
        | 0x1950..=0x197f | 0x1980..=0x19cf | 0x19de..=0x19df   // Tai Le, New Tai Lue
        | 0x1a20..=0x1a7c | 0x1aa0..=0x1aad | 0xaa80..=0xaadf   // Tai Tham, Tai Viet
        | 0x1b00..=0x1b4c | 0xa980..=0xa9cf     // Balinese, Javanese
        | 0x1100..=0x11ff | 0xac00..=0xd7ff | 0x3130..=0x318f   // Hangul
        | 0xa960..=0xa97f | 0xffa0..=0xffdc
        | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0x3035 | 0x3038..=0x303a | 0x3192..=0x319f | 0x3280..=0x3289
        | 0x3041..=0x3096 | 0x309d..=0x309e | 0x30a0..=0x30fa | 0x30fc..=0x30fe | 0x31f0..=0x31ff   // Kana
        | 0x2e9f | 0x2ef3 | 0x2f00..=0x2fd5     // radicals, which PDFs have for ideographs
        | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff   // Han
        | 0xff66..=0xff9d                       // half-width Kana
        | 0x1aff0..=0x1b122 | 0x1b127..=0x1b16f                // Kana, further
        | 0x20000..=0x3ffff)
}

/// Returns whether a character forms one with the previous character, in some Unicode form: a
/// voiced Kana, a Hangul syllable, a Thai vowel. In pairs, both count as one.
pub(super) fn joins(before: char, character: char) -> bool {
    match character {
        '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}' => true,
        '\u{1161}'..='\u{11ff}' | '\u{d7b0}'..='\u{d7ff}' => true,
        '\u{1b35}' => true,
        '\u{102e}' => before == '\u{1025}',
        '\u{e32}' => before == '\u{e4d}',
        '\u{eb2}' => before == '\u{ecd}',
        '\u{e99}' | '\u{ea1}' => before == '\u{eab}',
        _ => !has_no_spaces(character) && is_combining_mark(character),
    }
}
