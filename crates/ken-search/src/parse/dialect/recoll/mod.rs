//! Recoll's query language.
//!
//! ```text
//! query   = any { ["AND" | "&&"] any }
//! any     = element { ("OR" | "||") element }
//! element = { "-" } [field ":"] value | "(" query ")" | "size" ("<" | ">" | "=") value
//! value   = word | quoted modifiers | list
//! ```
//!
//! OR binds tighter than AND. `mime:`, `type:`, `size`, `date:` and `issub:` filter the whole query from any position.
//! Operators are in capitals; in small letters they are words. The name of an unknown field is left out and its value
//! searched for, as in Recoll.

mod fields;
mod simple;

use std::ops::Range;

use ken_core::{Bound, Field, Glob};

use super::super::error::QueryError;
use super::super::lexer::{self, Anchors};
use super::super::modifiers;
use super::super::parser::{MAX_CLAUSES, MAX_DEPTH};
use super::super::tree::{Boost, Clause, Tree, Value};
use super::super::values;
use super::words::{clause, glob, in_one_of, pieces, value_of};
use super::{end_of_run, fault, skip_spaces};
use fields::{CATEGORIES, Filters, Target, category, decimal_size, target};
pub use simple::recoll_words;

pub(super) fn parse(query: &str) -> Result<Tree, QueryError> {
    let mut parser = Parser {
        query,
        at: 0,
        depth: 0,
        clauses: 0,
        filters: Filters::default(),
    };
    let tree = parser.all()?;
    parser.skip_spaces();
    if parser.at < query.len() {
        let message = "the closing parenthesis has no opening one";
        return Err(parser.fault(parser.at..parser.at + 1, message, "remove it"));
    }
    match (tree, std::mem::take(&mut parser.filters).tree()) {
        (Some(tree), Some(filters)) => Ok(Tree::and(vec![tree, filters])),
        (Some(tree), None) | (None, Some(tree)) => Ok(tree),
        (None, None) => {
            let at = query.len()..query.len();
            Err(parser.fault(at, "the query is empty", "write a word, or mime:* for all"))
        }
    }
}

/// What ends a word, besides spaces.
const STOPS: [char; 3] = ['"', '(', ')'];

struct Parser<'a> {
    query: &'a str,
    at: usize,
    depth: usize,
    clauses: usize,
    filters: Filters,
}

impl Parser<'_> {
    fn skip_spaces(&mut self) {
        self.at = skip_spaces(self.query, self.at);
    }

    fn fault(&self, at: Range<usize>, message: impl Into<String>, hint: &str) -> QueryError {
        fault(self.query, at, message, hint)
    }

    /// Takes one of two operators if it is the next word.
    fn takes(&mut self, operators: [&str; 2]) -> bool {
        self.skip_spaces();
        let end = end_of_run(self.query, self.at, &STOPS);
        let taken = operators.contains(&&self.query[self.at..end]);
        if taken {
            self.at = end;
        }
        taken
    }

    fn ends(&mut self) -> bool {
        self.skip_spaces();
        self.query[self.at..]
            .chars()
            .next()
            .is_none_or(|c| c == ')')
    }

    fn all(&mut self) -> Result<Option<Tree>, QueryError> {
        let mut parts = Vec::new();
        while !self.ends() {
            if !parts.is_empty() {
                self.takes(["AND", "&&"]);
            }
            parts.push(self.any()?);
        }
        let parts: Vec<Tree> = parts.into_iter().flatten().collect();
        Ok((!parts.is_empty()).then(|| Tree::and(parts)))
    }

    fn any(&mut self) -> Result<Option<Tree>, QueryError> {
        let mut parts = vec![self.element()?];
        while self.takes(["OR", "||"]) {
            parts.push(self.element()?);
        }
        let parts: Vec<Tree> = parts.into_iter().flatten().collect();
        Ok((!parts.is_empty()).then(|| Tree::or(parts)))
    }

    /// Reads an element; `None` for a filter of the whole query.
    fn element(&mut self) -> Result<Option<Tree>, QueryError> {
        self.skip_spaces();
        let start = self.at;
        let mut negated = false;
        while self.query[self.at..].starts_with('-') {
            negated = true;
            self.at += 1;
            self.skip_spaces();
        }
        if self.query[self.at..].starts_with('(') {
            if negated {
                let message = "Recoll's language has no - before a parenthesis";
                let hint = "write it before each word, or omit --syntax";
                return Err(self.fault(start..self.at + 1, message, hint));
            }
            return self.group().map(Some);
        }
        self.clauses += 1;
        if self.clauses > MAX_CLAUSES {
            let message = format!("the query has more than {MAX_CLAUSES} words");
            return Err(self.fault(start..self.at, message, "write fewer words"));
        }
        let tree = self.value(negated)?;
        Ok(tree.map(|tree| if negated { Tree::not(tree) } else { tree }))
    }

    fn group(&mut self) -> Result<Tree, QueryError> {
        let open = self.at..self.at + 1;
        self.at += 1;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let message = "the query is nested too deeply";
            return Err(self.fault(open, message, "use fewer parentheses"));
        }
        let inner = self.all()?;
        if !self.query[self.at..].starts_with(')') {
            return Err(self.fault(open, "the parenthesis is not closed", "close it"));
        }
        self.at += 1;
        self.depth -= 1;
        match inner {
            Some(tree) => Ok(tree),
            None => {
                let message = "there is no word between the parentheses";
                Err(self.fault(open.start..self.at, message, "write one"))
            }
        }
    }

    /// Reads a value with the field before it, if any.
    fn value(&mut self, negated: bool) -> Result<Option<Tree>, QueryError> {
        let start = self.at;
        if self.ends() {
            return Err(self.fault(start..start, "a word is missing here", "write one"));
        }
        let end = end_of_run(self.query, start, &STOPS);
        let source = &self.query[start..end];
        if matches!(source, "AND" | "OR" | "&&" | "||") {
            let message = format!("a word is missing beside {source}");
            return Err(self.fault(
                start..end,
                message,
                "write the word in quotes to search for it",
            ));
        }
        if let Some(comparison) = self.comparison(start, end)? {
            self.filters.push_size(comparison, negated);
            return Ok(None);
        }
        // The last colon is the one that counts.
        let Some(colon) = source.rfind(':') else {
            return self.words(&[], false).map(Some);
        };
        let name = source[..colon].to_lowercase();
        let last = name.rsplit(':').next().unwrap_or_default();
        let unsupported = |what| {
            let message = format!("{what} is unknown to ken");
            self.fault(start..start + colon, message, "leave this condition out")
        };
        let whole = target(&name).map_err(unsupported)?;
        let target = whole.or(target(last).map_err(unsupported)?);
        self.at = start + colon + 1;
        self.skip_spaces();
        if self.ends() {
            let message = format!("a value is missing after {:?}", &source[..=colon]);
            return Err(self.fault(start..start + colon + 1, message, "write one"));
        }
        match target {
            Some(Target::Words(fields)) => self.words(fields, true).map(Some),
            None => self.words(&[], true).map(Some),
            Some(Target::Whole(field)) => self.whole(field).map(Some),
            Some(Target::Dir) => {
                let (text, _) = self.plain()?;
                Ok(Some(clause(Some(Field::Dir), value_of(glob(&text)))))
            }
            Some(target) => self.filter(target, negated).map(|()| None),
        }
    }

    /// Reads `size<100`, `size>=1k`, `size=97`; ranges include their ends.
    fn comparison(&mut self, start: usize, end: usize) -> Result<Option<Value>, QueryError> {
        let source = &self.query[start..end];
        let Some(sign) = source.find(['<', '>', '=']) else {
            return Ok(None);
        };
        let name = &source[..sign];
        if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return Ok(None);
        }
        if !name.eq_ignore_ascii_case("size") {
            let message = format!("{name:?} cannot be compared");
            let hint = "only size can: size>1k; write the text in quotes to search for it";
            return Err(self.fault(start..start + sign, message, hint));
        }
        let value = source[sign + 1..].trim_start_matches('=');
        let Some(bytes) = decimal_size(value) else {
            let at = end - value.len()..end;
            let hint = "write a whole number and k, m, g or t, as in size>10k";
            return Err(self.fault(at, format!("{value:?} is not a size"), hint));
        };
        self.at = end;
        let (from, to) = match &source[sign..=sign] {
            "<" => (Bound::Unbounded, Bound::Included(bytes)),
            ">" => (Bound::Included(bytes), Bound::Unbounded),
            _ => (Bound::Included(bytes), Bound::Included(bytes)),
        };
        Ok(Some(Value::Numbers(from, to)))
    }

    /// Reads a word, a list of words after a field, or quoted words.
    fn words(&mut self, fields: &[Field], lists: bool) -> Result<Tree, QueryError> {
        let start = self.at;
        if self.query[start..].starts_with('"') {
            return self.quoted(fields);
        }
        let end = end_of_run(self.query, start, &STOPS);
        let source = &self.query[start..end];
        self.at = end;
        let separator = [',', '/'].into_iter().find(|sign| source.contains(*sign));
        let Some(separator) = separator.filter(|_| lists) else {
            let Some(range) = fields.first().and_then(|of| values::terms(*of, source)) else {
                return Ok(word(fields, source));
            };
            let range =
                range.map_err(|wrong| self.fault(start..end, wrong.message, &wrong.hint))?;
            return Ok(in_one_of(fields, &range));
        };
        let items: Vec<&str> = source
            .split(separator)
            .filter(|item| !item.is_empty())
            .collect();
        self.clauses += items.len();
        if self.clauses > MAX_CLAUSES {
            let message = format!("the query has more than {MAX_CLAUSES} words");
            return Err(self.fault(start..end, message, "write fewer words"));
        }
        let parts: Vec<Tree> = items.iter().map(|item| word(fields, item)).collect();
        match (parts.len(), separator) {
            (0, _) => Err(self.fault(start..end, "a value is missing", "write a word")),
            (_, ',') => Ok(Tree::and(parts)),
            _ => Ok(Tree::or(parts)),
        }
    }

    fn quoted(&mut self, fields: &[Field]) -> Result<Tree, QueryError> {
        let start = self.at;
        let text = self.between_quotes()?;
        let (inside, anchors) = anchored(&text);
        let mut read = modifiers::quoted(pieces(inside), self.query, self.at)?;
        read.modifiers.at_start = anchors.start;
        read.modifiers.at_end = anchors.end;
        let end = end_of_run(self.query, read.end, &STOPS);
        if end > read.end {
            let message = format!("{:?} does not modify a phrase", &self.query[read.end..end]);
            let hint = "the letters are o p l x s C D e; a number is a weight";
            return Err(self.fault(read.end..end, message, hint));
        }
        self.at = read.end;
        if text.trim().is_empty() {
            let message = "there is nothing between the quotes";
            return Err(self.fault(start..read.end, message, "write a word"));
        }
        let phrase = Value::Phrase(read.phrase);
        let mut tree = match fields {
            [] => clause(None, phrase),
            fields => in_one_of(fields, &phrase),
        };
        each_clause(&mut tree, &|clause| clause.modifiers = read.modifiers);
        let Some(weight) = read.weight else {
            return Ok(tree);
        };
        match self.query[weight.clone()].parse::<f64>() {
            Ok(number) if (0.001..=1000.0).contains(&number) => {
                let boost = Boost((number * 1000.0).round() as u32);
                Ok(Tree::Boost(Box::new(tree), boost))
            }
            _ => Err(self.fault(
                weight,
                "a weight is a number from 0.001 to 1000",
                "write 2.5",
            )),
        }
    }

    /// Reads from a quote to the next; a backslash takes away the meaning of a quote.
    fn between_quotes(&mut self) -> Result<String, QueryError> {
        let start = self.at;
        let mut text = String::new();
        let mut characters = self.query[start + 1..].char_indices().peekable();
        while let Some((offset, character)) = characters.next() {
            match character {
                '"' => {
                    self.at = start + 1 + offset + 1;
                    return Ok(text);
                }
                '\\' => {
                    let escaped = characters.next_if(|(_, next)| *next == '"');
                    text.push(escaped.map_or('\\', |(_, quote)| quote));
                }
                character => text.push(character),
            }
        }
        let message = "the quote is not closed";
        Err(self.fault(start..start + 1, message, "end the phrase with \""))
    }

    /// Reads a value as written, with its range.
    fn plain(&mut self) -> Result<(String, Range<usize>), QueryError> {
        let start = self.at;
        if self.query[start..].starts_with('"') {
            let text = self.between_quotes()?;
            return Ok((text, start..self.at));
        }
        let end = end_of_run(self.query, start, &STOPS);
        self.at = end;
        Ok((self.query[start..end].to_owned(), start..end))
    }

    fn whole(&mut self, field: Field) -> Result<Tree, QueryError> {
        let (text, at) = self.plain()?;
        let separator = [',', '/'].into_iter().find(|sign| text.contains(*sign));
        let items = text
            .split(|c| Some(c) == separator)
            .filter(|item| !item.is_empty());
        let of = |item| clause(Some(field), value_of(bare(field, item)));
        let parts: Vec<Tree> = items.map(of).collect();
        match (parts.len(), separator) {
            (0, _) => Err(self.fault(at, "a value is missing", "write one")),
            (_, Some(',')) => Ok(Tree::and(parts)),
            _ => Ok(Tree::or(parts)),
        }
    }

    fn filter(&mut self, target: Target, negated: bool) -> Result<(), QueryError> {
        let (text, at) = self.plain()?;
        match target {
            Target::Mime => {
                let value = match value_of(glob(&text)) {
                    Value::Prefix(start) if start.is_empty() => values::anything(Field::Mime),
                    value => value,
                };
                self.filters
                    .push_type(clause(Some(Field::Mime), value), negated);
            }
            Target::Category => {
                let Some(kinds) = category(&text) else {
                    let message = format!("there is no category {text:?}");
                    let names: Vec<&str> = CATEGORIES.iter().map(|(name, _)| *name).collect();
                    let hint = format!("categories are {}", names.join(", "));
                    return Err(self.fault(at, message, &hint));
                };
                for kind in kinds {
                    let value = Value::Word(kind.name().to_owned());
                    self.filters
                        .push_type(clause(Some(Field::Type), value), negated);
                }
            }
            Target::Part => {
                let member = clause(Some(Field::Is), Value::Word("member".to_owned()));
                let wanted = match text.as_str() {
                    "1" => !negated,
                    "0" => negated,
                    _ => {
                        let message = "issub is 0 or 1";
                        return Err(self.fault(at, message, "write issub:1 for parts of files"));
                    }
                };
                self.filters.part = Some(if wanted { member } else { Tree::not(member) });
            }
            Target::Date => {
                let value = values::range(Field::Date, &text, false)
                    .map_err(|fault| self.fault(at, fault.message, &fault.hint))?;
                let tree = clause(Some(Field::Date), value);
                self.filters.date = Some(if negated { Tree::not(tree) } else { tree });
            }
            _ => {
                let hint = "write size<10k, size>10k or size=10000";
                return Err(self.fault(at, "sizes can only be compared", hint));
            }
        }
        Ok(())
    }
}

fn word(fields: &[Field], source: &str) -> Tree {
    let (source, anchors) = anchored(source);
    let value = value_of(glob(source));
    if value == Value::Prefix(String::new()) {
        return match fields {
            [] => Tree::All,
            fields => in_one_of(fields, &value),
        };
    }
    let mut tree = match fields {
        [] => clause(None, value),
        fields => in_one_of(fields, &value),
    };
    // Recoll does not search for other forms of a word at an end of the text.
    let as_it_stands = source.starts_with(char::is_uppercase) || anchors.start || anchors.end;
    each_clause(&mut tree, &|clause| {
        clause.modifiers.unstemmed = as_it_stands && matches!(clause.value, Value::Word(_));
        clause.modifiers.at_start = anchors.start;
        clause.modifiers.at_end = anchors.end;
    });
    tree
}

/// Removes the anchors by the rule of ken's own language.
fn anchored(text: &str) -> (&str, Anchors) {
    let marks: Vec<_> = text.chars().map(|character| (character, false)).collect();
    let (_, anchors) = lexer::anchored(&marks);
    let inside = usize::from(anchors.start)..text.len() - usize::from(anchors.end);
    (&text[inside], anchors)
}

fn bare(field: Field, item: &str) -> Glob {
    glob(values::bare(field, item))
}

fn each_clause(tree: &mut Tree, change: &dyn Fn(&mut Clause)) {
    match tree {
        Tree::Clause(clause) => change(clause),
        Tree::Or(parts) => parts.iter_mut().for_each(|part| each_clause(part, change)),
        _ => {}
    }
}
