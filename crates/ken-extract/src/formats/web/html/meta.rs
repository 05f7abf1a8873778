//! Metadata of a page: `<meta>` names of HTML, Dublin Core and Open Graph, and the language.

use ken_core::{Field, Value};

use super::writer::folded;
use crate::date;
use crate::output::metadata::keywords;

/// Maximum number of fields; a page with more is a joke or an attack.
const MAX_FIELDS: usize = 256;

/// Metadata from the head of a page.
#[derive(Debug, Default)]
pub(super) struct Meta {
    pub(super) fields: Vec<(Field, Value)>,
    /// Replaces a missing `<title>`.
    pub(super) other_title: Option<String>,
    /// Replaces a missing description.
    other_description: Option<String>,
}

impl Meta {
    /// Takes one `<meta>` element.
    pub(super) fn add(&mut self, name: &str, content: &str) {
        let mut buffer = [0; 24];
        let Some(name_folded) = buffer.get_mut(..name.len()) else {
            return;
        };
        name_folded.copy_from_slice(name.as_bytes());
        name_folded.make_ascii_lowercase();
        match &*name_folded {
            b"author" | b"dc.creator" | b"dcterms.creator" | b"article:author" => {
                self.push(Field::Author, content);
            }
            b"description" | b"dc.description" | b"dcterms.description" | b"dcterms.abstract" => {
                self.push(Field::Description, content);
            }
            b"keywords" | b"dc.subject" | b"dcterms.subject" | b"article:tag" => {
                keywords(content).for_each(|keyword| self.push(Field::Keywords, keyword));
            }
            b"dc.language" | b"dcterms.language" => self.set_language(content),
            b"date"
            | b"dc.date"
            | b"dcterms.date"
            | b"dcterms.modified"
            | b"last-modified"
            | b"article:modified_time"
            | b"article:published_time" => {
                self.set_date(Field::Date, content);
            }
            b"dcterms.created" | b"dc.date.created" => self.set_date(Field::Created, content),
            b"og:title" | b"dc.title" | b"dcterms.title" | b"twitter:title" => {
                self.other_title = self.other_title.take().or_else(|| folded(content));
            }
            b"og:description" | b"twitter:description" => {
                self.other_description = self.other_description.take().or_else(|| folded(content));
            }
            _ => {}
        }
    }

    /// Sets the language of the page, unless it is already known.
    pub(super) fn set_language(&mut self, tag: &str) {
        if !self.has(Field::Lang) {
            self.push(Field::Lang, tag);
        }
    }

    /// Returns all fields.
    pub(super) fn into_fields(mut self) -> Vec<(Field, Value)> {
        if let Some(description) = self.other_description.take()
            && !self.has(Field::Description)
        {
            self.push(Field::Description, &description);
        }
        self.fields
    }

    fn set_date(&mut self, field: Field, content: &str) {
        if let Some(seconds) = date::iso(content)
            && !self.has(field)
        {
            self.fields.push((field, Value::Number(seconds)));
        }
    }

    fn push(&mut self, field: Field, content: &str) {
        if self.fields.len() < MAX_FIELDS
            && let Some(text) = folded(content)
        {
            let value = (field, Value::Text(text));
            if !self.fields.contains(&value) {
                self.fields.push(value);
            }
        }
    }

    fn has(&self, field: Field) -> bool {
        self.fields.iter().any(|(known, _)| *known == field)
    }
}
