//! Knowledge about writing systems for the layout: separate accents, right-to-left text, scripts
//! without spaces.

use unicode_normalization::char::compose;

/// Returns the accented letter of two overlapping glyphs, in either order.
///
/// TeX's old encodings have no accented letters: they print an accent, step back, and print the
/// letter.
pub(super) fn accented(first: char, second: char) -> Option<char> {
    if first.is_ascii_lowercase() && second.is_ascii_lowercase() {
        return None;
    }
    let compose_with = |letter: char, accent: char| {
        // TeX puts accents on dotless letters.
        let letter = match letter {
            'ı' => 'i',
            'ȷ' => 'j',
            letter => letter,
        };
        compose(letter, combining(accent)?)
    };
    compose_with(second, first).or_else(|| compose_with(first, second))
}

/// Returns the combining mark for a standalone accent.
fn combining(accent: char) -> Option<char> {
    Some(match accent {
        '`' | '\u{2CB}' => '\u{300}',
        '´' | '\u{2CA}' => '\u{301}',
        '^' | 'ˆ' => '\u{302}',
        '~' | '˜' => '\u{303}',
        '¯' | 'ˉ' => '\u{304}',
        '˘' => '\u{306}',
        '˙' => '\u{307}',
        '¨' => '\u{308}',
        '˚' | '°' => '\u{30A}',
        '˝' => '\u{30B}',
        'ˇ' => '\u{30C}',
        '¸' => '\u{327}',
        '˛' => '\u{328}',
        '\u{300}'..='\u{36F}' => accent,
        _ => return None,
    })
}

/// Returns whether a character belongs to a script written from right to left. The digits of such
/// scripts are written from left to right.
pub(super) fn is_right_to_left(char: char) -> bool {
    !matches!(char, '\u{660}'..='\u{66C}' | '\u{6F0}'..='\u{6F9}')
        && matches!(char, '\u{590}'..='\u{8FF}' | '\u{FB1D}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}'
        | '\u{10800}'..='\u{10FFF}' | '\u{1E800}'..='\u{1EFFF}')
}

/// Returns whether a character belongs to a script written without spaces between words.
pub(super) fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{2E80}'..='\u{312F}' | '\u{3190}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Converts a line from visual to reading order, if it holds right-to-left text: everything is
/// reversed except runs of numbers and left-to-right words.
pub(super) fn logical_order(seen: &str) -> String {
    let mut read = String::with_capacity(seen.len());
    let mut run: Vec<char> = Vec::new();
    for char in seen.chars().rev() {
        // Within a left-to-right run, spaces and points keep their position.
        let neutral = !char.is_alphanumeric();
        if is_right_to_left(char) || (neutral && run.is_empty()) {
            flush(&mut run, &mut read);
            read.push(mirrored(char));
        } else {
            run.push(char);
        }
    }
    flush(&mut run, &mut read);
    read
}

/// Appends a left-to-right run, given in reverse; neutral characters at its start follow it.
fn flush(run: &mut Vec<char>, read: &mut String) {
    let end = run
        .iter()
        .rposition(|char| char.is_alphanumeric())
        .map_or(0, |last| last + 1);
    read.extend(run[..end].iter().rev());
    read.extend(run[end..].iter().map(|&char| mirrored(char)));
    run.clear();
}

fn mirrored(char: char) -> char {
    match char {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '«' => '»',
        '»' => '«',
        char => char,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_join_letters_in_either_order() {
        assert_eq!(accented('¨', 'u'), Some('ü'));
        assert_eq!(accented('c', '¸'), Some('ç'));
        assert_eq!(accented('´', 'ı'), Some('í'));
        assert_eq!(accented('f', 'i'), None);
        assert_eq!(accented('A', 'V'), None);
    }

    #[test]
    fn seen_order_becomes_read_order() {
        assert_eq!(logical_order("םלוע םולש"), "שלום עולם");
        assert_eq!(logical_order("(ב) 12.5 א"), "א 12.5 (ב)");
        assert_eq!(logical_order("ב two words א"), "א two words ב");
    }
}
