//! The plan of a query: what an engine must find, in terms that belong to no engine.
//!
//! Search makes the plan from the syntax tree after analysis, so every text in a plan is a term of the index. An
//! engine (the embedded one, or a cluster) turns the plan into its own query.

mod print;

use std::ops::Bound as StdBound;

use crate::{FIELDS, Field, FieldKind, Glob};

/// An end of a range.
pub type Bound<T> = StdBound<T>;

/// What an engine must find. It prints as an s-expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Plan {
    /// Every document.
    All,
    /// No document.
    Nothing,
    /// Documents with a word in a text field, ranked by that word.
    Word(Word),
    /// Documents whose field has a term that matches; all with the same score.
    Match {
        /// The field.
        field: Field,
        /// The terms that match.
        pattern: Pattern,
    },
    /// Documents whose field has a matching span of terms.
    Span {
        /// The field.
        field: Field,
        /// The span.
        span: Span,
    },
    /// Documents whose number in the field is between the ends.
    Range {
        /// A date, size or number.
        field: Field,
        /// Lower end.
        from: Bound<i64>,
        /// Upper end.
        to: Bound<i64>,
    },
    /// Documents that match all parts.
    And(Vec<Self>),
    /// Documents that match at least one part.
    Or(Vec<Self>),
    /// Documents that match one of the two and not the other.
    Xor(Box<Self>, Box<Self>),
    /// Documents that do not match the part.
    Not(Box<Self>),
    /// The part with its score multiplied.
    Weight(f32, Box<Self>),
    /// The part without a score: it only selects.
    Filter(Box<Self>),
    /// Within [`Plan::And`]: documents that match the part rank higher. It selects nothing.
    Prefer(Box<Self>),
    /// Documents that match the part, and all messages in their threads.
    Thread(Box<Self>),
    /// Messages with a part that matches.
    Carrier(Box<Self>),
}

impl Plan {
    /// Returns the plans that the plan consists of.
    pub fn parts(&self) -> Vec<&Self> {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().collect(),
            Self::Xor(left, right) => vec![left, right],
            Self::Not(part)
            | Self::Weight(_, part)
            | Self::Filter(part)
            | Self::Prefer(part)
            | Self::Thread(part)
            | Self::Carrier(part) => vec![part],
            Self::All
            | Self::Nothing
            | Self::Word(_)
            | Self::Match { .. }
            | Self::Span { .. }
            | Self::Range { .. } => Vec::new(),
        }
    }

    /// Calls `each` with every word and pattern and its field.
    pub fn patterns<'a>(&'a self, each: &mut dyn FnMut(Field, &'a Pattern)) {
        match self {
            Self::Word(word) => {
                let fields = FIELDS.iter().filter(|info| info.kind == FieldKind::Text);
                for field in fields
                    .map(|info| info.field)
                    .filter(|of| word.looks_in(*of))
                {
                    for form in &word.forms {
                        form.span.patterns(&mut |pattern| each(field, pattern));
                    }
                }
            }
            Self::Match { field, pattern } => each(*field, pattern),
            Self::Span { field, span } => span.patterns(&mut |pattern| each(*field, pattern)),
            _ => self.parts().iter().for_each(|part| part.patterns(each)),
        }
    }

    /// Returns whether a word has other forms than the query has.
    pub fn has_derived(&self) -> bool {
        match self {
            Self::Word(word) => word.forms.iter().any(|form| form.derived),
            _ => self.parts().iter().any(|part| part.has_derived()),
        }
    }
}

/// A unit that is searched for as one word, in one text field or in each that has a weight. The ranking counts it as one word
/// over all its fields and all its forms (other endings, synonyms, parts of an identifier).
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// The field; `None` for every text field that has a weight.
    pub field: Option<Field>,
    /// The forms that match as this word, at least one.
    pub forms: Vec<Form>,
    /// Whether a document also has the word if the name of a folder above it does. Names that more than a third of all
    /// documents are below do not count: they say nothing.
    pub folders: bool,
}

/// A form of a word.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// One term, or a span of terms.
    pub span: Span,
    /// The weight of a position with this form; 1 for the word of the query.
    pub weight: f32,
    /// Whether this is another form of the word than the query has, such as `walks` for `walk`. A document that has only
    /// such forms ranks behind the documents that have the word itself.
    pub derived: bool,
}

impl Form {
    /// Returns the form that the query has.
    pub fn literal(span: Span) -> Self {
        Self {
            span,
            weight: 1.0,
            derived: false,
        }
    }
}

impl Word {
    /// Returns the word with one form.
    pub fn new(field: Option<Field>, span: Span) -> Self {
        Self {
            field,
            forms: vec![Form::literal(span)],
            folders: false,
        }
    }

    /// Returns whether the word is searched for in a field.
    pub fn looks_in(&self, field: Field) -> bool {
        match self.field {
            Some(only) => only == field,
            None => field.info().weight > 0.0,
        }
    }
}

/// Which terms of a field match. All text is analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// This term.
    Term(String),
    /// Terms that start with this.
    Prefix(String),
    /// Terms that the pattern matches as a whole.
    Glob(Glob),
    /// Terms that the pattern matches as a whole, without regard to case and diacritics: names of folders.
    Name(Glob),
    /// Terms with a match of the regular expression, in the syntax of the crate `regex`.
    Regex(String),
    /// Terms between two by their characters; an end includes all terms that start with it. Ends are
    /// [`Bound::Included`] or [`Bound::Unbounded`].
    Range(Bound<String>, Bound<String>),
    /// Terms that differ by at most this number of insertions, deletions, replacements and swaps.
    Fuzzy(String, u8),
    /// All terms with the same stem as this word. The index replaces it by the terms that it has.
    Stem(String),
    /// Any of these terms.
    Any(Vec<String>),
    /// These terms, where the text has the written form.
    Written(Written),
    /// The beginning and the end of a value; only next to words.
    Border,
    /// Values that are an address, or a name with one, in which any of these regular expressions matches.
    Address(Vec<String>),
    /// Values in which the regular expression matches.
    Whole(Whole),
    /// Files in matching folders; only for path fields.
    Folder(Folders),
}

/// A regular expression that looks at whole values: a subject, or a name with its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// The expression, in the syntax of the crate `regex`.
    pub expression: String,
    /// Whether case and diacritics count.
    pub is_exact: bool,
}

/// Folders in whose name a regular expression matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// The expression, in the syntax of the crate `regex`; the name may start with a `/`.
    pub expression: String,
    /// The folder at which names start, escaped as paths are printed; any folder if absent.
    pub all_mail: Option<String>,
    /// Whether to match only folders `cur` and `new`, by the name of their parent.
    pub is_maildir: bool,
}

/// A pattern of terms, and how the words must be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The folded terms: one term, a prefix, or a pattern.
    pub terms: Box<Pattern>,
    /// The words as the query writes them.
    pub text: Glob,
    /// Whether capitals and small letters differ.
    pub case: bool,
    /// Whether letters with and without diacritics differ.
    pub diacritics: bool,
}

/// A span of terms in a field, by their positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// One term.
    Match(Pattern),
    /// Any of these spans.
    Any(Vec<Self>),
    /// Terms at these positions, counted from the start of the span.
    Phrase(Vec<(u32, Pattern)>),
    /// All of these parts, with at most `slop` positions between them in sum.
    Near {
        /// The parts; at least two.
        parts: Vec<Self>,
        /// The most positions inside the span that belong to no part.
        slop: u32,
        /// Whether the parts must have this order; if not, they may also overlap.
        ordered: bool,
    },
}

impl Span {
    /// Calls `each` with every pattern, to change it.
    pub fn patterns_mut(&mut self, each: &mut dyn FnMut(&mut Pattern)) {
        match self {
            Self::Match(pattern) => each(pattern),
            Self::Any(parts) | Self::Near { parts, .. } => {
                parts.iter_mut().for_each(|part| part.patterns_mut(each));
            }
            Self::Phrase(terms) => terms.iter_mut().for_each(|(_, pattern)| each(pattern)),
        }
    }

    /// Calls `each` with every pattern.
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

/// What hits are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The score, best first.
    #[default]
    Relevance,
    /// The bytes of the path, ascending.
    Path,
    /// The first value of a field that has a column ([`Field::has_column`]): numbers and dates descending, texts
    /// ascending and without regard to case. Documents without a value always come last.
    Field(Field),
}

impl SortKey {
    /// Newest first.
    pub const DATE: Self = Self::Field(Field::Date);
    /// Largest first.
    pub const SIZE: Self = Self::Field(Field::Size);
}

/// The order of hits. Equal hits are ordered by path, ascending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The key.
    pub key: SortKey,
    /// Whether to reverse the key's own direction.
    pub reverse: bool,
}
