//! The parts of a word's score that are the same for all queries.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use ken_core::{Field, FieldKind, FieldNames, Plan, Ranking, Word};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentReader;

use super::counts::Counts;
use super::list::Lengths;
use crate::analysis::BORDER;
use crate::dictionary::Shortcuts;
use crate::limits::Limits;
use crate::schema::Columns;

/// Minimum weight, for a word in half of the documents or more.
const LEAST: f32 = 0.05;

/// How a search scores, and its limits.
pub(crate) struct Scoring {
    shared: Arc<Shared>,
    /// Limits that may end the search early.
    pub(crate) limits: Option<Arc<Limits>>,
}

/// The scoring data that all searches of a snapshot share: weights, and the lengths of fields.
pub(crate) struct Shared {
    pub(crate) columns: Columns,
    pub(crate) names: FieldNames,
    pub(crate) ranking: Ranking,
    pub(crate) shortcuts: Arc<Shortcuts>,
    n_documents: f32,
    /// The counts of a larger collection, if the snapshot is a part of one.
    counts: Option<Arc<dyn Counts>>,
    segments: Vec<SegmentReader>,
    /// By field; computed when a search first needs the field.
    lengths: Vec<OnceLock<Option<Arc<Lengths>>>>,
}

/// Prints a short form, since each query prints it as a part of itself.
impl fmt::Debug for Scoring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scoring").finish_non_exhaustive()
    }
}

impl Deref for Scoring {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

impl Scoring {
    pub(crate) fn new(
        segments: &[SegmentReader],
        columns: &Columns,
        names: FieldNames,
        ranking: &Ranking,
        shortcuts: &Arc<Shortcuts>,
        counts: Option<&Arc<dyn Counts>>,
    ) -> Self {
        let n_documents: u64 = match counts {
            Some(counts) => counts.n_documents(),
            None => segments.iter().map(|of| u64::from(of.max_doc())).sum(),
        };
        Self {
            shared: Arc::new(Shared {
                lengths: Field::all().map(|_| OnceLock::new()).collect(),
                segments: segments.to_vec(),
                columns: columns.clone(),
                names,
                ranking: ranking.clone(),
                shortcuts: Arc::clone(shortcuts),
                n_documents: n_documents as f32,
                counts: counts.cloned(),
            }),
            limits: None,
        }
    }

    /// Returns a copy for one search with limits.
    pub(crate) fn limited(&self, limits: &Arc<Limits>) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            limits: Some(Arc::clone(limits)),
        }
    }
}

impl Shared {
    pub(super) fn counts(&self) -> Option<&dyn Counts> {
        self.counts.as_deref()
    }

    pub(super) fn n_documents(&self) -> f32 {
        self.n_documents
    }

    /// Returns a word as text, with the name that its field has in the index.
    pub(super) fn printed(&self, word: &Word) -> String {
        let plan = Plan::Word(word.clone());
        plan.printed(&self.names).to_string()
    }

    /// Returns the weight of one occurrence by length; `None` if no document has the field.
    pub(super) fn lengths(&self, field: Field) -> tantivy::Result<Option<&Arc<Lengths>>> {
        let Some(slot) = self.lengths.get(field as usize) else {
            return Ok(None);
        };
        if let Some(known) = slot.get() {
            return Ok(known.as_ref());
        }
        let average = match field.info().kind {
            FieldKind::Text => self.average_length(field)?,
            _ => None,
        };
        let measured = match field {
            Field::Dir => Some(Arc::new([self.ranking.folder; 256])),
            _ => average.map(|average| Arc::new(lengths(average, &self.ranking, field))),
        };
        Ok(slot.get_or_init(|| measured).as_ref())
    }

    /// Returns the average length of a field over the documents that have it; `None` if there are
    /// none.
    fn average_length(&self, field: Field) -> tantivy::Result<Option<f32>> {
        let column = self.columns.of(field);
        let (mut n_tokens, mut n_documents) = (0, 0);
        if let Some(counts) = self.counts() {
            let (n_tokens, n_documents) = counts.lengths(field);
            return Ok((n_documents > 0).then(|| n_tokens as f32 / n_documents as f32));
        }
        for segment in &self.segments {
            let Some(index) = self.shortcuts.index(segment, column)? else {
                continue;
            };
            n_tokens += index.total_num_tokens();
            // Every document with the field has its border.
            let border = index.terms().get(BORDER)?;
            n_documents += border.map_or(0, |info| u64::from(info.doc_freq));
        }
        Ok((n_documents > 0).then(|| n_tokens as f32 / n_documents as f32))
    }

    /// Returns the significance of a word that occurs in `n_documents`: the weight of Robertson and
    /// Sparck Jones ("Relevance weighting of search terms", 1976). It is 0 for a word in half of
    /// the documents, so that `the` and `of` in a sentence do not outweigh its subject; the variant
    /// with 1 added inside the logarithm gives them 0.7. Every word keeps a small weight. Among
    /// otherwise equal documents, those with the word therefore come first, and this suffices for
    /// ranking in small collections, where every word is frequent.
    pub(super) fn idf(&self, n_documents: f32) -> f32 {
        let n = n_documents.min(self.n_documents);
        let smooth = (1.0 + (self.n_documents - n + 0.5) / (n + 0.5)).ln();
        let weight = ((self.n_documents - n + 0.5) / (n + 0.5)).ln();
        weight.max(smooth * LEAST)
    }
}

fn lengths(average: f32, ranking: &Ranking, field: Field) -> Lengths {
    let weight = ranking.weight(field);
    std::array::from_fn(|id| {
        let length = FieldNormReader::id_to_fieldnorm(id as u8) as f32;
        weight / (1.0 - ranking.b + ranking.b * length / average)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::tests::opened;

    #[test]
    fn what_a_search_with_limits_measures_is_known_to_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let snapshot = opened(folder.path());
        let ranking = Ranking::default();
        let scoring = Scoring::new(
            &[],
            &Columns::new(),
            FieldNames::TABLE,
            &ranking,
            &snapshot.shortcuts,
            None,
        );
        let limited = scoring.limited(&Arc::new(Limits::default()));
        limited.lengths(Field::Body).unwrap();
        assert!(scoring.lengths[Field::Body as usize].get().is_some());
    }
}
