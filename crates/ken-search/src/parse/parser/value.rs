//! Reads the value of one clause, by the kind of its field.

use std::ops::Range;

use ken_core::{Field, FieldKind, Glob, GlobPart, expression};

use super::Parser;
use crate::parse::error::QueryError;
use crate::parse::lexer::{self, Anchors};
use crate::parse::tree::{Clause, Tree, Value};
use crate::parse::values;

/// The number of words in the longest date: `1 year 2 months 3 days ago`.
const DATE_WORDS: usize = 7;

impl Parser<'_> {
    pub(super) fn regex(&self, at: &Range<usize>, regex: String) -> Result<Value, QueryError> {
        let takes = self.is_text()
            || self.field.is_some_and(|field| {
                field == Field::Path || field.info().kind == FieldKind::Keyword
            });
        if !takes {
            let message = "a regular expression has no meaning in this field";
            return Err(self.failure(at.clone(), message, "write a value or a range"));
        }
        match expression::compile(&format!("(?i){regex}")) {
            Ok(_) => Ok(Value::Regex(regex)),
            Err(error) => {
                let message = format!("invalid regular expression: {error}");
                let hint = "correct or shorten it, or write \\/ for the character";
                Err(self.failure(at.clone(), message, hint))
            }
        }
    }

    pub(super) fn pattern(&self, at: &Range<usize>, glob: Glob) -> Result<Value, QueryError> {
        match expression::compile(&glob.to_regex()) {
            Ok(_) => Ok(Value::Glob(glob)),
            Err(error) => {
                let message = format!("invalid pattern: {error}");
                Err(self.failure(at.clone(), message, "write fewer ? after a *"))
            }
        }
    }

    pub(super) fn word(
        &mut self,
        at: &Range<usize>,
        mut glob: Glob,
        suffix: Range<usize>,
        anchors: Anchors,
    ) -> Result<Tree, QueryError> {
        if let Some(list) = self.list(at)? {
            return Ok(list);
        }
        let source = &self.query[at.clone()];
        if let Some(range) = self.field.and_then(|field| values::terms(field, source)) {
            let range = range.map_err(|fault| self.place_fault(at, source, fault))?;
            return Ok(self.tree(range));
        }
        let Some(field) = self.field.filter(|_| !self.is_text()) else {
            return self.text_word(at, glob, suffix, anchors);
        };
        // Values are compared whole: an anchor is an ordinary character.
        if anchors.start {
            let mut whole = Glob(vec![GlobPart::Literal("^".to_owned())]);
            glob.0.into_iter().for_each(|part| whole.push(part));
            glob = whole;
        }
        if anchors.end {
            glob.push(GlobPart::Literal("$".to_owned()));
        }
        glob.push(GlobPart::Literal(self.query[suffix].to_owned()));
        let mut at = at.clone();
        if let Some(end) = self.date_end(field, &at) {
            at.end = end;
            self.at.end = end;
            glob = Glob(vec![GlobPart::Literal(self.query[at.clone()].to_owned())]);
        }
        self.whole(field, &at, glob)
    }

    /// Reads a range that starts with a quoted date, and returns where it ends: `"last month"..`, `"2 weeks ago".."3
    /// days ago"`.
    pub(super) fn quoted_range(&self, at: &Range<usize>) -> Option<(Value, usize)> {
        let field = self.field?;
        if field.info().kind != FieldKind::Date {
            return None;
        }
        let (from, rest) = self.query[at.start..].strip_prefix('"')?.split_once('"')?;
        let rest = rest.strip_prefix("..")?;
        let (to, rest) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => {
                let ends = |c: char| c.is_whitespace() || matches!(c, '(' | ')');
                rest.split_at(rest.find(ends).unwrap_or(rest.len()))
            }
        };
        let range = format!("{from}..{to}").replace(' ', "_");
        let range = values::range(field, &range, self.names.month_first).ok()?;
        Some((range, self.query.len() - rest.len()))
    }

    /// Returns where a date of several words ends: `last month`, `3 days ago`. The longest date counts. Returns `None`
    /// if the first word is the whole date. After a first word of digits alone any word may follow.
    fn date_end(&self, field: Field, at: &Range<usize>) -> Option<usize> {
        let source = &self.query[at.clone()];
        let is_date = |text: &str| values::range(field, text, self.names.month_first).is_ok();
        let is_name = source.bytes().all(|byte| byte.is_ascii_alphabetic());
        if field.info().kind != FieldKind::Date || is_date(source) && !is_name {
            return None;
        }
        let mut end = at.end;
        let mut found = None;
        for _ in 1..DATE_WORDS {
            let rest = &self.query[end..];
            let n_spaces = rest.len() - rest.trim_start().len();
            let part_of = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | ',' | '-');
            let rest = &rest[n_spaces..];
            let length = rest.find(|c| !part_of(c)).unwrap_or(rest.len());
            let ends = rest[length..]
                .chars()
                .next()
                .is_none_or(|c| c.is_whitespace() || c == ')');
            if n_spaces == 0 || length == 0 || !ends {
                break;
            }
            end += n_spaces + length;
            if is_date(&self.query[at.start..end]) {
                found = Some(end);
            }
        }
        found
    }

    /// Reads a word of text with its suffix: `word~1`, `word^2`.
    fn text_word(
        &self,
        at: &Range<usize>,
        glob: Glob,
        suffix: Range<usize>,
        anchors: Anchors,
    ) -> Result<Tree, QueryError> {
        let caret = self.query[suffix.clone()]
            .find('^')
            .map(|found| suffix.start + found);
        let fuzzy = suffix.start..caret.unwrap_or(suffix.end);
        let value = match (glob.literal(), glob.prefix()) {
            (Some(word), _) if !fuzzy.is_empty() => {
                let distance = match &self.query[fuzzy.start + 1..fuzzy.end] {
                    "" | "1" => 1,
                    "2" => 2,
                    _ => {
                        let hint = "write word~1 or word~2, or \\~ for the character";
                        return Err(self.failure(
                            fuzzy,
                            "the distance of a fuzzy word is 1 or 2",
                            hint,
                        ));
                    }
                };
                Value::Fuzzy(word.to_owned(), distance)
            }
            (Some(""), _) if self.field.is_some() => return Ok(self.all()),
            (Some(word), _) => Value::Word(word.to_owned()),
            _ if !fuzzy.is_empty() => {
                let hint = "write one of them, or \\~ for the character";
                return Err(self.failure(at.clone(), "a pattern cannot be fuzzy as well", hint));
            }
            (_, Some("")) => return Ok(self.all()),
            (_, Some(prefix)) => Value::Prefix(prefix.to_owned()),
            _ => self.pattern(at, glob)?,
        };
        let mut clause = Clause::new(self.field, value);
        // `Floor` is a name, and `floor` is a word with other forms.
        clause.modifiers.at_start = anchors.start;
        clause.modifiers.at_end = anchors.end;
        clause.modifiers.unstemmed =
            matches!(&clause.value, Value::Word(word) if word.starts_with(char::is_uppercase));
        let tree = Tree::Clause(clause);
        match caret {
            Some(caret) => {
                let boost = self.boost(caret..suffix.end)?;
                Ok(Tree::Boost(Box::new(tree), boost))
            }
            None => Ok(tree),
        }
    }

    /// Reads `author:knuth/lamport` (one of them) and `author:knuth,lamport` (all of them, or one of them if documents
    /// have only one value).
    pub(super) fn list(&mut self, at: &Range<usize>) -> Result<Option<Tree>, QueryError> {
        let Some(field) = self.field else {
            return Ok(None);
        };
        let source = &self.query[at.clone()];
        let signs: &[char] = match field {
            // Media types have a slash.
            Field::Mime | Field::Has => &[','],
            field if values::slash_separates(field) => &[',', '/'],
            _ => &[],
        };
        let found = signs.iter().find(|sign| source.contains(**sign));
        let Some(separator) = found.copied() else {
            return Ok(None);
        };
        let other = if separator == ',' { '/' } else { ',' };
        let plain = !source.contains(['\\', '~', '^', ':'])
            && (matches!(field, Field::Mime | Field::Has) || !source.contains(other))
            && source.split(separator).all(|item| !item.is_empty());
        if !plain {
            return Ok(None);
        }
        let mut parts = Vec::new();
        let mut start = at.start;
        for item in source.split(separator) {
            let end = start + item.len();
            parts.push(self.clause(lexer::word(self.query, start, end))?);
            start = end + 1;
        }
        let several = field.info().kind == FieldKind::Text
            || matches!(field, Field::Is | Field::Has | Field::Tag);
        Ok(Some(if separator == ',' && several {
            Tree::and(parts)
        } else {
            Tree::or(parts)
        }))
    }

    /// Reads a value that is taken whole: a keyword, path, date, size or number.
    pub(super) fn whole(
        &self,
        field: Field,
        at: &Range<usize>,
        glob: Glob,
    ) -> Result<Tree, QueryError> {
        let kind = field.info().kind;
        let tree = |value| Tree::Clause(Clause::new(Some(field), value));
        let Some(text) = glob.literal() else {
            return match kind {
                _ if glob.prefix() == Some("") => Ok(tree(values::anything(field))),
                FieldKind::Keyword | FieldKind::Path | FieldKind::Text => {
                    Ok(tree(match glob.prefix() {
                        Some(prefix) => Value::Prefix(values::bare(field, prefix).to_owned()),
                        None => self.pattern(at, glob)?,
                    }))
                }
                FieldKind::Date | FieldKind::Size | FieldKind::Number => {
                    let message =
                        format!("`*` has no meaning in {}:", self.names.fields.name(field));
                    let hint = format!("write a range, as in {}", field.info().example);
                    Err(self.failure(at.clone(), message, hint))
                }
            };
        };
        if text.is_empty() {
            return Ok(tree(values::anything(field)));
        }
        let fault = |fault| self.place_fault(at, text, fault);
        match kind {
            FieldKind::Text | FieldKind::Path => Ok(tree(Value::Word(text.to_owned()))),
            FieldKind::Keyword => values::keyword(field, text, self.names.fields)
                .map(|(field, value)| Tree::Clause(Clause::new(Some(field), value)))
                .map_err(fault),
            FieldKind::Date | FieldKind::Size | FieldKind::Number => {
                values::range(field, text, self.names.month_first)
                    .map(tree)
                    .map_err(fault)
            }
        }
    }

    /// Maps the position of a fault in a value to the query. If quotes or escapes shift positions, it becomes the
    /// whole value.
    fn place_fault(&self, at: &Range<usize>, text: &str, fault: values::Fault) -> QueryError {
        let at = if &self.query[at.clone()] == text {
            at.start + fault.at.start..at.start + fault.at.end
        } else {
            at.clone()
        };
        self.failure(at, fault.message, fault.hint)
    }
}
