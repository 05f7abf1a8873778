//! The query language of notmuch, which is that of Xapian.
//!
//! OR binds loosest, then XOR, AND and NOT, in any case; adjacent words bind tighter than NOT. Adjacent conditions
//! with the same prefix are alternatives, if a message has one such value or notmuch compares the value whole. Words
//! are stemmed unless they begin with a capital. A name that is not a prefix belongs to the word.

mod date;

use std::borrow::Cow;
use std::ops::Range;

use ken_core::custom::CUSTOM_FIELDS;
use ken_core::{Field, FieldNames, Glob, GlobPart, MESSAGE_STATES, Whole};
use regex_automata::meta::Regex;

use super::super::error::QueryError;
use super::super::modifiers::DEFAULT_DISTANCE;
use super::super::names::{Asked, Names};
use super::super::parser::MAX_DEPTH;
use super::super::tree::{Clause, Nearness, Tree, Value};
use super::super::values;
use super::logic::{self, Lexeme, Token};
use super::words::{as_it_stands, clause, in_one_of};
use super::{end_of_run, fault, mail, skip_spaces};
use crate::media_types;

pub(super) fn parse(query: &str, names: Names<'_>) -> Result<Tree, QueryError> {
    match query.trim() {
        "" => {
            let at = query.len()..query.len();
            Err(fault(
                query,
                at,
                "the query is empty",
                "write a word, or * for all messages",
            ))
        }
        "*" => Ok(mail::messages(Tree::All)),
        _ => {
            let reader = Reader {
                query,
                names,
                fields: &[],
                depth: names.nested,
            };
            reader.tree(0..query.len()).map(mail::messages)
        }
    }
}

/// What ends a word, besides spaces.
const STOPS: [char; 3] = ['"', '(', ')'];

/// The meaning of a prefix.
#[derive(Clone, Copy)]
enum Meaning {
    Words(&'static [Field]),
    Id,
    Attachment,
    MediaType,
    Folder,
    Path,
    Date,
    Tag,
    Thread,
    /// What only a database of notmuch has.
    OfDatabase(&'static str),
}

const PREFIXES: [(&str, Meaning); 18] = [
    ("body", Meaning::Words(&[Field::Body])),
    ("from", Meaning::Words(&[Field::Author])),
    ("to", Meaning::Words(&[Field::To, Field::Cc, Field::Bcc])),
    ("subject", Meaning::Words(&[Field::Title])),
    ("attachment", Meaning::Attachment),
    ("mimetype", Meaning::MediaType),
    ("id", Meaning::Id),
    ("mid", Meaning::Id),
    ("folder", Meaning::Folder),
    ("path", Meaning::Path),
    ("date", Meaning::Date),
    ("tag", Meaning::Tag),
    ("is", Meaning::Tag),
    ("thread", Meaning::Thread),
    (
        "lastmod",
        Meaning::OfDatabase("revisions of notmuch's database"),
    ),
    ("query", Meaning::OfDatabase("notmuch's saved queries")),
    ("property", Meaning::OfDatabase("properties of messages")),
    (
        "sexp",
        Meaning::OfDatabase("notmuch's second language, of s-expressions"),
    ),
];

/// Returns the meaning of the name of a custom field.
fn custom(name: &str, names: &FieldNames) -> Option<Meaning> {
    let exact = names.custom().find(|(_, own)| *own == name);
    let field = exact
        .map(|(field, _)| field)
        .or_else(|| names.field(name))?;
    let fields = CUSTOM_FIELDS.iter().find(|custom| **custom == field)?;
    Some(Meaning::Words(std::slice::from_ref(fields)))
}

/// Returns whether adjacent conditions with this prefix are alternatives. Conditions with different prefixes are not,
/// even if both have the same meaning: `tag:a is:b`.
fn are_alternatives(meaning: Meaning) -> bool {
    match meaning {
        Meaning::Words(fields) => matches!(fields, [Field::Author | Field::Title]),
        Meaning::Attachment | Meaning::MediaType | Meaning::OfDatabase(_) => false,
        Meaning::Id
        | Meaning::Folder
        | Meaning::Path
        | Meaning::Date
        | Meaning::Tag
        | Meaning::Thread => true,
    }
}

/// The group of all ranges of dates, also of those without a prefix. Single days are in another group of notmuch, so
/// `date:2018 date:2015..2016` requires both.
const DATE_RANGES: &str = "date..";

/// A value as written, and the range of its text.
struct Written {
    inside: Range<usize>,
    sort: Sort,
    /// Whether `""` in the value means a quote.
    doubles_quotes: bool,
}

#[derive(PartialEq)]
enum Sort {
    Plain,
    Quoted,
    Regex,
    Group,
}

#[derive(Clone, Copy)]
struct Reader<'a> {
    query: &'a str,
    names: Names<'a>,
    /// The fields in which words without a prefix are searched for.
    fields: &'static [Field],
    depth: usize,
}

impl<'a> Reader<'a> {
    fn tree(self, range: Range<usize>) -> Result<Tree, QueryError> {
        if self.depth > MAX_DEPTH {
            let message = "the query is nested too deeply";
            return Err(fault(self.query, range, message, "use fewer parentheses"));
        }
        let query = &self.query[..range.end];
        let mut lexemes = Vec::new();
        let mut at = skip_spaces(query, range.start);
        while at < query.len() {
            let lexeme = self.lexeme(query, at)?;
            at = skip_spaces(query, lexeme.at.end);
            lexemes.push(lexeme);
        }
        logic::tree(self.query, lexemes, true)
    }

    fn lexeme(self, query: &str, at: usize) -> Result<Lexeme, QueryError> {
        let mut characters = query[at..].chars();
        let first = characters.next();
        let goes_on = characters.next().is_some_and(|c| !c.is_whitespace());
        let one = |token| Ok(Lexeme::new(token, at..at + 1));
        match first {
            Some('(') => return one(Token::Open),
            Some(')') => return one(Token::Close),
            Some('-') if goes_on => return one(Token::Minus),
            // Xapian's `+` has no effect, as every word is required here.
            Some('+') if goes_on => return self.lexeme(query, at + 1),
            _ => {}
        }
        let end = end_of_run(query, at, &STOPS);
        let source = &query[at..end];
        if let Some(operator) = operator(source) {
            return Ok(Lexeme::new(operator, at..end));
        }
        let prefix = source.split_once(':').and_then(|(name, _)| {
            let known = PREFIXES.iter().find(|(known, _)| *known == name);
            let meaning = known
                .map(|(_, meaning)| *meaning)
                .or_else(|| custom(name, self.names.fields))?;
            Some((meaning, at + name.len() + 1))
        });
        let (meaning, start) = prefix.unwrap_or((Meaning::Words(self.fields), at));
        match meaning {
            Meaning::OfDatabase(_) if self.names.database.is_some() => {}
            Meaning::OfDatabase(what) => {
                return Err(mail::unsupported(self.query, at..start, what));
            }
            _ => {}
        }
        let (written, end) = self.value(query, start, prefix.is_some())?;
        let tree = match prefix {
            None if is_timestamps(source) => {
                let range = source.split_once("..").unwrap_or_default();
                let seconds = |text: &str| match text {
                    "" => String::new(),
                    text => format!("@{text}"),
                };
                let text = format!("{}..{}", seconds(range.0), seconds(range.1));
                mail::range(self.query, at..end, Field::Date, &text)?
            }
            Some((Meaning::OfDatabase(_), start)) => {
                let text = self.text(&written);
                // The database reads patterns and expressions itself.
                let text = match written.sort {
                    Sort::Regex => format!("/{text}/").into(),
                    Sort::Group => format!("({text})").into(),
                    Sort::Plain | Sort::Quoted => text,
                };
                self.of_database(&query[at..start - 1], &text)?
            }
            _ => self.operand(at..end, meaning, &written)?,
        };
        let mut lexeme = Lexeme::new(Token::Operand(tree), at..end);
        lexeme.group = match prefix {
            None if is_timestamps(source) => Some(DATE_RANGES.to_owned()),
            Some((Meaning::Date, _)) if query[written.inside].contains("..") => {
                Some(DATE_RANGES.to_owned())
            }
            Some((meaning, start)) if are_alternatives(meaning) => {
                Some(query[at..start - 1].to_owned())
            }
            _ => None,
        };
        Ok(lexeme)
    }

    /// Reads a value and returns where it ends.
    fn value(
        self,
        query: &str,
        start: usize,
        prefixed: bool,
    ) -> Result<(Written, usize), QueryError> {
        let rest = &query[start..];
        let doubles_quotes = prefixed && rest.starts_with('"');
        let written = |inside, sort, end| {
            let written = Written {
                inside,
                sort,
                doubles_quotes,
            };
            Ok((written, end))
        };
        if let Some(inside) = rest.strip_prefix('"') {
            let length = match doubles_quotes {
                true => closing_quote(inside),
                false => inside.find('"'),
            };
            let Some(length) = length else {
                let message = "the quote is not closed";
                let hint = "end the phrase with \"";
                return Err(fault(self.query, start..start + 1, message, hint));
            };
            let range = start + 1..start + 1 + length;
            let end = range.end + 1;
            let inside = &query[range.clone()];
            let inner = range.start + 1..range.end.saturating_sub(1);
            return match (inside.chars().next(), inside.chars().next_back()) {
                (Some('/'), Some('/')) if prefixed && length > 2 => {
                    written(inner, Sort::Regex, end)
                }
                (Some('('), Some(')')) if prefixed && length > 2 => {
                    written(inner, Sort::Group, end)
                }
                _ => written(range, Sort::Quoted, end),
            };
        }
        if let Some(end) = mail::regex_end(query, start).filter(|_| prefixed) {
            return written(start + 1..end - 1, Sort::Regex, end);
        }
        if prefixed && rest.starts_with('{') {
            let Some(close) = closing(query, start, ['{', '}']) else {
                let message = "the brace is not closed";
                return Err(fault(self.query, start..start + 1, message, "close it"));
            };
            return written(start..close + 1, Sort::Plain, close + 1);
        }
        if prefixed && rest.starts_with('(') {
            let Some(close) = closing(query, start, ['(', ')']) else {
                let message = "the parenthesis is not closed";
                return Err(fault(self.query, start..start + 1, message, "close it"));
            };
            return written(start + 1..close, Sort::Group, close + 1);
        }
        let end = end_of_run(query, start, &STOPS);
        written(start..end, Sort::Plain, end)
    }

    fn operand(
        self,
        at: Range<usize>,
        meaning: Meaning,
        written: &Written,
    ) -> Result<Tree, QueryError> {
        let text = &*self.text(written);
        // The folder of all mail has no name, and a message may have no subject.
        let may_be_empty = matches!(
            meaning,
            Meaning::Folder | Meaning::Path | Meaning::Words([Field::Author | Field::Title])
        );
        if text.trim().is_empty() && !(may_be_empty && written.sort == Sort::Quoted) {
            let message = "a value is missing";
            return Err(fault(self.query, at, message, "write it without a space"));
        }
        let has_regex = matches!(
            meaning,
            Meaning::Id
                | Meaning::Folder
                | Meaning::Path
                | Meaning::Tag
                | Meaning::Words([Field::Author | Field::Title])
        );
        let is_open = text.starts_with('/') && matches!(written.sort, Sort::Plain | Sort::Quoted);
        if self.names.database.is_some() && has_regex && is_open {
            let message = format!("unmatched regex delimiter in '{text}'");
            return Err(fault(self.query, at, message, "end the pattern with /"));
        }
        match (meaning, &written.sort) {
            (Meaning::Words(&[field]), Sort::Quoted) if text.trim().is_empty() => {
                Ok(Tree::not(clause(Some(field), values::anything(field))))
            }
            (Meaning::Words(fields), Sort::Group) => {
                self.inner(fields, written, written.inside.clone())
            }
            // Notmuch keeps these headers whole.
            (Meaning::Words(&[field @ (Field::Author | Field::Title)]), Sort::Regex) => {
                let whole = Whole {
                    expression: mail::regex(self.query, at, text)?,
                    is_exact: true,
                };
                Ok(clause(Some(field), Value::Whole(whole)))
            }
            (Meaning::Words(fields), _) => {
                let value = match self.words(at, written)? {
                    // Notmuch stems only the other fields.
                    Value::Word(text) if matches!(fields, [Field::Author | Field::Title]) => {
                        as_it_stands(&text)
                    }
                    value => value,
                };
                let tree = match fields {
                    [] => clause(None, value),
                    fields => in_one_of(fields, &value),
                };
                if self.names.database.is_some() && !text.is_ascii() {
                    return Ok(as_written(tree));
                }
                let capital = text.starts_with(char::is_uppercase);
                Ok(if capital { unstemmed(tree) } else { tree })
            }
            (Meaning::Attachment, _) => {
                Ok(mail::attached(Field::Filename, self.words(at, written)?))
            }
            (Meaning::Id, Sort::Regex) => {
                let value = Value::Regex(mail::regex(self.query, at, text)?);
                Ok(clause(Some(Field::Msgid), value))
            }
            (Meaning::Id, _) => {
                let value = Value::Word(values::bare(Field::Msgid, text).to_owned());
                Ok(clause(Some(Field::Msgid), value))
            }
            (Meaning::MediaType, _) => {
                let names = [Some(text), media_types::canonical(text)].into_iter();
                let clauses = names
                    .flatten()
                    .map(|name| clause(Some(Field::Has), holds(name)));
                Ok(Tree::or(clauses.collect()))
            }
            (Meaning::Date, _) => match date::range(text) {
                Ok(range) => mail::range(self.query, at, Field::Date, &range),
                Err(date::Wrong::NoDay) => {
                    let message = format!("{text:?} is a time without a day");
                    let hint = "write the day too, as in date:2025-01-15_17:05";
                    Err(fault(self.query, at, message, hint))
                }
                Err(date::Wrong::NoDate) => {
                    let message = format!("{text:?} is not a date");
                    let hint = "write 2025-01-15, 1/15/2025 or 15_jan_2025, and .. for a range";
                    Err(fault(self.query, at, message, hint))
                }
            },
            (Meaning::Folder, Sort::Regex) => {
                let value = Value::Regex(mail::regex(self.query, at, text)?);
                Ok(in_one_of(&[Field::Maildir, Field::Dir], &value))
            }
            (Meaning::Path, Sort::Regex) => {
                let value = Value::Regex(mail::regex(self.query, at, text)?);
                Ok(clause(Some(Field::Dir), value))
            }
            (Meaning::Folder, _) => {
                let folder = text.trim_matches('/');
                let maildir = Value::Word(format!("/{folder}"));
                // A folder that is no Maildir holds its messages itself.
                Ok(Tree::or(vec![
                    clause(Some(Field::Maildir), maildir),
                    clause(Some(Field::Dir), exactly(folder)),
                ]))
            }
            (Meaning::Tag, Sort::Regex) => {
                let expression = mail::regex(self.query, at, text)?;
                if self.names.database.is_some() {
                    return Ok(clause(Some(Field::Tag), Value::Regex(expression)));
                }
                // Tags are compared without regard to case.
                let regex = Regex::new(&format!("(?i){expression}")).ok();
                let is_meant = |tag: &str| regex.as_ref().is_some_and(|regex| regex.is_match(tag));
                let states = MESSAGE_STATES.iter();
                let states = states.filter(|row| row.notmuch.is_some_and(is_meant));
                let states = states.map(mail::state);
                let tags = [clause(Some(Field::Tag), Value::Regex(expression))];
                Ok(Tree::or(tags.into_iter().chain(states).collect()))
            }
            (Meaning::Tag, _) if self.names.database.is_some() => {
                let value = Value::Among(vec![text.to_owned()]);
                Ok(clause(Some(Field::Tag), value))
            }
            (Meaning::Tag, _) => Ok(tagged(text)),
            (Meaning::Thread, _) => {
                let inner = text.strip_prefix('{').and_then(|t| t.strip_suffix('}'));
                match inner {
                    Some(_) => {
                        let inside = written.inside.start + 1..written.inside.end - 1;
                        let inner = self.inner(&[], written, inside)?;
                        Ok(Tree::Thread(Box::new(inner)))
                    }
                    None => Ok(self.thread(text)),
                }
            }
            (Meaning::Path, _) => {
                let above = text.strip_suffix("**");
                let folder = above.unwrap_or(text).trim_matches('/');
                let value = match (above, folder) {
                    (Some(_), "") => return Ok(Tree::All),
                    (Some(_), folder) => Value::Word(folder.to_owned()),
                    (None, folder) => exactly(folder),
                };
                Ok(clause(Some(Field::Dir), value))
            }
            (Meaning::OfDatabase(what), _) => Err(mail::unsupported(self.query, at, what)),
        }
    }

    /// Returns the tree for a thread: by its number in the database, else by the identifier of any message of it.
    fn thread(self, text: &str) -> Tree {
        let Some(database) = self.names.database else {
            let id = values::bare(Field::Msgid, text).to_owned();
            return mail::threads_of(&Value::Word(id));
        };
        let ids = database.ids(Asked::Thread(text)).unwrap_or_default();
        Tree::Thread(Box::new(identified(ids)))
    }

    /// Returns the tree for what only the database knows. What it does not know finds nothing.
    fn of_database(self, name: &str, text: &str) -> Result<Tree, QueryError> {
        let Some(database) = self.names.database else {
            return Ok(identified(Vec::new()));
        };
        let asked = match name {
            "sexp" => {
                let names = Names {
                    nested: self.depth + 1,
                    ..self.names
                };
                let tree = database.expression(text, names);
                let wrong = |message| {
                    let hint = "see notmuch-sexp-queries(7)";
                    fault(self.query, 0..self.query.len(), message, hint)
                };
                return tree.map_err(wrong);
            }
            "lastmod" => Asked::Revisions(text),
            "property" => Asked::Property(text),
            _ => {
                return match database.query(text) {
                    Some(query) => self.saved(&query),
                    None => Ok(identified(Vec::new())),
                };
            }
        };
        match database.ids(asked) {
            Some(ids) => Ok(identified(ids)),
            None => {
                let message = format!("{text:?} is no value of {name}:");
                let hint = "write lastmod:1..20, property:key=value";
                Err(fault(self.query, 0..self.query.len(), message, hint))
            }
        }
    }

    /// Reads a saved query, which stands for itself in parentheses.
    fn saved(self, query: &str) -> Result<Tree, QueryError> {
        if query.trim() == "*" {
            return Ok(Tree::All);
        }
        let depth = self.depth + 1;
        let reader = Reader {
            query,
            names: self.names,
            fields: &[],
            depth,
        };
        reader.tree(0..query.len())
    }

    /// Returns the value without quotes and doubled quotes.
    fn text(self, written: &Written) -> Cow<'a, str> {
        let text = &self.query[written.inside.clone()];
        match written.doubles_quotes && text.contains(TWO_QUOTES) {
            true => text.replace(TWO_QUOTES, "\"").into(),
            false => text.into(),
        }
    }

    /// Reads a query inside the query.
    fn inner(
        self,
        fields: &'static [Field],
        written: &Written,
        inside: Range<usize>,
    ) -> Result<Tree, QueryError> {
        let depth = self.depth + 1;
        let text = &self.query[inside.clone()];
        if !(written.doubles_quotes && text.contains(TWO_QUOTES)) {
            let reader = Reader {
                fields,
                depth,
                ..self
            };
            return reader.tree(inside);
        }
        let query = &text.replace(TWO_QUOTES, "\"");
        let reader = Reader {
            query,
            names: self.names,
            fields,
            depth,
        };
        // Positions in the inner query are not positions in the outer one.
        reader.tree(0..query.len()).map_err(|wrong| QueryError {
            query: self.query.to_owned(),
            at: inside,
            ..wrong
        })
    }

    fn words(self, at: Range<usize>, written: &Written) -> Result<Value, QueryError> {
        let text = &*self.text(written);
        match written.sort {
            Sort::Regex => mail::regex(self.query, at, text).map(Value::Regex),
            Sort::Quoted | Sort::Group => Ok(as_it_stands(text)),
            Sort::Plain => Ok(match text.strip_suffix('*') {
                Some(start) if !start.is_empty() => Value::Prefix(start.to_owned()),
                _ => Value::Word(text.to_owned()),
            }),
        }
    }
}

/// Returns the tree for messages with one of these identifiers.
fn identified(ids: Vec<String>) -> Tree {
    let ids = ids.into_iter().map(|id| id.to_lowercase()).collect();
    clause(Some(Field::Msgid), Value::Among(ids))
}

fn operator(source: &str) -> Option<Token> {
    let (name, distance) = match source.split_once('/') {
        Some((name, digits)) => (name, digits.parse().ok().filter(|n| *n > 0)?),
        None => (source, DEFAULT_DISTANCE),
    };
    let near = |ordered| {
        Token::Near(Nearness {
            slop: distance - 1,
            ordered,
        })
    };
    let plain = !source.contains('/');
    Some(match name.to_ascii_uppercase().as_str() {
        "AND" if plain => Token::And,
        "OR" if plain => Token::Or,
        "XOR" if plain => Token::Xor,
        "NOT" if plain => Token::Not,
        "NEAR" => near(false),
        "ADJ" => near(true),
        _ => return None,
    })
}

/// Returns the tree for a tag, which may be the name of a state.
fn tagged(name: &str) -> Tree {
    let tag = clause(Some(Field::Tag), Value::Word(name.to_owned()));
    match MESSAGE_STATES.iter().find(|row| row.notmuch == Some(name)) {
        Some(row) => Tree::or(vec![tag, mail::state(row)]),
        None => tag,
    }
}

/// Returns the position of the sign that closes the one at `open`.
fn closing(query: &str, open: usize, [opens, closes]: [char; 2]) -> Option<usize> {
    let mut depth = 0;
    for (offset, character) in query[open..].char_indices() {
        match character {
            _ if character == opens => depth += 1,
            _ if character == closes => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + offset);
        }
    }
    None
}

/// A quote within quotes.
const TWO_QUOTES: &str = "\"\"";

/// Returns where the quoted value at the start of `text` ends: at the first quote that is not doubled.
fn closing_quote(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += text[at..].find('"')?;
        if !text[at..].starts_with(TWO_QUOTES) {
            return Some(at);
        }
        at += TWO_QUOTES.len();
    }
}

/// Returns whether the text is notmuch's old form of a range of dates: `1740996000..1741000000`.
fn is_timestamps(source: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    source
        .split_once("..")
        .is_some_and(|(from, to)| digits(from) && digits(to) && source.len() > 2)
}

/// Returns the value that matches every value with the text in it. A `*` at its end adds nothing.
fn holds(text: &str) -> Value {
    let mut glob = Glob(vec![GlobPart::Many]);
    let text = text
        .strip_suffix('*')
        .filter(|start| !start.is_empty())
        .unwrap_or(text);
    glob.push(GlobPart::Literal(text.to_owned()));
    glob.push(GlobPart::Many);
    Value::Glob(glob)
}

/// Returns the value for the folder of this name and no other.
fn exactly(folder: &str) -> Value {
    Value::Regex(format!("^{}$", regex_syntax::escape(folder)))
}

/// Returns the tree in which letters with and without diacritics differ.
fn as_written(tree: Tree) -> Tree {
    match tree {
        Tree::Clause(mut clause) => {
            if let Value::Word(text) = &clause.value {
                clause.value = as_it_stands(text);
            }
            clause.modifiers.diacritics = matches!(clause.value, Value::Phrase(_));
            Tree::Clause(clause)
        }
        Tree::Or(parts) => Tree::Or(parts.into_iter().map(as_written).collect()),
        tree => tree,
    }
}

fn unstemmed(tree: Tree) -> Tree {
    match tree {
        Tree::Clause(mut clause) => {
            clause.modifiers.unstemmed = matches!(clause.value, Value::Word(_));
            Tree::Clause(Clause { ..clause })
        }
        Tree::Or(parts) => Tree::Or(parts.into_iter().map(unstemmed).collect()),
        tree => tree,
    }
}
