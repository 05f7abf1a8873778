//! Recognises regular expressions that have the same meaning in PCRE and in Rust's engine.
//!
//! Rust's engine finds literals in a pattern and runs in linear time; PCRE supports more syntax. A
//! pattern goes to Rust's engine only if all its parts are listed here, because one engine or both
//! read anything else differently: `a{`, `a++`, `[a&&b]`, `\<`, `(?>…)`. Two differences remain
//! within the same syntax, and are detected in the parsed pattern: PCRE has no `^` after the last
//! newline of a text, and leaves a loop whose body matched nothing at another point.

use regex_syntax::hir::{Hir, HirKind, Look};

/// Characters that make a query a regular expression; without any, it is a literal.
const OPERATORS: &[u8] = b"$()*+.?[\\^{|";

/// Returns whether ag takes this as a regular expression.
pub fn is_regex(query: &[u8]) -> bool {
    query.iter().any(|byte| OPERATORS.contains(byte))
}

/// Parses a pattern, if both engines find the same matches for it.
pub(super) fn common(pattern: &[u8], fold: bool, multi_line: bool) -> Option<Hir> {
    let text = std::str::from_utf8(pattern).ok()?;
    if !Reader(pattern).reads_common_syntax() {
        return None;
    }
    let mut parser = regex_syntax::ParserBuilder::new()
        .unicode(false)
        .utf8(false)
        .multi_line(multi_line)
        .case_insensitive(fold)
        .build();
    let hir = parser.parse(text).ok()?;
    (starts_are_not_at_end(&hir, false) && loops_advance(&hir)).then_some(hir)
}

/// Returns whether at least one byte follows each `^`, given whether one follows the expression
/// (`after`).
fn starts_are_not_at_end(hir: &Hir, after: bool) -> bool {
    match hir.kind() {
        HirKind::Look(Look::StartLF) => after,
        HirKind::Concat(parts) => {
            let mut after = after;
            parts.iter().rev().all(|part| {
                let safe = starts_are_not_at_end(part, after);
                after |= part.properties().minimum_len() > Some(0);
                safe
            })
        }
        HirKind::Alternation(parts) => parts.iter().all(|part| starts_are_not_at_end(part, after)),
        HirKind::Capture(group) => starts_are_not_at_end(&group.sub, after),
        HirKind::Repetition(repeated) => starts_are_not_at_end(&repeated.sub, after),
        _ => true,
    }
}

/// Returns whether no loop has a body that can match nothing.
fn loops_advance(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(repeated) => {
            repeated.sub.properties().minimum_len() > Some(0) && loops_advance(&repeated.sub)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(loops_advance),
        HirKind::Capture(group) => loops_advance(&group.sub),
        _ => true,
    }
}

/// The unread rest of a pattern.
struct Reader<'p>(&'p [u8]);

impl Reader<'_> {
    fn reads_common_syntax(mut self) -> bool {
        self.skip(b"(?i)");
        // Whether a quantifier may follow.
        let mut atom = false;
        while let [byte, rest @ ..] = self.0 {
            self.0 = rest;
            let read = match byte {
                b'\\' => self.escape(b"dDwWsSntrf").or_else(|| self.boundary()),
                b'[' => self.class().then_some(true),
                b'(' => (!self.0.starts_with(b"*")
                    && (!self.0.starts_with(b"?") || self.skip(b"?:")))
                .then_some(false),
                b')' => Some(true),
                b'|' | b'^' | b'$' => Some(false),
                b'*' | b'+' | b'?' | b'{' if !atom => None,
                b'{' if !self.count() => None,
                b'*' | b'+' | b'?' | b'{' => {
                    self.skip(b"?");
                    Some(false)
                }
                0 | 128.. => None,
                _ => Some(true),
            };
            match read {
                Some(may_repeat) => atom = may_repeat,
                None => return false,
            }
        }
        true
    }

    fn skip(&mut self, text: &[u8]) -> bool {
        let rest = self.0.strip_prefix(text);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Reads an escape after its backslash: one of the letters, or a literal punctuation mark.
    fn escape(&mut self, letters: &[u8]) -> Option<bool> {
        let [byte, rest @ ..] = self.0 else {
            return None;
        };
        let is_mark = byte.is_ascii_punctuation() && !matches!(byte, b'<' | b'>');
        (is_mark || letters.contains(byte)).then(|| {
            self.0 = rest;
            true
        })
    }

    /// Reads the `b` or `B` of `\b` and `\B`.
    fn boundary(&mut self) -> Option<bool> {
        let [b'b' | b'B', rest @ ..] = self.0 else {
            return None;
        };
        self.0 = rest;
        Some(false)
    }

    /// Reads the rest of `{2}`, `{2,}` and `{2,3}` after `{`.
    fn count(&mut self) -> bool {
        let least = self.digits();
        if self.skip(b",") {
            self.digits();
        }
        least && self.skip(b"}")
    }

    fn digits(&mut self) -> bool {
        let length = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        self.0 = &self.0[length..];
        (1..=5).contains(&length)
    }

    /// Reads the rest of a class after `[`, including its `]`.
    fn class(&mut self) -> bool {
        const NAMES: [&[u8]; 12] = [
            b"[:alpha:]",
            b"[:digit:]",
            b"[:alnum:]",
            b"[:upper:]",
            b"[:lower:]",
            b"[:space:]",
            b"[:blank:]",
            b"[:punct:]",
            b"[:print:]",
            b"[:graph:]",
            b"[:cntrl:]",
            b"[:xdigit:]",
        ];
        self.skip(b"^");
        let mut first = true;
        while let [byte, rest @ ..] = self.0 {
            let doubled = rest.first() == Some(byte);
            match byte {
                b']' if !first => {
                    self.0 = rest;
                    return true;
                }
                b'[' if NAMES.iter().any(|name| self.skip(name)) => {}
                b'[' | 0 | 128.. => return false,
                b'&' | b'-' | b'~' if doubled => return false,
                b'\\' => {
                    self.0 = rest;
                    if self.escape(b"dDwWsSntrf").is_none() {
                        return false;
                    }
                }
                _ => self.0 = rest,
            }
            first = false;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_common(pattern: &str) -> bool {
        common(pattern.as_bytes(), false, true).is_some()
    }

    #[test]
    fn usual_patterns_are_common() {
        for pattern in [
            r"static inline .*atomic_dec",
            "(?i)copyright.*torvalds",
            r"\bkfree_skb\(",
            "TODO|FIXME",
            r"^#define\s+[A-Z0-9_]+_MAGIC\b",
            "0x[0-9a-f]{16}",
            r"\w+@(gmail|kernel)\.(com|org)",
            "wh[^w]+e",
            "a{2,}?b",
            "^[[:space:]]*x",
            "[]a-]x$",
            "(?:a|b)+",
            "a*",
        ] {
            assert!(is_common(pattern), "{pattern}");
        }
    }

    #[test]
    fn what_means_two_things_is_not() {
        for pattern in [
            "a{",
            "a{,3}",
            "a++",
            "a*+",
            "[a&&b]",
            "[a--b]",
            "[[a]]",
            r"\<a",
            r"\Aa",
            r"a\Z",
            r"\h",
            "(?=a)",
            "(?>a)",
            "(?P<n>a)",
            r"(a)\1",
            "*a",
            "é",
            "^",
            "^$",
            r"^\s*$",
            "a^|^",
            "(a*)*",
            "(a|)+",
            "(*ACCEPT)",
            "a**",
            r"[\b]",
            r"\x41",
            "[a",
            "(a",
            r"\b+",
            r"\p{L}",
            "(?x)a b",
            "a(?i)b",
            "^*",
        ] {
            assert!(!is_common(pattern), "{pattern}");
        }
    }
}
