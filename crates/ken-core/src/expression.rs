//! Regular expressions over terms and paths, as a table of states: what can be written, and how
//! large it may become. Whoever reads a query asks here, so that its mistakes are found before an
//! index looks for it.

use std::fmt;

use regex_automata::MatchKind;
use regex_automata::dfa::{StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::syntax;

/// What the tables of one regular expression may take; larger ones are a mistake or an attack.
const MAX_BYTES: usize = 8 << 20;

/// A regular expression made ready.
pub type Expression = dense::DFA<Vec<u32>>;

/// Why a regular expression cannot be looked for; prints as the reason alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpressionError(String);

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ExpressionError {}

/// Makes a regular expression ready, in the syntax of the crate `regex`.
///
/// # Errors
/// Fails if it is wrong or too large.
pub fn compile(regex: &str) -> Result<Expression, ExpressionError> {
    // Paths are not always UTF-8; a regular expression says so itself where it matters.
    let config = syntax::Config::new().utf8(false).nest_limit(64);
    syntax::parse_with(regex, &config).map_err(|error| {
        let error = error.to_string();
        // The lines before it draw the place.
        let last = error.lines().last().unwrap_or("");
        ExpressionError(last.trim_start_matches("error: ").to_owned())
    })?;
    let too_large = || ExpressionError(format!("it takes more than {} MiB", MAX_BYTES >> 20));
    let states = thompson::Config::new()
        .utf8(false)
        .nfa_size_limit(Some(MAX_BYTES));
    // Its syntax is right, so that only its size is left.
    let nfa = thompson::Compiler::new()
        .syntax(config)
        .configure(states)
        .build(regex)
        .map_err(|_| too_large())?;
    // Earliest match and all kinds: only whether there is a match counts.
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
