//! What the query languages of mail programs share: they find only messages, know mail folders, and ask for things
//! that only an index of mail keeps.

use std::ops::Range;

use ken_core::{Field, Kind, MessageStateInfo, expression};

use super::super::error::QueryError;
use super::super::tree::{Tree, Value};
use super::super::values;
use super::fault;
use super::words::{clause, in_one_of};

/// Returns the tree limited to messages. Words also match in attached messages; other conditions and exclusions apply
/// only to messages that are not attached.
pub(super) fn messages(tree: Tree) -> Tree {
    let message = clause(
        Some(Field::Type),
        Value::Word(Kind::Message.name().to_owned()),
    );
    let kinds = match is_words(&tree) {
        true => message,
        false => Tree::and(vec![message, Tree::Not(Box::new(attachment()))]),
    };
    match tree {
        Tree::All => kinds,
        tree => Tree::and(vec![tree, kinds]),
    }
}

/// Returns whether a query asks for nothing but words of the text.
fn is_words(tree: &Tree) -> bool {
    match tree {
        Tree::Clause(clause) => matches!(clause.field, None | Some(Field::Body)),
        Tree::And(parts) | Tree::Or(parts) | Tree::Near(parts, _) => parts.iter().all(is_words),
        Tree::Boost(part, _) => is_words(part),
        Tree::All | Tree::Not(_) | Tree::Xor(..) | Tree::Thread(_) | Tree::Part(_) => false,
    }
}

fn attachment() -> Tree {
    clause(Some(Field::Is), Value::Word("attachment".to_owned()))
}

/// Returns the tree for messages that have a part with the value in the field.
pub(super) fn attached(field: Field, value: Value) -> Tree {
    Tree::Part(Box::new(clause(Some(field), value)))
}

/// Returns the tree for the threads of messages with an identifier.
pub(super) fn threads_of(id: &Value) -> Tree {
    let named = in_one_of(&[Field::Msgid, Field::References], id);
    Tree::Thread(Box::new(named))
}

/// Returns the tree for messages in a state.
pub(super) fn state(row: &MessageStateInfo) -> Tree {
    let field = if row.is_value { Field::Is } else { Field::Has };
    clause(Some(field), Value::Word(row.name.to_owned()))
}

/// Returns the value of a date, size or number field.
pub(super) fn range(
    query: &str,
    at: Range<usize>,
    field: Field,
    text: &str,
) -> Result<Tree, QueryError> {
    match values::range(field, text, false) {
        Ok(value) => Ok(in_one_of(&[field], &value)),
        Err(wrong) => Err(fault(query, at, wrong.message, &wrong.hint)),
    }
}

/// Returns the regular expression between the slashes.
pub(super) fn regex(query: &str, at: Range<usize>, text: &str) -> Result<String, QueryError> {
    let unescaped = text.replace("\\/", "/");
    match expression::compile(&format!("(?i){unescaped}")) {
        Ok(_) => Ok(unescaped),
        Err(error) => {
            let message = format!("invalid regular expression: {error}");
            let hint = "see https://docs.rs/regex for the syntax";
            Err(fault(query, at, message, hint))
        }
    }
}

/// Returns where the regular expression that starts at `at` ends, with its last slash: before a space, a parenthesis
/// or the end.
pub(super) fn regex_end(query: &str, at: usize) -> Option<usize> {
    let inside = query[at..].strip_prefix('/')?;
    let mut escaped = false;
    for (offset, character) in inside.char_indices() {
        match character {
            c if c.is_whitespace() => return None,
            '/' if !escaped && offset > 0 => {
                let end = at + 1 + offset + 1;
                let next = query[end..].chars().next();
                if next.is_none_or(|c| c.is_whitespace() || c == ')') {
                    return Some(end);
                }
            }
            _ => {}
        }
        escaped = character == '\\' && !escaped;
    }
    None
}

/// Returns the error for a property of messages that ken's index does not keep.
pub(super) fn unsupported(query: &str, at: Range<usize>, what: &str) -> QueryError {
    let message = format!("ken does not keep {what}");
    fault(query, at, message, "leave this condition out")
}
