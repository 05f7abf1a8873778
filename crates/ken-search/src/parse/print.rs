//! Prints trees: as s-expressions for tests and `--explain`, as query text for people.

use std::fmt::{self, Display, Write};

use ken_core::{Bound, FieldKind, FieldNames, Glob, GlobPart, Whole};

use super::tree::{Boost, Clause, Modifiers, Nearness, Phrase, Piece, Tree, Value};
use super::values;

impl Tree {
    /// Returns the tree as an s-expression with the given names of custom fields.
    pub fn printed<'t>(&'t self, names: &'t FieldNames) -> impl Display + 't {
        Printed { tree: self, names }
    }

    /// Returns query text that parses to this tree, with the given names of fields.
    pub fn to_query(&self, names: &FieldNames) -> String {
        let mut writer = QueryWriter {
            text: String::new(),
            names,
        };
        writer.query(self);
        writer.text
    }
}

/// Prints like [`Tree::printed`], without names of custom fields.
impl Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.printed(&FieldNames::TABLE).fmt(f)
    }
}

struct Printed<'t> {
    tree: &'t Tree,
    names: &'t FieldNames,
}

impl<'t> Display for Printed<'t> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names;
        let part = |tree| Printed { tree, names };
        let list = |f: &mut fmt::Formatter<'_>, name: &str, parts: &'t [Tree]| {
            write!(f, "({name}")?;
            for of in parts {
                write!(f, " {}", part(of))?;
            }
            f.write_str(")")
        };
        match self.tree {
            Tree::All => f.write_str("(all)"),
            Tree::Clause(clause) => clause.write(f, self.names),
            Tree::And(parts) => list(f, "and", parts),
            Tree::Or(parts) => list(f, "or", parts),
            Tree::Near(parts, nearness) => list(f, &nearness.to_string(), parts),
            Tree::Xor(left, right) => write!(f, "(xor {} {})", part(left), part(right)),
            Tree::Not(of) => write!(f, "(not {})", part(of)),
            Tree::Boost(of, boost) => write!(f, "(boost {boost} {})", part(of)),
            Tree::Thread(of) => write!(f, "(thread {})", part(of)),
            Tree::Part(of) => write!(f, "(part {})", part(of)),
        }
    }
}

/// Prints as plans do: the name, and the most words between.
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

impl Clause {
    fn write(&self, f: &mut fmt::Formatter<'_>, names: &FieldNames) -> fmt::Result {
        if let Some(field) = self.field {
            write!(f, "({} ", names.name(field))?;
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
            Self::Among(values) => {
                f.write_str("(among")?;
                values
                    .iter()
                    .try_for_each(|value| write!(f, " {value:?}"))?;
                f.write_str(")")
            }
            Self::Prefix(text) => write!(f, "(prefix {text:?})"),
            Self::Glob(glob) => write!(f, "(glob {glob})"),
            Self::Regex(regex) => write!(f, "(regex {regex:?})"),
            Self::Whole(whole) => write!(f, "(whole {:?})", whole.expression),
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

/// Writes a range as [`ken_core::Plan`] does: `[1 5]`, with open ends as `]1 5[`, and `*` for no end.
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

/// How tightly the operators of a query bind, loosest first.
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

/// Writes a tree as query text.
struct QueryWriter<'n> {
    text: String,
    names: &'n FieldNames,
}

impl QueryWriter<'_> {
    fn query(&mut self, tree: &Tree) {
        match tree {
            Tree::All => self.text.push('*'),
            Tree::Clause(clause) => self.clause(clause),
            Tree::And(parts) => self.parts(parts, " ", &Binding::Near),
            Tree::Or(parts) => self.parts(parts, " OR ", &Binding::Xor),
            Tree::Xor(left, right) => {
                self.operand(left, &Binding::Xor);
                self.text.push_str(" XOR ");
                self.operand(right, &Binding::And);
            }
            Tree::Near(parts, nearness) => {
                let name = if nearness.ordered { "ADJ" } else { "NEAR" };
                let separator = format!(" {name}/{} ", u64::from(nearness.slop) + 1);
                self.parts(parts, &separator, &Binding::Tight);
            }
            Tree::Not(part) => {
                let start = self.text.len();
                self.text.push('-');
                self.operand(part, &Binding::Tight);
                // `-^2` would be a weight.
                if self.text[start..].starts_with("-^") {
                    self.text.replace_range(start..=start, "NOT ");
                }
            }
            Tree::Boost(part, boost) => {
                // A weight after `-a` or `a^2` would apply to a part of it.
                let is_text = |clause: &Clause| {
                    let kind = clause.field.map(|field| field.info().kind);
                    kind.is_none_or(|kind| kind == FieldKind::Text)
                        && !matches!(clause.value, Value::Terms(..))
                };
                let group = !matches!(&**part, Tree::Clause(clause) if is_text(clause));
                self.group(part, group);
                // Writing to a String cannot fail.
                let _ = write!(self.text, "^{boost}");
            }
            Tree::Thread(part) => {
                self.text.push_str("thread:");
                self.group(part, true);
            }
            Tree::Part(part) => {
                self.text.push_str("part:");
                self.group(part, true);
            }
        }
    }

    fn parts(&mut self, parts: &[Tree], separator: &str, binding: &Binding) {
        for (number, part) in parts.iter().enumerate() {
            if number > 0 {
                self.text.push_str(separator);
            }
            self.operand(part, binding);
        }
    }

    /// Writes a part, in parentheses if it binds looser. Needless parentheses could exceed the allowed depth.
    fn operand(&mut self, tree: &Tree, binding: &Binding) {
        self.group(tree, tree.binding() < *binding);
    }

    fn group(&mut self, tree: &Tree, parentheses: bool) {
        if parentheses {
            self.text.push('(');
        }
        self.query(tree);
        if parentheses {
            self.text.push(')');
        }
    }

    fn clause(&mut self, clause: &Clause) {
        if let Some(field) = clause.field {
            self.text.push_str(self.names.name(field));
            self.text.push(':');
        }
        let Modifiers {
            at_start, at_end, ..
        } = clause.modifiers;
        let start = self.text.len();
        let in_quotes = matches!(clause.value, Value::Phrase(_));
        self.text
            .push_str(if at_start && !in_quotes { "^" } else { "" });
        let end = if at_end && !in_quotes { "$" } else { "" };
        let is_listed = clause.field.is_some_and(values::slash_separates);
        match &clause.value {
            Value::Word(word) => {
                write_word(&mut self.text, word, is_listed);
                self.text.push_str(end);
            }
            Value::Among(values) => {
                for (number, value) in values.iter().enumerate() {
                    self.text.push_str(if number > 0 { "/" } else { "" });
                    write_word(&mut self.text, value, true);
                }
            }
            Value::Prefix(word) => {
                write_word(&mut self.text, word, is_listed);
                self.text.push('*');
                self.text.push_str(end);
            }
            Value::Glob(glob) => {
                write_glob(&mut self.text, glob, is_listed);
                self.text.push_str(end);
            }
            Value::Regex(regex)
            | Value::Whole(Whole {
                expression: regex, ..
            }) => {
                self.text.push('/');
                self.text.push_str(&regex.replace('/', "\\/"));
                self.text.push('/');
            }
            Value::Fuzzy(word, distance) => {
                write_word(&mut self.text, word, is_listed);
                let _ = write!(self.text, "{end}~{distance}");
            }
            Value::Phrase(phrase) => {
                write_phrase(&mut self.text, phrase, clause.modifiers);
                self.text.push_str(&clause.modifiers.letters());
            }
            Value::Numbers(from, to) => write_range(&mut self.text, from, to),
            Value::Dates(from, to) => write_range(&mut self.text, from, to),
            Value::Terms(from, to) => {
                write_end(&mut self.text, from);
                self.text.push_str("..");
                write_end(&mut self.text, to);
            }
        }
        // After an anchor a letter needs no backslash.
        let is_letter = |c: char| c.is_alphabetic();
        if self.text[start..]
            .strip_prefix("^\\")
            .is_some_and(|rest| rest.starts_with(is_letter))
        {
            self.text.remove(start + 1);
        }
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
                // An anchor in the pattern is not an anchor of the phrase.
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

fn write_word(text: &mut String, word: &str, is_listed: bool) {
    let glob = Glob(vec![GlobPart::Literal(word.to_owned())]);
    write_glob(text, &glob, is_listed);
}

/// Writes a word so that none of its characters reads as an operator, a field, a list or a wildcard.
fn write_glob(text: &mut String, glob: &Glob, is_listed: bool) {
    let start = text.len();
    for part in &glob.0 {
        let GlobPart::Literal(word) = part else {
            text.push_str(&Glob(vec![part.clone()]).to_string());
            continue;
        };
        for character in word.chars() {
            let first = text.len() == start;
            let escape = match character {
                '"' | '(' | ')' | '\\' | '*' | '?' | '[' | ']' | '~' | '^' | '$' | ',' => true,
                // It would separate alternatives, begin a regular expression, or be a distance: `NEAR/5`.
                '/' => is_listed || first || is_operator(&text[start..]),
                '-' | '|' | '&' => first,
                // Two dots would be a range.
                '.' => text.ends_with('.'),
                // The sign could end the name of a field.
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
    if is_operator(&text[start..]) {
        text.insert(start, '\\');
    }
}

fn is_operator(word: &str) -> bool {
    let operators = ["and", "or", "xor", "not", "near", "adj", "onear"];
    operators.iter().any(|name| name.eq_ignore_ascii_case(word))
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

#[cfg(test)]
mod tests {
    use ken_core::FieldNames;

    use crate::parse::parse;

    #[test]
    fn slashes_are_written_as_they_are_typed() {
        for (query, text) in [
            ("mime:application/pdf", "mime:application/pdf"),
            ("a/b/", "a/b/"),
            (r"dir:\/home/anna", r"dir:\/home/anna"),
            (r"near\/5", r"near\/5"),
            (r"body:a\/b*", r"body:a\/b*"),
        ] {
            let tree = parse(query).unwrap();
            assert_eq!(tree.to_query(&FieldNames::TABLE), text);
            assert_eq!(parse(text).unwrap(), tree);
        }
    }
}
