//! Queries: no panic, a position for each mistake, and a lenient reading of anything.
#![no_main]

use ken_core::FieldNames;
use ken_search::parse::{Names, parse, parse_lenient};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
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
});
