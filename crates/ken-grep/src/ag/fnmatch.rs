//! Shell patterns like those of `fnmatch(3)` with `FNM_PATHNAME`, on bytes: no `*`, `?` or `[…]`
//! matches a slash.
//!
//! No star crosses a slash, so backtracking to the last star is enough: the text is read at most
//! once for each byte of the pattern.

/// A pattern, with the most common forms in ignore files parsed in advance.
#[derive(Debug)]
pub(super) enum Glob {
    /// `*` and a text: 40 of the 60 patterns of Linux's `.gitignore`.
    Suffix(Vec<u8>),
    /// Any other.
    General(Vec<u8>),
}

impl Glob {
    pub(super) fn new(pattern: &[u8]) -> Self {
        let is_plain = |text: &[u8]| !text.iter().any(|byte| b"*?[\\/".contains(byte));
        match pattern {
            [b'*', suffix @ ..] if is_plain(suffix) => Self::Suffix(suffix.to_vec()),
            _ => Self::General(pattern.to_vec()),
        }
    }

    /// Returns whether the whole text matches.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        match self {
            Self::Suffix(suffix) => text
                .strip_suffix(suffix.as_slice())
                .is_some_and(|rest| !rest.contains(&b'/')),
            Self::General(pattern) => fnmatch(pattern, text),
        }
    }
}

/// The state for backtracking when the rest did not match: the star takes one more byte.
struct Star {
    pattern: usize,
    text: usize,
}

fn fnmatch(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<Star> = None;
    while p < pattern.len() || t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            star = Some(Star {
                pattern: p,
                text: t,
            });
            continue;
        }
        if let (Some(&byte), true) = (text.get(t), p < pattern.len())
            && let Some(length) = one(&pattern[p..], byte)
        {
            p += length;
            t += 1;
            continue;
        }
        match &mut star {
            Some(star) if text.get(star.text).is_some_and(|byte| *byte != b'/') => {
                star.text += 1;
                (p, t) = (star.pattern, star.text);
            }
            _ => return false,
        }
    }
    true
}

/// Returns the length of the part of the pattern that matches this byte.
fn one(pattern: &[u8], byte: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => (byte != b'/').then_some(1),
        [b'\\', escaped, ..] => (*escaped == byte).then_some(2),
        [b'[', rest @ ..] => match bracket(rest, byte) {
            Some((length, matched)) => (matched && byte != b'/').then_some(length + 1),
            // Never closed, so it is a literal bracket.
            None => (byte == b'[').then_some(1),
        },
        [literal, ..] => (*literal == byte).then_some(1),
        [] => None,
    }
}

/// Reads a class after its `[`, up to `]`: returns its length, and whether it contains the byte.
fn bracket(pattern: &[u8], byte: u8) -> Option<(usize, bool)> {
    let negated = matches!(pattern.first(), Some(b'!' | b'^'));
    let mut at = usize::from(negated);
    let mut found = false;
    let mut first = true;
    loop {
        match &pattern[at.min(pattern.len())..] {
            [] => return None,
            [b']', ..] if !first => return Some((at + 1, found != negated)),
            [b'[', b':', rest @ ..] if class(rest).is_some() => {
                let (name, length) = class(rest)?;
                found |= is_in_class(name, byte);
                at += length + 2;
            }
            _ => {
                let (low, length) = member(&pattern[at..])?;
                at += length;
                let mut high = low;
                if let [b'-', end, ..] = &pattern[at..]
                    && *end != b']'
                {
                    let (end, length) = member(&pattern[at + 1..])?;
                    high = end;
                    at += length + 1;
                }
                found |= (low..=high).contains(&byte);
            }
        }
        first = false;
    }
}

/// Reads one byte of a class, which a backslash may precede.
fn member(pattern: &[u8]) -> Option<(u8, usize)> {
    match pattern {
        [b'\\', escaped, ..] => Some((*escaped, 2)),
        [byte, ..] => Some((*byte, 1)),
        [] => None,
    }
}

/// Reads the name of a class and `:]`: returns the name, and the length of both.
fn class(pattern: &[u8]) -> Option<(&[u8], usize)> {
    let end = pattern.windows(2).position(|pair| pair == b":]")?;
    let name = &pattern[..end];
    name.iter()
        .all(u8::is_ascii_lowercase)
        .then_some((name, end + 2))
}

fn is_in_class(name: &[u8], byte: u8) -> bool {
    match name {
        b"alpha" => byte.is_ascii_alphabetic(),
        b"digit" => byte.is_ascii_digit(),
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"upper" => byte.is_ascii_uppercase(),
        b"lower" => byte.is_ascii_lowercase(),
        b"space" => byte.is_ascii_whitespace() || byte == 0x0b,
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"punct" => byte.is_ascii_punctuation(),
        b"print" => byte.is_ascii_graphic() || byte == b' ',
        b"graph" => byte.is_ascii_graphic(),
        b"cntrl" => byte.is_ascii_control(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_the_c_library() {
        for (pattern, text, expected) in [
            ("*.o", "a.o", true),
            ("*.o", ".o", true),
            ("*.o", "a/b.o", false),
            ("*.o", "a.o/", false),
            ("*", "", true),
            ("*a*b", "xaxxb", true),
            ("*a*b", "xaxxbc", false),
            ("a?c", "abc", true),
            ("a?c", "a/c", false),
            ("foo*/", "foobar/", true),
            ("foo*/", "foobar", false),
            ("*/b*", "a/bc", true),
            ("*/b", "a/x/b", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a-c]x", "dx", true),
            ("[]x]", "]", true),
            ("[a", "[a", true),
            ("a[/]b", "a/b", false),
            ("[[:digit:]_]", "_", true),
            ("[[:digit:]_]", "7", true),
            ("[[:digit:]_]", "a", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("[\\]]", "]", true),
            ("a-[0-9]", "a-5", true),
            ("[a-]", "-", true),
            ("*~", "file~", true),
        ] {
            let glob = Glob::new(pattern.as_bytes());
            assert_eq!(glob.matches(text.as_bytes()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn many_stars_take_no_more_than_linear_time_each() {
        let pattern = "*a".repeat(40) + "b";
        let text = "a".repeat(20_000);
        assert!(!Glob::new(pattern.as_bytes()).matches(text.as_bytes()));
    }
}
