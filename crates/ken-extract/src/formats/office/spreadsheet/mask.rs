//! Format codes whose digits have signs between them: `(000) 000-0000`, as for telephone numbers.

use super::format_code::{Token, currency, nudged};

/// A compiled code.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::formats::office) struct Mask(Vec<Piece>);

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Sign(String),
    /// So many digits, and whether zeros fill them.
    Digits(usize, bool),
}

impl Mask {
    pub(super) fn parse(tokens: &[Token<'_>]) -> Option<Self> {
        let mut pieces = Vec::new();
        for token in tokens {
            pieces.push(match *token {
                Token::Run('0', length) => Piece::Digits(length, true),
                Token::Run('#', length) => Piece::Digits(length, false),
                Token::Run(sign @ ('-' | '(' | ')' | ' '), length) => {
                    Piece::Sign(sign.to_string().repeat(length))
                }
                Token::Literal(text) => Piece::Sign(text.to_owned()),
                Token::Bracket(inside) => Piece::Sign(currency(inside).to_owned()),
                Token::Run(..) | Token::AmPm => return None,
            });
        }
        Some(Self(pieces))
    }

    /// Fills the digits from the right; the first place takes what is left.
    pub(super) fn show(&self, value: f64) -> String {
        let digits = format!("{:.0}", nudged(value.abs()));
        let mut rest = digits.as_str();
        let is_digits = |piece: &Piece| matches!(piece, Piece::Digits(..));
        let first = self.0.iter().position(is_digits);
        let mut shown = Vec::new();
        for (position, piece) in self.0.iter().enumerate().rev() {
            shown.push(match piece {
                Piece::Sign(text) => text.clone(),
                Piece::Digits(length, fills) => {
                    let n_taken = if Some(position) == first {
                        rest.len()
                    } else {
                        *length
                    };
                    let (left, taken) = rest.split_at(rest.len().saturating_sub(n_taken));
                    rest = left;
                    let width = if *fills { *length } else { 0 };
                    format!("{taken:0>width$}")
                }
            });
        }
        shown.reverse();
        let sign = if value < 0.0 { "-" } else { "" };
        [sign, shown.concat().trim()].concat()
    }
}
