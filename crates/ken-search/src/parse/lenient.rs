//! Reads as much as possible of a query with mistakes, for users who are still typing.
//!
//! Each mistake is replaced by spaces and the rest is read again, a few times. If mistakes remain, the words of the
//! query are taken as written. Every query with a word gives a tree.

use std::ops::Range;

use super::error::QueryError;
use super::names::Names;
use super::parser::{MAX_BYTES, MAX_CLAUSES, parse_with};
use super::tree::{Clause, Tree, Value};

/// More mistakes than a person makes; each costs another parse of the whole query.
const MAX_MISTAKES: usize = 32;

/// The part of a query that can be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lenient {
    /// The query without its mistakes; `None` if nothing remains.
    pub tree: Option<Tree>,
    /// The pieces that were left out, in the order in which they were found.
    pub left_out: Vec<LeftOut>,
}

/// A piece of a query that was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The piece.
    pub text: String,
    /// What is wrong with the piece.
    pub error: QueryError,
}

/// Parses a query and leaves out its mistakes.
pub fn parse_lenient(query: &str, names: Names<'_>) -> Lenient {
    let mut rest = query[..query.floor_char_boundary(MAX_BYTES)].to_owned();
    let mut left_out: Vec<LeftOut> = Vec::new();
    let mut removed: Vec<Range<usize>> = Vec::new();
    if rest.len() < query.len()
        && let Err(error) = parse_with(query, names)
    {
        let text = query[rest.len()..].to_owned();
        left_out.push(LeftOut { text, error });
    }
    for _ in 0..MAX_MISTAKES {
        let error = match parse_with(&rest, names) {
            Ok(tree) => return some(tree, left_out),
            Err(error) => error,
        };
        if rest.trim().is_empty() {
            return none(error, left_out);
        }
        let piece = piece(&rest, error.at.clone());
        let text = rest[piece.clone()].to_owned();
        if text.trim().is_empty() {
            break;
        }
        rest.replace_range(piece.clone(), &" ".repeat(piece.len()));
        keep_minus(&mut rest, &piece, &removed);
        // A field without a value is left out together with the value, and is not a mistake of its own.
        let beside = removed
            .iter()
            .any(|b| b.start == piece.end || b.end == piece.start);
        if !beside {
            left_out.push(LeftOut { text, error });
        }
        removed.push(piece);
    }
    let words = rest.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).take(MAX_CLAUSES);
    let words = words.map(|word| Tree::Clause(Clause::new(None, Value::Word(word.to_owned()))));
    let words: Vec<Tree> = words.collect();
    let tree = (!words.is_empty()).then(|| Tree::and(words));
    Lenient { tree, left_out }
}

/// Moves the minus before a removed piece to what follows the piece, so that an excluded word does not become a wanted
/// one.
fn keep_minus(rest: &mut String, piece: &Range<usize>, removed: &[Range<usize>]) {
    let before = &rest[..piece.start];
    let is_minus = before.strip_suffix('-').is_some_and(|before| {
        let last = before.chars().next_back();
        last.is_none_or(|c| c.is_whitespace() || c == '(')
    });
    let mut end = piece.end;
    while let Some(next) = removed.iter().find(|b| b.start == end && b.end > end) {
        end = next.end;
    }
    let next = rest[end..].chars().next();
    if is_minus && next.is_some_and(|c| !c.is_whitespace() && c != ')') {
        rest.replace_range(piece.start - 1..piece.start, " ");
        rest.replace_range(end - 1..end, "-");
    }
}

fn some(tree: Tree, left_out: Vec<LeftOut>) -> Lenient {
    let tree = Some(tree);
    Lenient { tree, left_out }
}

/// Returns the result when nothing remains. The error counts only if no mistake was found before: the query was empty.
fn none(error: QueryError, mut left_out: Vec<LeftOut>) -> Lenient {
    if left_out.is_empty() {
        let text = String::new();
        left_out.push(LeftOut { text, error });
    }
    let tree = None;
    Lenient { tree, left_out }
}

/// Returns the piece to leave out for a mistake. Where a word is missing, that is the operator before.
fn piece(query: &str, at: Range<usize>) -> Range<usize> {
    // The name of a field is left out with its colon.
    if query[at.end..].starts_with(':') {
        return at.start..at.end + 1;
    }
    let is_missing = at.is_empty() || &query[at.clone()] == ")";
    let before = query[..at.start].trim_end();
    let Some((last, character)) = before.char_indices().next_back() else {
        return at;
    };
    if !is_missing || is_stray(query, &at) {
        return at;
    }
    let mut word = before[..last].char_indices().rev();
    let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')');
    let start = match character {
        '(' | ')' => last,
        _ => match word.find(|(_, c)| ends(*c)) {
            Some((at, c)) => at + c.len_utf8(),
            None => 0,
        },
    };
    start..before.len()
}

/// Returns whether this is a parenthesis that closes none.
fn is_stray(query: &str, at: &Range<usize>) -> bool {
    let before = &query[..at.start];
    !at.is_empty() && before.matches('(').count() <= before.matches(')').count()
}
