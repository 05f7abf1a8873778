//! Scores words of a query in the names of the folders that hold a document: "inverted lists patent" in a folder
//! `patents`.
//!
//! Folders are no text of the document, so their names never decide whether it is found.

use std::collections::{HashMap, HashSet};

use ken_core::{Pattern, Span};
use tantivy::Searcher;
use tantivy::query::Query;

use super::proximity::collect;
use super::scoring::Scoring;
use super::terms::WordTerms;
use crate::analysis::folded;

/// The words of a query, looked for in names of folders.
pub(crate) struct FolderNames<'a> {
    words: Vec<Named<'a>>,
    /// The scores of folders seen so far, since hits are often in one folder.
    known: HashMap<Vec<u8>, f32>,
}

/// The forms of a word, and what a folder adds that has one of them in its name.
struct Named<'a> {
    forms: HashSet<&'a str>,
    score: f32,
}

impl<'a> FolderNames<'a> {
    /// Returns the words of a query; `None` if it has no words of any field.
    pub(crate) fn of(
        query: &'a dyn Query,
        searcher: &Searcher,
        scoring: &Scoring,
    ) -> tantivy::Result<Option<Self>> {
        let (ranking, mut words) = (&scoring.ranking, Vec::new());
        for word in collect(query, searcher)? {
            if word.word.field.is_none() {
                words.push(Named {
                    forms: forms(word),
                    score: ranking.folder * word.worth * (ranking.k1 + 1.0),
                });
            }
        }
        words.retain(|word| word.score > 0.0 && !word.forms.is_empty());
        let known = HashMap::new();
        Ok((!words.is_empty()).then_some(Self { words, known }))
    }

    /// Returns what the folders of a path add.
    pub(crate) fn score(&mut self, path: &[u8]) -> f32 {
        let end = memchr::memrchr(b'/', path).unwrap_or(0);
        let folder = &path[..end];
        if let Some(known) = self.known.get(folder) {
            return *known;
        }
        let text = folded(&String::from_utf8_lossy(folder));
        let names: HashSet<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        let is_there = |word: &&Named<'_>| word.forms.iter().any(|form| names.contains(form));
        let score = self.words.iter().filter(is_there).map(|word| word.score).sum();
        self.known.insert(folder.to_vec(), score);
        score
    }
}

fn forms(word: &WordTerms) -> HashSet<&str> {
    let forms = word.word.forms.iter().filter_map(|form| match &form.span {
        Span::Match(Pattern::Term(term)) => Some(term.as_str()),
        _ => None,
    });
    forms.collect()
}
