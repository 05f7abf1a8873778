//! Query text → syntax tree.
//!
//! The grammar, loosest first (the manual is `docs/query.md`):
//!
//! ```text
//! query  = or
//! or     = xor { ("OR" | "||") xor }
//! xor    = and { "XOR" and }
//! and    = near { ["AND" | "&&"] near }
//! near   = boost { ("NEAR" | "ADJ") ["/" number] boost }
//! boost  = unary ["^" number]
//! unary  = ("NOT" | "-") boost | "(" or ")" | [field] value | field "(" or ")"
//! value  = word ["~" [number]] | phrase ["*"] [nearness] | "/" regex "/" | range | list
//! ```
//!
//! `and`, `or`, `xor` in any case where they stand between two things.
//!
//! A recursive descent with one token of look-ahead; nesting and number of clauses are bounded.

mod error;
mod lexer;
mod parser;
mod pattern;
mod print;
mod tree;
mod values;
mod when;

pub use error::QueryError;
pub use parser::parse;
pub use tree::{Boost, Clause, Nearness, Phrase, Piece, Tree, Value};
pub use when::{Unit, When};
