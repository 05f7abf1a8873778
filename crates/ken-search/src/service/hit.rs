//! Hits: documents that were found, and matches in one document.

use std::sync::Arc;

use ken_core::{Document, Field, FieldNames, Kind, Location};
use serde_json::Value as Json;

use super::Service;
use crate::snippet::Fragment;

/// Ends each page but the last.
const PAGE_END: char = '\u{c}';

/// A document that was found. The document has only what the request wanted.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The rank among all hits, from 1.
    pub rank: usize,
    /// The score; absent where the order is not by relevance.
    pub score: Option<f32>,
    /// The identifier of the document.
    pub id: String,
    /// The location of the document.
    pub location: Location,
    /// The document; its text is empty unless the whole text was wanted.
    pub document: Document,
    /// The number of bytes of the text, if it was read.
    pub n_text_bytes: Option<usize>,
    /// The passages with matches, best first; the beginning of the text if only other fields match.
    pub snippets: Vec<Fragment>,
    /// The name of the sheet of the first passage, if the document is a spreadsheet with sheets.
    pub sheet: Option<String>,
    /// Whether more than one passage was wanted.
    pub has_several: bool,
    /// The number of other hits that this hit represents; absent where hits are not grouped.
    pub more: Option<usize>,
    /// How the engine computed the score, if that was wanted.
    pub explanation: Option<Json>,
    /// The names of the fields.
    pub(super) names: Arc<FieldNames>,
}

impl Service<'_> {
    pub(super) fn hit(&self, location: Location, document: Document) -> Hit {
        Hit {
            rank: 0,
            score: None,
            id: self.id(&location),
            location,
            document,
            n_text_bytes: None,
            snippets: Vec::new(),
            sheet: None,
            has_several: false,
            more: None,
            explanation: None,
            names: Arc::clone(&self.names),
        }
    }
}

impl Hit {
    /// Returns the title of the document, else its file name.
    pub fn title(&self) -> Option<&str> {
        title(&self.document)
    }
}

/// Returns the name of the sheet at a place in the text of a spreadsheet: the first line of its page, unless that is a row
/// of cells.
pub fn sheet_at(document: &Document, body: &str, at: usize) -> Option<String> {
    if document.kind != Kind::Spreadsheet {
        return None;
    }
    let start = body[..at].rfind(PAGE_END).map_or(0, |end| end + 1);
    let line = body[start..].split(['\n', PAGE_END]).next()?;
    let name = line.trim();
    let is_name = !name.is_empty() && !line.contains('\t');
    is_name.then(|| name.to_owned())
}

/// Returns the number of the sheet with this name in the text of a spreadsheet, counted from 1.
pub(super) fn sheet_named(document: &Document, name: &str) -> Option<usize> {
    let starts =
        std::iter::once(0).chain(document.body.match_indices(PAGE_END).map(|(at, _)| at + 1));
    let sheets = starts.map(|at| sheet_at(document, &document.body, at));
    let number = sheets
        .enumerate()
        .find(|(_, sheet)| sheet.as_deref() == Some(name));
    number.map(|(at, _)| at + 1)
}

/// A passage with a match in a document that the request named.
#[derive(Clone, Debug)]
pub struct MatchIn {
    /// The document.
    pub location: Location,
    /// The passage.
    pub passage: Fragment,
}

/// Returns the title of a document, else its file name.
pub fn title(document: &Document) -> Option<&str> {
    document
        .text(Field::Title)
        .or_else(|| document.text(Field::Filename))
}
