//! What every fuzz target does: hands bytes to extraction under a file name, whose format they
//! are then taken for, and checks what must hold whatever the bytes are.
//!
//! Extraction catches panics; libFuzzer's panic hook aborts before they are caught, so they are
//! seen here.

use std::collections::HashSet;

use ken_core::{Document, Reason};
use ken_extract::{Input, Limits, extract_all};

pub use libfuzzer_sys;

/// Defines a target that takes its bytes for a file of this name.
#[macro_export]
macro_rules! extracts {
    ($name:literal) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::check($name, bytes));
    };
}

/// Smaller than the default, so that the fuzzer reaches them.
fn limits() -> Limits {
    Limits {
        max_file_bytes: 4 << 20,
        max_text_bytes: 256 << 10,
        max_member_bytes: 1 << 20,
        max_depth: 4,
        max_members: 1_000,
        max_expanded_bytes: 16 << 20,
        max_expansion: 100,
    }
}

/// Extracts bytes with all that is inside them and checks the documents.
pub fn check(name: &str, bytes: &[u8]) {
    let limits = limits();
    let mut ipaths = HashSet::new();
    let mut input = Input::bytes_of(name, bytes);
    extract_all(&mut input, &limits, &mut |document| {
        check_document(&document, &limits);
        let is_new = ipaths.insert(document.ipath.clone());
        assert!(is_new, "two documents at {:?}", document.ipath.as_str());
    });
    let n_own = ipaths.iter().filter(|ipath| ipath.is_root()).count();
    assert_eq!(n_own, 1, "documents of the file itself");
}

fn check_document(document: &Document, limits: &Limits) {
    assert!(document.body.len() <= limits.max_text_bytes, "too much text");
    assert!(document.ipath.depth() <= limits.max_depth, "too deep");
    if let Some(failure) = &document.failure {
        assert_ne!(failure.reason, Reason::Crashed, "{}", failure.message);
        assert!(!failure.message.is_empty(), "a failure without words");
    }
}
