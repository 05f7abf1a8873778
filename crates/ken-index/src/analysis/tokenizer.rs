//! The analysis as the engine's tokenizers.

use std::ops::Range;

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::{Analyzer, path_names};

/// Gives the engine the terms of a text field.
#[derive(Clone, Copy, Default)]
pub(crate) struct TextTokenizer;

impl Tokenizer for TextTokenizer {
    type TokenStream<'a> = Tokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Tokens<'a> {
        Tokens::new(text, |text, each| Analyzer::default().words(text, each))
    }
}

/// Gives the engine the folder names of a path.
#[derive(Clone, Copy, Default)]
pub(crate) struct PathTokenizer;

impl Tokenizer for PathTokenizer {
    type TokenStream<'a> = Tokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Tokens<'a> {
        Tokens::new(text, path_names)
    }
}

/// Calls back with each term, its position and its bytes.
type Analysis = fn(&str, &mut dyn FnMut(&str, u32, Range<usize>));

/// The terms of one text. The engine's indexer pushes ([`TokenStream::process`]), which costs no
/// memory; pulling one by one is for the rest and analyses the text at once.
pub(crate) struct Tokens<'a> {
    text: &'a str,
    analysis: Analysis,
    token: Token,
    pulled: Option<std::vec::IntoIter<Token>>,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str, analysis: Analysis) -> Self {
        Self {
            text,
            analysis,
            token: Token::default(),
            pulled: None,
        }
    }
}

impl TokenStream for Tokens<'_> {
    fn advance(&mut self) -> bool {
        if self.pulled.is_none() {
            let mut all = Vec::new();
            self.process(&mut |token| all.push(token.clone()));
            self.pulled = Some(all.into_iter());
        }
        match self.pulled.as_mut().and_then(Iterator::next) {
            Some(token) => {
                self.token = token;
                true
            }
            None => false,
        }
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }

    fn process(&mut self, sink: &mut dyn FnMut(&Token)) {
        let token = &mut self.token;
        (self.analysis)(self.text, &mut |term, position, range| {
            token.text.clear();
            token.text.push_str(term);
            token.position = position as usize;
            token.position_length = 1;
            token.offset_from = range.start;
            token.offset_to = range.end;
            sink(token);
        });
    }
}
