//! Word documents (.docx, .docm, .dotx, .dotm): WordprocessingML, ECMA-376 part 1, chapter 17.
//!
//! The body comes first, then footnotes, endnotes, headers, footers and comments. Deleted and
//! moved-away text is left out, field codes too. Pages are those that the last program laid out.

use ken_core::Document;

use super::super::Format;
use super::super::body::Body;
use super::super::package::Package;
use super::super::xml::{Node, Start, Xml};
use super::{drawing, read_part, related, relations};
use crate::{Error, Limits};

pub(in crate::formats) const FORMAT: Format = Format {
    name: "Word",
    media_types: &[
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        "application/vnd.ms-word.document.macroenabled.12",
        "application/vnd.ms-word.template.macroenabled.12",
    ],
    version: 1,
    extract: |input, output| super::extract(input, output, "word/document.xml", read),
};

/// Kinds of parts that hold text like the main part, in the order in which they follow it.
const TEXT_PARTS: &[&str] = &["footnotes", "endnotes", "header", "footer", "comments"];
/// Kinds of parts that are drawings.
const DRAWING_PARTS: &[&str] = &["chart", "diagramData"];

fn read(package: &mut Package<'_>, main: &str, document: &mut Document, limits: &Limits) {
    let mut body = Body::new(limits.max_text_bytes);
    let relations = relations(package, main);
    read_part(package, main, |text| read_text(text, &mut body));
    for kind in TEXT_PARTS {
        for part in related(&relations, kind) {
            read_part(package, part, |text| read_text(text, &mut body));
        }
    }
    for kind in DRAWING_PARTS {
        for part in related(&relations, kind) {
            read_part(package, part, |text| drawing::read(text, &mut body));
        }
    }
    document.body = body.finish();
}

fn read_text(text: &str, body: &mut Body) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut in_text = false;
    while let Some(node) = xml.next()? {
        match node {
            Node::Text(text) if in_text => body.push(&text),
            Node::Text(_) => {}
            Node::Start(tag) => match tag.name() {
                "t" => in_text = true,
                name if is_skipped(name) => xml.skip()?,
                _ => start(&tag, body),
            },
            Node::End(tag) => match tag.name() {
                "t" => in_text = false,
                name => end(name, body),
            },
        }
        if body.is_full() {
            break;
        }
    }
    body.end_paragraph();
    Ok(())
}

/// Properties hold no text, but elements of the same names; `Fallback` doubles a text box.
fn is_skipped(name: &str) -> bool {
    matches!(
        name,
        "pPr"
            | "rPr"
            | "tblPr"
            | "trPr"
            | "tcPr"
            | "sectPr"
            | "sdtPr"
            | "del"
            | "moveFrom"
            | "Fallback"
    )
}

fn start(tag: &Start<'_>, body: &mut Body) {
    match tag.name() {
        "tab" | "ptab" => body.push("\t"),
        "br" if tag.attribute("type").as_deref() == Some("page") => body.break_page(),
        "lastRenderedPageBreak" => body.break_page(),
        "br" | "cr" => body.push("\n"),
        "noBreakHyphen" => body.push("-"),
        "tr" => body.begin_row(),
        "tc" => body.begin_cell(),
        "txbxContent" => body.begin_aside(),
        _ => {}
    }
}

fn end(name: &str, body: &mut Body) {
    match name {
        "p" => body.end_paragraph(),
        "tc" => body.end_cell(),
        "tr" => body.end_row(),
        "txbxContent" => body.end_aside(),
        _ => {}
    }
}
