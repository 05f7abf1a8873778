//! What every fuzz target does: hands bytes to extraction under a file name, whose format they
//! are then taken for, and checks what must hold whatever the bytes are.
//!
//! Extraction catches panics; libFuzzer's panic hook aborts before they are caught, so they are
//! seen here.

#[path = "../../crates/ken-extract/tests/common/check.rs"]
mod check;
mod part;

pub use check::check;
use ken_core::FieldNames;
use ken_search::parse::Syntax;
pub use libfuzzer_sys;
pub use part::{Package, iwa};

/// Defines a target that takes its bytes for a file of this name.
#[macro_export]
macro_rules! extracts {
    ($name:literal) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            $crate::check($name, bytes);
        });
    };
}

/// Reads bytes as a query of another program: what is understood is a query of ken's own language, too, and
/// each mistake has a position.
pub fn reads_query(syntax: Syntax, bytes: &[u8]) {
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
