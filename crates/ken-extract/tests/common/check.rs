//! Checks invariants that hold for any bytes; fuzz targets, the mutator and the hostile set use
//! them.

use std::collections::HashSet;

use ken_core::{Document, Reason};
use ken_extract::{Input, Limits, beside, extract_all};

/// Returns limits below the default, so that they are reached.
pub fn limits() -> Limits {
    Limits {
        max_file_bytes: 4 << 20,
        max_text_bytes: 256 << 10,
        max_member_bytes: 1 << 20,
        max_depth: 4,
        max_members: 1_000,
        max_expanded_bytes: 16 << 20,
        max_expansion: 100,
        ..Limits::default()
    }
}

/// Extracts bytes under a file name, which selects the parser, with everything inside them, and
/// checks the documents. Returns the file's own document.
///
/// # Panics
/// Panics if a parser did, if there is not exactly one document for the file itself, if two
/// documents have the same member path, and if text or depth exceed the limits.
pub fn check(name: &str, bytes: &[u8]) -> Document {
    let limits = limits();
    let mut ipaths = HashSet::new();
    let mut own = None;
    // A log is read with its database, which here is not written yet.
    let mut input = match name.strip_suffix("-wal") {
        Some(name) => Input::bytes_of(name, &[]).with_log(Input::bytes_of("", bytes)),
        None => Input::bytes_of(name, bytes),
    };
    extract_all(&mut input, &limits, &mut |document| {
        check_document(&document, &limits);
        let is_new = ipaths.insert(document.ipath.clone());
        assert!(is_new, "two documents at {:?}", document.ipath.as_str());
        if document.ipath.is_root() {
            own = Some(document);
        }
    });
    if name.ends_with(".xmp") {
        beside::sidecar(bytes);
    }
    own.expect("a document of the file itself")
}

fn check_document(document: &Document, limits: &Limits) {
    assert!(
        document.body.len() <= limits.max_text_bytes,
        "too much text"
    );
    assert!(document.ipath.depth() <= limits.max_depth, "too deep");
    if let Some(failure) = &document.failure {
        assert_ne!(failure.reason(), Reason::Crashed, "{failure:?}");
    }
}
