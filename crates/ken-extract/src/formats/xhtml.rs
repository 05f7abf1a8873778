//! XHTML to text, for the chapters of books.

use super::body::Body;
use super::xml::{Node, Xml};
use crate::Error;

/// Adds the text of a chapter. What is no XML ends it early: the text before it is good.
pub(super) fn read(text: &str, body: &mut Body) {
    let _ = read_nodes(&mut Xml::new(text), body);
    body.end_paragraph();
}

fn read_nodes(xml: &mut Xml<'_>, body: &mut Body) -> Result<(), Error> {
    while let Some(node) = xml.next()? {
        match node {
            Node::Text(text) => body.push_folded(&text),
            Node::Start(tag) => match tag.name() {
                "head" | "script" | "style" | "rp" => xml.skip()?,
                "br" => body.end_paragraph(),
                "tr" => body.begin_row(),
                "td" | "th" => body.begin_cell(),
                name if is_block(name) => body.end_paragraph(),
                _ => {}
            },
            Node::End(tag) => match tag.name() {
                "td" | "th" => body.end_cell(),
                "tr" => body.end_row(),
                name if is_block(name) => body.end_paragraph(),
                _ => {}
            },
        }
        if body.is_full() {
            break;
        }
    }
    Ok(())
}

/// Returns the text of a fragment.
pub(super) fn text(fragment: &str) -> String {
    let mut body = Body::new(fragment.len());
    read(fragment, &mut body);
    body.finish()
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "p" | "div"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "li"
            | "ul"
            | "ol"
            | "dl"
            | "dt"
            | "dd"
            | "table"
            | "caption"
            | "pre"
            | "blockquote"
            | "section"
            | "article"
            | "aside"
            | "header"
            | "footer"
            | "nav"
            | "figure"
            | "figcaption"
            | "hr"
            | "body"
            | "title"
    )
}
