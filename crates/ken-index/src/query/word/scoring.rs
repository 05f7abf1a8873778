//! What the score of a word is made of, as far as it is the same for all queries.

use std::sync::Arc;

use ken_core::{FIELDS, Field, FieldKind, Ranking};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentReader;

use super::list::Lengths;
use crate::dictionary::Shortcuts;
use crate::schema::Columns;

/// How many documents are asked whether they have a field: the average length is that of documents
/// that have it, and needs no more exactness.
const SAMPLES: u32 = 1024;
/// How many of a segment at least.
const MIN_SAMPLES: u32 = 16;

/// What is left to a word that is in every second document or more.
const LEAST: f32 = 0.05;

/// Weights, and the lengths of fields in one snapshot.
#[derive(Debug)]
pub(crate) struct Scoring {
    pub(crate) columns: Columns,
    pub(crate) ranking: Ranking,
    pub(crate) shortcuts: Arc<Shortcuts>,
    pub(super) n_documents: f32,
    lengths: Vec<Option<Arc<Lengths>>>,
}

impl Scoring {
    /// Measures the fields of a snapshot.
    pub(crate) fn new(
        segments: &[SegmentReader],
        columns: &Columns,
        ranking: &Ranking,
        shortcuts: &Arc<Shortcuts>,
    ) -> tantivy::Result<Self> {
        let lengths = FIELDS.iter().map(|info| {
            if info.kind != FieldKind::Text {
                return Ok(None);
            }
            let average = average_length(segments, columns, info.field)?;
            Ok(average.map(|average| Arc::new(lengths(average, ranking, info.field))))
        });
        let n_documents: u64 = segments.iter().map(|of| u64::from(of.max_doc())).sum();
        Ok(Self {
            lengths: lengths.collect::<tantivy::Result<_>>()?,
            columns: columns.clone(),
            ranking: ranking.clone(),
            shortcuts: Arc::clone(shortcuts),
            n_documents: n_documents as f32,
        })
    }

    /// Returns how much one occurrence counts; `None` if no document has the field.
    pub(super) fn lengths(&self, field: Field) -> Option<&Arc<Lengths>> {
        self.lengths.get(field as usize)?.as_ref()
    }

    /// Returns how much a word says that so many documents have: the weight of Robertson and Sparck
    /// Jones ("Relevance weighting of search terms", 1976). It is 0 for a word of every second
    /// document, which keeps `the` and `of` in a sentence from outweighing what it is about; the
    /// form that adds 1 inside of the logarithm gives them 0.7. A little is left to every word, so
    /// that among documents that differ in nothing else those that have it come first, and in small
    /// collections, where every word is frequent, that is enough to rank by.
    pub(super) fn idf(&self, n_documents: f32) -> f32 {
        let n = n_documents.min(self.n_documents);
        let smooth = (1.0 + (self.n_documents - n + 0.5) / (n + 0.5)).ln();
        let weight = ((self.n_documents - n + 0.5) / (n + 0.5)).ln();
        weight.max(smooth * LEAST)
    }
}

/// Returns the average length of a field in documents that have it; `None` if there is none.
fn average_length(
    segments: &[SegmentReader],
    columns: &Columns,
    field: Field,
) -> tantivy::Result<Option<f32>> {
    let all: u64 = segments.iter().map(|of| u64::from(of.max_doc())).sum();
    let (mut n_tokens, mut n_documents) = (0, 0.0);
    for segment in segments {
        let in_segment = segment
            .inverted_index(columns.of(field))?
            .total_num_tokens();
        let norms = segment.fieldnorms_readers().get_field(columns.of(field))?;
        if let Some(norms) = norms.filter(|_| in_segment > 0) {
            n_tokens += in_segment;
            let part = u64::from(SAMPLES) * u64::from(segment.max_doc()) / all.max(1);
            let n_samples = MIN_SAMPLES.max(part as u32);
            n_documents += share(&norms, segment.max_doc(), n_samples) * segment.max_doc() as f32;
        }
    }
    Ok((n_tokens > 0).then(|| n_tokens as f32 / n_documents.max(1.0)))
}

/// Returns about which share of the documents has a field, as so many of them say.
fn share(norms: &FieldNormReader, max_doc: u32, n_samples: u32) -> f32 {
    let step = max_doc.div_ceil(n_samples).max(1);
    let docs = (0..max_doc).step_by(step as usize);
    let (all, with) = docs.fold((0_u32, 0_u32), |(all, with), doc| {
        (all + 1, with + u32::from(norms.fieldnorm_id(doc) > 0))
    });
    with.max(1) as f32 / all.max(1) as f32
}

fn lengths(average: f32, ranking: &Ranking, field: Field) -> Lengths {
    let weight = ranking.weight(field);
    std::array::from_fn(|id| {
        let length = FieldNormReader::id_to_fieldnorm(id as u8) as f32;
        weight / (1.0 - ranking.b + ranking.b * length / average)
    })
}
