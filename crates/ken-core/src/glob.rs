//! Patterns of file names and words: `*` any characters, `?` one, `[a-z]` one of these, `[!a-z]`
//! one of the others, as in a shell (POSIX 2.13.1, without character class names).

use std::fmt::{self, Write};

/// A pattern that matches whole terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(pub Vec<GlobPart>);

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GlobPart {
    /// These characters.
    Literal(String),
    /// Any characters, or none.
    Many,
    /// Any one character.
    One,
    /// One character of these ranges, or one of no range.
    Class {
        /// Whether the others are meant.
        negated: bool,
        /// First and last character of each range.
        ranges: Vec<(char, char)>,
    },
}

impl Glob {
    /// Adds a part, so that there is one form for one meaning: no empty literal, no two literals
    /// or stars in a row.
    pub fn push(&mut self, part: GlobPart) {
        match (self.0.last_mut(), part) {
            (_, GlobPart::Literal(text)) if text.is_empty() => {}
            (Some(GlobPart::Literal(before)), GlobPart::Literal(text)) => before.push_str(&text),
            (Some(GlobPart::Many), GlobPart::Many) => {}
            (_, part) => self.0.push(part),
        }
    }

    /// Returns the text if it has no part but a literal.
    pub fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [GlobPart::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the text if all that follows it is a star.
    pub fn prefix(&self) -> Option<&str> {
        match self.0.as_slice() {
            [GlobPart::Many] => Some(""),
            [GlobPart::Literal(text), GlobPart::Many] => Some(text),
            _ => None,
        }
    }

    /// Returns the regular expression that matches the same, anchored at both ends.
    pub fn to_regex(&self) -> String {
        let mut regex = String::from("^(?s:");
        for part in &self.0 {
            match part {
                GlobPart::Literal(text) => text.chars().for_each(|c| escape(&mut regex, c)),
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

/// Writes a character by its number, which has no meaning of its own anywhere.
fn escape(regex: &mut String, character: char) {
    // Writing to a String cannot fail.
    let _ = if character.is_alphanumeric() {
        write!(regex, "{character}")
    } else {
        write!(regex, "\\x{{{:x}}}", u32::from(character))
    };
}

/// As it is written in a query, with a backslash before what is meant literally.
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
}
