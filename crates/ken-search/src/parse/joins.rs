//! Whether a query says exactly what must match, or has only words.

use super::lexer::{Token, saved_name, token};
use super::names::Names;
use super::parser::MAX_DEPTH;

/// Returns whether a query in ken's language joins its parts by operators or parentheses, itself or in a saved query that
/// it names. Excluded words, fields, and the group of words of a field are no such operators.
pub fn joins_parts(query: &str, names: Names<'_>) -> bool {
    joins(query, names, MAX_DEPTH)
}

fn joins(query: &str, names: Names<'_>, depth: usize) -> bool {
    let mut from = 0;
    let mut is_of_field = false;
    while let Ok((found, range)) = token(query, from, names.fields) {
        from = range.end;
        match &found {
            Token::End => return false,
            Token::Or | Token::Xor | Token::And | Token::Near(_) => return true,
            Token::Open if !is_of_field => return true,
            Token::Saved => {
                let Ok(Some((name, range))) = saved_name(query, from) else {
                    return false;
                };
                from = range.end;
                let saved = names.saved.get(&name);
                // A saved query that names itself is a mistake, which the parser explains.
                if depth > 0 && saved.is_some_and(|saved| joins(saved, names, depth - 1)) {
                    return true;
                }
            }
            _ => {}
        }
        is_of_field = matches!(found, Token::Field(_));
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::Saved;

    #[test]
    fn operators_and_parentheses_join_and_groups_of_a_field_do_not() {
        let saved = [
            ("words", "garden hose"),
            ("strict", "garden AND hose"),
            ("outer", "query:strict"),
            ("itself", "query:itself words"),
        ];
        let saved: Saved = saved
            .into_iter()
            .map(|(name, query)| (name.to_owned(), query.to_owned()))
            .collect();
        let names = Names {
            saved: &saved,
            ..Names::default()
        };
        for query in [
            "what is the wifi password",
            "title:(a b) c",
            "title:(a -b) -author:(c d) e",
            "cats and dogs",
            "\"a b\" c*",
            "query:words x",
            "query:itself x",
            "query:unknown x",
        ] {
            assert!(!joins_parts(query, names), "{query}");
        }
        for query in [
            "a AND b c",
            "title:(a OR b) c",
            "title:(a (b c))",
            "(a b) c",
            "-(a b) c",
            "a NEAR b c",
            "query:strict x",
            "x query:\"outer\"",
        ] {
            assert!(joins_parts(query, names), "{query}");
        }
    }
}
