//! The plan of a query: what an engine is asked, in no engine's words.
//!
//! Search makes it from the syntax tree after analysis: every text here is a term as it stands
//! in the index. An engine (the embedded one, or a cluster) turns it into its own query.

mod print;

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
