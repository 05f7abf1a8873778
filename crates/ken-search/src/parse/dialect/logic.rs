//! Builds a tree from operators and operands, for languages in which OR binds loosest: mu's and notmuch's.
//!
//! ```text
//! or   = xor { OR xor }
//! xor  = and { XOR and }
//! and  = not { [AND] not }
//! not  = NOT not | near            mu: NOT takes one operand
//!      | NOT not | near { near }   notmuch: NOT takes all that follow
//! near = unary { NEAR unary }
//! ```

use std::ops::Range;

use super::super::error::QueryError;
use super::super::parser::{MAX_CLAUSES, MAX_DEPTH, is_words};
use super::super::tree::{Nearness, Tree};
use super::fault;

/// What a query consists of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Open,
    Close,
    And,
    Or,
    Xor,
    Not,
    /// The minus of notmuch, which takes the one operand that follows.
    Minus,
    Near(Nearness),
    Operand(Tree),
}

/// A token and its range.
#[derive(Clone, Debug)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) at: Range<usize>,
    /// The word that an operator means where it joins nothing, if any.
    pub(super) word: Option<Tree>,
    /// Adjacent operands of the same group are alternatives.
    pub(super) group: Option<String>,
}

impl Lexeme {
    pub(super) fn new(token: Token, at: Range<usize>) -> Self {
        Self {
            token,
            at,
            word: None,
            group: None,
        }
    }
}

/// Returns the tree. `sequences` is whether adjacent operands bind tighter than NOT.
pub(super) fn tree(query: &str, lexemes: Vec<Lexeme>, sequences: bool) -> Result<Tree, QueryError> {
    if lexemes.len() > MAX_CLAUSES {
        let message = format!("the query has more than {MAX_CLAUSES} words and operators");
        return Err(fault(query, 0..0, message, "write fewer words"));
    }
    let mut parser = Parser {
        query,
        lexemes,
        next: 0,
        depth: 0,
        sequences,
    };
    let tree = parser.or()?;
    match parser.peek() {
        None => Ok(tree),
        Some(_) => Err(parser.fault(
            "the closing parenthesis has no opening one",
            "remove it, or write it in quotes",
        )),
    }
}

struct Parser<'a> {
    query: &'a str,
    lexemes: Vec<Lexeme>,
    next: usize,
    depth: usize,
    sequences: bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.lexemes.get(self.next).map(|lexeme| &lexeme.token)
    }

    /// Takes the operator if it is the next token and joins something.
    fn takes(&mut self, operator: &Token) -> bool {
        let taken = self.peek() == Some(operator) && !self.is_word();
        self.next += usize::from(taken);
        taken
    }

    /// Returns whether the next token is an operator that can only be a word here.
    fn is_word(&self) -> bool {
        let after = self.lexemes.get(self.next + 1).map(|lexeme| &lexeme.token);
        let ends = matches!(after, None | Some(Token::Close));
        ends && self
            .lexemes
            .get(self.next)
            .is_some_and(|l| l.word.is_some())
    }

    /// Returns whether an operand, or what leads to one, comes next.
    fn is_operand(&self) -> bool {
        match self.peek() {
            Some(Token::Operand(_) | Token::Open | Token::Minus) => true,
            Some(Token::Not) => !self.sequences || self.is_word(),
            Some(_) => self.is_word(),
            None => false,
        }
    }

    fn or(&mut self) -> Result<Tree, QueryError> {
        let mut parts = vec![self.xor()?];
        while self.takes(&Token::Or) {
            parts.push(self.xor()?);
        }
        Ok(Tree::or(parts))
    }

    fn xor(&mut self) -> Result<Tree, QueryError> {
        let mut tree = self.and()?;
        let mut chain = 0;
        while self.takes(&Token::Xor) {
            chain += 1;
            if self.depth + chain > MAX_DEPTH {
                return Err(self.too_deep());
            }
            tree = Tree::Xor(Box::new(tree), Box::new(self.and()?));
        }
        Ok(tree)
    }

    fn and(&mut self) -> Result<Tree, QueryError> {
        let mut parts = vec![self.not()?];
        while self.takes(&Token::And) || self.peek() == Some(&Token::Not) || self.is_operand() {
            parts.push(self.not()?);
        }
        Ok(Tree::and(parts))
    }

    fn not(&mut self) -> Result<Tree, QueryError> {
        if self.takes(&Token::Not) {
            self.deeper()?;
            let inner = self.not()?;
            self.depth -= 1;
            return Ok(Tree::not(inner));
        }
        if !self.sequences {
            return self.near();
        }
        self.sequence()
    }

    /// Reads adjacent operands; those of one group are alternatives.
    fn sequence(&mut self) -> Result<Tree, QueryError> {
        let mut parts: Vec<(Option<String>, Vec<Tree>)> = Vec::new();
        loop {
            let lexeme = self.lexemes.get(self.next);
            let group = lexeme.and_then(|lexeme| lexeme.group.clone());
            let part = self.near()?;
            let known = parts
                .iter_mut()
                .find(|(of, _)| of.is_some() && *of == group);
            match known {
                Some((_, alternatives)) => alternatives.push(part),
                None => parts.push((group, vec![part])),
            }
            if !self.is_operand() {
                break;
            }
        }
        let parts = parts.into_iter().map(|(_, parts)| Tree::or(parts));
        Ok(Tree::and(parts.collect()))
    }

    fn near(&mut self) -> Result<Tree, QueryError> {
        let start = self.next;
        let first = self.unary()?;
        let Some(&Token::Near(nearness)) = self.peek() else {
            return Ok(first);
        };
        let mut parts = vec![first];
        while self.takes(&Token::Near(nearness)) {
            parts.push(self.unary()?);
        }
        let mut field = None;
        if parts.len() < 2 || !parts.iter().all(|part| is_words(part, &mut field)) {
            let end = self.lexemes[self.next - 1].at.end;
            let at = self.lexemes[start].at.start..end;
            let message = "NEAR needs words or phrases of one field on both sides";
            return Err(fault(self.query, at, message, "write a NEAR/5 b"));
        }
        Ok(Tree::Near(parts, nearness))
    }

    fn unary(&mut self) -> Result<Tree, QueryError> {
        let Some(lexeme) = self.lexemes.get(self.next).cloned() else {
            return Err(self.missing());
        };
        self.next += 1;
        match (lexeme.token, lexeme.word) {
            (Token::Operand(tree), _) | (_, Some(tree)) => Ok(tree),
            (Token::Minus, _) => {
                self.deeper()?;
                let inner = self.unary()?;
                self.depth -= 1;
                Ok(Tree::not(inner))
            }
            (Token::Open, _) => self.group(lexeme.at),
            _ => {
                self.next -= 1;
                Err(self.missing())
            }
        }
    }

    fn group(&mut self, open: Range<usize>) -> Result<Tree, QueryError> {
        self.deeper()?;
        let inner = self.or()?;
        if !self.takes(&Token::Close) {
            let message = "the parenthesis is not closed";
            return Err(fault(
                self.query,
                open,
                message,
                "close it, or write it in quotes",
            ));
        }
        self.depth -= 1;
        Ok(inner)
    }

    fn deeper(&mut self) -> Result<(), QueryError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.too_deep());
        }
        Ok(())
    }

    fn too_deep(&self) -> QueryError {
        self.fault("the query is nested too deeply", "use fewer parentheses")
    }

    fn missing(&self) -> QueryError {
        self.fault(
            "a word is missing here",
            "write a word, or a field and its value",
        )
    }

    fn fault(&self, message: &str, hint: &str) -> QueryError {
        let end = self.query.len()..self.query.len();
        let at = self
            .lexemes
            .get(self.next)
            .map_or(end, |lexeme| lexeme.at.clone());
        fault(self.query, at, message, hint)
    }
}
