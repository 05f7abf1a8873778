//! Diagrams of draw.io (diagrams.net): the names of pages and the labels of shapes. Each page is XML,
//! often deflated and in base64, in a file with the element `mxfile`.

use base64ct::{Base64, Encoding};
use flate2::read::DeflateDecoder;
use ken_core::Field;
use percent_encoding::percent_decode;
use std::io::Read;

use super::html;
use crate::expansion::{Expansion, max_expanded};
use crate::output::Output;
use crate::output::body::Body;
use crate::structure::xml::{Node, Start, Xml, decode_xml};
use crate::{Error, Format, Input, Limits};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("draw.io", &["application/vnd.jgraph.mxfile"], extract)
        .fields(&[Field::Pages])
        .sections("pages");

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let account = input.account(limits);
    let text = decode_xml(input.bytes(limits)?.to_vec());
    let mut body = Body::new(limits.max_text_bytes);
    let mut n_pages = 0;
    let result = read_pages(&text, limits, &account, &mut n_pages, &mut body);
    let own = output.own();
    own.body = body.finish();
    own.add_number(Field::Pages, n_pages);
    result
}

fn read_pages(
    text: &str,
    limits: &Limits,
    account: &Expansion,
    n_pages: &mut i64,
    body: &mut Body,
) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    while let Some(node) = xml.next()? {
        match node {
            Node::Start(tag) if tag.name() == "diagram" => {
                if *n_pages > 0 {
                    body.end_page();
                }
                *n_pages += 1;
                body.line(&tag.attribute("name").unwrap_or_default());
            }
            Node::Start(tag) => label(&tag, body),
            Node::Text(packed) if !packed.trim().is_empty() => {
                let page = unpacked(packed.trim(), limits)?;
                account.spend(page.len() as u64)?;
                let mut inner = Xml::new(&page);
                while let Some(node) = inner.next()? {
                    if let Node::Start(tag) = node {
                        label(&tag, body);
                    }
                }
            }
            _ => {}
        }
        if body.is_full() {
            break;
        }
    }
    xml.whole()
}

/// Adds the label of a shape, which is HTML, and its link.
fn label(tag: &Start<'_>, body: &mut Body) {
    for name in ["value", "label"] {
        if let Some(value) = tag.attribute(name) {
            body.line(&html(&value));
        }
    }
    if let Some(target) = tag.attribute("link") {
        body.link(&target);
        body.end_paragraph();
    }
}

/// Unpacks a page: base64 of deflated, percent-encoded XML.
fn unpacked(packed: &str, limits: &Limits) -> Result<String, Error> {
    let deflated = Base64::decode_vec(packed).map_err(Error::malformed)?;
    let max =
        max_expanded(deflated.len() as u64, limits.max_expansion).min(limits.max_member_bytes);
    let mut bytes = Vec::new();
    DeflateDecoder::new(&*deflated)
        .take(max)
        .read_to_end(&mut bytes)
        .map_err(Error::malformed)?;
    Ok(percent_decode(&bytes).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use ken_core::Kind;

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, run_limited, survives};

    const DRAWIO: Detected = Detected {
        media_type: "application/vnd.jgraph.mxfile",
        kind: Kind::Image,
    };

    #[test]
    fn pages_that_expand_too_far_together_are_refused() {
        let page = "<a/>".repeat(1 << 18);
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(page.as_bytes()).unwrap();
        let packed = Base64::encode_string(&encoder.finish().unwrap());
        let file = |n_pages: usize| {
            let pages = format!("<diagram name='x'>{packed}</diagram>").repeat(n_pages);
            let file = format!("<mxfile>{pages}</mxfile>");
            let limits = Limits {
                max_expansion: 2,
                ..Limits::default()
            };
            let found = run_limited(extract, DRAWIO, "a.drawio", file.as_bytes(), &limits);
            found.own().failure.clone()
        };
        assert_eq!(file(2), None);
        assert!(file(80).is_some());
    }

    #[test]
    fn labels_are_read_packed_or_not() {
        let page = "<mxGraphModel><root><mxCell id='0'/><mxCell value='Pump &lt;b&gt;house&lt;/b&gt;'/>\
                    <object label='Valve' link='https://example.org'/></root></mxGraphModel>";
        let encoded: String = page.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(encoded.as_bytes()).unwrap();
        let packed = Base64::encode_string(&encoder.finish().unwrap());
        for content in [page, &packed] {
            let file = format!(
                "<mxfile host='x'><diagram name='Plan' id='abc'>{content}</diagram><diagram \
                 name='More'/></mxfile>"
            );
            let found = run(extract, DRAWIO, "a.drawio", file.as_bytes());
            assert_eq!(found.own().failure, None);
            assert_eq!(
                found.own().body,
                "Plan\nPump house\nValve\nhttps://example.org\u{c}More"
            );
            survives(extract, DRAWIO, "a.drawio", file.as_bytes());
        }
    }
}
