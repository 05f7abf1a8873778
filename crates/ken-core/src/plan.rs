//! The plan of a query: what an engine is asked, in no engine's words.
//!
//! Search makes it from the syntax tree after analysis: every text here is a term as it stands
//! in the index. An engine (the embedded one, or a cluster) turns it into its own query.

use std::fmt;
use std::ops::Bound as StdBound;

use crate::{Field, Glob};

/// An end of a range.
pub type Bound<T> = StdBound<T>;

/// What an engine is asked. Prints as an s-expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Every document.
    All,
    /// No document.
    Nothing,
    /// Documents in which a text field holds a word, ranked by it.
    Word(Word),
    /// Documents in which the field holds a term that is meant; all with the same score.
    Match {
        /// Where to look.
        field: Field,
        /// Which terms.
        pattern: Pattern,
    },
    /// Documents in which the field holds such a stretch of terms.
    Span {
        /// Where to look.
        field: Field,
        /// The stretch.
        span: Span,
    },
    /// Documents whose number in the field lies between the ends.
    Range {
        /// A date, size or number.
        field: Field,
        /// Lower end.
        from: Bound<i64>,
        /// Upper end.
        to: Bound<i64>,
    },
    /// Documents for which all parts hold.
    And(Vec<Self>),
    /// Documents for which one part or more holds.
    Or(Vec<Self>),
    /// Documents for which one of the two holds and not the other.
    Xor(Box<Self>, Box<Self>),
    /// Documents for which the part does not hold.
    Not(Box<Self>),
    /// The part, its score multiplied.
    Weight(f32, Box<Self>),
    /// The part, which selects and does not score.
    Filter(Box<Self>),
    /// Documents that the part finds, and all messages in one thread with one of them.
    Thread(Box<Self>),
    /// Messages that carry a document that the part finds.
    Carrier(Box<Self>),
}

/// What is looked for as one word, in one text field or in each that has a weight. It is ranked as
/// one: over its fields, and over its forms (other endings, synonyms, parts of an identifier).
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// Where to look; `None` for every text field that has a weight.
    pub field: Option<Field>,
    /// What is found as this word; one or more.
    pub forms: Vec<Form>,
}

/// A form of a word.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// One term, or a stretch of them.
    pub span: Span,
    /// How much a place with this form counts; 1 for what was asked for.
    pub weight: f32,
}

impl Word {
    /// Returns the word of one form.
    pub fn new(field: Option<Field>, span: Span) -> Self {
        let forms = vec![Form { span, weight: 1.0 }];
        Self { field, forms }
    }

    /// Returns whether the word is looked for in a field.
    pub fn looks_in(&self, field: Field) -> bool {
        match self.field {
            Some(only) => only == field,
            None => field.info().weight > 0.0,
        }
    }
}

/// Which terms of a field are meant; all text is analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// This one.
    Term(String),
    /// Those that start so.
    Prefix(String),
    /// Those that the pattern matches as a whole.
    Glob(Glob),
    /// Those that hold a match of the regular expression, in the syntax of the crate `regex`.
    Regex(String),
    /// Those between two by their characters; an end stands for all that start so. Ends are
    /// [`Bound::Included`] or [`Bound::Unbounded`].
    Range(Bound<String>, Bound<String>),
    /// Those that differ by so many insertions, deletions, replacements and swaps at most.
    Fuzzy(String, u8),
    /// All that have the same stem as this word. The index puts in its place the terms that it has.
    Stem(String),
    /// One of these.
    Any(Vec<String>),
    /// These, where the text has them in this form.
    Written(Written),
    /// The beginning and the end of a value; only beside words.
    Border,
    /// Values that are an address, or a name with one, in which one of these regular expressions is found.
    Address(Vec<String>),
    /// Files in such folders; of the fields of paths alone.
    Folder(Folders),
}

/// Folders in whose name a regular expression is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// The expression, in the syntax of the crate `regex`; a name may have a `/` before it.
    pub expression: String,
    /// The folder from which names are counted, escaped as paths are printed; any if there is none.
    pub all_mail: Option<String>,
    /// Whether only folders `cur` and `new` are meant, by the name of the one around them.
    pub is_maildir: bool,
}

/// A pattern of terms, and how the words are written that they stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The terms, folded: one, those that start so, or those that a pattern matches.
    pub terms: Box<Pattern>,
    /// The words as they are asked for.
    pub text: Glob,
    /// Whether capitals and small letters differ.
    pub case: bool,
    /// Whether letters with and without diacritics differ.
    pub diacritics: bool,
}

/// A stretch of terms in a field, by their positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// One term.
    Match(Pattern),
    /// One of these.
    Any(Vec<Self>),
    /// Terms at these positions from the start of the stretch.
    Phrase(Vec<(u32, Pattern)>),
    /// All of these, with at most `slop` positions between them in sum.
    Near {
        /// The parts; two or more.
        parts: Vec<Self>,
        /// Positions inside of the stretch that belong to no part.
        slop: u32,
        /// Whether they stand in this order; else they may also overlap.
        ordered: bool,
    },
}

impl Span {
    /// Calls `each` with all patterns, to change them.
    pub fn patterns_mut(&mut self, each: &mut dyn FnMut(&mut Pattern)) {
        match self {
            Self::Match(pattern) => each(pattern),
            Self::Any(parts) | Self::Near { parts, .. } => {
                parts.iter_mut().for_each(|part| part.patterns_mut(each));
            }
            Self::Phrase(terms) => terms.iter_mut().for_each(|(_, pattern)| each(pattern)),
        }
    }

    /// Calls `each` with all patterns.
    pub fn patterns<'a>(&'a self, each: &mut dyn FnMut(&'a Pattern)) {
        match self {
            Self::Match(pattern) => each(pattern),
            Self::Any(parts) | Self::Near { parts, .. } => {
                parts.iter().for_each(|part| part.patterns(each));
            }
            Self::Phrase(terms) => terms.iter().for_each(|(_, pattern)| each(pattern)),
        }
    }
}

/// By what hits are sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// Best first.
    #[default]
    Relevance,
    /// By the bytes of the path, upwards.
    Path,
    /// By the first value of a field that has a column ([`Field::has_column`]): numbers and dates
    /// downwards, texts upwards and without case. Documents without a value come last either way.
    Field(Field),
}

impl SortKey {
    /// Newest first.
    pub const DATE: Self = Self::Field(Field::Date);
    /// Largest first.
    pub const SIZE: Self = Self::Field(Field::Size);
}

/// The order of hits. Among equals the path decides, upwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// By what.
    pub key: SortKey,
    /// The other way round than the key's own direction.
    pub reverse: bool,
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("(all)"),
            Self::Nothing => f.write_str("(nothing)"),
            Self::Word(word) => word.fmt(f),
            Self::Match { field, pattern } => match pattern {
                Pattern::Term(term) => write!(f, "({} {term:?})", field.name()),
                pattern => pattern.write(f, Some(*field)),
            },
            Self::Span { field, span } => match span {
                Span::Phrase(terms) => phrase(f, Some(*field), terms),
                span => write!(f, "({} {span})", field.name()),
            },
            Self::Range { field, from, to } => {
                write!(f, "(range {} ", field.name())?;
                match from {
                    Bound::Included(n) => write!(f, "[{n} ")?,
                    Bound::Excluded(n) => write!(f, "]{n} ")?,
                    Bound::Unbounded => f.write_str("* ")?,
                }
                match to {
                    Bound::Included(n) => write!(f, "{n}])"),
                    Bound::Excluded(n) => write!(f, "{n}[)"),
                    Bound::Unbounded => f.write_str("*)"),
                }
            }
            Self::And(parts) => list(f, "and", parts),
            Self::Or(parts) => list(f, "or", parts),
            Self::Xor(left, right) => write!(f, "(xor {left} {right})"),
            Self::Not(part) => write!(f, "(not {part})"),
            Self::Weight(weight, part) => write!(f, "(weight {weight} {part})"),
            Self::Filter(part) => write!(f, "(filter {part})"),
            Self::Thread(part) => write!(f, "(thread {part})"),
            Self::Carrier(part) => write!(f, "(carrier {part})"),
        }
    }
}

impl fmt::Display for Word {
    /// In braces where every field is meant. A stem stands as its word, as it is the usual case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = match self.field {
            Some(_) => ('(', ')'),
            None => ('{', '}'),
        };
        if let [form] = self.forms.as_slice()
            && form.weight == 1.0
        {
            write!(f, "{open}")?;
            form.span.write_inside(f, self.field)?;
            return write!(f, "{close}");
        }
        write!(f, "{open}forms")?;
        if let Some(field) = self.field {
            write!(f, " {}", field.name())?;
        }
        for Form { span, weight } in &self.forms {
            match *weight {
                1.0 => write!(f, " {span}")?,
                weight => write!(f, " {weight}*{span}")?,
            }
        }
        write!(f, "{close}")
    }
}

impl Span {
    /// Writes it without the parentheses around it.
    fn write_inside(&self, f: &mut fmt::Formatter<'_>, field: Option<Field>) -> fmt::Result {
        let text = match (self, field) {
            (Self::Match(Pattern::Stem(word)), None) => return write!(f, "{word:?}"),
            (Self::Match(Pattern::Stem(word)), Some(field)) => {
                return write!(f, "{} {word:?}", field.name());
            }
            (Self::Match(Pattern::Term(term)), None) => return write!(f, "exact {term:?}"),
            (Self::Match(Pattern::Term(term)), Some(field)) => {
                return write!(f, "exact {} {term:?}", field.name());
            }
            (Self::Match(pattern), field) => Inside(&|f| pattern.write(f, field)).to_string(),
            (Self::Phrase(terms), field) => Inside(&|f| phrase(f, field, terms)).to_string(),
            (span, None) => return write!(f, "{span}"),
            (span, Some(field)) => return write!(f, "{} {span}", field.name()),
        };
        let inside = text
            .strip_prefix('(')
            .and_then(|rest| rest.strip_suffix(')'));
        f.write_str(inside.unwrap_or(&text))
    }
}

/// What a function writes.
struct Inside<'a>(&'a dyn Fn(&mut fmt::Formatter<'_>) -> fmt::Result);

impl fmt::Display for Inside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0(f)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, None)
    }
}

impl Pattern {
    fn write(&self, f: &mut fmt::Formatter<'_>, field: Option<Field>) -> fmt::Result {
        let at = Inside(&|f| field.map_or(Ok(()), |field| write!(f, "{} ", field.name())));
        match self {
            Self::Term(term) => write!(f, "{at}{term:?}"),
            Self::Prefix(prefix) => write!(f, "(prefix {at}{prefix:?})"),
            Self::Glob(glob) => write!(f, "(glob {at}{glob})"),
            Self::Regex(regex) => write!(f, "(regex {at}{regex:?})"),
            Self::Range(from, to) => {
                let end = |end: &Bound<String>| match end {
                    Bound::Included(term) | Bound::Excluded(term) => format!("{term:?}"),
                    Bound::Unbounded => "*".to_owned(),
                };
                write!(f, "(terms {at}{} {})", end(from), end(to))
            }
            Self::Fuzzy(term, distance) => write!(f, "(fuzzy {at}{term:?} {distance})"),
            Self::Stem(word) => write!(f, "(stem {at}{word:?})"),
            Self::Any(terms) => {
                write!(f, "(any {at}")?;
                let terms: Vec<String> = terms.iter().map(|term| format!("{term:?}")).collect();
                write!(f, "{})", terms.join(" "))
            }
            Self::Written(written) => write!(f, "(written {at}{written})"),
            Self::Border => write!(f, "{at}border"),
            Self::Folder(folders) => {
                let name = if folders.is_maildir {
                    "maildirs"
                } else {
                    "folders"
                };
                write!(f, "({name} {at}{:?}", folders.expression)?;
                match &folders.all_mail {
                    Some(all_mail) => write!(f, " in {all_mail:?})"),
                    None => f.write_str(")"),
                }
            }
            Self::Address(expressions) => {
                write!(f, "(address {at}")?;
                let expressions = expressions.iter().map(|regex| format!("{regex:?}"));
                write!(f, "{})", expressions.collect::<Vec<_>>().join(" "))
            }
        }
    }
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} \"{}\" ", self.terms, self.text)?;
        f.write_str(if self.case { "C" } else { "" })?;
        f.write_str(if self.diacritics { "D" } else { "" })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Match(pattern) => pattern.fmt(f),
            Self::Any(parts) => list(f, "any", parts),
            Self::Phrase(terms) => phrase(f, None, terms),
            Self::Near {
                parts,
                slop,
                ordered,
            } => {
                let name = if *ordered { "ordered" } else { "near" };
                list(f, &format!("{name} {slop}"), parts)
            }
        }
    }
}

fn phrase(
    f: &mut fmt::Formatter<'_>,
    field: Option<Field>,
    terms: &[(u32, Pattern)],
) -> fmt::Result {
    f.write_str("(phrase")?;
    if let Some(field) = field {
        write!(f, " {}", field.name())?;
    }
    for (position, pattern) in terms {
        write!(f, " {position}:{pattern}")?;
    }
    f.write_str(")")
}

fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, name: &str, parts: &[T]) -> fmt::Result {
    write!(f, "({name}")?;
    for part in parts {
        write!(f, " {part}")?;
    }
    f.write_str(")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_print_as_s_expressions() {
        let plan = Plan::And(vec![
            Plan::Weight(
                3.0,
                Box::new(Plan::Match {
                    field: Field::Title,
                    pattern: Pattern::Term("budget".into()),
                }),
            ),
            Plan::Not(Box::new(Plan::Range {
                field: Field::Size,
                from: Bound::Excluded(5),
                to: Bound::Unbounded,
            })),
        ]);
        assert_eq!(
            plan.to_string(),
            r#"(and (weight 3 (title "budget")) (not (range size ]5 *)))"#
        );
    }
}
