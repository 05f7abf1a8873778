//! What a text must hold for a regular expression to match in it.
//!
//! Of each part of an expression is known: all the strings it matches, if they are few; else what
//! its matches begin and end with, and what is needed of the text in any case. This is the method of
//! Cox, "Regular expression matching with a trigram index" (2012), on whole strings instead of
//! trigrams, so that it does not depend on which grams are kept. Case and classes are what
//! `regex-syntax` makes of them: a letter that ignores case is a class of all its forms.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, ClassUnicode, Hir, HirKind, Repetition};
use regex_syntax::utf8::Utf8Sequences;

use crate::gram::has_grams;

/// What a text must hold; more than it says may be needed, never less.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Any text may match.
    Anything,
    /// No text matches.
    Nothing,
    /// These bytes in a row.
    Bytes(Vec<u8>),
    /// All of these.
    All(Vec<Self>),
    /// One of these, at least.
    Any(Vec<Self>),
}

impl Need {
    /// Returns what a match of the expression needs.
    ///
    /// A class such as `\d` has too many characters to be all known, few of them ASCII. A match either has ASCII in the
    /// place of all such classes, or holds one of the others somewhere.
    pub fn of(expression: &Hir) -> Self {
        let all = Facts::of(expression, Wide::All).need();
        let mut pairs = Strings::new();
        add_pairs(expression, &mut pairs);
        if pairs.is_empty() {
            return all;
        }
        let ascii = Facts::of(expression, Wide::Ascii).need();
        ascii.or(Self::one_of(&pairs).and(all))
    }

    /// Returns whether a text of ASCII lacks it.
    pub fn is_beyond_ascii(&self) -> bool {
        match self {
            Self::Anything => false,
            Self::Nothing => true,
            Self::Bytes(bytes) => !bytes.is_ascii(),
            Self::All(needs) => needs.iter().any(Self::is_beyond_ascii),
            Self::Any(needs) => needs.iter().all(Self::is_beyond_ascii),
        }
    }

    /// Needs both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Anything, need) | (need, Self::Anything) => need,
            (Self::Nothing, _) | (_, Self::Nothing) => Self::Nothing,
            (Self::All(mut all), Self::All(more)) => {
                all.extend(more);
                Self::All(all)
            }
            (Self::All(mut all), need) | (need, Self::All(mut all)) => {
                all.push(need);
                Self::All(all)
            }
            (one, other) if one == other => one,
            (one, other) => Self::All(vec![one, other]),
        }
    }

    /// Needs one of the two.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Anything, _) | (_, Self::Anything) => Self::Anything,
            (Self::Nothing, need) | (need, Self::Nothing) => need,
            (Self::Any(mut any), Self::Any(more)) => {
                any.extend(more);
                Self::Any(any)
            }
            (Self::Any(mut any), need) | (need, Self::Any(mut any)) => {
                any.push(need);
                Self::Any(any)
            }
            (one, other) if one == other => one,
            (one, other) => Self::Any(vec![one, other]),
        }
    }

    /// Returns the need of one of these strings.
    fn one_of(strings: &Strings) -> Self {
        if strings.iter().any(|string| !has_grams(string)) {
            return Self::Anything;
        }
        let needs = strings.iter().map(|string| Self::Bytes(string.clone()));
        needs.fold(Self::Nothing, Self::or)
    }
}

type Strings = BTreeSet<Vec<u8>>;

/// More strings are not kept, but cut.
const MAX_STRINGS: usize = 128;
/// Nor more bytes of them.
const MAX_BYTES: usize = 4 << 10;
/// More pairs of strings are joined in part only.
const MAX_PAIRS: usize = 4 << 10;
/// What is cut has so many bytes at most: with the next one they are a gram.
const CUT_BYTES: usize = 3;
/// A repetition is written out so often at most.
const MAX_COPIES: u32 = 4;
/// Classes of more characters are known by the first bytes only.
const MAX_CLASS: u64 = 256;

/// Which characters of classes of more than [`MAX_CLASS`] are meant, if these are told by few first bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wide {
    All,
    Ascii,
}

/// What is known of the matches of an expression.
struct Facts {
    strings: Known,
    /// What is needed beside the strings.
    need: Need,
}

#[derive(Clone)]
enum Known {
    /// All that is matched.
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

fn joined(before: &Strings, after: &Strings) -> Option<Strings> {
    let join = |first: &Vec<u8>, last: &Vec<u8>| [first.as_slice(), last.as_slice()].concat();
    let all = || {
        before
            .iter()
            .flat_map(|first| after.iter().map(move |last| join(first, last)))
    };
    (before.len() * after.len() <= MAX_PAIRS).then(|| all().collect())
}

/// Returns what joined strings end with, if there are too many to join them whole.
fn joined_ends(before: &Strings, after: &Strings) -> Strings {
    in_part(before, end_of, |ends| joined(ends, after)).unwrap_or_else(|| after.clone())
}

/// Returns what joined strings begin with, if there are too many to join them whole.
fn joined_starts(before: &Strings, after: &Strings) -> Strings {
    in_part(after, start_of, |starts| joined(before, starts)).unwrap_or_else(|| before.clone())
}

/// Shortens strings until something can be done with them.
fn in_part(
    strings: &Strings,
    part: Part,
    done: impl Fn(&Strings) -> Option<Strings>,
) -> Option<Strings> {
    (1..=CUT_BYTES)
        .rev()
        .find_map(|length| done(&shortened(strings, part, length)))
}

impl Facts {
    fn of(expression: &Hir, wide: Wide) -> Self {
        match expression.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::exactly(one(b"")),
            HirKind::Literal(literal) => Self::exactly(one(&literal.0)),
            HirKind::Class(Class::Unicode(class)) => Self::of_characters(class, wide),
            HirKind::Class(Class::Bytes(class)) => {
                let bytes = class.iter().flat_map(|range| range.start()..=range.end());
                Self::exactly(bytes.map(|byte| vec![byte]).collect())
            }
            HirKind::Capture(capture) => Self::of(&capture.sub, wide),
            HirKind::Concat(parts) => {
                let parts = parts.iter().map(|part| Self::of(part, wide));
                parts.reduce(Self::then).unwrap_or_else(Self::unknown)
            }
            HirKind::Alternation(parts) => {
                Self::one_of(parts.iter().map(|part| Self::of(part, wide)).collect())
            }
            HirKind::Repetition(repetition) => Self::of_repetition(repetition, wide),
        }
    }

    fn unknown() -> Self {
        Self::ends(one(b""), one(b""), Need::Anything)
    }

    fn exactly(strings: Strings) -> Self {
        Self::new(Known::Exactly(strings), Need::Anything)
    }

    fn ends(first: Strings, last: Strings, need: Need) -> Self {
        Self::new(Known::Ends { first, last }, need)
    }

    /// Cuts what is too much; what the strings said is needed then.
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

    fn of_characters(class: &ClassUnicode, wide: Wide) -> Self {
        if !is_wide(class) {
            return Self::exactly(characters(class).collect());
        }
        let Some(pairs) = first_bytes(class) else {
            return Self::unknown();
        };
        let mut first: Strings = characters(class).take_while(|c| c.is_ascii()).collect();
        if wide == Wide::Ascii {
            return Self::exactly(first);
        }
        first.extend(pairs);
        Self::ends(first, one(b""), Need::Anything)
    }

    fn of_repetition(repetition: &Repetition, wide: Wide) -> Self {
        let part = || Self::of(&repetition.sub, wide);
        match (repetition.min, repetition.max) {
            (_, Some(0)) => Self::exactly(one(b"")),
            (0, Some(1)) => Self::one_of(vec![part(), Self::exactly(one(b""))]),
            (0, _) => Self::unknown(),
            (min, max) => {
                let all = part().times(min.min(MAX_COPIES));
                match max == Some(min) && min <= MAX_COPIES {
                    true => all,
                    false => all.opened(),
                }
            }
        }
    }

    /// Repeats it. All copies need the same, so the first one says it for all of them.
    fn times(self, n: u32) -> Self {
        // Where only the ends are known, a third copy tells no more than the second.
        let n = match self.strings {
            Known::Exactly(_) => n,
            Known::Ends { .. } => n.min(2),
        };
        let strings = self.strings.clone();
        (1..n).fold(self, |all, _| {
            all.then(Self {
                strings: strings.clone(),
                need: Need::Anything,
            })
        })
    }

    /// Forgets what lies between the ends.
    fn opened(self) -> Self {
        let need = self.need.clone();
        let (first, last) = self.into_ends();
        Self::ends(first, last, need)
    }

    fn then(self, next: Self) -> Self {
        let need = self.need.and(next.need);
        match (self.strings, next.strings) {
            (Known::Exactly(before), Known::Exactly(after)) => match joined(&before, &after) {
                Some(all) => Self::new(Known::Exactly(all), need),
                None => {
                    let first = joined_starts(&before, &after);
                    Self::ends(first, joined_ends(&before, &after), need)
                }
            },
            (Known::Exactly(before), Known::Ends { first, last }) => {
                match joined(&before, &first) {
                    Some(first) => Self::ends(first, last, need),
                    None => {
                        let starts = joined_starts(&before, &first);
                        Self::ends(starts, last, need.and(Need::one_of(&first)))
                    }
                }
            }
            (Known::Ends { first, last }, Known::Exactly(after)) => match joined(&last, &after) {
                Some(last) => Self::ends(first, last, need),
                None => {
                    let ends = joined_ends(&last, &after);
                    Self::ends(first, ends, need.and(Need::one_of(&last)))
                }
            },
            (
                Known::Ends { first, last },
                Known::Ends {
                    first: next_first,
                    last: next_last,
                },
            ) => {
                let middle = match joined(&last, &next_first) {
                    Some(middle) => Need::one_of(&middle),
                    None => {
                        let ends = Need::one_of(&joined_ends(&last, &next_first));
                        let starts = Need::one_of(&joined_starts(&last, &next_first));
                        ends.and(starts)
                    }
                };
                Self::ends(first, next_last, need.and(middle))
            }
        }
    }

    /// Joins alternatives, all at once: one after the other takes time by the square of their number.
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
        // What they begin and end with is in the need.
        let strings = Known::Ends {
            first: cut(first, start_of),
            last: cut(last, end_of),
        };
        Self { strings, need }
    }

    /// Returns the strings if they say all.
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

    /// Returns all that is needed.
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

fn is_wide(class: &ClassUnicode) -> bool {
    let ranges = class.iter();
    let lengths = ranges.map(|range| u64::from(range.end()) - u64::from(range.start()) + 1);
    lengths.sum::<u64>() > MAX_CLASS
}

/// Returns the two bytes that the characters of a class begin with, but for ASCII, if the pairs are few.
fn first_bytes(class: &ClassUnicode) -> Option<Strings> {
    let mut pairs = Strings::new();
    for range in class.iter() {
        for sequence in Utf8Sequences::new(range.start(), range.end()) {
            let [first, second, ..] = sequence.as_slice() else {
                continue;
            };
            for lead in first.start..=first.end {
                pairs.extend((second.start..=second.end).map(|next| vec![lead, next]));
            }
            if pairs.len() > 4 * MAX_STRINGS {
                return None;
            }
        }
    }
    Some(pairs)
}

/// Adds those of all wide classes of an expression.
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

/// The beginning or the end of a string, of so many bytes at most.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_syntax::ParserBuilder;

    use super::*;

    fn need(pattern: &str) -> Need {
        let mut parser = ParserBuilder::new().utf8(false).multi_line(true).build();
        Need::of(&parser.parse(pattern).unwrap())
    }

    fn bytes(text: &str) -> Need {
        Need::Bytes(text.as_bytes().to_vec())
    }

    #[test]
    fn what_ascii_lacks_is_told() {
        for pattern in [r"\p{Greek}", "Jürgen|Müller", "(?i)MÜLLER", "a.*ж"] {
            assert!(need(pattern).is_beyond_ascii(), "{pattern}");
        }
        // A letter of Kelvin is a k, and one of several needs none.
        for pattern in ["frob", "ü|frob", "ü?", r"\w+", "(?i)k", "[α-ωa]x"] {
            assert!(!need(pattern).is_beyond_ascii(), "{pattern}");
        }
    }

    #[test]
    fn literals_are_joined_across_what_is_known() {
        assert_eq!(need("frobnicate"), bytes("frobnicate"));
        assert_eq!(need(r"\bfrob(nicate)\("), bytes("frobnicate("));
        assert_eq!(
            need("frobs?x"),
            Need::Any(vec![bytes("frobsx"), bytes("frobx")])
        );
        assert_eq!(
            need("kmalloc.*GFP_X"),
            Need::All(vec![bytes("kmalloc"), bytes("GFP_X")])
        );
        assert_eq!(
            need("qux(zip|zap)+jaw"),
            Need::All(vec![
                Need::Any(vec![bytes("quxzap"), bytes("quxzip")]),
                Need::Any(vec![bytes("zapjaw"), bytes("zipjaw")]),
            ])
        );
    }

    #[test]
    fn what_may_be_anything_needs_nothing() {
        for pattern in ["", ".*", "a", r"\w+", "frob|.", "(frob)?", "(frob)*", "the"] {
            assert_eq!(need(pattern), Need::Anything, "{pattern}");
        }
        assert_eq!(need("[a&&b]"), Need::Nothing);
    }

    #[test]
    fn letters_that_ignore_case_have_all_their_forms() {
        let Need::Any(forms) = need("(?i)kqz") else {
            panic!("a choice");
        };
        assert_eq!(forms.len(), 3 * 2 * 2, "K also is the sign of the kelvin");
        assert!(forms.contains(&bytes("\u{212a}qz")));
        assert!(need("(?i)frobnicate_everything_at_once") != Need::Anything);
    }

    #[test]
    fn what_is_too_much_to_join_is_joined_in_part() {
        let dates = need("[0-9]{4}-[0-9]{2}-[0-9]{2}");
        let parts = |need: &Need| match need {
            Need::All(needs) => needs.clone(),
            need => vec![need.clone()],
        };
        let has = |text: &str| {
            let all = parts(&dates);
            all.iter()
                .any(|need| matches!(need, Need::Any(any) if any.contains(&bytes(text))))
        };
        for text in ["1-23", "-23-", "3-45"] {
            assert!(has(text), "{text}");
        }
        assert!(size(&dates).0 < 4 << 10, "{} strings", size(&dates).0);
        let years = need(r"\b(19|20)[0-9]{2}-");
        assert!(
            parts(&years)
                .iter()
                .any(|need| matches!(need, Need::Any(any) if any.len() == 200))
        );
    }

    #[test]
    fn classes_of_a_script_need_their_first_bytes() {
        assert!(matches!(need(r"\p{Greek}"), Need::Any(_)));
        assert_eq!(need(r"\p{Greek}?"), Need::Anything);
    }

    #[test]
    fn wide_classes_are_of_ascii_or_somewhere_is_another_character() {
        for (wide, ascii) in [
            (r"x\d-\d\d", "x[0-9]-[0-9]{2}"),
            (r"xqv\d+q\dz", "xqv[0-9]+q[0-9]z"),
        ] {
            let (Need::Any(any), ascii) = (need(wide), need(ascii)) else {
                panic!("{wide}: a choice");
            };
            assert!(any.contains(&ascii), "{wide}");
            let others = any.into_iter().filter(|need| *need != ascii);
            assert!(Need::Any(others.collect()).is_beyond_ascii(), "{wide}");
        }
        let text = "x१-23".as_bytes();
        assert!(holds(&need(r"x\d-\d\d"), text) && !holds(&need("x[0-9]-[0-9]{2}"), text));
        assert_eq!(need(r"\d"), Need::Anything);
        assert_eq!(need(r"\w\w-\w\w"), Need::Anything);
    }

    /// Returns how many strings there are in a need, and how deep the deepest is.
    fn size(need: &Need) -> (usize, usize) {
        match need {
            Need::All(needs) | Need::Any(needs) => {
                let sizes = needs.iter().map(size);
                sizes.fold((0, 1), |(n, depth), (more, below)| {
                    (n + more, depth.max(below + 1))
                })
            }
            _ => (1, 0),
        }
    }

    #[test]
    fn a_need_grows_with_its_expression_only() {
        let choices = |n: usize, end: &str| {
            let choices = (0..n).map(|number| format!("qxz{number}{end}"));
            size(&need(&choices.collect::<Vec<_>>().join("|")))
        };
        // Strings, and what they begin and end with.
        assert!(choices(3000, "").0 <= 3100 && choices(3000, "").1 <= 2);
        let (n, depth) = choices(300, "[^a]*wvk");
        assert!(n <= 1000 && depth <= 3, "{n} strings, {depth} deep");
        let nested = (0..7).fold("[a-h]{4}".to_owned(), |inner, _| format!("({inner}){{4}}"));
        let (n, _) = size(&need(&nested));
        assert!(n < 10_000, "{n} strings");
    }

    /// Returns whether a text holds what is needed, by its bytes.
    fn holds(need: &Need, text: &[u8]) -> bool {
        match need {
            Need::Anything => true,
            Need::Nothing => false,
            Need::Bytes(bytes) => memchr::memmem::find(text, bytes).is_some(),
            Need::All(needs) => needs.iter().all(|need| holds(need, text)),
            Need::Any(needs) => needs.iter().any(|need| holds(need, text)),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn texts_that_match_hold_what_is_needed(
            pattern in r"(\(\?i\))?([a-c]{1,4}|\[a-d\]|\.|\\w|\\b|(\(ab\|c[d-e]?\|\)|[kS]|ß|\[x-zß-ö\]|\\p\{Greek\}|\\d|\\d-|(abc|\[b-e\]))(\*|\+|\?|\{2\}|\{2,5\}|)){0,6}",
            text in r"([a-eA-E]|abc|cd|kK|ſ|\x{212a}|[x-z]|ß|α|[0-9]|१|-| |\n){0,12}",
        ) {
            let Ok(regex) = regex_automata::meta::Regex::new(&pattern) else { return Ok(()) };
            if regex.is_match(text.as_bytes()) {
                prop_assert!(holds(&need(&pattern), text.as_bytes()));
            }
        }
    }
}
