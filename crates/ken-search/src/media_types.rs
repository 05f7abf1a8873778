//! Other names of media types: those of Recoll, of other programs, and of earlier times.

/// Each other name, with the name that ken gives the type.
const OTHER_NAMES: [(&str, &str); 17] = [
    ("application/vcard", "text/vcard"),
    ("application/x-gzip", "application/gzip"),
    ("application/x-javascript", "text/javascript"),
    ("application/javascript", "text/javascript"),
    ("application/x-pdf", "application/pdf"),
    ("application/x-rtf", "application/rtf"),
    ("application/x-zip", "application/zip"),
    ("application/x-zip-compressed", "application/zip"),
    ("audio/mp3", "audio/mpeg"),
    ("audio/wav", "audio/x-wav"),
    ("image/jpg", "image/jpeg"),
    ("image/pjpeg", "image/jpeg"),
    ("image/x-ms-bmp", "image/bmp"),
    ("text/rtf", "application/rtf"),
    ("text/x-markdown", "text/markdown"),
    ("text/x-vcard", "text/vcard"),
    ("text/xml", "application/xml"),
];

/// Returns ken's name of a media type with another name.
pub(crate) fn canonical(media_type: &str) -> Option<&'static str> {
    let known = OTHER_NAMES
        .iter()
        .find(|(other, _)| other.eq_ignore_ascii_case(media_type));
    known.map(|(_, name)| *name)
}
