//! Classes of many characters, which are represented by the first two bytes of their characters.

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};
use regex_syntax::utf8::Utf8Sequences;

use super::Strings;

/// A class with more characters is wide.
const MAX_CLASS: u64 = 256;
/// Maximum number of beginnings of a class; one with more is treated as unknown.
const MAX_PAIRS: usize = 512;

/// How to represent the characters of wide classes, if they have few different first bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wide {
    All,
    Ascii,
}

pub(super) fn is_wide(class: &ClassUnicode) -> bool {
    let ranges = class.iter();
    let lengths = ranges.map(|range| u64::from(range.end()) - u64::from(range.start()) + 1);
    lengths.sum::<u64>() > MAX_CLASS
}

/// Returns the first two bytes of the non-ASCII characters of a class, if there are few such pairs.
pub(super) fn first_bytes(class: &ClassUnicode) -> Option<Strings> {
    let mut pairs = Strings::new();
    for range in class.iter() {
        for sequence in Utf8Sequences::new(range.start(), range.end()) {
            let [first, second, ..] = sequence.as_slice() else {
                continue;
            };
            let (leads, nexts) = (first.start..=first.end, second.start..=second.end);
            // Pairs of one sequence differ, so one sequence may be too many, as in the most
            // frequent class, `.`.
            if leads.len() * nexts.len() > MAX_PAIRS {
                return None;
            }
            for lead in leads {
                pairs.extend(nexts.clone().map(|next| vec![lead, next]));
            }
            if pairs.len() > MAX_PAIRS {
                return None;
            }
        }
    }
    Some(pairs)
}

/// Returns the pairs of all wide classes in some expressions; none if there are many.
pub(super) fn pairs(expressions: &[Hir]) -> Strings {
    let mut pairs = Strings::new();
    expressions.iter().for_each(|of| add_pairs(of, &mut pairs));
    match pairs.len() > MAX_PAIRS {
        true => Strings::new(),
        false => pairs,
    }
}

fn add_pairs(expression: &Hir, pairs: &mut Strings) {
    match expression.kind() {
        HirKind::Class(Class::Unicode(class)) if is_wide(class) => {
            pairs.extend(first_bytes(class).unwrap_or_default());
        }
        HirKind::Capture(capture) => add_pairs(&capture.sub, pairs),
        HirKind::Repetition(repetition) => add_pairs(&repetition.sub, pairs),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().for_each(|part| add_pairs(part, pairs));
        }
        _ => {}
    }
}
