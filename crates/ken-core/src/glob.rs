//! Patterns of file names and words, as in a shell (POSIX 2.13.1, without character class names): `*` matches any
//! characters, `?` one, `[a-z]` one of these, `[!a-z]` one of the others.

use std::fmt::{self, Write};

/// A pattern that matches whole terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(pub Vec<GlobPart>);

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobPart {
    /// These characters.
    Literal(String),
    /// Any characters, or none.
    Many,
    /// Any one character.
    One,
    /// One character in these ranges, or one outside them.
    Class {
        /// Whether the character must be outside the ranges.
        negated: bool,
        /// First and last character of each range.
        ranges: Vec<(char, char)>,
    },
}

impl Glob {
    /// Adds a part and keeps one form for each meaning: no empty literal, no two literals or stars in a row.
    pub fn push(&mut self, part: GlobPart) {
        match (self.0.last_mut(), part) {
            (_, GlobPart::Literal(text)) if text.is_empty() => {}
            (Some(GlobPart::Literal(before)), GlobPart::Literal(text)) => before.push_str(&text),
            (Some(GlobPart::Many), GlobPart::Many) => {}
            (_, part) => self.0.push(part),
        }
    }

    /// Returns the text if the pattern is a single literal.
    pub fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [GlobPart::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the text if the pattern is a literal and a star.
    pub fn prefix(&self) -> Option<&str> {
        match self.0.as_slice() {
            [GlobPart::Many] => Some(""),
            [GlobPart::Literal(text), GlobPart::Many] => Some(text),
            _ => None,
        }
    }

    /// Returns the pattern with its literals and the ends of its ranges changed.
    pub fn map(
        &self,
        literal: impl Fn(&str) -> String,
        range: impl Fn((char, char)) -> (char, char),
    ) -> Self {
        let mut mapped = Self(Vec::with_capacity(self.0.len()));
        for part in &self.0 {
            mapped.push(match part {
                GlobPart::Literal(text) => GlobPart::Literal(literal(text)),
                GlobPart::Class { negated, ranges } => GlobPart::Class {
                    negated: *negated,
                    ranges: ranges.iter().copied().map(&range).collect(),
                },
                part => part.clone(),
            });
        }
        mapped
    }

    /// Returns whether the pattern matches a whole text, in time proportional to the product of their lengths.
    pub fn matches(&self, text: &str) -> bool {
        // The offsets of the text at which the parts so far may end.
        let mut ends = vec![0];
        for part in &self.0 {
            let mut next: Vec<usize> = Vec::new();
            for at in ends {
                let rest = &text[at..];
                match part {
                    GlobPart::Literal(literal) if rest.starts_with(literal) => {
                        next.push(at + literal.len());
                    }
                    GlobPart::Literal(_) => {}
                    GlobPart::Many => {
                        // A later start of a star reaches no offset that the first does not.
                        next.extend(rest.char_indices().map(|(offset, _)| at + offset));
                        next.push(text.len());
                        break;
                    }
                    part => {
                        let first = rest.chars().next().filter(|c| part.is_one(*c));
                        next.extend(first.map(|c| at + c.len_utf8()));
                    }
                }
            }
            ends = next;
        }
        ends.last() == Some(&text.len())
    }

    /// Returns the regular expression that matches the same, anchored at both ends.
    pub fn to_regex(&self) -> String {
        self.regex("^(?s:", |regex, text| {
            text.chars().for_each(|c| escape(regex, c));
        })
    }

    /// Returns the regular expression that matches the same without regard to case and diacritics, anchored at both
    /// ends.
    pub fn to_plain_regex(&self) -> String {
        self.regex("^(?is:", plain)
    }

    fn regex(&self, start: &str, literal: impl Fn(&mut String, &str)) -> String {
        let mut regex = String::from(start);
        for part in &self.0 {
            match part {
                GlobPart::Literal(text) => literal(&mut regex, text),
                GlobPart::Many => regex.push_str(".*"),
                GlobPart::One => regex.push('.'),
                GlobPart::Class { negated, ranges } => {
                    regex.push_str(if *negated { "[^" } else { "[" });
                    for (first, last) in ranges {
                        escape(&mut regex, *first);
                        regex.push('-');
                        escape(&mut regex, *last);
                    }
                    regex.push(']');
                }
            }
        }
        regex.push_str(")$");
        regex
    }
}

impl GlobPart {
    /// Returns whether a part for one character matches this one.
    fn is_one(&self, character: char) -> bool {
        match self {
            Self::One => true,
            Self::Class { negated, ranges } => {
                let is_in = |(first, last): &(char, char)| (*first..=*last).contains(&character);
                ranges.iter().any(is_in) != *negated
            }
            Self::Literal(_) | Self::Many => false,
        }
    }
}

/// Returns a range of capitals in small letters, and other ranges unchanged.
pub fn lower_range((first, last): (char, char)) -> (char, char) {
    let lower = |c: char| c.to_lowercase().next().unwrap_or(c);
    match (lower(first), lower(last)) {
        (a, b) if a <= b => (a, b),
        _ => (first, last),
    }
}

/// The letters of Latin with diacritics, behind the one without.
const LETTERS: [&str; 19] = [
    "aàáâãäåāăą",
    "cçćĉċč",
    "dďđ",
    "eèéêëēĕėęě",
    "gĝğġģ",
    "hĥħ",
    "iìíîïĩīĭįı",
    "jĵ",
    "kķ",
    "lĺļľł",
    "nñńņň",
    "oòóôõöøōŏő",
    "rŕŗř",
    "sśŝşšș",
    "tţťțŧ",
    "uùúûüũūŭůűų",
    "wŵ",
    "yýÿŷ",
    "zźżž",
];

/// Writes a text in which letters stand for those with any diacritics.
fn plain(regex: &mut String, text: &str) {
    let is_mark = |c: char| ('\u{300}'..='\u{36f}').contains(&c);
    for character in text.chars().filter(|c| !is_mark(*c)) {
        let lower = character.to_lowercase().next().unwrap_or(character);
        match LETTERS.iter().find(|letters| letters.contains(lower)) {
            // Writing to a String cannot fail.
            Some(letters) => drop(write!(regex, "[{letters}]")),
            None => escape(regex, character),
        }
        if character.is_alphabetic() {
            regex.push_str(r"[\x{300}-\x{36f}]*");
        }
    }
}

/// Writes a character by its number, which is never special.
fn escape(regex: &mut String, character: char) {
    // Writing to a String cannot fail.
    let _ = if character.is_alphanumeric() {
        write!(regex, "{character}")
    } else {
        write!(regex, "\\x{{{:x}}}", u32::from(character))
    };
}

/// Prints as in a query, with a backslash before literal special characters.
impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.0 {
            match part {
                GlobPart::Literal(text) => {
                    for character in text.chars() {
                        if matches!(character, '*' | '?' | '[' | ']' | '\\') {
                            f.write_char('\\')?;
                        }
                        f.write_char(character)?;
                    }
                }
                GlobPart::Many => f.write_char('*')?,
                GlobPart::One => f.write_char('?')?,
                GlobPart::Class { negated, ranges } => {
                    f.write_str(if *negated { "[!" } else { "[" })?;
                    for (first, last) in ranges {
                        f.write_char(*first)?;
                        if first != last {
                            write!(f, "-{last}")?;
                        }
                    }
                    f.write_char(']')?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use regex_automata::meta::Regex;

    use super::*;

    #[test]
    fn equal_patterns_have_one_form() {
        let mut glob = Glob(Vec::new());
        for part in ["", "a", "b"] {
            glob.push(GlobPart::Literal(part.into()));
        }
        assert_eq!(glob.literal(), Some("ab"));
        glob.push(GlobPart::Many);
        glob.push(GlobPart::Many);
        assert_eq!(glob.prefix(), Some("ab"));
        assert_eq!(glob.to_string(), "ab*");
    }

    #[test]
    fn whole_texts_match() {
        let glob = |text: &str| {
            let mut glob = Glob(Vec::new());
            for character in text.chars() {
                glob.push(match character {
                    '*' => GlobPart::Many,
                    '?' => GlobPart::One,
                    '#' => GlobPart::Class {
                        negated: false,
                        ranges: vec![('0', '9')],
                    },
                    c => GlobPart::Literal(c.into()),
                });
            }
            glob
        };
        for (pattern, text, expected) in [
            ("", "", true),
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*a*b", "xaab", true),
            ("*a*b", "xaabc", false),
            ("?é", "éé", true),
            ("?", "", false),
            ("a##", "a12", true),
            ("a##", "a1b", false),
            ("*", "", true),
        ] {
            assert_eq!(glob(pattern).matches(text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_regular_expression_matches_the_same() {
        let glob = Glob(vec![
            GlobPart::Literal("a.".into()),
            GlobPart::One,
            GlobPart::Class {
                negated: true,
                ranges: vec![('a', 'c'), ('-', '-')],
            },
            GlobPart::Many,
        ]);
        assert_eq!(glob.to_string(), "a.?[!a-c-]*");
        assert_eq!(glob.to_regex(), "^(?s:a\\x{2e}.[^a-c\\x{2d}-\\x{2d}].*)$");
    }

    #[test]
    fn plain_expressions_disregard_case_and_diacritics() {
        let expression = |text: &str| {
            let glob = Glob(vec![GlobPart::Literal(text.to_owned()), GlobPart::Many]);
            Regex::new(&glob.to_plain_regex()).unwrap()
        };
        for name in ["notes", "Notes", "NÖTES 2", "No\u{308}tés"] {
            assert!(expression("notes").is_match(name), "{name}");
            assert!(expression("Nötés").is_match(name), "{name}");
        }
        assert!(!expression("notes").is_match("my notes"));
        assert!(!expression("a.b").is_match("axb"));
        assert!(expression("москва").is_match("Москва"));
    }
}
