//! Builds a syntax tree from tokens: operators, groups and clauses. The module [`value`] reads the values.

mod value;

use std::ops::Range;

use ken_core::{Field, FieldKind, Glob};

use super::error::QueryError;
use super::lexer::{self, SpannedToken, Token};
use super::modifiers::Quoted;
use super::names::Names;
use super::tree::{Boost, Clause, Modifiers, Nearness, Tree, Value};
use super::values;

/// The deepest nesting, as functions walk trees recursively; people nest three deep.
pub(super) const MAX_DEPTH: usize = 64;
/// The most clauses: more than a person writes, and fewer than make an engine slow.
pub(crate) const MAX_CLAUSES: usize = 1024;
/// The longest query in bytes; longer ones are files pasted by mistake.
pub(super) const MAX_BYTES: usize = 64 << 10;

/// Parses a query that uses only the built-in fields.
///
/// # Errors
/// Fails if the query is empty or has a mistake; the error names its position.
pub fn parse(query: &str) -> Result<Tree, QueryError> {
    parse_with(query, Names::default())
}

/// Parses a query that may use saved queries and custom fields.
///
/// # Errors
/// Fails as [`parse`] does.
pub fn parse_with(query: &str, names: Names<'_>) -> Result<Tree, QueryError> {
    Parser::new(query, names).whole_query()
}

struct Parser<'a> {
    query: &'a str,
    names: Names<'a>,
    /// The names of the saved queries around this one.
    within: Vec<&'a str>,
    /// The next token and its range.
    token: Token,
    at: Range<usize>,
    /// The field whose group is being read.
    field: Option<Field>,
    depth: usize,
    clauses: usize,
}

impl<'a> Parser<'a> {
    fn new(query: &'a str, names: Names<'a>) -> Self {
        Self {
            query,
            names,
            within: Vec::new(),
            token: Token::End,
            at: 0..0,
            field: None,
            depth: 0,
            clauses: 0,
        }
    }

    fn whole_query(&mut self) -> Result<Tree, QueryError> {
        if self.query.len() > MAX_BYTES {
            return Err(too_long());
        }
        self.advance()?;
        if self.token == Token::End {
            return self.fail("the query is empty", "write a word, or * for all documents");
        }
        let tree = self.or()?;
        match self.token {
            Token::End => Ok(tree),
            _ => self.fail(
                "the closing parenthesis has no opening one",
                "write \\) for the character",
            ),
        }
    }

    /// Reads the saved query whose name follows.
    fn saved_query(&mut self) -> Result<Tree, QueryError> {
        let start = self.at.start;
        let named = lexer::saved_name(self.query, self.at.end)?;
        let (name, range) = named.unwrap_or_else(|| (String::new(), self.at.clone()));
        let at = start..range.end;
        if name.is_empty() {
            let message = "a name is missing after query:";
            let hint = "write it without a space, as in query:name, or query\\: for the word";
            return Err(self.failure(at, message, hint));
        }
        let Some((name, text)) = self.names.saved.get_key_value(&name) else {
            return Err(self.unknown_query(at, &name));
        };
        if self.within.contains(&name.as_str()) {
            let message = format!("the saved query {name:?} refers to itself");
            return Err(self.failure(at, message, "remove query: from it"));
        }
        let mut inner = Parser::new(text, self.names);
        inner.within.clone_from(&self.within);
        inner.within.push(name);
        (inner.depth, inner.clauses) = (self.depth, self.clauses);
        let tree = inner.whole_query().map_err(|error| {
            let message = format!("in the saved query {name:?} ({text}): {}", error.message);
            self.failure(at, message, error.hint.unwrap_or_default())
        })?;
        self.clauses = inner.clauses;
        self.at.end = range.end;
        self.advance()?;
        Ok(tree)
    }

    /// Reads Recoll's `issub:1`, which finds documents inside files, and `issub:0`, which finds the others.
    fn sub(&mut self) -> Result<Tree, QueryError> {
        let start = self.at.end;
        let (_, range) = lexer::word(self.query, start, self.query.len());
        let member = Value::Word("member".to_owned());
        let member = Tree::Clause(Clause::new(Some(Field::Is), member));
        let tree = match &self.query[range.clone()] {
            "0" => Tree::not(member),
            "1" => member,
            _ => {
                let message = "issub: is 0 or 1";
                return Err(self.failure(range, message, "write is:member or -is:member"));
            }
        };
        self.at.end = range.end;
        self.advance()?;
        Ok(tree)
    }

    fn unknown_query(&self, at: Range<usize>, name: &str) -> QueryError {
        let names: Vec<&str> = self.names.saved.keys().map(String::as_str).collect();
        let hint = match names.as_slice() {
            [] => "name queries in [queries] of the configuration file".to_owned(),
            names => format!("saved queries are {}", names.join(", ")),
        };
        self.failure(at, format!("there is no saved query {name:?}"), hint)
    }

    fn advance(&mut self) -> Result<(), QueryError> {
        (self.token, self.at) = lexer::token(self.query, self.at.end, self.names.fields)?;
        Ok(())
    }

    fn or(&mut self) -> Result<Tree, QueryError> {
        let mut parts = vec![self.xor()?];
        while self.operator("or") {
            self.advance()?;
            parts.push(self.xor()?);
        }
        Ok(Tree::or(parts))
    }

    fn xor(&mut self) -> Result<Tree, QueryError> {
        let mut tree = self.and()?;
        let mut chain = 0;
        while self.operator("xor") {
            chain += 1;
            if self.depth + chain > MAX_DEPTH {
                return self.fail("the query is nested too deeply", "use fewer XORs");
            }
            self.advance()?;
            tree = Tree::Xor(Box::new(tree), Box::new(self.and()?));
        }
        Ok(tree)
    }

    fn and(&mut self) -> Result<Tree, QueryError> {
        let mut parts = vec![self.near()?];
        loop {
            if matches!(self.token, Token::Close | Token::End)
                || self.operator("or")
                || self.operator("xor")
            {
                return Ok(Tree::and(parts));
            }
            if self.operator("and") {
                self.advance()?;
                // `not` is an operator only here; elsewhere it is an ordinary word.
                if self.operator("not") {
                    self.token = Token::Not;
                }
            }
            parts.push(self.near()?);
        }
    }

    /// Returns whether the next token is this operator. Capitals and signs always count; small letters count only
    /// before something that the operator can join.
    fn operator(&self, name: &str) -> bool {
        match (&self.token, name) {
            (Token::Or, "or") | (Token::Xor, "xor") | (Token::And, "and") => true,
            (Token::Word { .. }, _) => {
                self.query[self.at.clone()].eq_ignore_ascii_case(name) && self.joins()
            }
            _ => false,
        }
    }

    /// Returns the nearness that the next token asks for; small letters need a number.
    fn nearness(&self) -> Option<Nearness> {
        match &self.token {
            Token::Near(nearness) => Some(*nearness),
            Token::Word { .. } => {
                let word = &self.query[self.at.clone()];
                let found = word
                    .contains('/')
                    .then(|| lexer::near(&word.to_uppercase()));
                found.flatten().filter(|_| self.joins())
            }
            _ => None,
        }
    }

    /// Returns whether something that an operator can join follows the next token.
    fn joins(&self) -> bool {
        let next = lexer::token(self.query, self.at.end, self.names.fields).map(|(token, _)| token);
        !matches!(
            next,
            Ok(Token::End | Token::Close | Token::Or | Token::Xor | Token::And | Token::Near(_))
        )
    }

    /// Reads words near each other, with one kind of nearness at a time.
    fn near(&mut self) -> Result<Tree, QueryError> {
        let first = self.boosted()?;
        let Some(nearness) = self.nearness() else {
            return Ok(first);
        };
        let operator = self.at.clone();
        let mut parts = vec![first];
        while let Some(next) = self.nearness() {
            if next != nearness {
                let hint =
                    "write the same operator between all of them, or put parentheses around one";
                return self.fail("two different NEAR operators side by side", hint);
            }
            self.advance()?;
            parts.push(self.boosted()?);
        }
        let mut field = None;
        for part in &parts {
            if !is_words(part, &mut field) {
                let message = "NEAR needs words or phrases of one field on both sides";
                let hint = "write a NEAR/5 b, \"a b\" NEAR c, (a OR b) NEAR c or title:(a NEAR b)";
                return Err(self.failure(operator, message, hint));
            }
        }
        Ok(Tree::Near(parts, nearness))
    }

    fn boosted(&mut self) -> Result<Tree, QueryError> {
        let tree = self.unary()?;
        if self.token != Token::Boost {
            return Ok(tree);
        }
        let boost = self.boost(self.at.clone())?;
        self.advance()?;
        Ok(Tree::Boost(Box::new(tree), boost))
    }

    fn boost(&self, at: Range<usize>) -> Result<Boost, QueryError> {
        let number = self.query[at.clone()]
            .trim_start_matches('^')
            .parse::<f64>();
        match number {
            Ok(number) if (0.001..=1000.0).contains(&number) => {
                Ok(Boost((number * 1000.0).round() as u32))
            }
            _ => Err(self.failure(
                at,
                "a weight is a number from 0.001 to 1000",
                "write it as in budget^2, or \\^ for the character",
            )),
        }
    }

    fn unary(&mut self) -> Result<Tree, QueryError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("the query is nested too deeply", "use fewer parentheses");
        }
        let tree = match self.token {
            Token::Not => {
                self.advance()?;
                Tree::not(self.boosted()?)
            }
            Token::Open => self.group()?,
            Token::Field(field) => self.field_value(field)?,
            Token::Part => self.carried()?,
            Token::Saved => self.saved_query()?,
            Token::Sub => self.sub()?,
            Token::All => {
                self.advance()?;
                self.all()
            }
            Token::Word { .. } | Token::Quoted { .. } | Token::Regex(_) => {
                let placed = (self.token.clone(), self.at.clone());
                let tree = self.clause(placed)?;
                self.advance()?;
                tree
            }
            Token::Or
            | Token::Xor
            | Token::And
            | Token::Near(_)
            | Token::Boost
            | Token::Close
            | Token::End => return self.nothing_here(),
        };
        self.depth -= 1;
        Ok(tree)
    }

    /// Returns what `*` means: every document, or every document with the field.
    fn all(&self) -> Tree {
        self.field.map_or(Tree::All, |field| {
            Tree::Clause(Clause::new(Some(field), values::anything(field)))
        })
    }

    fn group(&mut self) -> Result<Tree, QueryError> {
        let open = self.at.clone();
        self.advance()?;
        if self.token == Token::Close {
            let at = open.start..self.at.end;
            let hint = "write \\( and \\) for the characters";
            return Err(self.failure(at, "there is nothing between the parentheses", hint));
        }
        let tree = self.or()?;
        if self.token != Token::Close {
            let hint = "write \\( for the character";
            return Err(self.failure(open, "the parenthesis is not closed", hint));
        }
        self.advance()?;
        Ok(tree)
    }

    /// Reads what follows a field: a value, or a group of values for that field.
    fn field_value(&mut self, field: Field) -> Result<Tree, QueryError> {
        let at = self.at.clone();
        let Some((token, range)) = lexer::value(self.query, at.end)? else {
            let message = format!("a value is missing after {:?}", &self.query[at.clone()]);
            let hint = format!("write it without a space, as in {}", field.info().example);
            return Err(self.failure(at, message, hint));
        };
        let around = self.field;
        self.field = match field {
            Field::Thread if token == Token::Open => None,
            Field::Thread => Some(Field::Msgid),
            field => Some(field),
        };
        let is_group = token == Token::Open;
        let tree = if is_group {
            (self.token, self.at) = (token, range);
            self.group()?
        } else {
            self.at = range.clone();
            let tree = self.clause((token, range))?;
            self.advance()?;
            tree
        };
        self.field = around;
        Ok(match (field, tree) {
            (Field::Thread, tree) if is_group => Tree::Thread(Box::new(tree)),
            (Field::Thread, tree) => Tree::Thread(Box::new(naming(tree))),
            (_, tree) => tree,
        })
    }

    /// Reads a condition on the parts of messages, in any field.
    fn carried(&mut self) -> Result<Tree, QueryError> {
        let around = self.field.take();
        self.advance()?;
        let tree = self.group()?;
        self.field = around;
        Ok(Tree::Part(Box::new(tree)))
    }

    fn clause(&mut self, (token, at): SpannedToken) -> Result<Tree, QueryError> {
        self.clauses += 1;
        if self.clauses > MAX_CLAUSES {
            let message = format!("the query has more than {MAX_CLAUSES} words");
            let too_much = at.start..self.query.len();
            return Err(failure(self.query, too_much, message, None));
        }
        match token {
            Token::Quoted { quoted, whole } => match self.quoted_range(&at) {
                Some((range, end)) => {
                    self.at.end = end;
                    Ok(self.tree(range))
                }
                None => self.quoted(at, quoted, whole),
            },
            // The path of a folder may have slashes at both ends.
            Token::Regex(regex) if self.is_path() && !is_expression(&regex) => {
                let (token, at) = lexer::word(self.query, at.start, self.query.len());
                self.at = at.clone();
                self.clause((token, at))
            }
            Token::Regex(regex) => self.regex(&at, regex).map(|value| self.tree(value)),
            Token::Word {
                glob,
                suffix,
                anchors,
            } => self.word(&at, glob, suffix, anchors),
            _ => self.nothing_here(),
        }
    }

    fn tree(&self, value: Value) -> Tree {
        Tree::Clause(Clause::new(self.field, value))
    }

    fn is_path(&self) -> bool {
        let kind = self.field.map(|field| field.info().kind);
        kind == Some(FieldKind::Path)
    }

    /// Returns whether the field is searched by words and not by whole values.
    fn is_text(&self) -> bool {
        self.field
            .is_none_or(|field| field.info().kind == FieldKind::Text)
    }

    /// Reads quoted text and what follows the closing quote.
    fn quoted(&self, at: Range<usize>, quoted: Quoted, whole: Glob) -> Result<Tree, QueryError> {
        let Quoted {
            phrase,
            mut modifiers,
            weight,
            ..
        } = quoted;
        if phrase.pieces.is_empty() || phrase.is_blank() {
            let hint = "write \\\" for the character";
            return Err(self.failure(at, "there is nothing between the quotes", hint));
        }
        if !self.is_text() {
            // Values are compared whole: an anchor is an ordinary character.
            (modifiers.at_start, modifiers.at_end) = (false, false);
        }
        if modifiers != Modifiers::default() && !self.is_text() {
            let message = "this field is compared as a whole, not word by word";
            let hint = format!("remove {} after the quote", modifiers.letters());
            return Err(self.failure(at, message, hint));
        }
        let tree = match self.field.filter(|_| !self.is_text()) {
            Some(field) => self.whole(field, &at, whole)?,
            None => Tree::Clause(Clause {
                field: self.field,
                value: Value::Phrase(phrase),
                modifiers,
            }),
        };
        match weight {
            Some(weight) => Ok(Tree::Boost(Box::new(tree), self.boost(weight)?)),
            None => Ok(tree),
        }
    }

    fn nothing_here<T>(&self) -> Result<T, QueryError> {
        let before = self.query[..self.at.start].split_whitespace().next_back();
        match (&self.token, before) {
            (Token::Or | Token::Xor | Token::And | Token::Near(_), None | Some("(")) => self.fail(
                format!("a word is missing before {}", &self.query[self.at.clone()]),
                "write the operator between two words, or in lowercase for the word itself",
            ),
            (_, Some(operator)) => self.fail(
                format!("a word is missing after {operator}"),
                "write it in quotes to search for the word itself",
            ),
            (_, None) => self.fail("a word is missing", "write \\) for the character"),
        }
    }

    fn fail<T>(&self, message: impl Into<String>, hint: &str) -> Result<T, QueryError> {
        Err(self.failure(self.at.clone(), message, hint))
    }

    fn failure(
        &self,
        at: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> QueryError {
        failure(self.query, at, message.into(), Some(hint.into()))
    }
}

/// Returns the error for a query that is too long.
pub(super) fn too_long() -> QueryError {
    let message = format!("the query is longer than {} KiB", MAX_BYTES >> 10);
    failure("", 0..0, message, None)
}

/// Returns whether a tree has only words, phrases and alternatives of them, all in one field.
pub(super) fn is_words(tree: &Tree, field: &mut Option<Option<Field>>) -> bool {
    match tree {
        Tree::Clause(clause) => {
            let of = clause.field;
            of.is_none_or(|field| field.info().kind == FieldKind::Text)
                && *field.get_or_insert(of) == of
        }
        Tree::Or(parts) => parts.iter().all(|part| is_words(part, field)),
        _ => false,
    }
}

pub(super) fn failure(
    query: &str,
    at: Range<usize>,
    message: String,
    hint: Option<String>,
) -> QueryError {
    QueryError {
        query: query.to_owned(),
        at,
        message,
        hint,
    }
}

/// Returns the tree for the messages that have an identifier or refer to it.
fn naming(tree: Tree) -> Tree {
    match tree {
        Tree::Clause(clause) => {
            let references = Clause {
                field: Some(Field::References),
                ..clause.clone()
            };
            Tree::or(vec![Tree::Clause(clause), Tree::Clause(references)])
        }
        tree => tree,
    }
}

/// Returns whether text between slashes is a regular expression and not a path.
fn is_expression(text: &str) -> bool {
    text.contains(['^', '$', '|', '+', '(', ')', '{', '}', '\\'])
}
