//! What was found: documents, and matches in one document.

use std::sync::Arc;

use ken_core::{Document, Field, FieldNames, Location};
use serde_json::Value as Json;

use super::Service;
use crate::snippet::Fragment;

/// A document that was found. Of its document there is what the request wanted.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Its rank in the whole result, from 1.
    pub rank: usize,
    /// Its score; absent where the order is not by relevance.
    pub score: Option<f32>,
    /// Where it is.
    pub location: Location,
    /// What is known of it; the text is empty unless all of it was wanted.
    pub document: Document,
    /// How many bytes its text has, if the text was read.
    pub n_text_bytes: Option<usize>,
    /// The passages with matches, best first; its beginning if only its fields match.
    pub snippets: Vec<Fragment>,
    /// Whether more than one passage was wanted.
    pub has_several: bool,
    /// How many other hits it stands for; absent where hits are not grouped.
    pub more: Option<usize>,
    /// How it got its score, as the engine tells it, if that was wanted.
    pub explanation: Option<Json>,
    /// What its fields are called.
    pub(super) names: Arc<FieldNames>,
}

impl Service<'_> {
    pub(super) fn hit(&self, location: Location, document: Document) -> Hit {
        Hit {
            rank: 0,
            score: None,
            location,
            document,
            n_text_bytes: None,
            snippets: Vec::new(),
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

/// A passage with matches in a document that the request named.
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
