//! What an input was found to be.

use ken_core::Kind;

/// The outcome of detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detected {
    /// Media type without parameters, in lower case.
    pub media_type: &'static str,
    /// What sort of thing it is.
    pub kind: Kind,
}
