//! Patterns of paths, for the field that holds locations as hexadecimal digits.
//!
//! A path is bytes, and need not be text. Each byte is two digits, so an expression over bytes becomes one over pairs of digits,
//! and their order is that of paths.

use regex_syntax::hir::{Class, ClassBytesRange};
use regex_syntax::utf8::Utf8Sequences;

use crate::pattern::{Letters, written};

/// The longest expression. Of 1,800 digits between two texts of any length, OpenSearch made too many states.
const MAX_LENGTH: usize = 1_200;

/// Returns the expression of Lucene for the locations in whose bytes an expression is found; none if Lucene has no such
/// expression.
pub(crate) fn locations(regex: &str) -> Option<String> {
    let hir = regex_syntax::ParserBuilder::new()
        .utf8(false)
        .build()
        .parse(regex)
        .ok()?;
    written(&hir, &Digits).filter(|regex| regex.len() <= MAX_LENGTH)
}

/// The letters of locations are pairs of digits.
struct Digits;

impl Letters for Digits {
    const ANY_TEXT: &str = "(..)*";

    fn literal(&self, text: &mut String, literal: &[u8]) -> Option<()> {
        text.push_str(&crate::kept::hex(literal));
        Some(())
    }

    fn class(&self, text: &mut String, class: &Class) -> Option<()> {
        let mut parts = Vec::new();
        match class {
            Class::Bytes(class) => {
                for range in class.ranges() {
                    bytes(&mut parts, range.start(), range.end());
                }
            }
            Class::Unicode(class) => {
                let ranges = class.ranges().iter();
                for sequence in ranges.flat_map(|of| Utf8Sequences::new(of.start(), of.end())) {
                    let mut part = String::new();
                    for range in sequence.as_slice() {
                        let mut one = Vec::new();
                        bytes(&mut one, range.start, range.end);
                        part.push_str(&format!("({})", one.join("|")));
                    }
                    parts.push(part);
                }
            }
        }
        if parts.is_empty() {
            return None;
        }
        text.push_str(&format!("({})", parts.join("|")));
        Some(())
    }

    fn is_any(&self, class: &Class) -> bool {
        let Class::Bytes(class) = class else {
            return false;
        };
        class.ranges() == [ClassBytesRange::new(0, 0xff)]
    }
}

/// Adds what matches the digits of a byte between two.
fn bytes(parts: &mut Vec<String>, from: u8, to: u8) {
    let (mut first, mut last) = (from >> 4, to >> 4);
    if first == last {
        parts.push(format!("{first:x}{}", digit(from & 15, to & 15)));
        return;
    }
    if from & 15 > 0 {
        parts.push(format!("{first:x}{}", digit(from & 15, 15)));
        first += 1;
    }
    if to & 15 < 15 {
        parts.push(format!("{last:x}{}", digit(0, to & 15)));
        last -= 1;
    }
    if first <= last {
        parts.push(format!("{}.", digit(first, last)));
    }
}

/// Returns what matches a digit between two.
fn digit(from: u8, to: u8) -> String {
    match (from, to) {
        (0, 15) => ".".to_owned(),
        (from, to) if from == to => format!("{from:x}"),
        (from, to) => {
            let digits = (from..=to).map(|digit| format!("{digit:x}"));
            format!("[{}]", digits.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Glob, GlobPart, Pattern};
    use proptest::prelude::*;
    use regex_automata::meta::Regex;

    use super::*;

    #[test]
    fn a_byte_is_two_digits() {
        let of = |regex| locations(regex).unwrap();
        assert_eq!(of("(?s-u)^/a.*$"), "2f61(..)*");
        assert_eq!(of("b"), "(..)*62(..)*");
        assert_eq!(of("(?s-u)^[\\x2e-\\x41]$"), "(2[ef]|4[01]|3.)");
        assert_eq!(of("(?s-u)^.$"), "(..)");
        assert!(locations(r"a\b").is_none());
    }

    proptest! {
        #[test]
        fn digits_are_found_where_bytes_are(
            parts in prop::collection::vec(
                prop_oneof![
                    "[a-zé/|]{1,2}".prop_map(GlobPart::Literal),
                    Just(GlobPart::Many),
                    Just(GlobPart::One),
                    (any::<bool>(), prop::sample::select(vec![('a', 'c'), ('é', 'ü'), ('.', '/')]))
                        .prop_map(|(negated, range)| GlobPart::Class { negated, ranges: vec![range] }),
                ],
                1..5,
            ),
            is_name in any::<bool>(),
            path in prop::collection::vec(
                prop_oneof![
                    "[a-cA-Céü/.]{1,3}".prop_map(String::into_bytes),
                    Just(vec![0xff]),
                    Just(vec![0]),
                ],
                0..5,
            ),
        ) {
            let pattern = match is_name {
                true => Pattern::Name(Glob(parts)),
                false => Pattern::Glob(Glob(parts)),
            };
            let regex = ken_index::location_expression(&pattern).unwrap();
            let config = regex_automata::util::syntax::Config::new().utf8(false);
            let expected = Regex::builder().syntax(config).build(&regex).unwrap();
            let path = path.concat();
            let digits = format!("^(?:{})$", locations(&regex).unwrap());
            let found = Regex::new(&digits).unwrap().is_match(&crate::kept::hex(&path));
            prop_assert_eq!(found, expected.is_match(&path), "{} {:?}", regex, path);
        }
    }
}
