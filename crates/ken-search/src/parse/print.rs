//! Trees as text: s-expressions for tests and `--explain`, query text for people.

use std::fmt::{self, Display, Write};

use ken_core::{Bound, FieldKind};

use super::tree::{Clause, Tree, Value};

impl Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("(all)"),
            Self::Clause(clause) => write!(f, "{clause}"),
            Self::And(parts) => list(f, "and", parts),
            Self::Or(parts) => list(f, "or", parts),
            Self::Not(part) => write!(f, "(not {part})"),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, name: &str, parts: &[Tree]) -> fmt::Result {
    write!(f, "({name}")?;
    for part in parts {
        write!(f, " {part}")?;
    }
    f.write_str(")")
}

impl Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field {
            Some(field) => write!(f, "({} {})", field.name(), self.value),
            None => write!(f, "{}", self.value),
        }
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) => write!(f, "{text:?}"),
            Self::Prefix(text) => write!(f, "(prefix {text:?})"),
            Self::Phrase {
                text,
                prefix_last: false,
            } => write!(f, "(phrase {text:?})"),
            Self::Phrase { text, .. } => write!(f, "(phrase-prefix {text:?})"),
            Self::Numbers(from, to) => range_expression(f, from, to),
            Self::Dates(from, to) => range_expression(f, from, to),
        }
    }
}

/// Writes a range as [`ken_core::Plan`] does: `[1 5]`, open ends `]1 5[`, none `*`.
fn range_expression<T: Display>(
    f: &mut fmt::Formatter<'_>,
    from: &Bound<T>,
    to: &Bound<T>,
) -> fmt::Result {
    match from {
        Bound::Included(value) => write!(f, "[{value} ")?,
        Bound::Excluded(value) => write!(f, "]{value} ")?,
        Bound::Unbounded => f.write_str("* ")?,
    }
    match to {
        Bound::Included(value) => write!(f, "{value}]"),
        Bound::Excluded(value) => write!(f, "{value}["),
        Bound::Unbounded => f.write_str("*"),
    }
}

impl Tree {
    /// Returns query text that parses to this tree.
    pub fn to_query(&self) -> String {
        let mut text = String::new();
        write_query(&mut text, self);
        text
    }
}

fn write_query(text: &mut String, tree: &Tree) {
    match tree {
        Tree::All => text.push('*'),
        Tree::Clause(clause) => write_clause(text, clause),
        Tree::And(parts) => write_parts(text, parts, " "),
        Tree::Or(parts) => write_parts(text, parts, " OR "),
        Tree::Not(part) => {
            text.push('-');
            write_operand(text, part, matches!(**part, Tree::And(_) | Tree::Or(_)));
        }
    }
}

fn write_parts(text: &mut String, parts: &[Tree], separator: &str) {
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            text.push_str(separator);
        }
        // Only `OR` binds looser. More parentheses could nest deeper than the parser allows.
        write_operand(text, part, matches!(part, Tree::Or(_)));
    }
}

fn write_operand(text: &mut String, tree: &Tree, parentheses: bool) {
    if parentheses {
        text.push('(');
    }
    write_query(text, tree);
    if parentheses {
        text.push(')');
    }
}

fn write_clause(text: &mut String, clause: &Clause) {
    if let Some(field) = clause.field {
        text.push_str(field.name());
        text.push(':');
    }
    let is_text = clause
        .field
        .is_none_or(|field| field.info().kind == FieldKind::Text);
    match &clause.value {
        Value::Word(word) if is_text => write_word(text, word),
        Value::Word(word) => write_whole(text, word),
        Value::Prefix(word) if is_text => {
            write_word(text, word);
            text.push('*');
        }
        Value::Prefix(word) => {
            write_whole(text, word);
            text.push('*');
        }
        Value::Phrase {
            text: words,
            prefix_last,
        } => {
            write_quoted(text, words);
            if *prefix_last {
                text.push('*');
            }
        }
        Value::Numbers(from, to) => write_range(text, from, to),
        Value::Dates(from, to) => write_range(text, from, to),
    }
}

/// Writes a keyword or path, where quotes change nothing, in quotes if they are easier to read.
fn write_whole(text: &mut String, word: &str) {
    if word.contains(char::is_whitespace) && !word.trim().is_empty() {
        write_quoted(text, word);
    } else {
        write_word(text, word);
    }
}

fn write_quoted(text: &mut String, words: &str) {
    text.push('"');
    for character in words.chars() {
        if matches!(character, '"' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
    text.push('"');
}

fn write_word(text: &mut String, word: &str) {
    let operator = matches!(word, "AND" | "OR" | "NOT")
        || word.starts_with("||")
        || word.starts_with("&&")
        || word.starts_with('-');
    if operator {
        text.push('\\');
    }
    for (at, character) in word.char_indices() {
        let escape = match character {
            '"' | '(' | ')' | '\\' | '*' => true,
            // Could be read as the end of a field's name.
            ':' | '<' | '>' | '=' => word[..at].chars().all(|c| c.is_alphabetic() || c == '_'),
            _ => character.is_whitespace(),
        };
        if escape {
            text.push('\\');
        }
        text.push(character);
    }
}

fn write_range<T: Display + PartialEq>(text: &mut String, from: &Bound<T>, to: &Bound<T>) {
    // Writing to a String cannot fail.
    let _ = match (from, to) {
        (Bound::Included(a), Bound::Included(b)) if a == b => write!(text, "{a}"),
        (Bound::Included(a), Bound::Included(b)) => write!(text, "{a}..{b}"),
        (Bound::Included(a), _) => write!(text, "{a}.."),
        (Bound::Excluded(a), _) => write!(text, ">{a}"),
        (_, Bound::Included(b)) => write!(text, "..{b}"),
        (_, Bound::Excluded(b)) => write!(text, "<{b}"),
        (Bound::Unbounded, Bound::Unbounded) => write!(text, "*"),
    };
}
