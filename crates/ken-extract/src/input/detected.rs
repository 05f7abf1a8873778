//! The detected format of an input.

use ken_core::Kind;

/// The outcome of detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    /// Media type without parameters, in lower case.
    pub media_type: &'static str,
    /// Type of the document.
    pub kind: Kind,
}
