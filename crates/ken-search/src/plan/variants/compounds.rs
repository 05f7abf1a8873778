//! Other ways to write a word of several parts: `e-mail`, `email` and `e mail`, `U.S.A.` and `USA`, `utf-8` and `utf8`,
//! `x86-64` and `x86_64`; and the word in `Anna's` and `l'arbre`.

/// The most bytes of a word that has other spellings; a longer one is a path or an address.
const MAX_BYTES: usize = 64;

/// The most letters of each part of `TCP/IP` and `node.js`.
const SHORT: usize = 4;

/// The most letters of a name that has its number behind `_`.
const NUMBERED: usize = 5;

/// The most letters before the apostrophe of a name.
const NAME_START: usize = 2;

/// Words that have `'s` for *is* or *us*.
const NO_OWNERS: [&str; 13] = [
    "it", "he", "she", "that", "this", "what", "who", "there", "here", "where", "how", "when",
    "let",
];

/// What is left of French, Italian and Catalan words before a vowel.
const ELIDED: [&str; 31] = [
    "c", "d", "j", "l", "m", "n", "s", "t", "v", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu",
    "presqu", "un", "gl", "dell", "all", "dall", "nell", "sull", "coll", "quell", "quest", "bell",
    "sant", "tutt", "anch", "senz", "mezz",
];

/// Returns the other spellings of a text.
pub(super) fn spellings(text: &str) -> Vec<String> {
    if text.len() > MAX_BYTES {
        return Vec::new();
    }
    let ways = [
        spaced(text),
        together(text),
        underlined(text),
        initials(text),
    ];
    ways.into_iter().flatten().collect()
}

/// Returns the word that is in a possessive or behind an elided one.
pub(super) fn within(word: &str) -> Option<&str> {
    let (before, after) = word.split_once(is_apostrophe)?;
    let is_word =
        |word: &str| word.chars().nth(1).is_some() && word.chars().all(char::is_alphanumeric);
    let is = |words: &[&str]| words.iter().any(|of| of.eq_ignore_ascii_case(before));
    if after.eq_ignore_ascii_case("s") {
        return (is_word(before) && !is(&NO_OWNERS)).then_some(before);
    }
    (is(&ELIDED) && is_word(after)).then_some(after)
}

pub(super) fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '\u{2019}' | '\u{2bc}')
}

fn is_hyphen(character: char) -> bool {
    matches!(character, '-' | '\u{2010}' | '\u{2011}')
}

/// Returns whether a character may stand between the parts of a word.
fn is_sign(character: char) -> bool {
    is_hyphen(character) || is_apostrophe(character) || matches!(character, '.' | '/' | '&')
}

/// Returns `e mail` for `e-mail`. The index has `email` there, but which words it joins depends on the text around them.
fn spaced(text: &str) -> Option<String> {
    let mut spaced = String::with_capacity(text.len());
    let mut is_other = false;
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let after = characters.peek().copied().unwrap_or(' ');
        let is_between = before.is_alphanumeric() && after.is_alphanumeric();
        let is_of_number = !before.is_alphabetic() && !after.is_alphabetic();
        let is_cut = is_sign(character) && is_between && !is_of_number;
        spaced.push(if is_cut { ' ' } else { character });
        is_other |= is_cut;
        before = character;
    }
    is_other.then_some(spaced)
}

/// Returns `x86_64` for `x86-64`, `utf_8` for `utf8`, and `x86 64` for `x86_64`. Names of programs without a number have
/// another meaning as words.
fn underlined(text: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let is_part = |part: &str| !part.is_empty() && part.chars().all(char::is_alphanumeric);
    let (first, sign, second) = match text.find(|c| is_hyphen(c) || c == '_') {
        Some(at) => {
            let sign = text[at..].chars().next()?;
            (&text[..at], sign, &text[at + sign.len_utf8()..])
        }
        None => {
            let (first, second) = text.split_at(text.find(is_digit)?);
            let is_short = (2..=NUMBERED).contains(&first.len());
            let is_numbered = is_short && second.chars().all(is_digit);
            (first, '-', if is_numbered { second } else { "" })
        }
    };
    let is_numbered = is_part(first)
        && is_part(second)
        && first.chars().any(char::is_alphabetic)
        && second.starts_with(is_digit);
    is_numbered.then(|| {
        let other = if sign == '_' { " " } else { "_" };
        [first, other, second].concat()
    })
}

/// Returns `JRR Tolkien` for `J. R. R. Tolkien`.
fn initials(text: &str) -> Option<String> {
    let is_initial = |word: &str| {
        let letter = word.strip_suffix('.');
        let mut letters = letter.unwrap_or(word).chars();
        let is_letter = |c: char| c.is_uppercase() || letter.is_some() && c.is_alphabetic();
        letters.next().is_some_and(is_letter) && letters.next().is_none()
    };
    let mut joined = String::with_capacity(text.len());
    let mut is_other = false;
    let mut was_initial = false;
    for word in text.split_whitespace() {
        let is_next = is_initial(word);
        if was_initial && is_next {
            is_other = true;
        } else if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(if is_next {
            word.trim_end_matches('.')
        } else {
            word
        });
        was_initial = is_next;
    }
    is_other.then(|| joined.to_lowercase())
}

/// A part of a text, and the sign before it.
struct Part<'a> {
    sign: Option<char>,
    text: &'a str,
}

/// Returns the parts of a text that are each separated by one sign; `None` for other texts.
fn parts(text: &str) -> Option<Vec<Part<'_>>> {
    let is_part_sign = |c: char| is_sign(c) || c == '_';
    let text = text.trim_end_matches('.');
    let mut parts = Vec::new();
    let mut rest = text;
    let mut sign = None;
    loop {
        let end = rest.find(is_part_sign);
        let part = &rest[..end.unwrap_or(rest.len())];
        if part.is_empty() || !part.chars().all(char::is_alphanumeric) {
            return None;
        }
        parts.push(Part { sign, text: part });
        let Some(end) = end else { break };
        sign = rest[end..].chars().next();
        rest = &rest[end + sign.map_or(0, char::len_utf8)..];
    }
    (parts.len() > 1).then_some(parts)
}

/// Returns `utf8` for `utf-8`, `USA` for `U.S.A`, `cooperation` for `co-operation`. Numbers are not joined.
fn together(text: &str) -> Option<String> {
    let parts = parts(text)?;
    let is_word = |part: &Part<'_>| part.text.chars().all(char::is_alphabetic);
    let all_words = parts.iter().all(is_word);
    let all_short = parts
        .iter()
        .all(|part| part.text.chars().nth(SHORT).is_none());
    let mut together = String::with_capacity(text.len());
    let mut is_other = false;
    for (number, part) in parts.iter().enumerate() {
        if let Some(sign) = part.sign {
            let before = &parts[number - 1];
            let is_number = |part: &Part<'_>| part.text.bytes().all(|byte| byte.is_ascii_digit());
            let is_joined = match (is_number(before), is_number(part)) {
                (true, true) => false,
                (true, false) => is_hyphen(sign) && part.text.starts_with(char::is_alphabetic),
                (false, true) => is_word(before) && may_join_number(before.text, sign),
                (false, false) if is_hyphen(sign) => all_words,
                (false, false) if is_apostrophe(sign) => before.text.len() <= NAME_START,
                (false, false) => sign != '_' && all_short,
            };
            is_other |= is_joined;
            together.extend((!is_joined).then_some(sign));
        }
        together.push_str(part.text);
    }
    is_other.then(|| together.to_lowercase())
}

/// Returns whether a sign may be left out between a name and its number: `OS/2`, but not `near/2`.
fn may_join_number(name: &str, sign: char) -> bool {
    match sign {
        '/' => name.chars().all(char::is_uppercase),
        '&' => false,
        sign => !is_apostrophe(sign),
    }
}

#[cfg(test)]
mod tests {
    use super::{spellings, within};

    #[test]
    fn words_of_parts_are_written_in_several_ways() {
        for (text, expected) in [
            ("co-operation", "co operation|cooperation"),
            ("on-the-fly", "on the fly|onthefly"),
            ("Wi‑Fi", "Wi Fi|wifi"),
            ("U.S.A", "U S A|usa"),
            ("U.S.A.", "U S A.|usa"),
            ("Ph.D.", "Ph D.|phd"),
            ("utf-8", "utf 8|utf8|utf_8"),
            ("H.264", "H 264|h264"),
            ("covid-19", "covid 19|covid19|covid_19"),
            ("iso-8859-1", "iso 8859-1|iso8859-1"),
            ("v2.10.0-rc1", "v2.10.0 rc1|v2.10.0rc1"),
            ("x86-64", "x86_64"),
            ("x86_64", "x86 64"),
            ("utf8", "utf_8"),
            ("utf_8", "utf8|utf 8"),
            ("10-kg", "10 kg|10kg"),
            ("TCP/IP", "TCP IP|tcpip"),
            ("OS/2", "OS 2|os2"),
            ("R&D", "R D|rd"),
            ("O'Brien", "O Brien|obrien"),
            ("node.js", "node js|nodejs"),
            ("wikipedia.org", "wikipedia org"),
            ("rpm-list@x.org", "rpm list@x org"),
            ("don't", "don t"),
            ("USA", ""),
            ("U. S. A.", "usa"),
            ("the J. R. R. Tolkien", "the jrr tolkien"),
            ("a 1", ""),
            ("a b", ""),
            ("near/2", "near 2"),
            ("550e8400-e29b-41d4", "550e8400 e29b 41d4"),
            ("snake_case", ""),
            ("2024-03-05", ""),
            ("555-123-4567", ""),
            ("1.2.3", ""),
            ("10:30", ""),
            ("-x", ""),
            ("report", ""),
            ("a--b", ""),
        ] {
            assert_eq!(spellings(text).join("|"), expected, "{text}");
        }
    }

    #[test]
    fn words_are_found_in_possessives_and_behind_elisions() {
        for (word, expected) in [
            ("floor's", Some("floor")),
            ("floor’s", Some("floor")),
            ("floorʼs", Some("floor")),
            ("ANNA'S", Some("ANNA")),
            ("l'arbre", Some("arbre")),
            ("Dell’arte", Some("arte")),
            ("qu'elle", Some("elle")),
            ("it's", None),
            ("x's", None),
            ("don't", None),
            ("o'clock", None),
            ("d'", None),
            ("floor", None),
        ] {
            assert_eq!(within(word), expected, "{word}");
        }
    }
}
