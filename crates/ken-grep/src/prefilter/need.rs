//! Determines what the patterns need, by parsing them as the matcher does.

use ken_ngram::Need;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;

use crate::pattern::{Case, LineEnd, PatternOptions};

/// Returns what a file must contain for one of the patterns to match in it.
///
/// The options for words and whole lines do not reduce this. Smart case is treated as ignored case,
/// which needs the least.
pub(super) fn of(options: &PatternOptions) -> Need {
    let patterns = options.patterns.iter();
    let parsed: Option<Vec<_>> = patterns.map(|pattern| parse(pattern, options)).collect();
    parsed.map_or(Need::Anything, |expressions| Need::of_any(&expressions))
}

/// Parses the expression; returns none if it has a mistake, which the matcher reports.
fn parse(pattern: &str, options: &PatternOptions) -> Option<Hir> {
    let mut parser = ParserBuilder::new()
        .utf8(false)
        .unicode(options.unicode)
        .multi_line(true)
        .case_insensitive(options.case != Case::Sensitive)
        .dot_matches_new_line(options.multiline && options.dotall)
        .crlf(options.line_end == LineEnd::CrLf)
        .build();
    let parsed = match options.fixed_strings {
        true => parser.parse(&regex_syntax::escape(pattern)),
        false => parser.parse(pattern),
    };
    parsed.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn need(pattern: &str, change: fn(&mut PatternOptions)) -> Need {
        let mut options = PatternOptions {
            patterns: vec![pattern.to_owned()],
            ..PatternOptions::default()
        };
        change(&mut options);
        of(&options)
    }

    #[test]
    fn patterns_are_read_as_the_matcher_reads_them() {
        let bytes = |text: &str| Need::Bytes(text.as_bytes().to_vec());
        assert_eq!(need("quux", |_| ()), bytes("quux"));
        assert_eq!(
            need("q.ux(", |options| options.fixed_strings = true),
            bytes("q.ux(")
        );
        assert!(matches!(
            need("quux", |options| options.case = Case::Smart),
            Need::Any(_)
        ));
        assert_eq!(need("(", |_| ()), Need::Anything);
        let two = |options: &mut PatternOptions| options.patterns.push("zork".to_owned());
        assert_eq!(
            need("quux", two),
            Need::Any(vec![bytes("quux"), bytes("zork")])
        );
        assert_eq!(need("", |options| options.patterns.clear()), Need::Nothing);
    }
}
