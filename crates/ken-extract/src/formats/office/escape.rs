//! Characters that XML cannot hold, as Office writes them: `_x000D_` (ECMA-376 part 1, 22.9.2.19).

use std::borrow::Cow;

/// Returns text without escapes. `_x005F_` is an underscore that begins no escape.
pub(super) fn unescape(text: Cow<'_, str>) -> Cow<'_, str> {
    if memchr::memchr(b'_', text.as_bytes()).is_none() {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find("_x") {
        let (before, escape) = rest.split_at(at);
        plain.push_str(before);
        match character(escape) {
            Some(character) => {
                rest = &escape[ESCAPE_BYTES..];
                match character {
                    '\r' if rest.starts_with('\n') => {}
                    '\r' | '\u{b}' | '\u{c}' => plain.push('\n'),
                    '\n' | '\t' => plain.push(character),
                    _ if character.is_control() => {}
                    _ => plain.push(character),
                }
            }
            None => {
                plain.push_str("_x");
                rest = &escape[2..];
            }
        }
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

const ESCAPE_BYTES: usize = "_x000D_".len();

/// Returns the character of an escape at the start of a text.
fn character(escape: &str) -> Option<char> {
    let digits = escape.get(2..6)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || escape.as_bytes().get(6) != Some(&b'_') {
        return None;
    }
    char::from_u32(u32::from_str_radix(digits, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escapes_are_characters() {
        for (text, plain) in [
            ("line_x000D_\ntwo", "line\ntwo"),
            ("a_x000a_b_x0009_c", "a\nb\tc"),
            ("_x005F_x000D_", "_x000D_"),
            ("bell_x0007_", "bell"),
            ("gr_x00FC_n", "grün"),
            ("file_x86_64", "file_x86_64"),
            ("_x00", "_x00"),
            ("_xD800_", "_xD800_"),
            ("plain", "plain"),
        ] {
            assert_eq!(unescape(text.into()), plain, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[_x0-9A-Fä]{0,30}") {
            prop_assert!(unescape(text.as_str().into()).len() <= text.len());
        }
    }
}
