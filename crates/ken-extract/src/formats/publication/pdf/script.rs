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

/// Converts a line that holds right-to-left text from visual to reading order. In a line that reads
/// from left to right, only the runs of such text are turned.
pub(super) fn logical_order(seen: &str) -> String {
    if !reads_rightwards(seen) {
        return turned_line(seen);
    }
    let mut read = String::with_capacity(seen.len());
    let mut rest = seen;
    while let Some(start) = rest.find(is_right_to_left) {
        let (before, turned) = rest.split_at(start);
        let end = turned.find(is_left_to_right).unwrap_or(turned.len());
        let last = turned[..end].rfind(is_right_to_left).unwrap_or(0);
        let width = turned[last..].chars().next().map_or(0, char::len_utf8);
        read.push_str(before);
        read.push_str(&turned_line(&turned[..last + width]));
        rest = &turned[last + width..];
    }
    read.push_str(rest);
    read
}

fn is_left_to_right(char: char) -> bool {
    char.is_alphabetic() && !is_right_to_left(char)
}

/// Returns whether a line reads from left to right although it holds right-to-left text: it begins and
/// ends with other letters, or one end does and most letters are others.
fn reads_rightwards(seen: &str) -> bool {
    let is_strong = |char: &char| char.is_alphabetic();
    let mut letters = seen.chars().filter(is_strong);
    let (Some(first), last) = (letters.next(), letters.next_back()) else {
        return false;
    };
    let last = last.unwrap_or(first);
    match (is_left_to_right(first), is_left_to_right(last)) {
        (true, true) => true,
        (false, false) => false,
        _ => {
            let n_letters = seen.chars().filter(is_strong).count();
            2 * seen.chars().filter(|char| is_left_to_right(*char)).count() > n_letters
        }
    }
}

/// Turns a line that reads from right to left: everything is reversed except runs of numbers and
/// left-to-right words.
fn turned_line(seen: &str) -> String {
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
        assert_eq!(
            logical_order("one (םלוע 12 םולש) and two."),
            "one (שלום 12 עולם) and two."
        );
        assert_eq!(
            logical_order("many words are followed by םולש"),
            "many words are followed by שלום"
        );
        assert_eq!(
            logical_order(".PDF ץבוק לש רבסה ןאכ שי"),
            "יש כאן הסבר של קובץ PDF."
        );
    }
}
