//! Turns words and quoted text of another language into trees.

use ken_core::{Field, FieldKind, Glob, GlobPart};

use super::super::tree::{Clause, Phrase, Piece, Tree, Value};

/// Returns the clause for a value of a field, or for a word without a field.
pub(super) fn clause(field: Option<Field>, value: Value) -> Tree {
    Tree::Clause(Clause::new(field, value))
}

/// Returns the tree for the same value in any of several fields.
pub(super) fn in_one_of(fields: &[Field], value: &Value) -> Tree {
    let clauses = fields
        .iter()
        .map(|field| clause(Some(*field), value.clone()));
    Tree::or(clauses.collect())
}

/// Returns the value of words that match only as written, without their other forms.
pub(super) fn as_it_stands(text: &str) -> Value {
    Value::Phrase(Phrase::new(text))
}

/// Returns the tree with words that match only as written, without their other forms.
pub fn without_forms(tree: Tree) -> Tree {
    let all = |parts: Vec<Tree>| parts.into_iter().map(without_forms).collect();
    match tree {
        Tree::Clause(Clause {
            field,
            value: Value::Word(word),
            ..
        }) if field.is_none_or(|field| field.info().kind == FieldKind::Text) => {
            clause(field, as_it_stands(&word))
        }
        Tree::All | Tree::Clause(_) => tree,
        Tree::And(parts) => Tree::And(all(parts)),
        Tree::Or(parts) => Tree::Or(all(parts)),
        Tree::Near(parts, nearness) => Tree::Near(all(parts), nearness),
        Tree::Xor(left, right) => Tree::Xor(
            Box::new(without_forms(*left)),
            Box::new(without_forms(*right)),
        ),
        Tree::Not(part) => Tree::Not(Box::new(without_forms(*part))),
        Tree::Boost(part, boost) => Tree::Boost(Box::new(without_forms(*part)), boost),
        Tree::Thread(part) => Tree::Thread(Box::new(without_forms(*part))),
        Tree::Part(part) => Tree::Part(Box::new(without_forms(*part))),
    }
}

/// Reads a pattern by the rules of the shell, where `*`, `?` and `[…]` are always wildcards.
pub(super) fn glob(text: &str) -> Glob {
    let mut glob = Glob(Vec::new());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        let (part, next) = match character {
            '*' => (GlobPart::Many, after),
            '?' => (GlobPart::One, after),
            '[' => match class(after) {
                Some((class, next)) => (class, next),
                None => (GlobPart::Literal("[".into()), after),
            },
            other => (GlobPart::Literal(other.to_string()), after),
        };
        glob.push(part);
        rest = next;
    }
    glob
}

/// Reads what follows `[`, and returns what follows `]`.
fn class(text: &str) -> Option<(GlobPart, &str)> {
    let (inside, rest) = text.split_once(']')?;
    let stripped = inside.strip_prefix(['!', '^']);
    let negated = stripped.is_some();
    let mut characters = stripped.unwrap_or(inside).chars().peekable();
    let mut ranges = Vec::new();
    while let Some(first) = characters.next() {
        let mut last = first;
        if characters.next_if_eq(&'-').is_some() {
            last = characters.next()?;
        }
        if first > last {
            return None;
        }
        ranges.push((first, last));
    }
    let part = match ranges.as_slice() {
        [] => return None,
        // A set of one character is that character, as each pattern has only one form.
        [(first, last)] if first == last && !negated => GlobPart::Literal(first.to_string()),
        _ => GlobPart::Class { negated, ranges },
    };
    Some((part, rest))
}

/// Returns the value for a pattern: a word, a prefix, or the pattern itself.
pub(super) fn value_of(glob: Glob) -> Value {
    match (glob.literal(), glob.prefix()) {
        (Some(word), _) => Value::Word(word.to_owned()),
        (_, Some(prefix)) => Value::Prefix(prefix.to_owned()),
        _ => Value::Glob(glob),
    }
}

/// Returns the pieces of a phrase with words that may be patterns.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for word in text.split_whitespace() {
        let glob = glob(word);
        let piece = match (glob.literal(), glob.prefix()) {
            (Some(_), _) => {
                if let Some(Piece::Text(before)) = pieces.last_mut() {
                    before.push(' ');
                    before.push_str(word);
                    continue;
                }
                Piece::Text(word.to_owned())
            }
            (_, Some("")) => Piece::Gap,
            _ => Piece::Glob(glob),
        };
        pieces.push(piece);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lose_their_forms_and_values_do_not_change() {
        let tree = super::super::Syntax::Ken.parse("a OR -title:b type:message x*");
        let expected =
            r#"(or (phrase "a") (and (not (title (phrase "b"))) (type "message") (prefix "x")))"#;
        assert_eq!(without_forms(tree.unwrap()).to_string(), expected);
    }

    #[test]
    fn patterns_are_read_as_a_shell_does() {
        for text in ["a*b?", "[ab]c", "x[!a-z]", "*"] {
            assert_eq!(glob(text).to_string(), text);
            assert_eq!(glob(text).literal(), None);
        }
        for text in ["a[", "a[]", "a]", "[z-a]", "[a-", "[a-]"] {
            assert_eq!(glob(text).literal(), Some(text));
        }
        assert_eq!(glob("a[0]").literal(), Some("a0"));
    }
}
