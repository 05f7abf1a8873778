//! Classes of many characters, which are known by the first two bytes of these.

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind};
use regex_syntax::utf8::Utf8Sequences;

use super::Strings;

/// A class of more characters is wide.
const MAX_CLASS: u64 = 256;
/// A class whose characters begin in more ways is not known.
const MAX_PAIRS: usize = 512;

/// Which characters of wide classes are meant, if these are told by few first bytes.
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

/// Returns the two bytes that the characters of a class begin with, but for ASCII, if the pairs are few.
pub(super) fn first_bytes(class: &ClassUnicode) -> Option<Strings> {
    let mut pairs = Strings::new();
    for range in class.iter() {
        for sequence in Utf8Sequences::new(range.start(), range.end()) {
            let [first, second, ..] = sequence.as_slice() else {
                continue;
            };
            let (leads, nexts) = (first.start..=first.end, second.start..=second.end);
            // Those of one sequence differ, so it may be too many by itself, as of the most frequent class, `.`.
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

/// Returns those of all wide classes of some expressions; none if they are many.
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
