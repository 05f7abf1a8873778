//! DrawingML (ECMA-376 part 1, chapters 20 and 21): text of slides, shapes, charts and diagrams.

use crate::Error;
use crate::output::body::Body;
use crate::structure::xml::{Node, Xml};

/// Reads paragraphs, tables, comments, and the names of series and categories of charts. Numbers of
/// charts are left out, since they are in the sheet behind the chart.
pub(super) fn read(text: &str, body: &mut Body) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut in_text = false;
    while let Some(node) = xml.next()? {
        match node {
            Node::Text(text) if in_text => body.push(&text),
            Node::Text(_) => {}
            Node::Start(tag) => match tag.name() {
                "t" | "v" | "text" => in_text = true,
                "Fallback" | "numCache" | "numLit" => xml.skip()?,
                // Nobody wrote the slide number as text.
                "fld" if tag.attribute("type").as_deref() == Some("slidenum") => xml.skip()?,
                // The text description of a picture.
                "cNvPr" => body.line(&tag.attribute("descr").unwrap_or_default()),
                "br" => body.push("\n"),
                "tr" => body.begin_row(),
                "tc" => body.begin_cell(),
                _ => {}
            },
            Node::End(tag) => match tag.name() {
                "t" => in_text = false,
                "v" | "text" => {
                    in_text = false;
                    body.end_paragraph();
                }
                "p" => body.end_paragraph(),
                "tc" => body.end_cell(),
                "tr" => body.end_row(),
                _ => {}
            },
        }
        if body.is_full() {
            break;
        }
    }
    body.end_paragraph();
    xml.whole()
}
