//! One module per format; [`FORMATS`] is the table of them.

mod compressed;
mod decoder;
mod members;
mod source;
mod tar;
mod zip;

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
pub const FORMATS: &[Format] = &[
    Format {
        name: "compressed",
        media_types: decoder::MEDIA_TYPES,
        version: 1,
        extract: compressed::extract,
    },
    Format {
        name: "tar",
        media_types: &["application/x-tar"],
        version: 1,
        extract: tar::extract,
    },
    Format {
        name: "zip",
        media_types: zip::MEDIA_TYPES,
        version: 1,
        extract: zip::extract,
    },
];

/// Returns the format that reads a media type.
pub(crate) fn by_media_type(media_type: &str) -> Option<&'static Format> {
    FORMATS
        .iter()
        .find(|format| format.media_types.contains(&media_type))
}
