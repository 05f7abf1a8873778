//! What OpenDocument shows on many pages: headers, footers, and the shapes of masters. It stands once.

use super::text::{OdfReader, is_skipped};
use crate::Error;
use crate::structure::xml::{Node, Start, Xml};

impl OdfReader {
    /// Reads the headers and footers in `styles.xml`; all other text there is examples.
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

    /// Returns whether an element of `styles.xml` is shown on many pages.
    fn is_repeated(&self, name: &str) -> bool {
        match self.is_text {
            true => is_header(name),
            false => name == "master-page",
        }
    }
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
