//! Escapes of troff: `\fB`, `\(em`, `\[u00E9]`, `\*(lq` (groff(7), groff_char(7)).

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

/// More strings than any document defines.
const MAX_STRINGS: usize = 1000;
/// Maximum length of a string; longer ones are code.
const MAX_STRING_BYTES: usize = 200;

/// The strings that a document defines.
#[derive(Default)]
pub(super) struct Strings {
    known: HashMap<String, String>,
}

impl Strings {
    /// Handles the arguments of `.ds`: a name and a value, which may begin with a quote.
    pub(super) fn define(&mut self, rest: &str) {
        let rest = rest.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (name, value) = rest.split_at(end);
        let value = value.trim_start();
        let value = value.strip_prefix('"').unwrap_or(value);
        if self.known.len() < MAX_STRINGS && value.len() <= MAX_STRING_BYTES {
            // Escapes are replaced now, so that a string of strings cannot grow without end.
            let mut plain = self.plain(value);
            plain.truncate(plain.floor_char_boundary(MAX_STRING_BYTES));
            self.known.insert(name.to_owned(), plain);
        }
    }

    /// Returns a text with each escape replaced by its output.
    pub(super) fn plain(&self, text: &str) -> String {
        let mut plain = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
            plain.push_str(&rest[..at]);
            rest = self.escape(&rest[at + 1..], &mut plain);
        }
        plain.push_str(rest);
        plain
    }

    /// Handles the escape after a backslash; returns the rest.
    fn escape<'t>(&self, rest: &'t str, plain: &mut String) -> &'t str {
        let Some(kind) = rest.chars().next() else {
            return rest;
        };
        let after = &rest[kind.len_utf8()..];
        match kind {
            '"' | '#' => return "",
            '-' | '.' | '\'' | '`' | '_' => plain.push(kind),
            'e' | '\\' => plain.push('\\'),
            ' ' | '~' | '0' | 't' => plain.push(' '),
            '(' | '[' => {
                let (name, rest) = name(rest);
                special(name, plain);
                return rest;
            }
            '*' => {
                let (name, rest) = name(after);
                self.string(name, plain);
                return rest;
            }
            // Fonts, registers, colours: a name of any form. Sizes may have a sign.
            'f' | 'n' | 'm' | 'M' | 'F' | 'g' | 'k' | 'V' | 'Y' => return name(after).1,
            's' => return size(after),
            // Movements, lines, widths: an argument in quotes.
            'h' | 'v' | 'w' | 'l' | 'L' | 'D' | 'b' | 'o' | 'X' | 'x' | 'z' | 'Z' | 'H' | 'S'
            | 'N' | 'R' | 'A' | 'B' | 'C' => return quoted(after),
            // `\&`, `\|`, `\^`, `\/`, `\,`, `\:`, `\%`, `\c`, `\p`, `\{`, `\}` … print nothing.
            _ => {}
        }
        after
    }

    fn string(&self, name: &str, plain: &mut String) {
        match (self.known.get(name), name) {
            (Some(value), _) => plain.push_str(value),
            (None, "lq") => plain.push('“'),
            (None, "rq") => plain.push('”'),
            (None, "R") => plain.push('®'),
            (None, "Tm") => plain.push('™'),
            _ => {}
        }
    }
}

/// Splits a name from the rest: `x`, `(xx` or `[xxx]`.
fn name(text: &str) -> (&str, &str) {
    if let Some(long) = text.strip_prefix('[') {
        let line = &long[..long.floor_char_boundary(80)];
        return match line.find(']') {
            Some(end) => (&long[..end], &long[end + 1..]),
            None => ("", long),
        };
    }
    let (text, n_characters) = match text.strip_prefix('(') {
        Some(pair) => (pair, 2),
        None => (text, 1),
    };
    let end = text
        .char_indices()
        .nth(n_characters)
        .map_or(text.len(), |(at, _)| at);
    text.split_at(end)
}

/// Skips a size: `\s-2`, `\s10`, `\s(12`, `\s[+1]`
fn size(text: &str) -> &str {
    let text = text.trim_start_matches(['+', '-']);
    if text.starts_with(['(', '[']) {
        return name(text).1;
    }
    let n_digits = if text.starts_with(['1', '2', '3']) {
        2
    } else {
        1
    };
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let length = text.bytes().take(n_digits).take_while(is_digit).count();
    &text[length..]
}

/// Skips `'…'`, or the same with another character as quote.
fn quoted(text: &str) -> &str {
    let Some(quote) = text.chars().next() else {
        return text;
    };
    let inside = &text[quote.len_utf8()..];
    let near = &inside[..inside.floor_char_boundary(80)];
    match near.find(quote) {
        Some(end) => &inside[end + quote.len_utf8()..],
        None => inside,
    }
}

/// Adds a character by its name in groff.
fn special(name: &str, plain: &mut String) {
    let unicode = name
        .strip_prefix('u')
        .filter(|digits| digits.len() >= 4)
        .and_then(|digits| u32::from_str_radix(digits.split('_').next()?, 16).ok())
        .and_then(char::from_u32)
        .filter(|character| !character.is_control());
    if let Some(character) = unicode {
        return plain.push(character);
    }
    if let Some((_, text)) = SPECIAL.iter().find(|(known, _)| *known == name) {
        return plain.push_str(text);
    }
    // An accent and a letter.
    let mut characters = name.chars();
    if let (Some(accent), Some(letter), None) =
        (characters.next(), characters.next(), characters.next())
        && let Some(mark) = mark(accent)
        && letter.is_ascii_alphabetic()
    {
        plain.extend([letter, mark].into_iter().nfc());
    }
}

fn mark(accent: char) -> Option<char> {
    Some(match accent {
        ':' => '\u{308}',
        '\'' => '\u{301}',
        '`' => '\u{300}',
        '^' => '\u{302}',
        '~' => '\u{303}',
        ',' => '\u{327}',
        'v' => '\u{30c}',
        'o' => '\u{30a}',
        _ => return None,
    })
}

#[rustfmt::skip] // a table reads better as one
const SPECIAL: &[(&str, &str)] = &[
    ("em", "—"), ("en", "–"), ("hy", "-"), ("bu", "•"), ("co", "©"), ("rg", "®"), ("tm", "™"), ("lq", "“"), ("rq", "”"),
    ("oq", "‘"), ("cq", "’"), ("aq", "'"), ("dq", "\""), ("Fo", "«"), ("Fc", "»"), ("fo", "‹"), ("fc", "›"), ("ha", "^"),
    ("ti", "~"), ("rs", "\\"), ("ga", "`"), ("at", "@"), ("sh", "#"), ("Do", "$"), ("lB", "["), ("rB", "]"), ("lC", "{"),
    ("rC", "}"), ("la", "<"), ("ra", ">"), ("sl", "/"), ("ba", "|"), ("or", "|"), ("->", "→"), ("<-", "←"), ("ua", "↑"),
    ("da", "↓"), ("mu", "×"), ("di", "÷"), ("+-", "±"), ("de", "°"), ("<=", "≤"), (">=", "≥"), ("!=", "≠"), ("==", "≡"),
    ("if", "∞"), ("mi", "−"), ("sc", "§"), ("ps", "¶"), ("dg", "†"), ("dd", "‡"), ("fm", "′"), ("14", "¼"), ("12", "½"),
    ("34", "¾"), ("S1", "¹"), ("S2", "²"), ("S3", "³"), ("Eu", "€"), ("eu", "€"), ("Po", "£"), ("Ye", "¥"), ("ct", "¢"),
    ("ss", "ß"), ("ae", "æ"), ("AE", "Æ"), ("oe", "œ"), ("OE", "Œ"), ("/o", "ø"), ("/O", "Ø"), ("/l", "ł"), ("/L", "Ł"),
    ("oa", "å"), ("oA", "Å"), ("-D", "Ð"), ("Sd", "ð"), ("TP", "Þ"), ("Tp", "þ"), ("r!", "¡"), ("r?", "¿"), (".i", "ı"),
    ("*a", "α"), ("*b", "β"), ("*g", "γ"), ("*d", "δ"), ("*e", "ε"), ("*l", "λ"), ("*m", "μ"), ("*p", "π"), ("*s", "σ"),
    ("mc", "µ"), ("ff", "ff"), ("fi", "fi"), ("fl", "fl"), ("Fi", "ffi"), ("Fl", "ffl"), ("OK", "✓"), ("sq", "□"), ("ul", "_"),
];
