//! Tokens → syntax tree.

use std::ops::Range;

use ken_core::{Field, FieldKind};

use super::error::QueryError;
use super::lexer::{self, Placed, Token};
use super::tree::{Clause, Tree, Value};
use super::values;

/// Trees are walked by recursion; people nest three deep.
const MAX_DEPTH: usize = 64;
/// More clauses than a person writes, fewer than make an engine slow.
const MAX_CLAUSES: usize = 1024;
/// Longer queries are files pasted by mistake.
const MAX_BYTES: usize = 64 << 10;

/// Reads a query. Fails if it asks for nothing, or has a mistake, which is named with its place.
pub fn parse(query: &str) -> Result<Tree, QueryError> {
    if query.len() > MAX_BYTES {
        let message = format!("the query is longer than {} KiB", MAX_BYTES >> 10);
        return Err(failure("", 0..0, message, None));
    }
    let mut parser = Parser {
        query,
        token: Token::End,
        at: 0..0,
        field: None,
        depth: 0,
        clauses: 0,
    };
    parser.advance()?;
    if parser.token == Token::End {
        return parser.fail("the query is empty", "write a word, or * for all documents");
    }
    let tree = parser.or()?;
    match parser.token {
        Token::End => Ok(tree),
        _ => parser.fail(
            "there is no parenthesis to close",
            "write \\) for the character",
        ),
    }
}

struct Parser<'a> {
    query: &'a str,
    /// The next token and its place.
    token: Token,
    at: Range<usize>,
    /// The field whose group is being read.
    field: Option<Field>,
    depth: usize,
    clauses: usize,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<(), QueryError> {
        (self.token, self.at) = lexer::token(self.query, self.at.end)?;
        Ok(())
    }

    fn or(&mut self) -> Result<Tree, QueryError> {
        let mut parts = vec![self.and()?];
        while self.token == Token::Or {
            self.advance()?;
            parts.push(self.and()?);
        }
        Ok(Tree::or(parts))
    }

    fn and(&mut self) -> Result<Tree, QueryError> {
        let mut parts = vec![self.unary()?];
        loop {
            match self.token {
                Token::Or | Token::Close | Token::End => return Ok(Tree::and(parts)),
                Token::And => self.advance()?,
                _ => {}
            }
            parts.push(self.unary()?);
        }
    }

    fn unary(&mut self) -> Result<Tree, QueryError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail("the query is nested too deeply", "take away parentheses");
        }
        let tree = match self.token {
            Token::Not => {
                self.advance()?;
                Tree::not(self.unary()?)
            }
            Token::Open => self.group()?,
            Token::Field(field) => self.field_value(field)?,
            Token::All => {
                self.advance()?;
                self.all()
            }
            Token::Word { .. } | Token::Quoted { .. } => {
                let placed = (self.token.clone(), self.at.clone());
                let tree = self.clause(placed)?;
                self.advance()?;
                tree
            }
            Token::Or | Token::And | Token::Close | Token::End => return self.nothing_here(),
        };
        self.depth -= 1;
        Ok(tree)
    }

    /// Returns what `*` means: every document, or every one that has the field.
    fn all(&self) -> Tree {
        self.field.map_or(Tree::All, |field| {
            Tree::Clause(Clause {
                field: Some(field),
                value: values::anything(field),
            })
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

    /// Reads what follows a field: a value, or a group whose words have that field.
    fn field_value(&mut self, field: Field) -> Result<Tree, QueryError> {
        let at = self.at.clone();
        let Some((token, place)) = lexer::value(self.query, at.end)? else {
            let message = format!("a value is missing after {:?}", &self.query[at.clone()]);
            let hint = format!("write it without a blank, as in {}", field.info().example);
            return Err(self.failure(at, message, hint));
        };
        let around = self.field.replace(field);
        let tree = if token == Token::Open {
            (self.token, self.at) = (token, place);
            self.group()?
        } else {
            self.at = place.clone();
            let tree = self.clause((token, place))?;
            self.advance()?;
            tree
        };
        self.field = around;
        Ok(tree)
    }

    fn clause(&mut self, (token, at): Placed) -> Result<Tree, QueryError> {
        self.clauses += 1;
        if self.clauses > MAX_CLAUSES {
            let message = format!("the query has more than {MAX_CLAUSES} words");
            return Err(failure(self.query, at, message, None));
        }
        let (text, prefix, quoted) = match token {
            Token::Word { text, prefix } => (text, prefix, false),
            Token::Quoted { text, prefix } => (text, prefix, true),
            _ => return self.nothing_here(),
        };
        if quoted && text.trim().is_empty() {
            let hint = "write \\\" for the character";
            return Err(self.failure(at, "there is nothing between the quotes", hint));
        }
        let value = self.value(&at, text, prefix, quoted)?;
        let field = self.field;
        Ok(Tree::Clause(Clause { field, value }))
    }

    fn value(
        &self,
        at: &Range<usize>,
        text: String,
        prefix: bool,
        quoted: bool,
    ) -> Result<Value, QueryError> {
        let Some(field) = self.field else {
            return Ok(words(text, prefix, quoted));
        };
        if text.is_empty() {
            return Ok(values::anything(field));
        }
        let fault = |fault| self.place_fault(at, &text, fault);
        match field.info().kind {
            FieldKind::Text => Ok(words(text, prefix, quoted)),
            FieldKind::Path => Ok(words(text, prefix, false)),
            FieldKind::Keyword if prefix => {
                Ok(Value::Prefix(values::bare(field, &text).to_owned()))
            }
            FieldKind::Keyword => values::keyword(field, &text)
                .map(Value::Word)
                .map_err(fault),
            FieldKind::Date | FieldKind::Size | FieldKind::Number if prefix => {
                let message = format!("`*` has no meaning in {}:", field.name());
                let hint = format!("write a range, as in {}", field.info().example);
                Err(self.failure(at.clone(), message, hint))
            }
            FieldKind::Date | FieldKind::Size | FieldKind::Number => {
                values::range(field, &text).map_err(fault)
            }
        }
    }

    /// Puts a fault of a value at its place in the query; at the whole value where quotes or
    /// escapes move the places.
    fn place_fault(&self, at: &Range<usize>, text: &str, fault: values::Fault) -> QueryError {
        let at = if &self.query[at.clone()] == text {
            at.start + fault.at.start..at.start + fault.at.end
        } else {
            at.clone()
        };
        self.failure(at, fault.message, fault.hint)
    }

    fn nothing_here<T>(&self) -> Result<T, QueryError> {
        let before = self.query[..self.at.start].split_whitespace().next_back();
        match (&self.token, before) {
            (Token::Or | Token::And, None | Some("(")) => self.fail(
                format!("a word is missing before {}", &self.query[self.at.clone()]),
                "write the operator between two words, or in small letters for the word itself",
            ),
            (_, Some(operator)) => self.fail(
                format!("a word is missing after {operator}"),
                "write it in quotes to look for the word itself",
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

fn words(text: String, prefix: bool, quoted: bool) -> Value {
    match (quoted, prefix) {
        (true, prefix_last) => Value::Phrase { text, prefix_last },
        (false, true) => Value::Prefix(text),
        (false, false) => Value::Word(text),
    }
}

fn failure(query: &str, at: Range<usize>, message: String, hint: Option<String>) -> QueryError {
    QueryError {
        query: query.to_owned(),
        at,
        message,
        hint,
    }
}
