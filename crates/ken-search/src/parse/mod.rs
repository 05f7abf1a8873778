//! Turns the text of a query into a syntax tree.
//!
//! The grammar, loosest operator first (`docs/query.md` is the manual):
//!
//! ```text
//! query  = or
//! or     = xor { ("OR" | "||") xor }
//! xor    = and { "XOR" and }
//! and    = near { ["AND" | "&&"] near }
//! near   = boost { ("NEAR" | "ADJ") ["/" number] boost }
//! boost  = unary ["^" number]
//! unary  = ("NOT" | "-") boost | "(" or ")" | [field] value | field "(" or ")"
//! value  = word ["~" [number]] | phrase ["*"] [modifiers] | "/" regex "/" | range | list
//! ```
//!
//! `and`, `or` and `xor` are operators in any case if they join two things.
//!
//! `query:name` is the saved query of that name.
//!
//! The parser is a recursive descent with one token of look-ahead. Nesting and the number of clauses are bounded.

mod dialect;
mod error;
mod joins;
mod lenient;
mod lexer;
mod modifiers;
mod names;
mod parser;
mod pattern;
mod print;
mod tree;
mod values;
mod when;

pub use dialect::{Syntax, recoll_words, without_forms};
pub use error::QueryError;
pub use joins::joins_parts;
pub use lenient::{LeftOut, Lenient, parse_lenient};
pub use lexer::is_reserved;
pub(crate) use lexer::is_space_in_numbers;
pub use names::{Asked, Database, Names, Saved};
pub(crate) use parser::MAX_CLAUSES;
pub use parser::{parse, parse_with};
pub use pattern::word_pattern;
pub use tree::{Boost, Clause, Modifiers, Nearness, Phrase, Piece, Tree, Value};
pub use when::{Ago, Precision, Unit, When};
