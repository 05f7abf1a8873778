//! The formats that ken reads, one module per format; [`FORMATS`] is the table of them.

mod archive;
mod database;
mod drawing;
mod helped;
mod mail;
mod markup;
mod media;
mod office;
mod publication;
mod text;
mod web;
mod xml;

use std::collections::HashMap;
use std::sync::LazyLock;

use ken_core::Field;

use crate::output::Output;
use crate::{Error, Input};

pub use archive::compressed::is_compressed;
pub use helped::is_converted;
pub(crate) use helped::{PICTURES, is_helped};
pub(crate) use mail::mbox::message_near;
pub(crate) use media::xmp;
#[cfg(any(fuzzing, test))]
pub(crate) use office::hwp::text_of_section;
#[cfg(feature = "draw")]
pub(crate) use publication::epub;
pub(crate) use publication::{pdf, postscript};
pub(crate) use web::html::{html_within, meta_charset};

/// One format that ken reads.
///
/// The table in `docs/formats.md` is generated from these rows.
pub struct Format {
    /// Short name for people, for instance `PDF`.
    pub name: &'static str,
    /// The media types of this format; `text/*` stands for all text types without a row of their
    /// own.
    pub media_types: &'static [&'static str],
    /// The fields that the format may fill, besides those of every document.
    pub fields: &'static [Field],
    /// What a form feed in the text ends: a page, a slide, a chapter …
    pub sections: Option<&'static str>,
    /// What the inner documents are, and how their member paths are made.
    pub members: Option<&'static str>,
    /// Where the format is parsed.
    pub isolation: Isolation,
    /// Version of the extractor. It is raised when the module would find more or other text in the
    /// same bytes, or gets other files from detection; files with its media types and extensions
    /// are then read again.
    pub version: u32,
    /// Whether the module reads its input piece by piece, rather than as a whole.
    pub(crate) streams: bool,
    pub(crate) extract: Extract,
}

impl Format {
    /// Creates the row of a format without fields, sections and members, which is parsed in the
    /// process and held whole.
    const fn new(
        name: &'static str,
        media_types: &'static [&'static str],
        extract: Extract,
    ) -> Self {
        Self {
            name,
            media_types,
            fields: &[],
            sections: None,
            members: None,
            isolation: Isolation::Process,
            version: 1,
            streams: false,
            extract,
        }
    }

    const fn fields(self, fields: &'static [Field]) -> Self {
        Self { fields, ..self }
    }

    const fn sections(self, sections: &'static str) -> Self {
        Self {
            sections: Some(sections),
            ..self
        }
    }

    const fn members(self, members: &'static str) -> Self {
        Self {
            members: Some(members),
            ..self
        }
    }

    const fn in_worker(self) -> Self {
        Self {
            isolation: Isolation::Worker,
            ..self
        }
    }

    const fn version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    const fn streams(self) -> Self {
        Self {
            streams: true,
            ..self
        }
    }
}

/// Where a format is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    /// In ken's own process: the parser is safe Rust, linear in its input, and fuzzed.
    Process,
    /// In a sandboxed worker, with a deadline and a limit on memory.
    Worker,
}

/// Reads an input: fills `output.own()`, and hands members to `output.member()`.
pub(crate) type Extract = fn(&mut Input<'_>, &mut Output<'_>) -> Result<(), Error>;

/// Every format.
pub const FORMATS: &[Format] = &[
    text::plain::FORMAT,
    markup::markdown::FORMAT,
    web::html::FORMAT,
    markup::roff::FORMAT,
    markup::tex::FORMAT,
    markup::bibtex::FORMAT,
    markup::texinfo::FORMAT,
    markup::lyx::FORMAT,
    markup::mif::FORMAT,
    markup::lightweight::ORG,
    markup::lightweight::RST,
    markup::lightweight::ASCIIDOC,
    markup::info::FORMAT,
    text::subtitles::FORMAT,
    mail::calendar::CALENDAR,
    mail::calendar::CARDS,
    text::json::FORMAT,
    text::cbor::FORMAT,
    text::notebook::FORMAT,
    publication::pdf::FORMAT,
    office::ooxml::docx::FORMAT,
    office::ooxml::xlsx::FORMAT,
    office::ooxml::xlsb::FORMAT,
    office::ooxml::pptx::FORMAT,
    office::ooxml::vsdx::FORMAT,
    office::odf::FORMAT,
    office::rtf::FORMAT,
    office::doc::FORMAT,
    office::xls::FORMAT,
    office::ppt::FORMAT,
    office::compound::FORMAT,
    office::hwp::FORMAT,
    office::hwp::HWPX,
    office::onenote::FORMAT,
    publication::epub::FORMAT,
    publication::mobi::FORMAT,
    publication::djvu::FORMAT,
    publication::chm::FORMAT,
    publication::postscript::FORMAT,
    xml::general::FORMAT,
    xml::svg::FORMAT,
    xml::fictionbook::FORMAT,
    xml::feed::FORMAT,
    xml::opml::FORMAT,
    xml::docbook::FORMAT,
    xml::jats::FORMAT,
    xml::tei::FORMAT,
    xml::indesign::FORMAT,
    xml::abiword::FORMAT,
    xml::gnumeric::FORMAT,
    xml::gnucash::FORMAT,
    xml::koffice::FORMAT,
    xml::excel2003::FORMAT,
    office::ooxml::flat::WORD_2003,
    office::ooxml::flat::FLAT_OPC,
    xml::plist::FORMAT,
    xml::drawio::FORMAT,
    xml::evernote::FORMAT,
    drawing::dxf::FORMAT,
    drawing::dwg::FORMAT,
    drawing::metafile::FORMAT,
    xml::xps::FORMAT,
    mail::message::FORMAT,
    mail::mbox::FORMAT,
    mail::msg::FORMAT,
    mail::pst::FORMAT,
    mail::tnef::FORMAT,
    media::image::FORMAT,
    media::xmp::FORMAT,
    media::audio::FORMAT,
    media::video::mp4::FORMAT,
    media::video::matroska::FORMAT,
    media::video::avi::FORMAT,
    media::video::asf::FORMAT,
    archive::compressed::FORMAT,
    archive::tar::FORMAT,
    archive::zip::FORMAT,
    archive::seven_zip::FORMAT,
    archive::rar::FORMAT,
    archive::cab::FORMAT,
    archive::cpio::FORMAT,
    archive::ar::FORMAT,
    archive::ar::DEB_FORMAT,
    archive::rpm::FORMAT,
    archive::iso::FORMAT,
    archive::signed::FORMAT,
    office::iwork::FORMAT,
    web::mhtml::FORMAT,
    web::webarchive::FORMAT,
    web::warc::FORMAT,
    database::sqlite::FORMAT,
    database::dbase::FORMAT,
    database::access::FORMAT,
];

/// Represents every `text/` type without a row of its own.
pub const ANY_TEXT: &str = "text/*";

/// Returns the format of a media type; none if such files are found by name only.
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
