//! Finds the terms of a dictionary that a pattern matches.
//!
//! Every pattern except a term is an automaton over bytes, as is the dictionary. Both are traversed
//! together, so that parts that cannot match are never visited (R. Baeza-Yates and G. Gonnet, "Fast
//! text searching for regular expressions or automaton searching on tries", 1996).

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::sync::Arc;

use ken_core::expression::{self, Expression as Table};
use ken_core::{Bound, Glob, GlobPart, Pattern, Written};
use levenshtein_automata::{DFA, LevenshteinAutomatonBuilder};
use memchr::memmem;
use regex_automata::Anchored;
use regex_automata::dfa::Automaton as _;
use regex_automata::util::start;
use tantivy::TantivyError;
use tantivy::index::InvertedIndexReader;
use tantivy::postings::TermInfo;
use tantivy::termdict::{TermDictionary, TermStreamer};

use super::automaton::{FuzzyAutomaton, Limited, RegexAutomaton, TermsAutomaton};
use super::{Accept, Cursor, Shortcut, Wanted, successor};
use crate::analysis::BORDER;
use crate::limits::{Limits, Pace};

/// A compiled pattern, for look-ups in many segments.
#[derive(Clone)]
pub(crate) enum Matcher {
    Term(String),
    /// In order, without duplicates.
    Terms(Vec<String>),
    Written(Box<Self>, Written),
    /// A range of terms, such as those with a prefix.
    Range(TermRange),
    Regex(Arc<Expression>),
    Fuzzy(Arc<DFA>),
}

impl Matcher {
    /// # Errors
    /// Fails if a regular expression is wrong or too large.
    pub(crate) fn new(pattern: &Pattern) -> tantivy::Result<Self> {
        Ok(match pattern {
            // A stem whose forms were not filled in is taken as its word.
            Pattern::Term(term) | Pattern::Stem(term) => Self::Term(term.clone()),
            Pattern::Any(terms) => {
                Self::Terms(BTreeSet::from_iter(terms).into_iter().cloned().collect())
            }
            Pattern::Border => Self::Term(BORDER.to_owned()),
            Pattern::Written(written) => {
                Self::Written(Box::new(Self::new(&written.terms)?), written.clone())
            }
            Pattern::Address(_) | Pattern::Whole(_) => {
                let message = "a whole value is more than one word".to_owned();
                return Err(TantivyError::InvalidArgument(message));
            }
            Pattern::Folder(_) => {
                let message = "a folder is no word".to_owned();
                return Err(TantivyError::InvalidArgument(message));
            }
            Pattern::Prefix(prefix) => Self::Range(TermRange::of_prefix(prefix)),
            Pattern::Range(from, to) => Self::Range(TermRange::new(from, to)),
            Pattern::Glob(glob) => Self::Regex(Arc::new(Expression::of_glob(glob)?)),
            Pattern::Name(glob) => Self::Regex(Arc::new(Expression::new(&glob.to_plain_regex())?)),
            Pattern::Regex(regex) => Self::Regex(Arc::new(Expression::new(regex)?)),
            Pattern::Fuzzy(term, distance) => {
                let builder = LevenshteinAutomatonBuilder::new(*distance, true);
                Self::Fuzzy(Arc::new(builder.build_dfa(term)))
            }
        })
    }

    /// Returns the matching term, if there can be only one.
    pub(crate) fn term(&self) -> Option<&String> {
        match self {
            Self::Term(term) => Some(term),
            _ => None,
        }
    }

    /// Returns a cursor over the matching terms of a dictionary, in order. Once limits are reached, it looks for no
    /// further term.
    pub(crate) fn cursor<'a>(
        &'a self,
        index: &'a InvertedIndexReader,
        limits: Option<&'a Limits>,
    ) -> tantivy::Result<Box<dyn Cursor + 'a>> {
        self.cursor_from(index, "", limits)
    }

    /// Returns the same cursor; for a fuzzy word, only over terms with the prefix.
    pub(crate) fn cursor_from<'a>(
        &'a self,
        index: &'a InvertedIndexReader,
        start: &str,
        limits: Option<&'a Limits>,
    ) -> tantivy::Result<Box<dyn Cursor + 'a>> {
        let terms = index.terms();
        Ok(match self {
            Self::Written(terms, _) => return terms.cursor_from(index, start, limits),
            Self::Term(term) => Box::new(terms.range().ge(term).le(term).into_stream()?),
            Self::Terms(wanted) => Box::new(terms.search(TermsAutomaton(wanted)).into_stream()?),
            Self::Range(range) => Box::new(range.of(terms)?),
            Self::Regex(regex) => {
                let automaton = Limited::new(RegexAutomaton::of_words(&regex.dfa), limits);
                Box::new(terms.search(automaton).into_stream()?)
            }
            Self::Fuzzy(dfa) => {
                let automaton = Limited::new(FuzzyAutomaton(dfa), limits);
                let mut range = terms.search(automaton).ge(start);
                if let Some(end) = successor(start) {
                    range = range.lt(end);
                }
                Box::new(range.into_stream()?)
            }
        })
    }

    /// Calls `each` with every matching term of the dictionary, until a limit is reached.
    pub(crate) fn each(
        &self,
        index: &InvertedIndexReader,
        shortcut: Shortcut<'_>,
        limits: Option<&Limits>,
        mut each: impl FnMut(&[u8], &TermInfo) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        let mut pace = Pace::default();
        let read = self.all(
            index,
            shortcut,
            limits,
            &mut |term, info| match pace.step(limits) {
                true => Err(ended()),
                false => each(term, info),
            },
        );
        unless_ended(limits, read)
    }

    fn all(
        &self,
        index: &InvertedIndexReader,
        shortcut: Shortcut<'_>,
        limits: Option<&Limits>,
        each: &mut dyn FnMut(&[u8], &TermInfo) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        let terms = index.terms();
        let mut look_up = |term: &[u8]| match terms.get(term)? {
            Some(info) => each(term, &info),
            None => Ok(()),
        };
        let trie = || shortcut.trie();
        match self {
            Self::Written(terms, _) => terms.all(index, shortcut, limits, each),
            Self::Term(term) => look_up(term.as_bytes()),
            Self::Terms(wanted) => {
                let mut wanted = wanted.iter();
                wanted.try_for_each(|term| look_up(term.as_bytes()))
            }
            Self::Range(range) => {
                let mut terms = range.of(terms)?;
                while terms.advance() {
                    each(terms.key(), terms.value())?;
                }
                Ok(())
            }
            Self::Regex(regex) => match (shortcut.plain(), trie()?) {
                (Some(plain), _) => plain.each(&regex.wanted(), limits, &mut look_up),
                (None, Some(trie)) => {
                    let automaton = Limited::new(RegexAutomaton::of_words(&regex.dfa), limits);
                    trie.try_each(&automaton, &mut look_up)
                }
                (None, None) => Ok(()),
            },
            Self::Fuzzy(dfa) => match trie()? {
                Some(trie) => {
                    trie.try_each(&Limited::new(FuzzyAutomaton(dfa), limits), &mut look_up)
                }
                None => Ok(()),
            },
        }
    }

    /// Calls `each` with the posting info of every matching term, in term order, until a limit is
    /// reached.
    pub(crate) fn each_info(
        &self,
        index: &InvertedIndexReader,
        shortcut: Shortcut<'_>,
        limits: Option<&Limits>,
        mut each: impl FnMut(&TermInfo) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        let mut pace = Pace::default();
        let read = self.all_infos(
            index,
            shortcut,
            limits,
            &mut |info| match pace.step(limits) {
                true => Err(ended()),
                false => each(info),
            },
        );
        unless_ended(limits, read)
    }

    /// For consecutive terms, only the first and the last are looked up.
    fn all_infos(
        &self,
        index: &InvertedIndexReader,
        shortcut: Shortcut<'_>,
        limits: Option<&Limits>,
        each: &mut dyn FnMut(&TermInfo) -> tantivy::Result<()>,
    ) -> tantivy::Result<()> {
        if let Some(range) = self.range()
            && let Some(infos) = shortcut.infos()?
        {
            return infos.each(range.numbers(index.terms())?, each);
        }
        self.all(index, shortcut, limits, &mut |_, info| each(info))
    }

    /// Returns the matching terms as a range, if they are consecutive.
    fn range(&self) -> Option<&TermRange> {
        match self {
            Self::Range(range) => Some(range),
            Self::Written(terms, _) => terms.range(),
            _ => None,
        }
    }
}

/// The error that breaks off a look-up.
fn ended() -> TantivyError {
    TantivyError::InternalError("a limit is reached".to_owned())
}

/// Returns the result of a look-up, which has no error if limits ended it.
fn unless_ended(limits: Option<&Limits>, read: tantivy::Result<()>) -> tantivy::Result<()> {
    match limits.is_some_and(Limits::ended_early) {
        true => Ok(()),
        false => read,
    }
}

/// The terms from one on and before another.
#[derive(Clone)]
pub(crate) struct TermRange {
    from: String,
    before: Option<String>,
}

impl TermRange {
    fn new(from: &Bound<String>, to: &Bound<String>) -> Self {
        let text = |end: &Bound<String>| match end {
            Bound::Included(text) | Bound::Excluded(text) => text.clone(),
            Bound::Unbounded => String::new(),
        };
        Self {
            from: first(&text(from)).to_owned(),
            before: successor(&text(to)),
        }
    }

    fn of_prefix(prefix: &str) -> Self {
        Self {
            from: first(prefix).to_owned(),
            before: successor(prefix),
        }
    }

    /// Returns the numbers of the terms in a dictionary.
    fn numbers(&self, terms: &TermDictionary) -> io::Result<Range<u64>> {
        let number = |from: &str| {
            let mut stream = terms.range().ge(from).into_stream()?;
            let is_there = stream.advance();
            let number = is_there.then(|| stream.term_ord());
            Ok::<_, io::Error>(number.unwrap_or(terms.num_terms() as u64))
        };
        let end = match &self.before {
            Some(before) => number(before)?,
            None => terms.num_terms() as u64,
        };
        Ok(number(&self.from)?..end)
    }

    fn of<'a>(&self, terms: &'a TermDictionary) -> io::Result<TermStreamer<'a>> {
        let mut range = terms.range().ge(&self.from);
        if let Some(before) = &self.before {
            range = range.lt(before);
        }
        range.into_stream()
    }
}

/// Returns the first term that a prefix may match, excluding the border of values.
fn first(prefix: &str) -> &str {
    if prefix.is_empty() { "\u{1}" } else { prefix }
}

/// A regular expression over terms.
pub(crate) struct Expression {
    dfa: Table,
    /// The common prefix of the matching terms.
    prefix: String,
    /// A substring that they contain, including a line feed after the term.
    part: Option<memmem::Finder<'static>>,
}

impl Expression {
    fn new(regex: &str) -> tantivy::Result<Self> {
        Ok(Self {
            dfa: compile(regex)?,
            prefix: String::new(),
            part: None,
        })
    }

    fn of_glob(glob: &Glob) -> tantivy::Result<Self> {
        let mut this = Self::new(&glob.to_regex())?;
        let mut longest = String::new();
        for (number, part) in glob.0.iter().enumerate() {
            let GlobPart::Literal(text) = part else {
                continue;
            };
            if number == 0 {
                this.prefix.clone_from(text);
                continue;
            }
            let end = if number + 1 == glob.0.len() { "\n" } else { "" };
            if text.len() + end.len() > longest.len() {
                longest = format!("{text}{end}");
            }
        }
        let finder = || memmem::Finder::new(longest.as_bytes()).into_owned();
        this.part = (!longest.is_empty()).then(finder);
        Ok(this)
    }

    fn wanted(&self) -> Wanted<'_> {
        Wanted {
            prefix: &self.prefix,
            part: self.part.as_ref(),
            accepts: self,
        }
    }
}

impl Accept for Expression {
    fn accepts(&self, term: &[u8]) -> bool {
        let config = start::Config::new().anchored(Anchored::No);
        let Ok(mut state) = self.dfa.start_state(&config) else {
            return false;
        };
        // The border of values is not a word.
        if term.first() == Some(&0) {
            return false;
        }
        for byte in term {
            state = self.dfa.next_state(state, *byte);
            if self.dfa.is_special_state(state) {
                if self.dfa.is_match_state(state) {
                    return true;
                }
                if self.dfa.is_dead_state(state) {
                    return false;
                }
            }
        }
        self.dfa.is_match_state(self.dfa.next_eoi_state(state))
    }
}

pub(crate) fn compile(regex: &str) -> tantivy::Result<Table> {
    expression::compile(regex)
        .map_err(|error| TantivyError::InvalidArgument(format!("{regex:?}: {error}")))
}
