//! The query language of `mu find`.
//!
//! OR binds loosest, then XOR, AND, NOT. All work in any case, and are words where they join nothing. Words are
//! compared as written, without their other forms. A name that is not a field belongs to the word.

use std::borrow::Cow;
use std::ops::Range;

use ken_core::{Field, FieldNames, MESSAGE_STATES, MessageState, MessageStateInfo, Whole};

use super::super::error::QueryError;
use super::super::tree::{Tree, Value};
use super::super::values;
use super::logic::{self, Lexeme, Token};
use super::words::{as_it_stands, clause, in_one_of};
use super::{end_of_run, fault, mail, skip_spaces};

pub(super) fn parse(query: &str) -> Result<Tree, QueryError> {
    if matches!(query.trim(), "" | "\"\"") {
        return Ok(mail::messages(Tree::All));
    }
    let mut lexemes = Vec::new();
    let mut at = skip_spaces(query, 0);
    while at < query.len() {
        let lexeme = lexeme(query, at)?;
        at = skip_spaces(query, lexeme.at.end);
        lexemes.push(lexeme);
    }
    logic::tree(query, lexemes, false).map(mail::messages)
}

/// What ends a word, besides spaces.
const STOPS: [char; 3] = ['"', '(', ')'];

/// The meaning of a field.
#[derive(Clone, Copy)]
enum Meaning {
    Words(&'static [Field]),
    Whole(Field),
    Range(Field),
    Attached(Field),
    Maildir,
    Flag,
    Thread,
    Related,
}

/// The fields of mu with their names and letters.
const FIELDS: [(&[&str], Meaning); 25] = [
    (&["bcc", "h"], Meaning::Words(&[Field::Bcc])),
    (&["body", "b"], Meaning::Words(&[Field::Body])),
    (&["cc", "c"], Meaning::Words(&[Field::Cc])),
    (&["changed", "k"], Meaning::Range(Field::Modified)),
    (&["date", "d"], Meaning::Range(Field::Date)),
    (&["embed", "e"], Meaning::Attached(Field::Body)),
    (&["file", "j"], Meaning::Attached(Field::Filename)),
    (&["flag", "flags", "g"], Meaning::Flag),
    (&["from", "f"], Meaning::Words(&[Field::Author])),
    (&["label", "labels", "q"], Meaning::Whole(Field::Tag)),
    (&["language", "lang", "a"], Meaning::Whole(Field::Lang)),
    (&["list", "v"], Meaning::Whole(Field::List)),
    (&["maildir", "m"], Meaning::Maildir),
    (&["mime", "y"], Meaning::Whole(Field::Has)),
    (&["msgid", "message-id", "i"], Meaning::Whole(Field::Msgid)),
    (&["path", "l"], Meaning::Whole(Field::Path)),
    (&["prio", "priority", "p"], Meaning::Whole(Field::Prio)),
    (
        &["references", "ref", "r"],
        Meaning::Whole(Field::References),
    ),
    (&["related"], Meaning::Related),
    (&["size", "z"], Meaning::Range(Field::Size)),
    (&["subject", "s"], Meaning::Words(&[Field::Title])),
    (&["tag", "tags", "x"], Meaning::Whole(Field::Tag)),
    (&["thread", "w"], Meaning::Thread),
    (&["to", "t"], Meaning::Words(&[Field::To])),
    (
        &["contact"],
        Meaning::Words(&[Field::Author, Field::To, Field::Cc, Field::Bcc]),
    ),
];

/// Fields that mean several others.
const RECIPIENTS: Meaning = Meaning::Words(&[Field::To, Field::Cc, Field::Bcc]);

fn meaning(name: &str) -> Option<Meaning> {
    if matches!(name, "recip" | "recipient") {
        return Some(RECIPIENTS);
    }
    let known = FIELDS.iter().find(|(names, _)| names.contains(&name));
    known.map(|(_, meaning)| *meaning)
}

fn lexeme(query: &str, at: usize) -> Result<Lexeme, QueryError> {
    match query[at..].chars().next() {
        Some('(') => return Ok(Lexeme::new(Token::Open, at..at + 1)),
        Some(')') => return Ok(Lexeme::new(Token::Close, at..at + 1)),
        _ => {}
    }
    let end = end_of_run(query, at, &STOPS);
    let source = &query[at..end];
    let operator = match source.to_ascii_lowercase().as_str() {
        "and" => Some(Token::And),
        "or" => Some(Token::Or),
        "xor" => Some(Token::Xor),
        "not" => Some(Token::Not),
        _ => None,
    };
    if let Some(operator) = operator {
        let mut lexeme = Lexeme::new(operator, at..end);
        lexeme.word = Some(clause(None, as_it_stands(source)));
        return Ok(lexeme);
    }
    let field = source
        .split_once(':')
        .and_then(|(name, _)| meaning(name).map(|of| (of, at + name.len() + 1)));
    // A name without a value is a word.
    let field = field.filter(|(_, start)| *start < end || query[end..].starts_with('"'));
    let (meaning, start) = field.unwrap_or((Meaning::Words(&[]), at));
    let (value, end) = value(query, start)?;
    let tree = operand(query, at..end, meaning, value)?;
    Ok(Lexeme::new(Token::Operand(tree), at..end))
}

/// A value as written; plain text is without its backslashes.
#[derive(Clone)]
enum Written<'a> {
    Plain(Cow<'a, str>),
    Regex(&'a str),
}

/// Reads a value and returns where it ends.
fn value(query: &str, start: usize) -> Result<(Written<'_>, usize), QueryError> {
    if let Some(inside) = query[start..].strip_prefix('"') {
        let Some(length) = inside.find('"') else {
            let message = "the quote is not closed";
            return Err(fault(
                query,
                start..start + 1,
                message,
                "end the phrase with \"",
            ));
        };
        return Ok((written(&inside[..length]), start + length + 2));
    }
    if let Some(end) = mail::regex_end(query, start) {
        return Ok((Written::Regex(&query[start + 1..end - 1]), end));
    }
    let end = end_of_value(query, start);
    Ok((Written::Plain(unescaped(&query[start..end])), end))
}

/// Returns where a word ends. What follows a backslash belongs to it: `maildir:/Sent\ Items`.
fn end_of_value(query: &str, start: usize) -> usize {
    let mut end = end_of_run(query, start, &STOPS);
    while is_escaped(query, start, end) {
        let next = query[end..].chars().next().map_or(0, char::len_utf8);
        if next == 0 {
            break;
        }
        end = end_of_run(query, end + next, &STOPS);
    }
    end
}

/// Returns whether an odd number of backslashes stands before `at`.
fn is_escaped(query: &str, start: usize, at: usize) -> bool {
    let before = query[start..at].bytes().rev();
    before.take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Returns the text without the backslashes that escape other characters.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        let escaped = (character == '\\').then(|| characters.next()).flatten();
        plain.push(escaped.unwrap_or(character));
    }
    plain.into()
}

fn written(text: &str) -> Written<'_> {
    let inside = text
        .strip_prefix('/')
        .and_then(|rest| rest.strip_suffix('/'));
    match inside.filter(|inside| !inside.is_empty()) {
        Some(regex) => Written::Regex(regex),
        None => Written::Plain(unescaped(text)),
    }
}

fn operand(
    query: &str,
    at: Range<usize>,
    meaning: Meaning,
    written: Written<'_>,
) -> Result<Tree, QueryError> {
    let fields = match meaning {
        Meaning::Maildir => return maildir(query, at, written),
        Meaning::Flag => return flag(query, at, written),
        Meaning::Thread => {
            let id = whole(query, at, Field::Msgid, written)?;
            return Ok(mail::threads_of(&id));
        }
        Meaning::Related => {
            let id = whole(query, at, Field::Msgid, written)?;
            return Ok(in_one_of(&[Field::Msgid, Field::References], &id));
        }
        Meaning::Range(field) => {
            let Written::Plain(text) = written else {
                return Err(no_regex(query, at));
            };
            return range(query, at, field, &normal(field, &text));
        }
        Meaning::Whole(field) => {
            return Ok(clause(Some(field), whole(query, at, field, written)?));
        }
        Meaning::Attached(field) => {
            return Ok(mail::attached(field, words(query, at, written)?));
        }
        Meaning::Words(fields) => fields,
    };
    let expression = match written {
        Written::Regex(regex) => Some(mail::regex(query, at.clone(), regex)?),
        Written::Plain(_) => None,
    };
    let value = words(query, at, written)?;
    let words = match fields {
        [] => clause(None, value),
        fields => in_one_of(fields, &value),
    };
    Ok(match expression {
        Some(expression) => Tree::or(vec![words, headers(fields, expression)]),
        None => words,
    })
}

/// The headers that mu also keeps whole.
const HEADERS: [Field; 5] = [
    Field::Title,
    Field::Author,
    Field::To,
    Field::Cc,
    Field::Bcc,
];

/// Returns the tree for whole headers in which a regular expression matches; those of `fields`, or all of them.
fn headers(fields: &[Field], expression: String) -> Tree {
    let is_meant = |field: &Field| fields.is_empty() || fields.contains(field);
    let fields: Vec<Field> = HEADERS.into_iter().filter(is_meant).collect();
    let whole = Whole {
        expression,
        is_exact: false,
    };
    in_one_of(&fields, &Value::Whole(whole))
}

/// Reads a range. mu swaps its ends if the second is less than the first.
fn range(query: &str, at: Range<usize>, field: Field, text: &str) -> Result<Tree, QueryError> {
    mail::range(query, at.clone(), field, text).or_else(|wrong| {
        let (from, to) = text.split_once("..").ok_or_else(|| wrong.clone())?;
        mail::range(query, at, field, &format!("{to}..{from}")).map_err(|_| wrong)
    })
}

fn words(query: &str, at: Range<usize>, written: Written<'_>) -> Result<Value, QueryError> {
    match written {
        Written::Regex(regex) => mail::regex(query, at, regex).map(Value::Regex),
        Written::Plain(text) if text.trim().is_empty() => {
            let message = "there is nothing between the quotes";
            Err(fault(query, at, message, "write a word"))
        }
        Written::Plain(text) => Ok(match text.strip_suffix('*') {
            Some(start) if !start.is_empty() && !start.contains(char::is_whitespace) => {
                Value::Prefix(start.to_owned())
            }
            _ => as_it_stands(&text),
        }),
    }
}

fn whole(
    query: &str,
    at: Range<usize>,
    field: Field,
    written: Written<'_>,
) -> Result<Value, QueryError> {
    match written {
        Written::Regex(regex) => mail::regex(query, at, regex).map(Value::Regex),
        Written::Plain(text) => Ok(match text.strip_suffix('*') {
            Some(start) => Value::Prefix(start.to_owned()),
            None => match values::keyword(field, &text, &FieldNames::TABLE) {
                Ok((_, value)) if field == Field::Prio => value,
                Err(wrong) => return Err(fault(query, at, wrong.message, &wrong.hint)),
                Ok(_) => Value::Word(values::bare(field, &text).to_owned()),
            },
        }),
    }
}

fn no_regex(query: &str, at: Range<usize>) -> QueryError {
    let message = "a regular expression has no meaning in this field";
    fault(query, at, message, "write a value or a range")
}

/// Reads a folder of mail: `/inbox`, `/lists*`.
fn maildir(query: &str, at: Range<usize>, written: Written<'_>) -> Result<Tree, QueryError> {
    let value = match written {
        Written::Regex(regex) => {
            let value = Value::Regex(mail::regex(query, at, regex)?);
            return Ok(clause(Some(Field::Maildir), value));
        }
        Written::Plain(text) => match text.strip_suffix('*') {
            Some(start) => Value::Prefix(start.to_owned()),
            None => Value::Word(text.into_owned()),
        },
    };
    Ok(clause(Some(Field::Maildir), value))
}

fn flag(query: &str, at: Range<usize>, written: Written<'_>) -> Result<Tree, QueryError> {
    let Written::Plain(text) = written else {
        return Err(no_regex(query, at));
    };
    let name = text.to_ascii_lowercase();
    let is_meant = |row: &&MessageStateInfo| {
        let letter = [row.letter.to_ascii_lowercase()];
        [row.mu, row.name].contains(&&*name) || name.as_bytes() == letter
    };
    let Some(row) = MESSAGE_STATES.iter().find(is_meant) else {
        let names: Vec<_> = MESSAGE_STATES.iter().map(|row| row.mu).collect();
        let message = format!("there is no flag {text:?}");
        let hint = format!("flags are {}", names.join(", "));
        return Err(fault(query, at, message, &hint));
    };
    Ok(match row.state {
        MessageState::List => clause(Some(Field::List), values::anything(Field::List)),
        MessageState::Calendar => clause(Some(Field::Has), Value::Word("text/calendar".to_owned())),
        _ => mail::state(row),
    })
}

/// Returns a range in ken's form: both ends of dates have dashes.
fn normal(field: Field, text: &str) -> String {
    if field == Field::Size {
        return text.to_ascii_lowercase();
    }
    match text.split_once("..") {
        Some((from, to)) => format!("{}..{}", date(from), date(to)),
        None => date(text),
    }
}

/// Returns a date in ISO form; mu accepts `20250303`, `2025.03.03`, `2025-03-03T10:00`.
fn date(text: &str) -> String {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let separators = |c: char| c.is_ascii_digit() || matches!(c, '/' | '.' | '-' | ':' | 'T' | ' ');
    if digits.len() < 4 || !text.chars().all(separators) {
        return text.to_owned();
    }
    let mut date = digits[..4].to_owned();
    for (position, sign) in [(4, '-'), (6, '-'), (8, 'T'), (10, ':'), (12, ':')] {
        if let Some(two) = digits.get(position..position + 2) {
            date.push(sign);
            date.push_str(two);
        }
    }
    date
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_iso_does() {
        for (mu, iso) in [
            ("2025", "2025"),
            ("202503", "2025-03"),
            ("2025.03.04", "2025-03-04"),
            ("2025-03-04T10:00", "2025-03-04T10:00"),
            ("20250304100059", "2025-03-04T10:00:59"),
            ("3w", "3w"),
            ("now", "now"),
            ("never", "never"),
        ] {
            assert_eq!(date(mu), iso);
        }
    }
}
