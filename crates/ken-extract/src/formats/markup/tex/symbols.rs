//! Characters that TeX has commands for, and accented letters.

use unicode_normalization::UnicodeNormalization;

/// Returns the letter with the accent of a command, and the length of the letter's argument: `\'e`,
/// `\"{o}`, `\c c`, `\v{\i}`.
pub(in crate::formats) fn accented(name: &str, rest: &str) -> Option<(String, usize)> {
    let mark = mark(name)?;
    let inside = rest.strip_prefix('{').unwrap_or(rest);
    let (letter, length) = match inside.strip_prefix('\\') {
        // The dotless i and j represent the letters under an accent.
        Some(dotless) => match dotless.chars().next()? {
            letter @ ('i' | 'j') => (letter, 2),
            _ => return None,
        },
        None => {
            let letter = inside.chars().next()?;
            (letter, letter.len_utf8())
        }
    };
    if !letter.is_alphabetic() {
        return None;
    }
    let mut end = rest.len() - inside.len() + length;
    if rest.starts_with('{') {
        let after = &inside[length..];
        if !after.starts_with('}') {
            return None;
        }
        end += 1;
    }
    Some(([letter, mark].into_iter().nfc().collect(), end))
}

/// Returns the combining character of an accent.
fn mark(name: &str) -> Option<char> {
    Some(match name {
        "'" => '\u{301}',
        "`" => '\u{300}',
        "^" => '\u{302}',
        "\"" => '\u{308}',
        "~" => '\u{303}',
        "=" => '\u{304}',
        "." => '\u{307}',
        "u" => '\u{306}',
        "v" => '\u{30c}',
        "H" => '\u{30b}',
        "c" => '\u{327}',
        "k" => '\u{328}',
        "r" => '\u{30a}',
        "d" => '\u{323}',
        "b" => '\u{331}',
        _ => return None,
    })
}

/// Returns the text of a command without arguments.
pub(super) fn symbol(name: &str) -> Option<&'static str> {
    let found = SYMBOLS.iter().find(|(known, _)| *known == name)?;
    Some(found.1)
}

#[rustfmt::skip] // a table reads better as one
const SYMBOLS: &[(&str, &str)] = &[
    ("ss", "ß"), ("ae", "æ"), ("AE", "Æ"), ("oe", "œ"), ("OE", "Œ"), ("o", "ø"), ("O", "Ø"), ("l", "ł"), ("L", "Ł"),
    ("aa", "å"), ("AA", "Å"), ("i", "ı"), ("j", "ȷ"), ("dh", "ð"), ("th", "þ"), ("dj", "đ"), ("ng", "ŋ"),
    ("TeX", "TeX"), ("LaTeX", "LaTeX"), ("LaTeXe", "LaTeX2e"), ("BibTeX", "BibTeX"),
    ("ldots", "…"), ("dots", "…"), ("textellipsis", "…"), ("textendash", "–"), ("textemdash", "—"),
    ("textbackslash", "\\"), ("textasciitilde", "~"), ("textasciicircum", "^"), ("textunderscore", "_"),
    ("textquotedblleft", "“"), ("textquotedblright", "”"), ("textquoteleft", "‘"), ("textquoteright", "’"),
    ("textquotesingle", "'"), ("textquotedbl", "\""), ("textless", "<"), ("textgreater", ">"), ("textbar", "|"),
    ("guillemotleft", "«"), ("guillemotright", "»"), ("glqq", "„"), ("grqq", "“"), ("flqq", "«"), ("frqq", "»"),
    ("S", "§"), ("P", "¶"), ("copyright", "©"), ("textcopyright", "©"), ("textregistered", "®"), ("texttrademark", "™"),
    ("pounds", "£"), ("euro", "€"), ("texteuro", "€"), ("EUR", "€"), ("textdegree", "°"), ("textmu", "µ"), ("texttimes", "×"),
    ("dag", "†"), ("ddag", "‡"), ("textbullet", "•"), ("slash", "/"), ("space", " "), ("textvisiblespace", " "),
    ("lbrace", "{"), ("rbrace", "}"), ("times", "×"), ("cdot", "·"), ("pm", "±"), ("leq", "≤"), ("geq", "≥"), ("le", "≤"),
    ("ge", "≥"), ("neq", "≠"), ("ne", "≠"), ("approx", "≈"), ("equiv", "≡"), ("to", "→"), ("rightarrow", "→"), ("leftarrow", "←"),
    ("Rightarrow", "⇒"), ("in", "∈"), ("infty", "∞"), ("cdots", "…"),
];
