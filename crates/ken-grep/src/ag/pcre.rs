//! PCRE2, for patterns that Rust's engine reads differently; in a build without it, such a pattern
//! is an error that says so.
//!
//! ag is built with PCRE 1. Both versions number their messages in the same way; where the texts
//! differ, those of PCRE 1 are used.

/// Options for the text of a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Syntax {
    pub(super) fold: bool,
    pub(super) multi_line: bool,
}

#[cfg(feature = "pcre2")]
pub(super) use enabled::Regex;

#[cfg(not(feature = "pcre2"))]
pub(super) use disabled::Regex;

#[cfg(feature = "pcre2")]
mod enabled {
    use std::fmt::Write;
    use std::ops::Range;

    use pcre2::bytes::RegexBuilder;

    use super::Syntax;
    use crate::ag::error::Error;

    /// Maximum stack of a compiled pattern in bytes, the same as in ripgrep.
    const MAX_JIT_STACK: usize = 10 << 20;

    /// A compiled pattern.
    #[derive(Debug)]
    pub(in crate::ag) struct Regex(pcre2::bytes::Regex);

    impl Regex {
        pub(in crate::ag) fn new(pattern: &[u8], syntax: Syntax) -> Result<Self, Error> {
            RegexBuilder::new()
                .caseless(syntax.fold)
                .multi_line(syntax.multi_line)
                .jit_if_available(true)
                .max_jit_stack_size(Some(MAX_JIT_STACK))
                .build(&as_text(pattern))
                .map(Self)
                .map_err(|error| Error::Pattern {
                    position: error.offset().unwrap_or(0),
                    reason: reason(&error),
                })
        }

        /// Returns the first match at or after an offset; none if a limit of PCRE is reached.
        pub(in crate::ag) fn find(&self, text: &[u8], from: usize) -> Option<Range<usize>> {
            let found = self.0.find_at(text, from).ok().flatten()?;
            Some(found.start()..found.end())
        }
    }

    /// Converts a pattern of any bytes to a string that means the same in PCRE2 as in PCRE 1.
    fn as_text(pattern: &[u8]) -> String {
        let mut text = String::new();
        for chunk in keep_braces(pattern).utf8_chunks() {
            text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
        text
    }

    /// Escapes braces that only PCRE2 takes for a quantifier: `{,3}`, `{ 1 }`.
    fn keep_braces(pattern: &[u8]) -> Vec<u8> {
        let mut kept = Vec::with_capacity(pattern.len());
        let mut at = 0;
        while let Some(&byte) = pattern.get(at) {
            let rest = &pattern[at + 1..];
            if byte == b'\\' && !rest.is_empty() {
                kept.extend_from_slice(&pattern[at..at + 2]);
                at += 2;
                continue;
            }
            let end = rest.iter().position(|byte| *byte == b'}').unwrap_or(0);
            let inner = &rest[..end];
            let is_count = inner.iter().all(|byte| b" \t,0123456789".contains(byte));
            let is_new = inner.starts_with(b",") || inner.iter().any(|byte| b" \t".contains(byte));
            if byte == b'{' && end > 0 && is_count && is_new {
                kept.push(b'\\');
            }
            kept.push(byte);
            at += 1;
        }
        kept
    }

    /// Messages of PCRE 1 that differ from those of PCRE2, by number.
    const REASONS: &[(i32, &str)] = &[
        (109, "nothing to repeat"),
        (111, "unrecognized character after (? or (?-"),
        (112, "POSIX named classes are supported only within a class"),
        (114, "missing )"),
        (118, "missing ) after comment"),
        (122, "unmatched parentheses"),
        (124, "unrecognized character after (?<"),
        (125, "lookbehind assertion is not fixed length"),
        (130, "unknown POSIX class name"),
        (135, "invalid condition (?(0)"),
        (142, "syntax error in subpattern name (missing terminator)"),
        (143, "two named subpatterns have the same name"),
        (147, "unknown property name after \\P or \\p"),
    ];

    fn reason(error: &pcre2::Error) -> String {
        let known = REASONS.iter().find(|(code, _)| *code == error.code());
        if let Some((_, reason)) = known {
            return (*reason).to_owned();
        }
        let text = error.to_string();
        match text
            .rsplit_once("offset ")
            .and_then(|(_, rest)| rest.split_once(": "))
        {
            Some((_, reason)) => reason.to_owned(),
            None => text,
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn mistake(pattern: &[u8]) -> String {
            let syntax = Syntax {
                fold: false,
                multi_line: true,
            };
            Regex::new(pattern, syntax).unwrap_err().to_string()
        }

        #[test]
        fn mistakes_are_reported_in_the_words_of_pcre_1() {
            for (pattern, reason) in [
                ("(", "position 1: missing )"),
                ("*", "position 0: nothing to repeat"),
                ("[", "position 1: missing terminating ] for character class"),
                ("a)", "position 1: unmatched parentheses"),
                ("a\\", "position 2: \\ at end of pattern"),
                (
                    "a{2,1}",
                    "position 5: numbers out of order in {} quantifier",
                ),
            ] {
                let message = mistake(pattern.as_bytes());
                assert!(message.contains(reason), "{pattern}: {message}");
            }
        }

        #[test]
        fn braces_are_read_as_by_pcre_1() {
            assert_eq!(as_text(b"a{,3}b{ 1 }c{1,3}d{}"), "a\\{,3}b\\{ 1 }c{1,3}d{}");
            assert_eq!(as_text(b"\\{,3}x{"), "\\{,3}x{");
        }

        #[test]
        fn any_bytes_are_a_pattern() {
            let syntax = Syntax {
                fold: false,
                multi_line: true,
            };
            let regex = Regex::new(b"a\xff(?=b)", syntax).unwrap();
            assert_eq!(regex.find(b"xa\xffb", 0), Some(1..3));
        }
    }
}

#[cfg(not(feature = "pcre2"))]
mod disabled {
    use std::ops::Range;

    use super::Syntax;
    use crate::ag::error::Error;

    /// No such value exists.
    #[derive(Debug)]
    pub(in crate::ag) enum Regex {}

    impl Regex {
        pub(in crate::ag) fn new(_pattern: &[u8], _syntax: Syntax) -> Result<Self, Error> {
            Err(Error::Pattern {
                position: 0,
                reason: "this needs PCRE, which ken was built without".to_owned(),
            })
        }

        pub(in crate::ag) fn find(&self, _text: &[u8], _from: usize) -> Option<Range<usize>> {
            match *self {}
        }
    }
}
