//! Query text → syntax tree.
//!
//! The grammar, loosest first (the manual is `docs/query.md`):
//!
//! ```text
//! query  = or
//! or     = and { ("OR" | "||") and }
//! and    = unary { ["AND" | "&&"] unary }
//! unary  = ("NOT" | "-") unary | "(" or ")" | [field] value | field "(" or ")"
//! value  = word ["*"] | "\"" text "\"" ["*"] | range
//! ```
//!
//! A recursive descent with one token of look-ahead; nesting and number of clauses are bounded.

mod error;
mod lexer;
mod parser;
mod print;
mod tree;
mod values;
mod when;

pub use error::QueryError;
pub use parser::parse;
pub use tree::{Clause, Tree, Value};
pub use when::{Unit, When};
