//! Which extractor reads a type of files.

use ken_extract::format_of;
use ken_extract::helper::Helpers;

/// Returns the name of the extractor for files of a media type, if there is one.
pub(super) fn extractor<'h>(media_type: &str, helpers: Option<&'h Helpers>) -> Option<&'h str> {
    let helper = helpers.and_then(|helpers| helpers.reader_of(media_type));
    helper.or_else(|| format_of(media_type).map(|format| format.name))
}
