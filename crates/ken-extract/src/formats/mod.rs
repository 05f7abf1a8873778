//! One module per format; [`FORMATS`] is the table of them.

mod ar;
mod audio;
mod bibtex;
mod body;
mod calendar;
mod chm;
mod chunks;
mod codepage;
mod compressed;
mod cpio;
mod cursor;
mod decoder;
pub mod decompress;
mod djvu;
mod doc;
mod encryption;
mod epub;
mod first;
mod html;
mod image;
mod info;
mod iso;
mod iwork;
mod json;
mod lightweight;
mod lyx;
mod lzw;
mod mail;
mod markdown;
mod markup;
mod mbox;
mod members;
mod metadata;
mod mhtml;
mod msg;
mod notebook;
mod odf;
mod ole;
mod ooxml;
mod package;
mod pdf;
pub(crate) mod postscript;
mod ppt;
mod pst;
mod rar;
mod roff;
mod rpm;
mod rtf;
mod seven_zip;
mod source;
mod sqlite;
mod subtitles;
mod tar;
mod tex;
mod texinfo;
mod text;
mod tnef;
mod video;
mod warc;
mod webarchive;
mod xls;
mod xml;
pub(crate) mod xmp;
mod zip;

pub(crate) use compressed::is_compressed;
pub(crate) use mbox::message_near;

use std::collections::HashMap;
use std::sync::LazyLock;

use ken_core::Field;

use crate::output::Output;
use crate::{Error, Input};
pub(crate) use html::{html_within, meta_charset};

/// One format that ken reads.
///
/// The table in `docs/formats.md` is made of these rows.
pub struct Format {
    /// Short name for people, for instance `PDF`.
    pub name: &'static str,
    /// The media types that detection gives it; `text/*` stands for all that no other row names.
    pub media_types: &'static [&'static str],
    /// The metadata that it may fill, beside what every document has.
    pub fields: &'static [Field],
    /// What a form feed in the text ends: pages, slides, chapters …
    pub sections: Option<&'static str>,
    /// What the documents inside are and how their internal paths are made.
    pub members: Option<&'static str>,
    /// Where it is parsed.
    pub isolation: Isolation,
    /// Raised when the module would find more or other text in the same bytes, or detection gives it
    /// other files; those with its media types and extensions are then read again.
    pub version: u32,
    /// Whether it reads its input piece by piece; others hold it whole.
    pub(crate) streams: bool,
    pub(crate) extract: Extract,
}

/// Where a format is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// In the process: the parser is safe Rust, linear in its input and fuzzed.
    Process,
    /// In a sandboxed worker, with a deadline and a limit on memory.
    Worker,
}

/// Reads an input: fills `output.own()`, hands parts to `output.member()`.
pub(crate) type Extract = fn(&mut Input<'_>, &mut Output<'_>) -> Result<(), Error>;

/// Every format.
pub const FORMATS: &[Format] = &[
    text::FORMAT,
    markdown::FORMAT,
    html::FORMAT,
    roff::FORMAT,
    tex::FORMAT,
    bibtex::FORMAT,
    texinfo::FORMAT,
    lyx::FORMAT,
    lightweight::ORG,
    lightweight::RST,
    lightweight::ASCIIDOC,
    info::FORMAT,
    subtitles::FORMAT,
    calendar::CALENDAR,
    calendar::CARDS,
    json::FORMAT,
    notebook::FORMAT,
    pdf::FORMAT,
    ooxml::docx::FORMAT,
    ooxml::xlsx::FORMAT,
    ooxml::xlsb::FORMAT,
    ooxml::pptx::FORMAT,
    odf::FORMAT,
    rtf::FORMAT,
    doc::FORMAT,
    xls::FORMAT,
    ppt::FORMAT,
    epub::FORMAT,
    djvu::FORMAT,
    chm::FORMAT,
    postscript::FORMAT,
    markup::general::FORMAT,
    markup::svg::FORMAT,
    markup::fictionbook::FORMAT,
    markup::feed::FORMAT,
    markup::opml::FORMAT,
    markup::docbook::FORMAT,
    markup::abiword::FORMAT,
    markup::gnumeric::FORMAT,
    markup::gnucash::FORMAT,
    markup::koffice::FORMAT,
    markup::xps::FORMAT,
    mail::FORMAT,
    mbox::FORMAT,
    msg::FORMAT,
    pst::FORMAT,
    tnef::FORMAT,
    image::FORMAT,
    xmp::FORMAT,
    audio::FORMAT,
    video::mp4::FORMAT,
    video::matroska::FORMAT,
    video::avi::FORMAT,
    video::asf::FORMAT,
    compressed::FORMAT,
    tar::FORMAT,
    zip::FORMAT,
    seven_zip::FORMAT,
    rar::FORMAT,
    cpio::FORMAT,
    ar::FORMAT,
    ar::DEB_FORMAT,
    rpm::FORMAT,
    iso::FORMAT,
    iwork::FORMAT,
    mhtml::FORMAT,
    webarchive::FORMAT,
    warc::FORMAT,
    sqlite::FORMAT,
];

/// Stands for every `text/` type without a row of its own.
pub const ANY_TEXT: &str = "text/*";

/// Returns the format that reads a media type; none if such files are found by name only.
pub fn by_media_type(media_type: &str) -> Option<&'static Format> {
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
    fn a_name_and_a_media_type_have_one_format() {
        let mut names = HashSet::new();
        for format in FORMATS {
            assert!(names.insert(format.name), "{} stands twice", format.name);
        }
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
        assert_eq!(name("application/json"), Some("JSON"));
        assert_eq!(name("application/octet-stream"), None);
    }
}
