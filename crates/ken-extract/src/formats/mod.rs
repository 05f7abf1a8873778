//! One module per format; [`FORMATS`] is the table of them.

mod pdf;

use crate::output::Output;
use crate::{Error, Input};

/// One format that ken reads.
pub struct Format {
    /// Short name for people, for instance `PDF`.
    pub name: &'static str,
    /// The media types that detection gives it.
    pub media_types: &'static [&'static str],
    /// Raised when the extractor gives better results, so that files are extracted again.
    pub version: u32,
    pub(crate) extract: Extract,
}

/// Reads an input: fills `output.own()`, hands parts to `output.member()`.
pub(crate) type Extract = fn(&mut Input<'_>, &mut Output<'_>) -> Result<(), Error>;

/// Every format.
pub const FORMATS: &[Format] = &[Format {
    name: "PDF",
    media_types: &["application/pdf"],
    version: 1,
    extract: pdf::extract,
}];

/// Returns the format that reads a media type.
pub(crate) fn by_media_type(media_type: &str) -> Option<&'static Format> {
    FORMATS
        .iter()
        .find(|format| format.media_types.contains(&media_type))
}
