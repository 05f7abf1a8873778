//! Derives what is known about the matches of an expression, from its parts to the whole.

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Repetition};

use super::wide::{self, Wide};
use super::{Need, Strings};

/// Maximum number of strings; more are cut.
const MAX_STRINGS: usize = 128;
/// Maximum bytes of these strings.
const MAX_BYTES: usize = 4 << 10;
/// Maximum number of pairs of strings that are joined whole.
const MAX_PAIRS: usize = 4 << 10;
/// Maximum length of a cut string: together with the next byte it is an n-gram.
const CUT_BYTES: usize = 3;
/// Maximum number of copies of a repetition.
const MAX_COPIES: u32 = 4;
/// Number of strings after which the rest of an expression is not read: by then its need is known,
/// or never will be.
const MAX_READ: usize = 1 << 17;

/// Knowledge about the matches of an expression.
struct Facts {
    strings: Known,
    /// What is needed besides the strings.
    need: Need,
}

#[derive(Clone)]
enum Known {
    /// All matches.
    Exactly(Strings),
    /// What all matches begin and end with.
    Ends { first: Strings, last: Strings },
}

fn one(string: &[u8]) -> Strings {
    Strings::from([string.to_vec()])
}

fn is_small(strings: &Strings) -> bool {
    strings.len() <= MAX_STRINGS && strings.iter().map(Vec::len).sum::<usize>() <= MAX_BYTES
}

/// Reads expressions, in total up to [`MAX_READ`].
pub(super) struct Reader {
    wide: Wide,
    /// How many strings may still be created.
    left: usize,
}

impl Reader {
    pub(super) fn new(wide: Wide) -> Self {
        Self {
            wide,
            left: MAX_READ,
        }
    }

    /// Returns what a match of the expression needs.
    pub(super) fn need(&mut self, expression: &Hir) -> Need {
        self.facts(expression).need()
    }

    fn facts(&mut self, expression: &Hir) -> Facts {
        if self.left == 0 {
            return Facts::unknown();
        }
        match expression.kind() {
            HirKind::Empty | HirKind::Look(_) => self.exactly(one(b"")),
            HirKind::Literal(literal) => self.exactly(one(&literal.0)),
            HirKind::Class(Class::Unicode(class)) => self.characters(class),
            HirKind::Class(Class::Bytes(class)) => {
                let bytes = class.iter().flat_map(|range| range.start()..=range.end());
                self.exactly(bytes.map(|byte| vec![byte]).collect())
            }
            HirKind::Capture(capture) => self.facts(&capture.sub),
            HirKind::Concat(parts) => self.in_row(parts),
            HirKind::Alternation(parts) => {
                let parts = parts.iter().map(|part| self.facts(part));
                Facts::one_of(parts.collect())
            }
            HirKind::Repetition(repetition) => self.repetition(repetition),
        }
    }

    fn spend(&mut self, n_strings: usize) {
        self.left = self.left.saturating_sub(n_strings);
    }

    fn exactly(&mut self, strings: Strings) -> Facts {
        self.spend(strings.len());
        Facts::exactly(strings)
    }

    fn characters(&mut self, class: &ClassUnicode) -> Facts {
        if !wide::is_wide(class) {
            return self.exactly(characters(class).collect());
        }
        let Some(pairs) = wide::first_bytes(class) else {
            return Facts::unknown();
        };
        let mut first: Strings = characters(class).take_while(|c| c.is_ascii()).collect();
        if self.wide == Wide::Ascii {
            return self.exactly(first);
        }
        first.extend(pairs);
        self.spend(first.len());
        Facts::ends(first, one(b""), Need::Anything)
    }

    fn in_row(&mut self, parts: &[Hir]) -> Facts {
        let Some((first, rest)) = parts.split_first() else {
            return Facts::unknown();
        };
        let mut all = self.facts(first);
        for part in rest {
            let part = self.facts(part);
            all = self.then(all, part);
            if self.left == 0 {
                return self.then(all, Facts::unknown());
            }
        }
        all
    }

    fn repetition(&mut self, repetition: &Repetition) -> Facts {
        match (repetition.min, repetition.max) {
            (_, Some(0)) => self.exactly(one(b"")),
            (0, Some(1)) => {
                let part = self.facts(&repetition.sub);
                Facts::one_of(vec![part, Facts::exactly(one(b""))])
            }
            (0, _) => Facts::unknown(),
            (min, max) => {
                let part = self.facts(&repetition.sub);
                let all = self.times(part, min.min(MAX_COPIES));
                match max == Some(min) && min <= MAX_COPIES {
                    true => all,
                    false => all.opened(),
                }
            }
        }
    }

    /// Repeats the facts. All copies need the same, so the need of the first one suffices.
    fn times(&mut self, part: Facts, n: u32) -> Facts {
        // If only the ends are known, a third copy adds nothing to the second.
        let n = match part.strings {
            Known::Exactly(_) => n,
            Known::Ends { .. } => n.min(2),
        };
        let strings = part.strings.clone();
        (1..n).fold(part, |all, _| {
            let copy = Facts {
                strings: strings.clone(),
                need: Need::Anything,
            };
            self.then(all, copy)
        })
    }

    fn then(&mut self, before: Facts, after: Facts) -> Facts {
        let need = before.need.and(after.need);
        match (before.strings, after.strings) {
            (Known::Exactly(before), Known::Exactly(after)) => match self.joined(&before, &after) {
                Some(all) => Facts::new(Known::Exactly(all), need),
                None => {
                    let first = self.joined_starts(&before, &after);
                    Facts::ends(first, self.joined_ends(&before, &after), need)
                }
            },
            (Known::Exactly(before), Known::Ends { first, last }) => {
                match self.joined(&before, &first) {
                    Some(first) => Facts::ends(first, last, need),
                    None => {
                        let starts = self.joined_starts(&before, &first);
                        Facts::ends(starts, last, need.and(Need::one_of(&first)))
                    }
                }
            }
            (Known::Ends { first, last }, Known::Exactly(after)) => {
                match self.joined(&last, &after) {
                    Some(last) => Facts::ends(first, last, need),
                    None => {
                        let ends = self.joined_ends(&last, &after);
                        Facts::ends(first, ends, need.and(Need::one_of(&last)))
                    }
                }
            }
            (
                Known::Ends { first, last },
                Known::Ends {
                    first: next_first,
                    last: next_last,
                },
            ) => {
                let middle = match self.joined(&last, &next_first) {
                    Some(middle) => Need::one_of(&middle),
                    None => {
                        let ends = Need::one_of(&self.joined_ends(&last, &next_first));
                        let starts = Need::one_of(&self.joined_starts(&last, &next_first));
                        ends.and(starts)
                    }
                };
                Facts::ends(first, next_last, need.and(middle))
            }
        }
    }

    /// Joins each string with each, if there are few pairs.
    fn joined(&mut self, before: &Strings, after: &Strings) -> Option<Strings> {
        let n_pairs = before.len() * after.len();
        if n_pairs > MAX_PAIRS {
            return None;
        }
        self.spend(n_pairs);
        let join = |first: &Vec<u8>, last: &Vec<u8>| [first.as_slice(), last.as_slice()].concat();
        let pairs = before
            .iter()
            .flat_map(|first| after.iter().map(move |last| join(first, last)));
        Some(pairs.collect())
    }

    /// Returns the ends of joined strings, if there are too many to join them whole.
    fn joined_ends(&mut self, before: &Strings, after: &Strings) -> Strings {
        let joined = in_part(before, end_of, |ends| self.joined(ends, after));
        joined.unwrap_or_else(|| after.clone())
    }

    /// Returns the beginnings of joined strings, if there are too many to join them whole.
    fn joined_starts(&mut self, before: &Strings, after: &Strings) -> Strings {
        let joined = in_part(after, start_of, |starts| self.joined(before, starts));
        joined.unwrap_or_else(|| before.clone())
    }
}

/// Shortens strings until they can be joined.
fn in_part(
    strings: &Strings,
    part: Part,
    mut done: impl FnMut(&Strings) -> Option<Strings>,
) -> Option<Strings> {
    (1..=CUT_BYTES)
        .rev()
        .find_map(|length| done(&shortened(strings, part, length)))
}

impl Facts {
    fn unknown() -> Self {
        Self::ends(one(b""), one(b""), Need::Anything)
    }

    fn exactly(strings: Strings) -> Self {
        Self::new(Known::Exactly(strings), Need::Anything)
    }

    fn ends(first: Strings, last: Strings, need: Need) -> Self {
        Self::new(Known::Ends { first, last }, need)
    }

    /// Cuts excess strings; what they required becomes part of the need.
    fn new(strings: Known, need: Need) -> Self {
        match strings {
            Known::Exactly(strings) if is_small(&strings) => Self {
                strings: Known::Exactly(strings),
                need,
            },
            Known::Exactly(strings) => {
                let need = need.and(Need::one_of(&strings));
                Self::new(
                    Known::Ends {
                        first: cut(strings.clone(), start_of),
                        last: cut(strings, end_of),
                    },
                    need,
                )
            }
            Known::Ends { first, last } => {
                let mut need = need;
                for ends in [&first, &last] {
                    if !is_small(ends) {
                        need = need.and(Need::one_of(ends));
                    }
                }
                let strings = Known::Ends {
                    first: cut(first, start_of),
                    last: cut(last, end_of),
                };
                Self { strings, need }
            }
        }
    }

    /// Drops the middle, and keeps only the ends.
    fn opened(self) -> Self {
        let need = self.need.clone();
        let (first, last) = self.into_ends();
        Self::ends(first, last, need)
    }

    /// Joins alternatives all at once; one by one would take time quadratic in their number.
    fn one_of(parts: Vec<Self>) -> Self {
        let strings: Option<Vec<_>> = parts.iter().map(Self::as_exactly).collect();
        if let Some(strings) = strings {
            return Self::exactly(strings.into_iter().flatten().cloned().collect());
        }
        let (mut first, mut last) = (Strings::new(), Strings::new());
        let mut need = Need::Nothing;
        for part in parts {
            need = need.or(part.need());
            let (more_first, more_last) = part.into_ends();
            first.extend(more_first);
            last.extend(more_last);
        }
        // Their beginnings and ends are in the need.
        let strings = Known::Ends {
            first: cut(first, start_of),
            last: cut(last, end_of),
        };
        Self { strings, need }
    }

    /// Returns the strings if they are all matches.
    fn as_exactly(&self) -> Option<&Strings> {
        match &self.strings {
            Known::Exactly(strings) if self.need == Need::Anything => Some(strings),
            _ => None,
        }
    }

    fn into_ends(self) -> (Strings, Strings) {
        match self.strings {
            Known::Exactly(strings) => (strings.clone(), strings),
            Known::Ends { first, last } => (first, last),
        }
    }

    /// Returns the whole need.
    fn need(&self) -> Need {
        let need = self.need.clone();
        match &self.strings {
            Known::Exactly(strings) => need.and(Need::one_of(strings)),
            Known::Ends { first, last } => need.and(Need::one_of(first)).and(Need::one_of(last)),
        }
    }
}

/// Returns the characters of a class, in order.
fn characters(class: &ClassUnicode) -> impl Iterator<Item = Vec<u8>> {
    let characters = class.iter().flat_map(|range| range.start()..=range.end());
    characters.map(|c| c.to_string().into_bytes())
}

/// Takes the beginning or the end of a string, up to a number of bytes.
type Part = fn(&[u8], usize) -> &[u8];

fn shortened(strings: &Strings, part: Part, length: usize) -> Strings {
    let short = strings.iter().map(|string| part(string, length).to_vec());
    short.collect()
}

/// Shortens strings until there are few.
fn cut(strings: Strings, part: Part) -> Strings {
    if is_small(&strings) {
        return strings;
    }
    let mut short = (0..=CUT_BYTES)
        .rev()
        .map(|length| shortened(&strings, part, length));
    short.find(is_small).unwrap_or_else(|| one(b""))
}

fn start_of(string: &[u8], length: usize) -> &[u8] {
    &string[..string.len().min(length)]
}

fn end_of(string: &[u8], length: usize) -> &[u8] {
    &string[string.len() - string.len().min(length)..]
}
