//! Formats that ken reads in part, and helpers read further.
//!
//! PostScript is a program: Ghostscript runs it and writes PDF. Tesseract reads the text in
//! pictures, including scanned PDF pages. A container that unpacks such a file hands its content on
//! to the helper.

/// Media types that a helper converts to a format that ken reads.
const CONVERTED: &[&str] = &["application/postscript"];

/// Pictures that Tesseract opens.
pub(crate) const PICTURES: &[&str] = &[
    "image/png",
    "image/jpeg",
    "image/tiff",
    "image/bmp",
    "image/gif",
    "image/webp",
    "image/x-portable-anymap",
    "image/x-portable-bitmap",
    "image/x-portable-graymap",
    "image/x-portable-pixmap",
];

/// Returns whether ken reads only the metadata of such a file, and a helper makes its text
/// readable.
pub fn is_converted(media_type: &str) -> bool {
    CONVERTED.contains(&media_type)
}

/// Returns whether a helper may find more text in a file than ken does.
pub(crate) fn is_helped(media_type: &str) -> bool {
    let has_pictures = media_type == "application/pdf" || PICTURES.contains(&media_type);
    has_pictures || is_converted(media_type)
}
