//! The query, and its matches in a text.
//!
//! A query without operators is a literal; a single `.` matches a file as a whole. Other patterns
//! run over the whole text, so that a match may span lines, unless each line is searched
//! separately. Case folding is limited to ASCII, and `\w`, `\s` and `\d` are ASCII.

use std::ops::Range;

use ken_ngram::Need;
use memchr::memmem;
use regex_automata::Input;
use regex_automata::meta::{self, Cache};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, Hir, HirKind};

use super::dialect;
use super::error::Error;
use super::pcre::{self, Syntax};

/// When letters of the other case match, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// If the query has no upper-case letter and only ASCII.
    #[default]
    Smart,
    /// Never.
    Sensitive,
    /// Always.
    Insensitive,
}

impl Case {
    fn folds(self, query: &[u8]) -> bool {
        let is_lower = |byte: &u8| byte.is_ascii() && !byte.is_ascii_uppercase();
        match self {
            Self::Smart => query.iter().all(is_lower),
            Self::Sensitive => false,
            Self::Insensitive => true,
        }
    }
}

/// The query, as given by the user.
#[derive(Clone, Debug)]
pub struct Query {
    /// The text as typed.
    pub text: Vec<u8>,
    /// Whether the text is a literal, without operators.
    pub literal: bool,
    /// How case is matched.
    pub case: Case,
    /// Whether only whole words match.
    pub words: bool,
    /// Whether each line is searched separately, so that no match has a newline.
    pub by_line: bool,
}

/// A query, compiled for use by many threads.
#[derive(Debug)]
pub struct Pattern {
    kind: Kind,
    by_line: bool,
    need: Need,
}

#[derive(Debug)]
enum Kind {
    /// `.`: a file is one match.
    Everything,
    Literal(Engine, Option<Word>),
    Regex(Engine),
}

#[derive(Debug)]
enum Engine {
    Memory(Box<memmem::Finder<'static>>),
    Rust(meta::Regex),
    Pcre(pcre::Regex),
}

/// Whether a literal begins and ends with a word character.
#[derive(Clone, Copy, Debug)]
struct Word {
    starts: bool,
    ends: bool,
}

impl Pattern {
    /// Compiles a query.
    pub fn new(query: &Query) -> Result<Self, Error> {
        let fold = query.case.folds(&query.text);
        let literal = query.literal || !dialect::is_regex(&query.text);
        let mut need = Need::Anything;
        let kind = if literal {
            let text = literal_of(&query.text, fold);
            need = Need::of(&text);
            let word = query.words.then(|| Word {
                starts: query.text.first().is_some_and(is_word),
                ends: query.text.last().is_some_and(is_word),
            });
            Kind::Literal(Engine::literal(&query.text, &text)?, word)
        } else if query.text == b"." && !query.words {
            Kind::Everything
        } else {
            let text = match query.words {
                true => [b"\\b(?:", query.text.as_slice(), b")\\b"].concat(),
                false => query.text.clone(),
            };
            let syntax = Syntax {
                fold,
                multi_line: true,
            };
            let common = dialect::common(&text, fold, true);
            need = common.as_ref().map_or(need, Need::of);
            Kind::Regex(Engine::regex(&text, common.as_ref(), syntax)?)
        };
        Ok(Self {
            kind,
            by_line: query.by_line,
            need,
        })
    }

    /// Returns what a file must contain to match.
    pub fn need(&self) -> &Need {
        &self.need
    }

    /// Returns whether a file matches as a whole, even an empty one.
    pub(super) fn is_everything(&self) -> bool {
        matches!(self.kind, Kind::Everything)
    }

    /// Creates the searcher of one thread.
    pub(super) fn searcher(&self) -> Searcher<'_> {
        let engine = match &self.kind {
            Kind::Everything => None,
            Kind::Literal(engine, _) | Kind::Regex(engine) => Some(engine),
        };
        let cache = match engine {
            Some(Engine::Rust(regex)) => Some(regex.create_cache()),
            _ => None,
        };
        Searcher {
            pattern: self,
            cache,
        }
    }
}

impl Engine {
    fn literal(text: &[u8], hir: &Hir) -> Result<Self, Error> {
        if matches!(hir.kind(), HirKind::Literal(_)) {
            let finder = memmem::Finder::new(text).into_owned();
            return Ok(Self::Memory(Box::new(finder)));
        }
        Self::rust(hir).ok_or_else(too_large)
    }

    /// Compiles an expression; `common` is its form in both engines.
    fn regex(text: &[u8], common: Option<&Hir>, syntax: Syntax) -> Result<Self, Error> {
        match common.and_then(Self::rust) {
            Some(engine) => Ok(engine),
            None => pcre::Regex::new(text, syntax).map(Self::Pcre),
        }
    }

    fn rust(hir: &Hir) -> Option<Self> {
        let config = meta::Config::new().utf8_empty(false);
        let regex = meta::Builder::new().configure(config).build_from_hir(hir);
        regex.ok().map(Self::Rust)
    }

    fn find(&self, text: &[u8], from: usize, cache: &mut Option<Cache>) -> Option<Range<usize>> {
        match self {
            Self::Memory(finder) => {
                let start = from + finder.find(text.get(from..)?)?;
                Some(start..start + finder.needle().len())
            }
            Self::Rust(regex) => {
                let input = Input::new(text).range(from..);
                let found = match cache {
                    Some(cache) => regex.search_with(cache, &input),
                    None => regex.search(&input),
                };
                found.map(|found| found.range())
            }
            Self::Pcre(regex) => regex.find(text, from),
        }
    }
}

/// Returns an expression for a literal, with ASCII letters in either case if they are folded.
fn literal_of(text: &[u8], fold: bool) -> Hir {
    if !fold || !text.iter().any(u8::is_ascii_alphabetic) {
        return Hir::literal(text);
    }
    let class = |&byte: &u8| {
        let mut class = ClassBytes::new([ClassBytesRange::new(byte, byte)]);
        class.case_fold_simple();
        Hir::class(Class::Bytes(class))
    };
    Hir::concat(text.iter().map(class).collect())
}

fn too_large() -> Error {
    Error::Pattern {
        position: 0,
        reason: "regular expression is too large".to_owned(),
    }
}

fn is_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

impl Word {
    /// Returns whether a match has word boundaries at both ends.
    fn stands_at(self, text: &[u8], found: &Range<usize>) -> bool {
        let before = found.start.checked_sub(1).map(|at| &text[at]);
        let after = text.get(found.end);
        before.is_none_or(|byte| is_word(byte) != self.starts)
            && after.is_none_or(|byte| is_word(byte) != self.ends)
    }
}

/// How many matches are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    None,
    /// The first match decides the result.
    First,
    /// At most this many; reaching the limit is reported.
    Count(usize),
}

/// The searcher of one thread.
pub(super) struct Searcher<'p> {
    pattern: &'p Pattern,
    cache: Option<Cache>,
}

impl Searcher<'_> {
    /// Appends all matches in a text; returns whether the limit was reached.
    pub(super) fn collect(
        &mut self,
        text: &[u8],
        limit: Limit,
        matches: &mut Vec<Range<usize>>,
    ) -> bool {
        let pattern = self.pattern;
        match &pattern.kind {
            Kind::Everything => {
                matches.push(0..text.len());
                false
            }
            Kind::Regex(engine) if pattern.by_line => {
                let mut start = 0;
                while start < text.len() {
                    let rest = &text[start..];
                    let end = start + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                    let found_from = matches.len();
                    let reached = self.run(engine, None, &text[start..end], limit, matches);
                    for found in &mut matches[found_from..] {
                        *found = found.start + start..found.end + start;
                    }
                    if reached || limit == Limit::First && !matches.is_empty() {
                        return reached;
                    }
                    start = end + 1;
                }
                false
            }
            Kind::Literal(engine, word) => self.run(engine, *word, text, limit, matches),
            Kind::Regex(engine) => self.run(engine, None, text, limit, matches),
        }
    }

    fn run(
        &mut self,
        engine: &Engine,
        word: Option<Word>,
        text: &[u8],
        limit: Limit,
        matches: &mut Vec<Range<usize>>,
    ) -> bool {
        let mut at = 0;
        while at < text.len() {
            let Some(found) = engine.find(text, at, &mut self.cache) else {
                break;
            };
            if word.is_some_and(|word| !word.stands_at(text, &found)) {
                at = found.start + 1;
                continue;
            }
            // After an empty match, one byte further.
            at = found.end + usize::from(found.is_empty());
            matches.push(found);
            match limit {
                Limit::First => return false,
                Limit::Count(count) if matches.len() >= count => return true,
                _ => {}
            }
        }
        false
    }
}

/// A condition on file names.
#[derive(Debug)]
pub struct Names(Rule);

#[derive(Debug)]
enum Rule {
    Regex(Engine),
    Extensions(Vec<Vec<u8>>),
}

impl Names {
    /// Matches names in which a regular expression is found.
    pub fn regex(pattern: &[u8], case: Case, words: bool) -> Result<Self, Error> {
        let syntax = Syntax {
            fold: case.folds(pattern),
            multi_line: false,
        };
        let text = match words {
            true => [b"\\b", pattern, b"\\b"].concat(),
            false => pattern.to_vec(),
        };
        let common = dialect::common(&text, syntax.fold, syntax.multi_line);
        Ok(Self(Rule::Regex(Engine::regex(
            &text,
            common.as_ref(),
            syntax,
        )?)))
    }

    /// Matches names with one of these extensions.
    pub fn extensions(extensions: impl IntoIterator<Item = impl Into<Vec<u8>>>) -> Self {
        Self(Rule::Extensions(
            extensions.into_iter().map(Into::into).collect(),
        ))
    }

    /// Returns whether a path matches.
    pub(super) fn matches(&self, path: &[u8]) -> bool {
        match &self.0 {
            Rule::Regex(engine) => engine.find(path, 0, &mut None).is_some(),
            Rule::Extensions(extensions) => extensions.iter().any(|extension| {
                path.strip_suffix(extension.as_slice())
                    .is_some_and(|stem| stem.ends_with(b"."))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query {
            text: text.into(),
            literal: false,
            case: Case::Smart,
            words: false,
            by_line: false,
        }
    }

    fn ranges(matches: &[Range<usize>]) -> Vec<(usize, usize)> {
        matches
            .iter()
            .map(|found| (found.start, found.end))
            .collect()
    }

    fn found(query: &Query, text: &str) -> Vec<(usize, usize)> {
        let pattern = Pattern::new(query).unwrap();
        let mut matches = Vec::new();
        let mut searcher = pattern.searcher();
        searcher.collect(text.as_bytes(), Limit::None, &mut matches);
        ranges(&matches)
    }

    #[test]
    fn a_match_may_have_several_lines() {
        assert_eq!(found(&query("wh[^w]+e"), "what\nhere\n"), [(0, 9)]);
        let by_line = Query {
            by_line: true,
            ..query("wh[^w]+e")
        };
        assert!(found(&by_line, "what\nhere\n").is_empty());
        assert_eq!(found(&by_line, "x\nwhere where\n"), [(2, 7), (8, 13)]);
    }

    #[test]
    fn upper_case_is_meant_if_it_is_typed() {
        assert_eq!(found(&query("foo"), "Foo FOO").len(), 2);
        assert_eq!(found(&query("Foo"), "Foo FOO").len(), 1);
        assert_eq!(found(&query("fo+"), "Foo FOO").len(), 2);
        assert_eq!(found(&query("é"), "é É").len(), 1);
        let insensitive = Query {
            case: Case::Insensitive,
            ..query("FÉ")
        };
        // Only ASCII is folded.
        assert_eq!(found(&insensitive, "fÉ fé"), [(0, 3)]);
    }

    #[test]
    fn words_have_boundaries_at_both_ends() {
        let words = |text: &str| Query {
            words: true,
            ..query(text)
        };
        assert_eq!(found(&words("foo"), "foo foobar barfoo foo_"), [(0, 3)]);
        assert_eq!(found(&words("(x)"), "a (x) b").len(), 1);
        let literal = Query {
            literal: true,
            ..words("(x)")
        };
        // A parenthesis needs a word before it.
        assert!(found(&literal, "a (x) b").is_empty());
        assert_eq!(found(&literal, "a(x)b"), [(1, 4)]);
        assert_eq!(found(&words("aa"), "aaa aa"), [(4, 6)]);
    }

    #[test]
    fn empty_matches_advance() {
        assert_eq!(found(&query("a*"), "aab"), [(0, 2), (2, 2)]);
        assert_eq!(found(&query("^"), "a\nb\n"), [(0, 0), (2, 2)]);
        assert!(found(&query("^$"), "a\nb\n").is_empty());
        assert_eq!(found(&query("$"), "a\nb"), [(1, 1), (3, 3)]);
    }

    #[test]
    fn a_dot_is_the_whole_file() {
        assert_eq!(found(&query("."), "a\nb"), [(0, 3)]);
        assert_eq!(found(&query("[.]"), "a.b"), [(1, 2)]);
    }

    #[test]
    fn matches_are_counted() {
        let pattern = Pattern::new(&query("a")).unwrap();
        let mut matches = Vec::new();
        let mut searcher = pattern.searcher();
        assert!(searcher.collect(b"aaaa", Limit::Count(2), &mut matches));
        assert_eq!(ranges(&matches), [(0, 1), (1, 2)]);
        matches.clear();
        assert!(!searcher.collect(b"aaaa", Limit::First, &mut matches));
        assert_eq!(ranges(&matches), [(0, 1)]);
    }

    #[test]
    fn names_end_in_extensions_or_match() {
        let names = Names::extensions(["c", "h"]);
        assert!(names.matches(b"./a/b.c") && !names.matches(b"a.C") && !names.matches(b"c"));
        let names = Names::regex(b"oo.c$", Case::Smart, false).unwrap();
        assert!(names.matches(b"./Foo.c") && !names.matches(b"foo.cc"));
    }
}
