//! Forms in XML (XFA 3.3): the text that their template draws and the values of their fields.
//!
//! Pages of such a form may hold nothing but *Please wait*. If they hold the drawn form, the XML
//! repeats it, so only lines with a word that the pages lack are added.

use std::collections::HashSet;

use hayro_syntax::object::{Array, Dict, Object, Stream};

use super::stream::decode;
use crate::Error;
use crate::structure::xml::{Node, Xml, decode_xml};

/// The parts of a form are read up to this size in all.
const MAX_BYTES: usize = 16 << 20;

/// Elements of a template whose text is no text of the form: programs, pictures, rules, choices.
const SILENT: [&str; 10] = [
    "script",
    "image",
    "event",
    "calculate",
    "validate",
    "picture",
    "bind",
    "desc",
    "variables",
    "items",
];

/// Appends the lines of a form with words that the body lacks.
pub(super) fn read(catalog: &Dict<'_>, body: &mut String) {
    let Some(form) = catalog.get::<Dict<'_>>(b"AcroForm") else {
        return;
    };
    let Some(xml) = packets(&form) else {
        return;
    };
    let mut lines = Lines::default();
    // What is damaged is read up to the damage.
    let _ = lines.read(&decode_xml(xml));
    let known: HashSet<String> = words(body).collect();
    let new: Vec<_> = lines
        .lines
        .iter()
        .filter(|line| words(line).any(|word| !known.contains(&word)))
        .collect();
    for line in new {
        body.push('\n');
        body.push_str(line);
    }
}

/// Returns the parts of a form joined: one stream, or names and streams in turn.
fn packets(form: &Dict<'_>) -> Option<Vec<u8>> {
    let streams: Vec<Stream<'_>> = match form.get::<Object<'_>>(b"XFA")? {
        Object::Stream(stream) => vec![stream],
        Object::Array(parts) => Array::iter::<Object<'_>>(&parts)
            .filter_map(Object::into_stream)
            .collect(),
        _ => return None,
    };
    let mut xml = Vec::new();
    for stream in streams {
        let left = MAX_BYTES.saturating_sub(xml.len());
        xml.extend_from_slice(&decode(&stream, left)?);
    }
    Some(xml)
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// The lines of a form, in its order, each once.
#[derive(Default)]
struct Lines {
    lines: Vec<String>,
    seen: HashSet<String>,
}

impl Lines {
    fn read(&mut self, xml: &str) -> Result<(), Error> {
        let mut xml = Xml::new(xml);
        while let Some(node) = xml.next()? {
            if let Node::Start(tag) = node {
                match tag.name() {
                    "template" => self.template(&mut xml)?,
                    "data" => self.data(&mut xml)?,
                    "xdp" | "datasets" => {}
                    _ => xml.skip()?,
                }
            }
        }
        Ok(())
    }

    fn template(&mut self, xml: &mut Xml<'_>) -> Result<(), Error> {
        let mut depth = 1_usize;
        while depth > 0
            && let Some(node) = xml.next()?
        {
            match node {
                Node::Start(tag) if SILENT.contains(&tag.name()) => xml.skip()?,
                Node::Start(tag) if matches!(tag.name(), "text" | "exData") => {
                    let text = match tag.name() {
                        "text" => xml.text()?,
                        _ => xml.words()?,
                    };
                    self.add(&text);
                }
                Node::Start(_) => depth += 1,
                Node::End(_) => depth -= 1,
                Node::Text(_) => {}
            }
        }
        Ok(())
    }

    fn data(&mut self, xml: &mut Xml<'_>) -> Result<(), Error> {
        let mut depth = 1_usize;
        let mut text = String::new();
        while depth > 0
            && let Some(node) = xml.next()?
        {
            match node {
                Node::Start(_) => depth += 1,
                Node::End(_) => depth -= 1,
                Node::Text(piece) => {
                    text.push_str(&piece);
                    continue;
                }
            }
            self.add(&text);
            text.clear();
        }
        Ok(())
    }

    fn add(&mut self, text: &str) {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !line.is_empty() && self.seen.insert(line.clone()) {
            self.lines.push(line);
        }
    }
}
