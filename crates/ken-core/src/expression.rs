//! Regular expressions over terms and paths, compiled to a table of states. This module defines their syntax and
//! bounds their size, so that the reader of a query finds mistakes before an index runs the expression.

use std::fmt;

use regex_automata::MatchKind;
use regex_automata::dfa::{StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;

/// The most bytes of the tables of one regular expression; larger ones are a mistake or an attack.
const MAX_BYTES: usize = 8 << 20;

/// A compiled regular expression.
pub type Expression = dense::DFA<Vec<u32>>;

/// Why a regular expression cannot be used. It prints as the reason alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError(String);

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExpressionError {}

/// Compiles a regular expression in the syntax of the crate `regex`.
///
/// # Errors
/// Fails if the expression is invalid or too large.
pub fn compile(regex: &str) -> Result<Expression, ExpressionError> {
    // Paths are not always UTF-8; an expression can require UTF-8 where it matters.
    let config = syntax::Config::new().utf8(false).nest_limit(64);
    syntax::parse_with(regex, &config).map_err(|error| {
        let error = error.to_string();
        // The lines before the last one draw the position.
        let last = error.lines().last().unwrap_or("");
        ExpressionError(last.trim_start_matches("error: ").to_owned())
    })?;
    let too_large = || ExpressionError(format!("it takes more than {} MiB", MAX_BYTES >> 20));
    let states = thompson::Config::new()
        .utf8(false)
        .nfa_size_limit(Some(MAX_BYTES));
    // The syntax is valid, so only the size can fail.
    let nfa = thompson::Compiler::new()
        .syntax(config)
        .configure(states)
        .build(regex)
        .map_err(|_| too_large())?;
    // Only whether there is a match counts, so the earliest match of any kind is enough.
    let table = dense::Config::new()
        .match_kind(MatchKind::All)
        .start_kind(StartKind::Unanchored)
        .dfa_size_limit(Some(MAX_BYTES))
        .determinize_size_limit(Some(MAX_BYTES));
    let built = dense::Builder::new().configure(table).build_from_nfa(&nfa);
    built.map_err(|error| match error.is_size_limit_exceeded() {
        true => too_large(),
        false => ExpressionError(error.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_why() {
        assert!(compile(r"^wom[ae]n|\d{4}$").is_ok());
        for (regex, why) in [
            ("[", "unclosed character class"),
            ("a(b", "unclosed group"),
            ("x{1000}{1000}", "it takes more than 8 MiB"),
            ("a.{40}b", "it takes more than 8 MiB"),
            (r"\bcat", "word boundaries"),
        ] {
            let error = compile(regex).unwrap_err().to_string();
            assert!(error.contains(why), "{regex}: {error}");
        }
    }
}
