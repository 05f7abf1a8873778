//! Query text → tokens.
//!
//! What is a field and what is a word is decided here: `http://x`, `10:30`, `std::fs`, `C:\x`
//! and `localhost:8080` are words; `autor:knuth` is a mistake, which names the closest fields.

use std::ops::Range;

use ken_core::{FIELDS, Field, FieldKind};

use super::error::QueryError;

/// A token and its place.
pub(super) type Placed = (Token, Range<usize>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    End,
    Open,
    Close,
    Or,
    And,
    Not,
    /// `*` on its own.
    All,
    /// A field; its value starts where the token ends.
    Field(Field),
    Word {
        text: String,
        prefix: bool,
    },
    Quoted {
        text: String,
        prefix: bool,
    },
}

/// What stands before a colon in addresses that have no `//`.
const SCHEMES: [&str; 6] = ["mailto", "tel", "urn", "doi", "data", "about"];

/// Returns the first token at or after `from`.
pub(super) fn token(query: &str, from: usize) -> Result<Placed, QueryError> {
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
            Some('-') => match characters.next() {
                // A dash between words is punctuation.
                None | Some(')') => at += 1,
                Some(next) if next.is_whitespace() => at += 1,
                // `--verbose` is what people look for in manuals.
                Some('-') => return word(query, at),
                Some(_) => return one(Token::Not),
            },
            Some('|') if rest.starts_with("||") => return Ok((Token::Or, at..at + 2)),
            Some('&') if rest.starts_with("&&") => return Ok((Token::And, at..at + 2)),
            Some(_) => {
                return match field(query, at)? {
                    Some(field) => Ok(field),
                    None => word_or_operator(query, at),
                };
            }
        }
    }
}

/// Returns the value that starts exactly at `at`; blanks, the end and `)` are no value.
pub(super) fn value(query: &str, at: usize) -> Result<Option<Placed>, QueryError> {
    match query[at..].chars().next() {
        None | Some(')') => Ok(None),
        Some(c) if c.is_whitespace() => Ok(None),
        Some('(') => Ok(Some((Token::Open, at..at + 1))),
        Some('"') => quoted(query, at).map(Some),
        Some(_) => word(query, at).map(Some),
    }
}

fn word_or_operator(query: &str, at: usize) -> Result<Placed, QueryError> {
    let (token, place) = word(query, at)?;
    let operator = match &query[place.clone()] {
        "OR" => Token::Or,
        "AND" => Token::And,
        "NOT" => Token::Not,
        "*" => Token::All,
        _ => return Ok((token, place)),
    };
    Ok((operator, place))
}

/// Reads up to a blank, a quote or a parenthesis.
///
/// A backslash takes away the meaning of what follows: of anything at the start of the word,
/// of punctuation and blanks inside. So `C:\Users` keeps its backslash and `\section` loses it.
fn word(query: &str, start: usize) -> Result<Placed, QueryError> {
    let mut text = String::new();
    let mut star = None;
    let mut end = query.len();
    let mut characters = query[start..].char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        let at = start + offset;
        if character.is_whitespace() || matches!(character, '"' | '(' | ')') {
            end = at;
            break;
        }
        if let Some(star) = star {
            return Err(star_inside(query, star));
        }
        match character {
            '*' => star = Some(at),
            '\\' => {
                let escaped = characters.next_if(|(_, next)| {
                    at == start || next.is_ascii_punctuation() || next.is_whitespace()
                });
                text.push(escaped.map_or('\\', |(_, next)| next));
            }
            _ => text.push(character),
        }
    }
    let prefix = star.is_some();
    Ok((Token::Word { text, prefix }, start..end))
}

fn star_inside(query: &str, at: usize) -> QueryError {
    QueryError {
        query: query.to_owned(),
        at: at..at + 1,
        message: "`*` stands only at the end of a word".into(),
        hint: Some("write \\* to look for the star itself".into()),
    }
}

fn quoted(query: &str, start: usize) -> Result<Placed, QueryError> {
    let mut text = String::new();
    let mut characters = query[start + 1..].char_indices().peekable();
    while let Some((offset, character)) = characters.next() {
        match character {
            '"' => {
                let mut end = start + 1 + offset + 1;
                let prefix = query[end..].starts_with('*');
                end += usize::from(prefix);
                return Ok((Token::Quoted { text, prefix }, start..end));
            }
            '\\' => {
                let escaped = characters.next_if(|(_, next)| matches!(next, '"' | '\\'));
                text.push(escaped.map_or('\\', |(_, next)| next));
            }
            _ => text.push(character),
        }
    }
    Err(QueryError {
        query: query.to_owned(),
        at: start..start + 1,
        message: "the quote is not closed".into(),
        hint: Some("end the phrase with \", or write \\\" for the character".into()),
    })
}

/// Returns the field whose name and operator stand at `at`; `None` if a word does.
fn field(query: &str, at: usize) -> Result<Option<Placed>, QueryError> {
    let rest = &query[at..];
    let name_end = rest
        .find(|c: char| !c.is_alphabetic() && c != '_')
        .unwrap_or(rest.len());
    let (name, rest) = rest.split_at(name_end);
    let known = Field::from_name(name);
    let after = |length| Some(at + name_end + length);
    let value_start = match (rest.as_bytes().first(), known) {
        (Some(b':'), _) if is_word_with_colon(name, &rest[1..], known) => None,
        (Some(b':'), None) => return Err(unknown_field(query, at..at + name_end)),
        (Some(b':'), Some(_)) => after(1),
        (Some(b'<' | b'>'), Some(field)) if is_range(field) && has_value(&rest[1..]) => after(0),
        (Some(b'='), Some(_)) if has_value(&rest[1..]) && !rest[1..].starts_with(['=', '>']) => {
            after(1)
        }
        _ => None,
    };
    Ok(known
        .zip(value_start)
        .map(|(field, end)| (Token::Field(field), at..end)))
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

/// Tells words that hold a colon from fields.
fn is_word_with_colon(name: &str, rest: &str, known: Option<Field>) -> bool {
    // `std::fs`, `file::open`
    if rest.starts_with(':') {
        return true;
    }
    // `http://…`; also `file://…`, though `file` is a field
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
    if SCHEMES.iter().any(|s| s.eq_ignore_ascii_case(name)) {
        return true;
    }
    // `localhost:8080`, but not `pagse:10`
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    end > 0 && !has_value(&rest[end..]) && close_names(name).is_empty()
}

fn unknown_field(query: &str, at: Range<usize>) -> QueryError {
    let name = &query[at.clone()];
    let close = close_names(name);
    let hint = if close.is_empty() {
        let names: Vec<&str> = FIELDS.iter().map(|info| info.name).collect();
        format!(
            "fields are {}; to look for the text itself, write it in quotes",
            names.join(", ")
        )
    } else {
        format!(
            "did you mean {}? to look for the text itself, write it in quotes",
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

/// Returns up to three names of fields that `name` may be a slip for, closest first.
fn close_names(name: &str) -> Vec<&'static str> {
    let name = name.to_lowercase();
    // Longer than any name, and the distance is quadratic.
    if name.len() > 32 {
        return Vec::new();
    }
    let allowed = if name.len() <= 3 { 1 } else { 2 };
    let mut close: Vec<(usize, &'static str)> = FIELDS
        .iter()
        .flat_map(|info| std::iter::once(&info.name).chain(info.aliases))
        .map(|known| (distance(&name, known), *known))
        .filter(|(distance, known)| {
            *distance <= allowed && *distance < known.len()
                || name.len() >= 3 && known.starts_with(&name)
        })
        .collect();
    close.sort();
    close.into_iter().map(|(_, known)| known).take(3).collect()
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours between two
/// words (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_find_their_field() {
        assert_eq!(close_names("autor"), ["author"]);
        assert_eq!(close_names("titel"), ["title"]);
        assert_eq!(close_names("exts"), ["ext", "text"]);
        assert!(close_names("localhost").is_empty());
    }
}
