//! Splits the text of a query into tokens.
//!
//! The lexer decides what is a field and what is a word. `http://x`, `10:30`, `std::fs`, `C:\x` and `localhost:8080`
//! are words; `autor:knuth` is a mistake, and the message names the closest fields.

use std::ops::Range;

use ken_core::{FIELDS, Field, FieldKind, FieldNames, Glob, GlobPart};

use super::error::QueryError;
use super::modifiers::{self, DEFAULT_DISTANCE, Quoted};
use super::pattern::{self, Mark};
use super::tree::{Nearness, Piece};
use strsim::osa_distance;

/// A token and its range in the query.
pub(super) type SpannedToken = (Token, Range<usize>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    End,
    Open,
    Close,
    Or,
    Xor,
    And,
    Not,
    /// `NEAR/5`, `ADJ/5`
    Near(Nearness),
    /// `*` alone.
    All,
    /// A field; its value starts where the token ends.
    Field(Field),
    /// `query:`; the name of a saved query follows.
    Saved,
    /// `part:`; a group follows.
    Part,
    /// `issub:`; 0 or 1 follows, as in Recoll.
    Sub,
    Word {
        glob: Glob,
        /// What follows the word and changes its meaning: `~1`, `^2`.
        suffix: Range<usize>,
        anchors: Anchors,
    },
    Quoted {
        quoted: Quoted,
        /// The quoted text as one value, for fields without words.
        whole: Glob,
    },
    /// A regular expression, without its slashes.
    Regex(String),
    /// `^2` after a parenthesis or quote.
    Boost,
}

/// Where in the value of a field a word must be: `^word`, `word$`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Anchors {
    pub(super) start: bool,
    pub(super) end: bool,
}

/// What precedes a colon in addresses without `//`.
const SCHEMES: [&str; 6] = ["mailto", "tel", "urn", "doi", "data", "about"];

/// Returns the first token at or after `from`.
pub(super) fn token(
    query: &str,
    from: usize,
    names: &FieldNames,
) -> Result<SpannedToken, QueryError> {
    let mut at = from;
    loop {
        let rest = &query[at..];
        at += rest.len() - rest.trim_start().len();
        let rest = &query[at..];
        let mut characters = rest.chars();
        let one = |token| Ok((token, at..at + 1));
        match characters.next() {
            None => return Ok((Token::End, at..at)),
            Some('(') => return one(Token::Open),
            Some(')') => return one(Token::Close),
            Some('"') => return quoted(query, at),
            Some('^') if at == from && is_boost(query, at) => return Ok(boost(query, at)),
            Some('-') => match characters.next() {
                // A dash between words is punctuation.
                None | Some(')') => at += 1,
                Some(next) if next.is_whitespace() => at += 1,
                // People look for `--verbose` in manuals.
                Some('-') => return Ok(word(query, at, query.len())),
                Some(_) => return one(Token::Not),
            },
            Some('|') if rest.starts_with("||") => return Ok((Token::Or, at..at + 2)),
            Some('&') if rest.starts_with("&&") => return Ok((Token::And, at..at + 2)),
            Some(_) => {
                return match field(query, at, names)? {
                    Some(field) => Ok(field),
                    None => word_or_operator(query, at),
                };
            }
        }
    }
}

/// Returns the value that starts exactly at `at`. Spaces, the end and `)` are not values.
pub(super) fn value(query: &str, at: usize) -> Result<Option<SpannedToken>, QueryError> {
    match query[at..].chars().next() {
        None | Some(')') => Ok(None),
        Some(c) if c.is_whitespace() => Ok(None),
        Some('(') => Ok(Some((Token::Open, at..at + 1))),
        Some('"') => quoted(query, at).map(Some),
        Some(_) => word_or_regex(query, at).map(Some),
    }
}

/// Returns the name of a saved query that starts exactly at `at`, if there is one.
pub(super) fn saved_name(
    query: &str,
    at: usize,
) -> Result<Option<(String, Range<usize>)>, QueryError> {
    Ok(match value(query, at)? {
        Some((Token::Word { .. }, range)) => Some((query[range.clone()].to_owned(), range)),
        Some((Token::Quoted { quoted, .. }, range)) => {
            Some((quoted.phrase.literal().unwrap_or("").to_owned(), range))
        }
        _ => None,
    })
}

fn word_or_operator(query: &str, at: usize) -> Result<SpannedToken, QueryError> {
    let (token, range) = word_or_regex(query, at)?;
    let source = &query[range.clone()];
    let operator = match source {
        "OR" => Token::Or,
        "XOR" => Token::Xor,
        "AND" => Token::And,
        "NOT" => Token::Not,
        "*" | "**" => Token::All,
        _ => match near(source) {
            Some(nearness) => Token::Near(nearness),
            None if is_near(source) => {
                return Err(QueryError {
                    query: query.to_owned(),
                    at: range,
                    message: "NEAR needs a distance of at least 1".into(),
                    hint: Some("write a NEAR/5 b; NEAR/1 is the next word".into()),
                });
            }
            None => return Ok((token, range)),
        },
    };
    Ok((operator, range))
}

/// Reads `NEAR`, `NEAR/5`, `ADJ`, `ADJ/5`. The number is the greatest distance in words, as in Xapian.
pub(super) fn near(source: &str) -> Option<Nearness> {
    let (name, distance) = match source.split_once('/') {
        Some((name, digits)) => (name, digits.parse().ok().filter(|n| *n > 0)?),
        None => (source, DEFAULT_DISTANCE),
    };
    let ordered = match name {
        "NEAR" => false,
        "ADJ" | "ONEAR" => true,
        _ => return None,
    };
    let slop = distance - 1;
    Some(Nearness { slop, ordered })
}

/// Returns whether this is an operator of nearness with an invalid number.
fn is_near(source: &str) -> bool {
    let Some((name, digits)) = source.split_once('/') else {
        return false;
    };
    near(name).is_some() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn word_or_regex(query: &str, at: usize) -> Result<SpannedToken, QueryError> {
    match regex(query, at) {
        Some(found) => Ok(found),
        None => Ok(word(query, at, query.len())),
    }
}

/// Reads `/…/`. A path is not an expression: its slashes go on, or text follows the last one.
fn regex(query: &str, start: usize) -> Option<SpannedToken> {
    let inside = query[start..].strip_prefix('/')?;
    let mut text = String::new();
    let mut characters = inside.char_indices();
    while let Some((offset, character)) = characters.next() {
        match character {
            '/' => {
                let end = start + 1 + offset + 1;
                let ends = query[end..]
                    .chars()
                    .next()
                    .is_none_or(|c| c.is_whitespace() || matches!(c, ')' | '^'));
                return (ends && !text.is_empty()).then_some((Token::Regex(text), start..end));
            }
            '\\' => match characters.next()? {
                (_, '/') => text.push('/'),
                (_, other) => text.extend(['\\', other]),
            },
            c if c.is_whitespace() => return None,
            c => text.push(c),
        }
    }
    None
}

/// Reads up to a space, a quote or a parenthesis, but not beyond `limit`.
///
/// A backslash takes away the meaning of the next character: of any character at the start of the word, and of
/// punctuation and spaces inside it. So `C:\Users` keeps its backslash and `\section` loses it.
pub(super) fn word(query: &str, start: usize, limit: usize) -> SpannedToken {
    let mut marks: Vec<Mark> = Vec::new();
    let mut offsets = Vec::new();
    let mut end = limit;
    let mut characters = query[start..limit].char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        let at = start + offset;
        let ends = character.is_whitespace() && !is_in_number(query, at..at + character.len_utf8());
        if ends || matches!(character, '"' | '(' | ')') {
            end = at;
            break;
        }
        offsets.push(at);
        if character == '\\' {
            let escaped = characters.next_if(|(_, next)| {
                at == start || next.is_ascii_punctuation() || next.is_whitespace()
            });
            marks.push((escaped.map_or('\\', |(_, next)| next), true));
        } else {
            marks.push((character, false));
        }
    }
    let kept = marks.len() - suffix_length(&marks);
    let suffix = offsets.get(kept).copied().unwrap_or(end)..end;
    let (marks, anchors) = anchored(&marks[..kept]);
    let glob = pattern::glob(marks);
    let word = Token::Word {
        glob,
        suffix,
        anchors,
    };
    (word, start..end)
}

/// Returns whether a space groups the digits of a number.
fn is_in_number(query: &str, space: Range<usize>) -> bool {
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    query[space.clone()].starts_with(is_space_in_numbers)
        && is_digit(query[..space.start].chars().next_back())
        && is_digit(query[space.end..].chars().next())
}

/// Returns whether a character is a space that is written only within numbers and between words that belong together:
/// narrow ones, and those without a line end.
pub(crate) fn is_space_in_numbers(character: char) -> bool {
    matches!(character, '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}')
}

/// Removes `^` from the start and `$` from the end, if there is something between them.
///
/// After digits and capitals `$` is an amount of money, as in `100$` and `US$`. It is an anchor there only if `^` is
/// at the start.
pub(super) fn anchored(marks: &[Mark]) -> (&[Mark], Anchors) {
    let mut inside = marks;
    let mut anchors = Anchors::default();
    if let [('^', false), rest @ ..] = inside
        && !rest.is_empty()
    {
        (inside, anchors.start) = (rest, true);
    }
    if let [rest @ .., ('$', false)] = inside
        && !rest.is_empty()
        && (anchors.start || !is_money(rest))
    {
        (inside, anchors.end) = (rest, true);
    }
    (inside, anchors)
}

/// Returns whether the last word has a digit, or only capitals as letters.
fn is_money(marks: &[Mark]) -> bool {
    let backwards = marks.iter().rev().map(|(character, _)| *character);
    let word = || backwards.clone().take_while(|c| !c.is_whitespace());
    word().any(char::is_numeric)
        || word().any(char::is_alphabetic)
            && !word().any(|c| c.is_alphabetic() && !c.is_uppercase())
}

/// Returns how many characters at the end are suffixes: `~`, `~1`, `^2`, `^0.5`, or several of them.
fn suffix_length(marks: &[Mark]) -> usize {
    let mut length = 0;
    for sign in ['^', '~'] {
        let rest = &marks[..marks.len() - length];
        let numeric = |&&(c, escaped): &&Mark| !escaped && (c.is_ascii_digit() || c == '.');
        let mut digits = rest.iter().rev().take_while(numeric).count();
        // A negative weight is a mistake, not a word.
        let is_minus = |at: usize| sign == '^' && rest[at - 1] == ('-', false);
        if digits > 0 && digits < rest.len() && is_minus(rest.len() - digits) {
            digits += 1;
        }
        let at = rest.len() - digits;
        let is_sign = at > 1 && rest[at - 1] == (sign, false);
        if is_sign && (sign == '~' || digits > 0) {
            length += digits + 1;
        }
    }
    length
}

/// Returns whether `^2` follows a parenthesis or quote immediately.
fn is_boost(query: &str, at: usize) -> bool {
    let before = query[..at].chars().next_back();
    before.is_some_and(|c| !c.is_whitespace() && c != '(') && {
        let number = query[at + 1..].trim_start_matches('-');
        number.starts_with(|c: char| c.is_ascii_digit())
    }
}

fn boost(query: &str, at: usize) -> SpannedToken {
    let rest = &query[at + 1..];
    let length = rest
        .find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-'))
        .unwrap_or(rest.len());
    (Token::Boost, at..at + 1 + length)
}

fn quoted(query: &str, start: usize) -> Result<SpannedToken, QueryError> {
    let mut marks: Vec<Mark> = Vec::new();
    let mut characters = query[start + 1..].char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        match character {
            '"' => {
                let end = start + 1 + offset + 1;
                // Values that are compared whole have no anchors: `^` and `$` are ordinary characters there.
                let mut whole = pattern::glob(&marks);
                let (inside, anchors) = anchored(&marks);
                let mut quoted = modifiers::quoted(pieces(inside), query, end)?;
                quoted.modifiers.at_start = anchors.start;
                quoted.modifiers.at_end = anchors.end;
                if quoted.phrase.prefix_last {
                    whole.push(GlobPart::Many);
                }
                let end = quoted.end;
                return Ok((Token::Quoted { quoted, whole }, start..end));
            }
            '\\' => {
                let meaning = |c: char| matches!(c, '"' | '\\' | '*' | '?' | '[' | ']' | '^' | '$');
                let escaped = characters.next_if(|(_, next)| meaning(*next));
                marks.push((escaped.map_or('\\', |(_, next)| next), true));
            }
            _ => marks.push((character, false)),
        }
    }
    Err(QueryError {
        query: query.to_owned(),
        at: start..start + 1,
        message: "the quote is not closed".into(),
        hint: Some("end the phrase with \", or write \\\" for the character".into()),
    })
}

/// Splits quoted text into words that are patterns and the text between them.
fn pieces(marks: &[Mark]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text: Vec<Mark> = Vec::new();
    let flush = |text: &mut Vec<Mark>, pieces: &mut Vec<Piece>, trim: bool| {
        let read: String = text.drain(..).map(|(c, _)| c).collect();
        let read = if trim { read.trim().to_owned() } else { read };
        if !read.is_empty() {
            pieces.push(Piece::Text(read));
        }
    };
    for chunk in marks.chunk_by(|a, b| a.0.is_whitespace() == b.0.is_whitespace()) {
        let glob = pattern::glob(chunk);
        if glob.literal().is_some() {
            text.extend(chunk);
            continue;
        }
        flush(&mut text, &mut pieces, true);
        pieces.push(match glob.prefix() {
            Some("") => Piece::Gap,
            _ => Piece::Glob(glob),
        });
    }
    let trim = !pieces.is_empty();
    flush(&mut text, &mut pieces, trim);
    pieces
}

/// Returns the field whose name and operator are at `at`; `None` if there is a word.
fn field(query: &str, at: usize, names: &FieldNames) -> Result<Option<SpannedToken>, QueryError> {
    let rest = &query[at..];
    let is_name = |c: char| c.is_alphabetic() || c == '_';
    let name_end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(name_end);
    let range = |length| at..at + name_end + length;
    let after_colon = rest.strip_prefix(':').unwrap_or("");
    if rest.starts_with(':') && !after_colon.starts_with(':') {
        match name.to_ascii_lowercase().as_str() {
            "query" => return Ok(Some((Token::Saved, range(1)))),
            "part" if after_colon.starts_with('(') => return Ok(Some((Token::Part, range(1)))),
            "issub" if has_value(after_colon) => return Ok(Some((Token::Sub, range(1)))),
            _ => {}
        }
    }
    let known = names.field(name);
    let length = match (rest.as_bytes().first(), known) {
        (Some(b':'), _) if is_word_with_colon(name, after_colon, known, names) => None,
        (Some(b':'), None) => match qualified(after_colon, names) {
            Some((field, length)) => return Ok(Some((Token::Field(field), range(1 + length)))),
            None => return Err(unknown_field(query, at..at + name_end, names)),
        },
        (Some(b':'), Some(_)) => Some(1),
        (Some(b'<' | b'>'), Some(field)) if is_range(field) && has_value(&rest[1..]) => Some(0),
        (Some(b'='), Some(_)) if has_value(&rest[1..]) && !rest[1..].starts_with(['=', '>']) => {
            Some(1)
        }
        _ => None,
    };
    let field = known.zip(length);
    Ok(field.map(|(field, length)| (Token::Field(field), range(length))))
}

/// Reads the rest of a name of several parts, `dc:title:`. The last part is the field.
fn qualified(rest: &str, names: &FieldNames) -> Option<(Field, usize)> {
    let (name, _) = rest.split_once(':')?;
    let length = name.len() + 1;
    match names.field(name) {
        Some(field) => Some((field, length)),
        None if name.chars().all(|c| c.is_alphabetic() || c == '_') => {
            let (field, more) = qualified(&rest[length..], names)?;
            Some((field, length + more))
        }
        None => None,
    }
}

fn is_range(field: Field) -> bool {
    matches!(
        field.info().kind,
        FieldKind::Date | FieldKind::Size | FieldKind::Number
    )
}

fn has_value(rest: &str) -> bool {
    rest.chars()
        .next()
        .is_some_and(|c| !c.is_whitespace() && c != ')')
}

/// Returns whether a name with a colon is a word and not a field.
fn is_word_with_colon(name: &str, rest: &str, known: Option<Field>, names: &FieldNames) -> bool {
    // `std::fs`, `file::open`
    if rest.starts_with(':') {
        return true;
    }
    // `http://…`, and also `file://…`, though `file` is a field
    if rest.starts_with("//") {
        return known.is_none_or(|field| field.info().kind != FieldKind::Path);
    }
    if known.is_some() {
        return false;
    }
    // `C:\x`, the colon of a sentence, `mailto:…`
    if name.chars().nth(1).is_none() || !has_value(rest) {
        return true;
    }
    if is_scheme(name) {
        return true;
    }
    // `localhost:8080`, but not `pagse:10`
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    end > 0 && !has_value(&rest[end..]) && close_names(name, names).is_empty()
}

/// Returns whether a word before a colon begins an address, whatever follows.
fn is_scheme(name: &str) -> bool {
    SCHEMES.iter().any(|s| s.eq_ignore_ascii_case(name))
}

/// Returns whether a word before a colon has a meaning other than a custom field.
pub fn is_reserved(name: &str) -> bool {
    is_scheme(name) || ["query", "issub", "part", "http", "https", "ftp"].contains(&name)
}

fn unknown_field(query: &str, at: Range<usize>, names: &FieldNames) -> QueryError {
    let name = &query[at.clone()];
    let close = close_names(name, names);
    let hint = if close.is_empty() {
        let table = FIELDS.iter().map(|info| info.name);
        let known: Vec<&str> = table.chain(names.custom().map(|(_, name)| name)).collect();
        format!(
            "fields are {}; to search for the text itself, write it in quotes",
            known.join(", ")
        )
    } else {
        format!(
            "did you mean {}? to search for the text itself, write it in quotes",
            close.join(" or ")
        )
    };
    QueryError {
        query: query.to_owned(),
        message: format!("there is no field {name:?}"),
        hint: Some(hint),
        at,
    }
}

/// Returns up to three field names that `name` may be a misspelling of, closest first.
fn close_names<'n>(name: &str, names: &'n FieldNames) -> Vec<&'n str> {
    let name = name.to_lowercase();
    // A longer name is no field, and the time that the distance takes is quadratic.
    if name.len() > 32 {
        return Vec::new();
    }
    let allowed = if name.len() <= 3 { 1 } else { 2 };
    let mut close: Vec<(usize, &str)> = FIELDS
        .iter()
        .flat_map(|info| std::iter::once(&info.name).chain(info.aliases).copied())
        .chain(names.custom().map(|(_, name)| name))
        .map(|known| (osa_distance(&name, known), known))
        .filter(|(distance, known)| {
            *distance <= allowed && *distance < known.len()
                || name.len() >= 3 && known.starts_with(&name)
        })
        .collect();
    close.sort();
    close.into_iter().map(|(_, known)| known).take(3).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_their_field() {
        let close = |name| close_names(name, &FieldNames::TABLE);
        assert_eq!(close("autor"), ["author"]);
        assert_eq!(close("titel"), ["title"]);
        assert_eq!(close("exts"), ["ext", "text"]);
        assert!(close("localhost").is_empty());
    }
}
