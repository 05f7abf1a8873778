//! Queries: no panic, a position for each mistake, and a lenient reading of anything.

use ken_core::FieldNames;
use ken_search::parse::{Names, Syntax, parse, parse_lenient};

pub(super) fn run(bytes: &[u8]) {
    let query = String::from_utf8_lossy(bytes);
    match parse(&query) {
        Ok(tree) => assert_eq!(parse(&tree.to_query(&FieldNames::default())), Ok(tree)),
        Err(error) => {
            assert!(error.query.get(error.at.clone()).is_some());
            error.report();
            let lenient = parse_lenient(&query, Names::default());
            assert!(!lenient.left_out.is_empty());
        }
    }
}

/// Reads bytes as a query of another program: what is understood is a query of ken's own language, too, and each
/// mistake has a position.
pub(super) fn of(syntax: Syntax, bytes: &[u8]) {
    let query = String::from_utf8_lossy(bytes);
    match syntax.parse(&query) {
        Ok(tree) => {
            tree.to_query(&FieldNames::default());
        }
        Err(error) => {
            assert!(error.query.get(error.at.clone()).is_some());
            error.report();
        }
    }
}
