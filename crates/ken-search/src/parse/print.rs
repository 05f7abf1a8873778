//! Trees as text: s-expressions for tests and `--explain`, query text for people.

use std::fmt::{self, Display, Write};

use ken_core::{Bound, FieldKind, Glob, GlobPart};

use super::tree::{Boost, Clause, Modifiers, Nearness, Phrase, Piece, Tree, Value};

impl Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("(all)"),
            Self::Clause(clause) => write!(f, "{clause}"),
            Self::And(parts) => list(f, "and", parts),
            Self::Or(parts) => list(f, "or", parts),
            Self::Xor(left, right) => write!(f, "(xor {left} {right})"),
            Self::Not(part) => write!(f, "(not {part})"),
            Self::Near(parts, nearness) => list(f, &nearness.to_string(), parts),
            Self::Boost(part, boost) => write!(f, "(boost {boost} {part})"),
            Self::Thread(part) => write!(f, "(thread {part})"),
            Self::Part(part) => write!(f, "(part {part})"),
        }
    }
}

/// As in plans: the name, and how many words may stand between.
impl Display for Nearness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.ordered { "ordered" } else { "near" };
        write!(f, "{name} {}", self.slop)
    }
}

impl Display for Boost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 1000.0)
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
        if let Some(field) = self.field {
            write!(f, "({} ", field.name())?;
        }
        let set = self
            .modifiers
            .named()
            .into_iter()
            .filter(|(_, _, set)| *set);
        let anchors = [
            ("start", self.modifiers.at_start),
            ("end", self.modifiers.at_end),
        ];
        let anchors = anchors.into_iter().filter(|(_, set)| *set);
        let names = anchors
            .map(|(name, _)| name)
            .chain(set.map(|(_, name, _)| name));
        let names: Vec<&str> = names.collect();
        if names.is_empty() {
            write!(f, "{}", self.value)?;
        } else {
            write!(f, "({} {})", names.join(" "), self.value)?;
        }
        f.write_str(if self.field.is_some() { ")" } else { "" })
    }
}

impl Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) => write!(f, "{text:?}"),
            Self::Prefix(text) => write!(f, "(prefix {text:?})"),
            Self::Glob(glob) => write!(f, "(glob {glob})"),
            Self::Regex(regex) => write!(f, "(regex {regex:?})"),
            Self::Fuzzy(word, distance) => write!(f, "(fuzzy {word:?} {distance})"),
            Self::Phrase(phrase) => write!(f, "{phrase}"),
            Self::Numbers(from, to) => range_expression(f, from, to),
            Self::Dates(from, to) => range_expression(f, from, to),
            Self::Terms(from, to) => {
                f.write_str("(terms ")?;
                let quoted = |end: &Bound<String>| end.as_ref().map(|text| format!("{text:?}"));
                range_expression(f, &quoted(from), &quoted(to))?;
                f.write_str(")")
            }
        }
    }
}

impl Display for Phrase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.prefix_last {
            "(phrase-prefix"
        } else {
            "(phrase"
        })?;
        if let Some(nearness) = self.near {
            write!(f, " {nearness}")?;
        }
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => write!(f, " {text:?}")?,
                Piece::Glob(glob) => write!(f, " (glob {glob})")?,
                Piece::Gap => f.write_str(" *")?,
            }
        }
        f.write_str(")")
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

/// How tightly the forms of a query bind, loosest first.
#[derive(PartialEq, PartialOrd)]
enum Binding {
    Or,
    Xor,
    And,
    Near,
    Tight,
}

impl Tree {
    fn binding(&self) -> Binding {
        match self {
            Self::Or(_) => Binding::Or,
            Self::Xor(..) => Binding::Xor,
            Self::And(_) => Binding::And,
            Self::Near(..) => Binding::Near,
            Self::All
            | Self::Clause(_)
            | Self::Not(_)
            | Self::Boost(..)
            | Self::Thread(_)
            | Self::Part(_) => Binding::Tight,
        }
    }
}

fn write_query(text: &mut String, tree: &Tree) {
    match tree {
        Tree::All => text.push('*'),
        Tree::Clause(clause) => write_clause(text, clause),
        Tree::And(parts) => write_parts(text, parts, " ", &Binding::Near),
        Tree::Or(parts) => write_parts(text, parts, " OR ", &Binding::Xor),
        Tree::Xor(left, right) => {
            write_operand(text, left, &Binding::Xor);
            text.push_str(" XOR ");
            write_operand(text, right, &Binding::And);
        }
        Tree::Near(parts, nearness) => {
            let name = if nearness.ordered { "ADJ" } else { "NEAR" };
            let separator = format!(" {name}/{} ", u64::from(nearness.slop) + 1);
            write_parts(text, parts, &separator, &Binding::Tight);
        }
        Tree::Not(part) => {
            let start = text.len();
            text.push('-');
            write_operand(text, part, &Binding::Tight);
            // `-^2` would be a weight.
            if text[start..].starts_with("-^") {
                text.replace_range(start..=start, "NOT ");
            }
        }
        Tree::Boost(part, boost) => {
            // A weight after `-a` or `a^2` would belong to a part of it.
            let is_text = |clause: &Clause| {
                let kind = clause.field.map(|field| field.info().kind);
                kind.is_none_or(|kind| kind == FieldKind::Text)
                    && !matches!(clause.value, Value::Terms(..))
            };
            let group = !matches!(&**part, Tree::Clause(clause) if is_text(clause));
            write_group(text, part, group);
            // Writing to a String cannot fail.
            let _ = write!(text, "^{boost}");
        }
        Tree::Thread(part) => {
            text.push_str("thread:");
            write_group(text, part, true);
        }
        Tree::Part(part) => {
            text.push_str("part:");
            write_group(text, part, true);
        }
    }
}

fn write_parts(text: &mut String, parts: &[Tree], separator: &str, binding: &Binding) {
    for (number, part) in parts.iter().enumerate() {
        if number > 0 {
            text.push_str(separator);
        }
        write_operand(text, part, binding);
    }
}

/// Writes a part, in parentheses if it binds looser. More could nest deeper than is allowed.
fn write_operand(text: &mut String, tree: &Tree, binding: &Binding) {
    write_group(text, tree, tree.binding() < *binding);
}

fn write_group(text: &mut String, tree: &Tree, parentheses: bool) {
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
    let Modifiers {
        at_start, at_end, ..
    } = clause.modifiers;
    let start = text.len();
    let in_quotes = matches!(clause.value, Value::Phrase(_));
    text.push_str(if at_start && !in_quotes { "^" } else { "" });
    let end = if at_end && !in_quotes { "$" } else { "" };
    match &clause.value {
        Value::Word(word) => {
            write_word(text, word);
            text.push_str(end);
        }
        Value::Prefix(word) => {
            write_word(text, word);
            text.push('*');
            text.push_str(end);
        }
        Value::Glob(glob) => {
            write_glob(text, glob);
            text.push_str(end);
        }
        Value::Regex(regex) => {
            text.push('/');
            text.push_str(&regex.replace('/', "\\/"));
            text.push('/');
        }
        Value::Fuzzy(word, distance) => {
            write_word(text, word);
            let _ = write!(text, "{end}~{distance}");
        }
        Value::Phrase(phrase) => {
            write_phrase(text, phrase, clause.modifiers);
            text.push_str(&clause.modifiers.letters());
        }
        Value::Numbers(from, to) => write_range(text, from, to),
        Value::Dates(from, to) => write_range(text, from, to),
        Value::Terms(from, to) => {
            write_end(text, from);
            text.push_str("..");
            write_end(text, to);
        }
    }
    // Behind an anchor no letter has a meaning to take away.
    let is_letter = |c: char| c.is_alphabetic();
    if text[start..]
        .strip_prefix("^\\")
        .is_some_and(|rest| rest.starts_with(is_letter))
    {
        text.remove(start + 1);
    }
}

fn write_phrase(text: &mut String, phrase: &Phrase, modifiers: Modifiers) {
    text.push('"');
    text.push_str(if modifiers.at_start { "^" } else { "" });
    for (number, piece) in phrase.pieces.iter().enumerate() {
        if number > 0 {
            text.push(' ');
        }
        match piece {
            Piece::Text(words) => {
                for character in words.chars() {
                    if matches!(character, '"' | '\\' | '*' | '?' | '[' | ']' | '^' | '$') {
                        text.push('\\');
                    }
                    text.push(character);
                }
            }
            Piece::Glob(glob) => {
                let mut glob = glob.to_string().replace('"', "\\\"");
                // Not the anchors of the phrase.
                if number == 0 && glob.starts_with('^') {
                    glob.insert(0, '\\');
                }
                if number + 1 == phrase.pieces.len() && glob.ends_with('$') {
                    glob.insert(glob.len() - 1, '\\');
                }
                text.push_str(&glob);
            }
            Piece::Gap => text.push('*'),
        }
    }
    text.push_str(if modifiers.at_end { "$" } else { "" });
    text.push('"');
    if phrase.prefix_last {
        text.push('*');
    }
    let _ = match phrase.near {
        Some(Nearness {
            slop,
            ordered: true,
        }) => write!(text, "~{slop}"),
        Some(Nearness { slop, .. }) => write!(text, "po{slop}"),
        None => Ok(()),
    };
}

fn write_end(text: &mut String, end: &Bound<String>) {
    if let Bound::Included(word) = end {
        text.push_str(word);
    }
}

fn write_word(text: &mut String, word: &str) {
    write_glob(text, &Glob(vec![GlobPart::Literal(word.to_owned())]));
}

/// Writes a word so that nothing of it is an operator, a field, a list or a pattern that is none.
fn write_glob(text: &mut String, glob: &Glob) {
    let start = text.len();
    for part in &glob.0 {
        let GlobPart::Literal(word) = part else {
            text.push_str(&Glob(vec![part.clone()]).to_string());
            continue;
        };
        for character in word.chars() {
            let first = text.len() == start;
            let escape = match character {
                '"' | '(' | ')' | '\\' | '*' | '?' | '[' | ']' | '~' | '^' | '$' | ',' | '/' => {
                    true
                }
                '-' | '|' | '&' => first,
                // Two would be a range.
                '.' => text.ends_with('.'),
                // Could be read as the end of a field's name.
                ':' | '<' | '>' | '=' => {
                    text[start..].chars().all(|c| c.is_alphabetic() || c == '_')
                }
                _ => character.is_whitespace(),
            };
            if escape {
                text.push('\\');
            }
            text.push(character);
        }
    }
    let word = &text[start..];
    let operators = ["and", "or", "xor", "not", "near", "adj", "onear"];
    if operators.iter().any(|name| name.eq_ignore_ascii_case(word)) {
        text.insert(start, '\\');
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
