//! Finds what is no text in texts: data in base64, base64url or hexadecimal digits, such as pictures, keys and attachments that were pasted
//! or saved as text. Indexed, each line would be a word that nobody looks for.

use std::borrow::Cow;

/// A single word of data this long is left out.
const MIN_WORD_BYTES: usize = 256;
/// Lines that consist of one word this long may be data.
const MIN_LINE_BYTES: usize = 40;
/// The last of them may be this short.
const MIN_LAST_BYTES: usize = 8;
/// So many of them, one below the other, are data.
const MIN_LINES: usize = 4;
/// In random base64 more than every second character is of another class than the one before: a capital, a small letter, a digit, a
/// sign. In names of programs hardly every fifth is.
const CHARACTERS_PER_CHANGE: usize = 4;

/// Returns a text without data. Its lines keep their numbers.
pub(crate) fn without_data(text: &str) -> Cow<'_, str> {
    if !has_long_words(text) {
        return Cow::Borrowed(text);
    }
    let ranges = data(text);
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end) in ranges {
        kept.push_str(&text[at..start]);
        kept.extend(
            text[start..end]
                .chars()
                .filter(|c| matches!(c, '\n' | '\r')),
        );
        at = end;
    }
    kept.push_str(&text[at..]);
    Cow::Owned(kept)
}

/// Returns whether some word is long enough, which is false for most texts, and found fast.
fn has_long_words(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = MIN_LINE_BYTES - 1;
    while at < bytes.len() {
        match bytes[at + 1 - MIN_LINE_BYTES..=at]
            .iter()
            .rposition(|byte| !is_of_data(*byte))
        {
            None => return true,
            Some(position) => at += position + 1,
        }
    }
    false
}

/// Returns the ranges of bytes that are data.
fn data(text: &str) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    // The lines of data above: where they begin, their number, and where they end.
    let mut block: Option<(usize, usize, usize)> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let word = without_quotes(line.trim());
        let word_start = start + line.find(word).unwrap_or(0);
        let is_line = is_data(word, MIN_LINE_BYTES);
        // The last line is shorter, and mostly filled up with signs.
        let is_last =
            is_data(word, MIN_LAST_BYTES) || word.ends_with('=') && word.bytes().all(is_of_data);
        block = match block {
            Some((first, n, _)) if is_line => Some((first, n + 1, word_start + word.len())),
            None if is_line => Some((word_start, 1, word_start + word.len())),
            Some((first, n, last)) => {
                let last = if is_last {
                    word_start + word.len()
                } else {
                    last
                };
                if n >= MIN_LINES {
                    ranges.push((first, last));
                }
                None
            }
            None => None,
        };
        if !is_line {
            add_words(line, start, &mut ranges);
        }
        if is_line && word.len() >= MIN_WORD_BYTES && block.is_some_and(|(_, n, _)| n == 1) {
            // A single line counts, whatever follows.
            block = block.map(|(first, _, last)| (first, MIN_LINES, last));
        }
        start = end;
    }
    if let Some((first, n, last)) = block
        && n >= MIN_LINES
    {
        ranges.push((first, last));
    }
    ranges.sort_unstable();
    ranges.dedup_by(|next, last| next.0 < last.1);
    ranges
}

/// Adds the long words of data within a line.
fn add_words(line: &str, start: usize, ranges: &mut Vec<(usize, usize)>) {
    if line.len() < MIN_WORD_BYTES {
        return;
    }
    let mut at = 0;
    for word in line.split(|c: char| !c.is_ascii() || !is_of_data(c as u8)) {
        if is_data(word, MIN_WORD_BYTES) {
            ranges.push((start + at, start + at + word.len()));
        }
        at += word.len();
        at += line[at..].chars().next().map_or(0, char::len_utf8);
    }
}

/// Returns a line without the marks of quotations and comments before it.
fn without_quotes(line: &str) -> &str {
    line.trim_start_matches(['>', ' ', '\t', '*', '#', '"', '\''])
        .trim_end_matches(['"', '\'', ',', ';', '\\'])
}

fn is_of_data(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

/// Returns whether a word is data of at least so many bytes.
fn is_data(word: &str, min: usize) -> bool {
    if word.len() < min || !word.bytes().all(is_of_data) {
        return false;
    }
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0_u8,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let mut n = [0_usize; 4];
    let mut n_changes = 0;
    let mut last = None;
    for byte in word.bytes() {
        let class = class(byte);
        n[usize::from(class)] += 1;
        n_changes += usize::from(last.is_some_and(|last| last != class));
        last = Some(class);
    }
    let [n_small, n_large, n_digits, n_signs] = n;
    let is_base64 = n_small > 0 && n_large > 0 && n_digits + n_signs > 0;
    let is_hexadecimal = n_digits > 0
        && n_small + n_large > 0
        && n_signs == 0
        && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    // Signs that divide words are no data: paths, and names with hyphens.
    (is_base64 && n_signs * 6 < word.len() || is_hexadecimal)
        && n_changes * CHARACTERS_PER_CHANGE > word.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "iVBORw0KGgoAAAANSUhEUgAAAJYAAACWCAYAAAA8AXHiAAAACXBIWXMAAA7EAAAOxAGVKw4b";

    #[test]
    fn blocks_of_data_leave_empty_lines() {
        let block = format!("{LINE}\n").repeat(5);
        let text = format!("before\n{block}AAAElFTkSu=\nafter {LINE}\n");
        assert_eq!(
            without_data(&text),
            format!("before\n\n\n\n\n\n\nafter {LINE}\n")
        );
        let quoted = format!("> {LINE}\r\n").repeat(4);
        assert_eq!(
            without_data(&quoted).split_whitespace().collect::<String>(),
            ">"
        );
        let few = format!("{LINE}\n").repeat(3);
        assert_eq!(without_data(&few), few);
        let key = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\n".repeat(4);
        assert_eq!(without_data(&key), "\n\n\n\n");
    }

    #[test]
    fn long_words_of_data_are_left_out() {
        let word = LINE.repeat(5);
        let text = format!("url(data:image/png;base64,{word}) end");
        assert_eq!(without_data(&text), "url(data:image/png;base64,) end");
        let line = format!("a\n{word}\nb");
        assert_eq!(without_data(&line), "a\n\nb");
    }

    #[test]
    fn words_of_people_and_programs_are_kept() {
        for text in [
            "a".repeat(1000),
            "ACGTTGCAACGTTGCAACGTTGCAACGTTGCAACGTTGCAACGTTGCA\n".repeat(20),
            "============================================================\n".repeat(9),
            "/usr/share/doc/packages/some-library-with-a-long-name/README.Debian\n".repeat(9),
            "AbstractSingletonProxyFactoryBeanWithAVeryLongNameIndeedInternal\n".repeat(9),
            "VERY_LONG_NAME_OF_A_CONSTANT_1_IN_A_PROGRAM_OF_THE_OLD_SCHOOL_2\n".repeat(9),
            "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen\n".repeat(9),
            "0101010101010101010101010101010101010101010101010101010101010\n".repeat(9),
        ] {
            assert_eq!(without_data(&text), text);
        }
    }
}
