//! Detects encoded data within text: base64 and uuencode, whose letters are no words and would fill
//! the dictionary with useless terms.

use std::ops::Range;

/// Length of a run that distinguishes base64 from words: mail and PEM files have lines of 76 and
/// 64.
const RUN_BYTES: usize = 60;
/// Length of a full line of uuencode.
const UUENCODED_BYTES: usize = 61;

/// Returns the end of the encoded data that begin with a word, if they do.
#[inline]
pub(super) fn end(bytes: &[u8], word: Range<usize>) -> Option<usize> {
    // Nearly all words end within the run.
    let goes_on = word.len() >= RUN_BYTES || matches!(bytes.get(word.end), Some(b'+' | b'/'));
    let base64 = goes_on.then(|| base64_end(bytes, word.start)).flatten();
    base64.or_else(|| match bytes[word.start] {
        b'M' => uuencoded_end(bytes, word.start),
        _ => None,
    })
}

/// Returns whether a word may be in encoded data, which `end` then determines.
pub(super) fn may_hold(bytes: &[u8], word: Range<usize>) -> bool {
    let before = bytes[..word.start].iter().rev();
    let after = bytes[word.end..].iter();
    let n_before = before
        .clone()
        .take(RUN_BYTES)
        .take_while(|byte| is_base64(byte))
        .count();
    let n_after = after
        .take(RUN_BYTES)
        .take_while(|byte| is_base64(byte))
        .count();
    if n_before + word.len() + n_after >= RUN_BYTES {
        return true;
    }
    let start = before.take(UUENCODED_BYTES).position(|byte| *byte == b'\n');
    let start = start.map_or(0, |back| word.start - back);
    bytes.get(start) == Some(&b'M') && word.end - start <= UUENCODED_BYTES
}

fn is_base64(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Finds the end of base64: capitals, small letters and digits mixed, without anything else.
fn base64_end(bytes: &[u8], start: usize) -> Option<usize> {
    let run = bytes.get(start..start + RUN_BYTES)?;
    let [
        mut n_upper,
        mut n_lower,
        mut n_digits,
        mut n_slashes,
        mut n_turns,
    ] = [0; 5];
    let mut last = 0;
    for byte in run {
        let class = match byte {
            b'A'..=b'Z' => {
                n_upper += 1;
                1
            }
            b'a'..=b'z' => {
                n_lower += 1;
                2
            }
            b'0'..=b'9' => {
                n_digits += 1;
                3
            }
            b'+' => 4,
            b'/' => {
                n_slashes += 1;
                5
            }
            _ => return None,
        };
        n_turns += usize::from(class != last);
        last = class;
    }
    // Names of classes and paths have fewer capitals and more slashes.
    let is_mixed = n_upper >= RUN_BYTES / 4 && n_lower > 7 && n_digits > 0 && n_slashes < 6;
    if !is_mixed || n_turns * 4 < RUN_BYTES {
        return None;
    }
    let rest = &bytes[start + RUN_BYTES..];
    Some(start + RUN_BYTES + rest.iter().take_while(|byte| is_base64(byte)).count())
}

/// Finds the end of uuencode: `M`, for 45 bytes, and 60 characters from space to backtick, many of
/// them punctuation.
fn uuencoded_end(bytes: &[u8], start: usize) -> Option<usize> {
    let is_line_start = start == 0 || bytes[start - 1] == b'\n';
    if !is_line_start {
        return None;
    }
    let line = bytes.get(start..start + UUENCODED_BYTES)?;
    let end = bytes.get(start + UUENCODED_BYTES);
    let is_full = matches!(end, None | Some(b'\n' | b'\r'));
    let is_code = line.iter().all(|byte| (b' '..=b'`').contains(byte));
    let n_signs = line
        .iter()
        .filter(|byte| byte.is_ascii_punctuation())
        .count();
    (is_full && is_code && n_signs > 10).then_some(start + UUENCODED_BYTES)
}
