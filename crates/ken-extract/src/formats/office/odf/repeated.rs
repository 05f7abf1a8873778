//! What OpenDocument shows on many pages: headers, footers, and the shapes of masters. It stands once.

use super::text::{OdfReader, is_skipped};
use crate::Error;
use crate::structure::xml::{Node, Start, Xml};

impl OdfReader {
    /// Reads the headers and footers in `styles.xml`, or before the body of a flat file; all other text
    /// there is examples.
    pub(super) fn read_headers(&mut self, text: &str) -> Result<(), Error> {
        let mut xml = Xml::new(text);
        let mut depth = 0;
        let mut outside = None;
        while let Some(node) = xml.next()? {
            match node {
                Node::Start(tag) if self.is_repeated(tag.name()) => {
                    depth += 1;
                    outside.get_or_insert_with(|| self.body.apart());
                }
                Node::End(tag) if self.is_repeated(tag.name()) => {
                    depth = 0;
                    if let Some(body) = outside.take() {
                        self.body.add_once(body);
                    }
                }
                // Placeholders of slides are prompts.
                Node::Start(tag)
                    if depth > 0
                        && (tag.full_name() == "presentation:notes" || is_prompt(&tag)) =>
                {
                    xml.skip()?;
                }
                Node::Start(tag) if tag.full_name() == "office:body" => break,
                Node::Start(tag) if depth > 0 && self.is_sheet && is_field(tag.full_name()) => {
                    xml.skip()?;
                }
                Node::Start(tag) if depth > 0 && self.is_sheet && tag.name() == "p" => {
                    self.read_header_of_sheet(&mut xml)?;
                }
                Node::Start(tag) if depth > 0 && is_skipped(&tag) => xml.skip()?,
                Node::Start(tag) if depth > 0 => self.start(&tag),
                Node::End(tag) if depth > 0 => self.end(tag.name()),
                Node::Text(text) if self.paragraphs > 0 => self.body.push_folded(&text),
                _ => {}
            }
        }
        if let Some(body) = outside {
            self.body.add_once(body);
        }
        xml.whole()
    }

    /// Reads a paragraph of a header of sheets. The program makes headers of its own, of the number of the
    /// page and the name of the sheet, with one word at most.
    fn read_header_of_sheet(&mut self, xml: &mut Xml<'_>) -> Result<(), Error> {
        let mut line = String::new();
        let mut is_numbered = false;
        let mut depth = 1;
        while let Some(node) = xml.next()? {
            match node {
                Node::Start(tag) if is_field(tag.full_name()) => {
                    is_numbered |= matches!(tag.name(), "page-number" | "sheet-name");
                    xml.skip()?;
                }
                Node::Start(tag) => {
                    depth += 1;
                    line.push_str(if tag.name() == "s" { " " } else { "" });
                }
                Node::Text(text) => line.push_str(&text),
                Node::End(_) => depth -= 1,
            }
            if depth == 0 {
                break;
            }
        }
        let words = line
            .split_whitespace()
            .filter(|word| word.contains(char::is_alphanumeric));
        if words.count() > usize::from(is_numbered) {
            self.body.line(&line);
        }
        Ok(())
    }

    /// Returns whether an element of `styles.xml` is shown on many pages.
    fn is_repeated(&self, name: &str) -> bool {
        match self.is_text || self.is_sheet {
            true => is_header(name),
            false => name == "master-page",
        }
    }
}

/// Returns whether an element of a header holds a value that the program computes.
fn is_field(name: &str) -> bool {
    matches!(
        name,
        "text:page-number"
            | "text:page-count"
            | "text:sheet-name"
            | "text:file-name"
            | "text:title"
            | "text:date"
            | "text:time"
    )
}

/// Returns whether an element of a master is a placeholder.
fn is_prompt(tag: &Start<'_>) -> bool {
    tag.attributes()
        .any(|(name, _)| name == "presentation:class")
}

fn is_header(name: &str) -> bool {
    matches!(
        name,
        "header" | "header-left" | "header-first" | "footer" | "footer-left" | "footer-first"
    )
}
