//! Queries as s-expressions (notmuch-sexp-queries(7)).
//!
//! A term in a field means what the same term means in the usual language, so each is read there; operators, modifiers
//! and macros are combined here.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use ken_core::Field;
use ken_search::parse::{Clause, Names, Syntax, Tree, Value};
use ken_search::service::Error as SearchError;

use super::Error;

/// The deepest nesting, also of macros.
const MAX_DEPTH: usize = 100;
/// The most atoms after macros are replaced.
const MAX_ATOMS: usize = 10_000;

/// A part of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sexp {
    Atom { text: String, is_quoted: bool },
    List(Vec<Self>),
}

/// How the queries in a field are combined, and what its values are.
struct FieldRow {
    name: &'static str,
    any: bool,
    has_regex: bool,
}

const fn row(name: &'static str, any: bool, has_regex: bool) -> FieldRow {
    FieldRow {
        name,
        any,
        has_regex,
    }
}

const FIELDS: [FieldRow; 14] = [
    row("attachment", false, false),
    row("body", false, false),
    row("folder", true, true),
    row("from", false, true),
    row("id", true, true),
    row("is", false, true),
    row("mid", true, true),
    row("mimetype", false, false),
    row("path", true, true),
    row("property", false, true),
    row("subject", false, true),
    row("tag", false, true),
    row("thread", true, true),
    row("to", false, false),
];

/// Reads a query.
///
/// # Errors
/// Fails if it has a mistake.
pub(super) fn tree(
    text: &str,
    names: Names<'_>,
    settings: &BTreeMap<String, String>,
) -> Result<Tree, Error> {
    let expression = read(text)?;
    let mut reader = Reader {
        names,
        settings,
        n_atoms: 0,
    };
    let tree = reader.query(&expression, None, names.nested)?;
    Ok(Tree::and(vec![tree, reader.infix("*")?]))
}

struct Reader<'r> {
    names: Names<'r>,
    settings: &'r BTreeMap<String, String>,
    n_atoms: usize,
}

impl Reader<'_> {
    fn infix(&self, text: &str) -> Result<Tree, Error> {
        let parsed = Syntax::Notmuch.parse_with(text, self.names);
        Ok(parsed.map_err(SearchError::from)?)
    }

    /// Reads a query in the usual language, which may hold expressions.
    fn nested(&self, text: &str, depth: usize) -> Result<Tree, Error> {
        let names = Names {
            nested: depth,
            ..self.names
        };
        let parsed = Syntax::Notmuch.parse_with(text, names);
        Ok(parsed.map_err(SearchError::from)?)
    }

    fn query(
        &mut self,
        expression: &Sexp,
        field: Option<&str>,
        depth: usize,
    ) -> Result<Tree, Error> {
        self.n_atoms += 1;
        if depth > MAX_DEPTH || self.n_atoms > MAX_ATOMS {
            return Err(Error::syntax("the query is nested too deeply"));
        }
        match expression {
            Sexp::Atom { text, is_quoted } => self.term(text, *is_quoted, field),
            Sexp::List(items) => {
                let Some((head, rest)) = items.split_first() else {
                    return Ok(Tree::All);
                };
                let Sexp::Atom { text: head, .. } = head else {
                    return Err(Error::syntax("unexpected list in field/operation position"));
                };
                self.compound(head, rest, field, depth + 1)
            }
        }
    }

    /// Returns the field of a header that the configuration makes searchable.
    fn own_field(&self, name: &str) -> Option<Field> {
        let mut custom = self.names.fields.custom();
        custom.find(|(_, own)| *own == name).map(|(field, _)| field)
    }

    fn compound(
        &mut self,
        head: &str,
        rest: &[Sexp],
        field: Option<&str>,
        depth: usize,
    ) -> Result<Tree, Error> {
        let all = |reader: &mut Self, field: Option<&str>| -> Result<Vec<Tree>, Error> {
            rest.iter()
                .map(|part| reader.query(part, field, depth))
                .collect()
        };
        match head {
            "and" => Ok(all_of(all(self, field)?)),
            "or" => Ok(any_of(all(self, field)?)),
            "not" => {
                let parts = all(self, field)?.into_iter();
                Ok(all_of(
                    parts.map(|part| Tree::Not(Box::new(part))).collect(),
                ))
            }
            "regex" | "rx" => self.pattern(head, rest, field),
            "starts-with" => self.prefix(rest, field),
            "matching" | "of" if field == Some("thread") => {
                let threads = all(self, None)?.into_iter();
                let threads: Vec<Tree> = threads.map(|of| Tree::Thread(Box::new(of))).collect();
                match (head, threads.len()) {
                    ("of", _) | (_, 1) => {
                        let inner = all(self, None)?;
                        Ok(Tree::Thread(Box::new(all_of(inner))))
                    }
                    _ => Ok(all_of(threads)),
                }
            }
            "matching" | "of" => {
                let field = field.unwrap_or("no field");
                Err(Error::Syntax(format!(
                    "'{head}' unsupported inside '{field}'"
                )))
            }
            "infix" | "query" if field.is_some() => {
                let field = field.unwrap_or_default();
                Err(Error::Syntax(format!(
                    "'{head}' not supported inside '{field}'"
                )))
            }
            "date" | "lastmod" if field.is_some() => {
                let field = field.unwrap_or_default();
                Err(Error::Syntax(format!(
                    "nested field: '{head}' inside '{field}'"
                )))
            }
            "infix" => {
                let text = one_atom(head, rest)?;
                let wrong = |_| Error::Syntax(format!("Syntax error in infix query: {text}"));
                self.nested(&text, depth).map_err(wrong)
            }
            "query" => {
                let name = one_atom(head, rest)?;
                self.nested(&format!("query:{}", quoted(&name)), depth)
            }
            "date" | "lastmod" => self.range(head, rest),
            "macro" => Err(Error::syntax("macro definition not permitted here")),
            _ => self.field_or_macro(head, rest, field, depth),
        }
    }

    fn field_or_macro(
        &mut self,
        head: &str,
        rest: &[Sexp],
        field: Option<&str>,
        depth: usize,
    ) -> Result<Tree, Error> {
        let row = FIELDS.iter().find(|row| row.name == head);
        let is_own = self.own_field(head).is_some();
        if row.is_some() || is_own {
            if field.is_some() {
                return Err(Error::Syntax(format!(
                    "nested field: '{head}' inside '{}'",
                    field.unwrap_or_default()
                )));
            }
            let parts = rest.iter();
            let parts: Result<Vec<Tree>, Error> = parts
                .map(|part| self.query(part, Some(head), depth))
                .collect();
            return match row.is_some_and(|row| row.any) {
                true => Ok(any_of(parts?)),
                false => Ok(all_of(parts?)),
            };
        }
        let saved = self.settings.get(&format!("squery.{head}"));
        let Some(saved) = saved else {
            return Err(Error::Syntax(format!("unknown prefix '{head}'")));
        };
        let invalid = |_| Error::Syntax(format!("invalid saved s-expression query: '{saved}'"));
        let body = expanded(&read(saved).map_err(invalid)?, head, rest)?;
        self.query(&body, field, depth)
    }

    /// Returns the tree of a term, alone or in a field.
    fn term(&mut self, text: &str, is_quoted: bool, field: Option<&str>) -> Result<Tree, Error> {
        if !is_quoted && let Some(name) = text.strip_prefix(',') {
            return Err(Error::Syntax(format!("undefined parameter '{name}'")));
        }
        if text == "*" && !is_quoted {
            return self.prefix_of("", field);
        }
        let Some(field) = field else {
            let is_word = !is_quoted && text.chars().all(char::is_alphanumeric);
            let operators = ["and", "or", "xor", "not", "near", "adj"];
            return match is_word && !operators.contains(&&*text.to_lowercase()) {
                true => self.infix(&text.to_lowercase()),
                false => self.infix(&format!("\"{}\"", text.replace('"', " "))),
            };
        };
        // The folder of all mail has no name.
        if text.is_empty() && !matches!(field, "folder" | "path") {
            let anything = self.prefix_of("", Some(field))?;
            return Ok(Tree::Not(Box::new(anything)));
        }
        let is_word = !is_quoted && text.chars().all(char::is_alphanumeric);
        match field == "body" && is_word {
            true => self.infix(&format!("body:{}", text.to_lowercase())),
            false => self.infix(&format!("{field}:{}", quoted(text))),
        }
    }

    fn pattern(&self, head: &str, rest: &[Sexp], field: Option<&str>) -> Result<Tree, Error> {
        let text = one_atom(head, rest)?;
        let row = FIELDS.iter().find(|row| Some(row.name) == field);
        match (field, row) {
            (Some(field), Some(row)) if row.has_regex => {
                self.infix(&format!("{field}:{}", quoted(&format!("/{text}/"))))
            }
            (Some(field), _) => Err(Error::Syntax(format!(
                "'{head}' not supported in field '{field}'"
            ))),
            (None, _) => Err(Error::Syntax(format!("illegal '{head}' outside field"))),
        }
    }

    fn prefix(&self, rest: &[Sexp], field: Option<&str>) -> Result<Tree, Error> {
        self.prefix_of(&one_atom("starts-with", rest)?, field)
    }

    /// Returns the tree for values or words with a start.
    fn prefix_of(&self, start: &str, field: Option<&str>) -> Result<Tree, Error> {
        let starting = |fields: &[Field]| {
            let clauses = fields.iter().map(|field| {
                let value = Value::Prefix(start.to_lowercase());
                Tree::Clause(Clause::new(Some(*field), value))
            });
            any_of(clauses.collect())
        };
        let pattern = |field: &str| {
            let start = regex_syntax::escape(start);
            self.infix(&format!("{field}:{}", quoted(&format!("/^{start}/"))))
        };
        match field {
            None if start.is_empty() => Ok(Tree::All),
            None => self.infix(&format!("{}*", start.to_lowercase())),
            Some("body") => Err(Error::syntax("'body' does not support wildcard queries")),
            Some("from") => Ok(starting(&[Field::Author])),
            Some("subject") => Ok(starting(&[Field::Title])),
            Some("to") => Ok(starting(&[Field::To, Field::Cc, Field::Bcc])),
            Some("tag" | "is") if start.is_empty() => Ok(Tree::Clause(Clause::new(
                Some(Field::Tag),
                Value::Regex(".".to_owned()),
            ))),
            Some("attachment") => {
                let name = starting(&[Field::Filename]);
                Ok(Tree::Part(Box::new(name)))
            }
            Some("mimetype") => self.infix(&format!("mimetype:{start}*")),
            Some(field) => match self.own_field(field) {
                Some(own) => Ok(starting(&[own])),
                None => pattern(field),
            },
        }
    }

    fn range(&self, head: &str, rest: &[Sexp]) -> Result<Tree, Error> {
        let mut ends = Vec::new();
        for (part, number) in rest.iter().zip(["first", "second", ""]) {
            ends.push(match part {
                _ if number.is_empty() => {
                    let message = format!("'{head}' expects maximum of two arguments");
                    return Err(Error::Syntax(message));
                }
                Sexp::List(_) => {
                    let message = format!("expected atom as {number} argument of '{head}'");
                    return Err(Error::Syntax(message));
                }
                Sexp::Atom { text, .. } if text == "*" => String::new(),
                Sexp::Atom { text, .. } => text.replace(' ', "_"),
            });
        }
        let from = ends.first().map_or("", String::as_str);
        let to = ends.get(1).map_or(from, String::as_str);
        if from.is_empty() && to.is_empty() {
            return Ok(Tree::All);
        }
        if head == "lastmod" {
            for (end, which) in [(from, "from"), (to, "to")] {
                if !end.is_empty() && end.parse::<i64>().is_err() {
                    let message = format!("bad '{which}' revision: '{end}'");
                    return Err(Error::Syntax(message));
                }
            }
        }
        let wrong = |_| {
            let date = if from.is_empty() { to } else { from };
            Error::Syntax(format!("Didn't understand date specification '{date}'"))
        };
        self.infix(&format!("{head}:{from}..{to}")).map_err(wrong)
    }
}

fn all_of(parts: Vec<Tree>) -> Tree {
    match parts.is_empty() {
        true => Tree::All,
        false => Tree::and(parts),
    }
}

fn any_of(parts: Vec<Tree>) -> Tree {
    match parts.is_empty() {
        true => Tree::Not(Box::new(Tree::All)),
        false => Tree::or(parts),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn one_atom(head: &str, rest: &[Sexp]) -> Result<String, Error> {
    match rest {
        [
            Sexp::Atom {
                text,
                is_quoted: false,
            },
        ] if text.starts_with(',') => {
            let message = format!("undefined parameter '{}'", &text[1..]);
            Err(Error::Syntax(message))
        }
        [Sexp::Atom { text, .. }] => Ok(text.clone()),
        _ => Err(Error::Syntax(format!(
            "'{head}' expects single atom as argument"
        ))),
    }
}

/// Returns the body of a macro with its parameters replaced; another expression stands for itself.
fn expanded(saved: &Sexp, name: &str, arguments: &[Sexp]) -> Result<Sexp, Error> {
    let Sexp::List(items) = saved else {
        return Ok(saved.clone());
    };
    let is_macro = |head: &Sexp| matches!(head, Sexp::Atom { text, .. } if text == "macro");
    match items.as_slice() {
        [head, Sexp::List(parameters), body] if is_macro(head) => {
            match arguments.len().cmp(&parameters.len()) {
                Ordering::Less => return Err(Error::syntax("too few arguments to macro")),
                Ordering::Greater => return Err(Error::syntax("too many arguments to macro")),
                Ordering::Equal => {}
            }
            let names = parameters.iter().map(|parameter| match parameter {
                Sexp::Atom { text, .. } => Ok(text.clone()),
                Sexp::List(_) => Err(Error::syntax("macro parameters must be unquoted atoms")),
            });
            let names: Vec<String> = names.collect::<Result<_, _>>()?;
            let bound: BTreeMap<&str, &Sexp> =
                names.iter().map(String::as_str).zip(arguments).collect();
            replaced(body, &bound)
        }
        [head, Sexp::List(_)] if is_macro(head) => Err(Error::syntax("missing body of macro")),
        [head, Sexp::List(_), ..] if is_macro(head) => {
            Err(Error::syntax("extra text after the body of macro"))
        }
        [head, ..] if is_macro(head) => Err(Error::syntax(
            "missing (possibly empty) list of arguments to macro",
        )),
        _ if arguments.is_empty() => Ok(saved.clone()),
        _ => Err(Error::Syntax(format!("'{name}' takes no arguments"))),
    }
}

fn replaced(part: &Sexp, bound: &BTreeMap<&str, &Sexp>) -> Result<Sexp, Error> {
    match part {
        Sexp::Atom {
            text,
            is_quoted: false,
        } if text.starts_with(',') => {
            let value = bound.get(&text[1..]);
            let value = value
                .ok_or_else(|| Error::Syntax(format!("undefined parameter '{}'", &text[1..])))?;
            Ok((*value).clone())
        }
        Sexp::Atom { .. } => Ok(part.clone()),
        Sexp::List(items) => {
            let items = items.iter().map(|item| replaced(item, bound));
            Ok(Sexp::List(items.collect::<Result<_, _>>()?))
        }
    }
}

/// Reads one expression.
fn read(text: &str) -> Result<Sexp, Error> {
    let invalid = || Error::Syntax(format!("invalid s-expression: '{text}'"));
    let mut open: Vec<Vec<Sexp>> = vec![Vec::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let atom = match character {
            c if c.is_whitespace() => continue,
            '(' if open.len() > MAX_DEPTH => return Err(invalid()),
            '(' => {
                open.push(Vec::new());
                continue;
            }
            ')' => {
                let items = open.pop().ok_or_else(invalid)?;
                open.last_mut().ok_or_else(invalid)?.push(Sexp::List(items));
                continue;
            }
            '"' => {
                let mut inside = String::new();
                loop {
                    match characters.next().ok_or_else(invalid)? {
                        '"' => break,
                        '\\' => inside.push(characters.next().ok_or_else(invalid)?),
                        c => inside.push(c),
                    }
                }
                Sexp::Atom {
                    text: inside,
                    is_quoted: true,
                }
            }
            first => {
                let mut word = String::from(first);
                let is_inside = |c: &char| !c.is_whitespace() && !"()\"".contains(*c);
                while let Some(c) = characters.next_if(is_inside) {
                    word.push(c);
                }
                Sexp::Atom {
                    text: word,
                    is_quoted: false,
                }
            }
        };
        open.last_mut().ok_or_else(invalid)?.push(atom);
    }
    match (open.len(), open.pop().as_deref()) {
        (1, Some([one])) => Ok(one.clone()),
        (1, Some([])) => Ok(Sexp::List(Vec::new())),
        _ => Err(invalid()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<String, String> {
        let settings = [
            (
                "squery.About",
                "(macro (name) (or (subject ,name) (tag ,name)))",
            ),
            ("squery.Loop", "(Loop)"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
        let tree = tree(text, Names::default(), &settings.into_iter().collect());
        tree.map(|tree| tree.to_string())
            .map_err(|error| error.to_string())
    }

    fn infix(text: &str) -> String {
        let parts = ["*", text].map(|text| Syntax::Notmuch.parse(text).unwrap());
        let [all, one] = parts;
        Tree::and(vec![one, all]).to_string()
    }

    #[test]
    fn terms_mean_what_they_mean_elsewhere() {
        for (sexp, text) in [
            ("wizard", "wizard"),
            ("\"quick fox\"", "\"quick fox\""),
            ("(subject \"quick fox\")", "subject:\"quick fox\""),
            ("(tag inbox)", "tag:inbox"),
            ("(from (rx Bob))", "from:/Bob/"),
            ("(infix \"a or b\")", "a or b"),
            ("(date 2009-11-18 *)", "date:2009-11-18.."),
        ] {
            assert_eq!(of(sexp).unwrap(), infix(text), "{sexp}");
        }
    }

    #[test]
    fn operators_and_macros_join() {
        let about = of("(About x)").unwrap();
        assert_eq!(about, of("(or (subject x) (tag x))").unwrap());
        assert!(of("(not a b)").unwrap().contains("not"));
        for wrong in [
            "(",
            ")",
            "a b",
            "\"a",
            "(nonesuch a)",
            "(About)",
            "(Loop)",
            "((a) b)",
        ] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
        let deep = format!("{}{}", "(and ".repeat(5000), ")".repeat(5000));
        assert!(of(&deep).is_err());
    }
}
