//! One module per format; [`FORMATS`] is the table of them.

mod body;
mod compressed;
mod decoder;
mod epub;
mod html;
mod mail;
mod markdown;
mod mbox;
mod members;
mod odf;
mod ooxml;
mod package;
mod pdf;
mod source;
mod tar;
mod text;
mod xml;
mod zip;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::output::Output;
use crate::{Error, Input};

/// One format that ken reads.
pub struct Format {
    /// Short name for people, for instance `PDF`.
    pub name: &'static str,
    /// The media types that detection gives it; `text/*` stands for all that no other row names.
    pub media_types: &'static [&'static str],
    /// Whether it reads its input piece by piece; others hold it whole.
    pub(crate) streams: bool,
    pub(crate) extract: Extract,
}

/// Reads an input: fills `output.own()`, hands parts to `output.member()`.
pub(crate) type Extract = fn(&mut Input<'_>, &mut Output<'_>) -> Result<(), Error>;

/// Every format.
pub const FORMATS: &[Format] = &[
    Format {
        name: "plain text and source code",
        media_types: &[
            ANY_TEXT,
            "application/json",
            "application/x-ipynb+json",
            "application/xml",
            "application/xslt+xml",
            "application/xml-dtd",
            "application/rss+xml",
            "application/atom+xml",
            "application/rdf+xml",
            "application/mathml+xml",
            "application/x-fictionbook+xml",
            "application/xspf+xml",
            "application/x-plist",
            "application/x-cue",
            "application/x-gnote",
            "application/x-gnuinfo",
            "application/x-lyx",
            "audio/x-mpegurl",
            "audio/x-scpls",
        ],
        streams: true,
        extract: text::extract,
    },
    Format {
        name: "Markdown",
        media_types: &["text/markdown"],
        streams: true,
        extract: markdown::extract,
    },
    Format {
        name: "HTML",
        media_types: &["text/html", "application/xhtml+xml"],
        streams: false,
        extract: html::extract,
    },
    Format {
        name: "PDF",
        media_types: &["application/pdf"],
        streams: false,
        extract: pdf::extract,
    },
    ooxml::docx::FORMAT,
    ooxml::xlsx::FORMAT,
    ooxml::pptx::FORMAT,
    odf::FORMAT,
    epub::FORMAT,
    Format {
        name: "message",
        media_types: &["message/rfc822"],
        streams: false,
        extract: mail::extract,
    },
    Format {
        name: "mbox",
        media_types: &["application/mbox"],
        streams: true,
        extract: mbox::extract,
    },
    Format {
        name: "compressed",
        media_types: decoder::MEDIA_TYPES,
        streams: true,
        extract: compressed::extract,
    },
    Format {
        name: "tar",
        media_types: &["application/x-tar"],
        streams: true,
        extract: tar::extract,
    },
    Format {
        name: "zip",
        media_types: zip::MEDIA_TYPES,
        streams: true,
        extract: zip::extract,
    },
];

/// Stands for every `text/` type without a row of its own.
const ANY_TEXT: &str = "text/*";

/// Returns the format that reads a media type.
pub(crate) fn by_media_type(media_type: &str) -> Option<&'static Format> {
    static BY_MEDIA_TYPE: LazyLock<HashMap<&str, &Format>> = LazyLock::new(|| {
        let of =
            |format: &'static Format| format.media_types.iter().map(move |name| (*name, format));
        FORMATS.iter().flat_map(of).collect()
    });
    let found = BY_MEDIA_TYPE.get(media_type).copied();
    found.or_else(|| {
        let is_text = media_type.starts_with("text/");
        is_text
            .then(|| BY_MEDIA_TYPE.get(ANY_TEXT).copied())
            .flatten()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_media_type_has_one_format() {
        let mut types = HashSet::new();
        for media_type in FORMATS.iter().flat_map(|format| format.media_types) {
            assert!(types.insert(media_type), "{media_type} stands twice");
        }
    }

    #[test]
    fn formats_are_found_by_type_and_wildcard() {
        let name = |media_type| by_media_type(media_type).map(|format| format.name);
        assert_eq!(name("text/html"), Some("HTML"));
        assert_eq!(name("text/markdown"), Some("Markdown"));
        assert_eq!(name("text/x-rust"), Some("plain text and source code"));
        assert_eq!(name("application/json"), Some("plain text and source code"));
        assert_eq!(name("application/octet-stream"), None);
    }
}
