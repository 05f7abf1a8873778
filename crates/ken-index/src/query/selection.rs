//! A query for given documents: to search only in some, or to exclude some.

use std::collections::HashMap;

use tantivy::index::SegmentId;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::{BitSet, DocId, Score, SegmentReader, TantivyError};

use crate::DocAddress;
use crate::doc_address::AddressParts;

/// The documents at these addresses in one snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Selection(pub(crate) Vec<DocAddress>);

impl Query for Selection {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        let searcher = scoring.searcher().ok_or_else(without_searcher)?;
        let mut documents: HashMap<SegmentId, Vec<DocId>> = HashMap::new();
        for address in &self.0 {
            let segment = searcher.segment_reader(address.segment());
            let of_segment = documents.entry(segment.segment_id()).or_default();
            of_segment.push(address.doc());
        }
        Ok(Box::new(SelectionWeight(documents)))
    }
}

/// The engine always provides a searcher where documents are searched.
pub(crate) fn without_searcher() -> TantivyError {
    TantivyError::InternalError("a query without its snapshot".to_owned())
}

/// Returns a scorer of given documents in a segment, all with the same score.
pub(crate) fn scorer(
    segment: &SegmentReader,
    documents: impl IntoIterator<Item = DocId>,
    score: Score,
) -> Box<dyn Scorer> {
    let mut set = BitSet::with_max_value(segment.max_doc());
    for doc in documents {
        set.insert(doc);
    }
    if set.len() == 0 {
        return Box::new(EmptyScorer);
    }
    Box::new(ConstScorer::new(BitSetDocSet::from(set), score))
}

struct SelectionWeight(HashMap<SegmentId, Vec<DocId>>);

impl Weight for SelectionWeight {
    fn scorer(&self, segment: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let documents = self.0.get(&segment.segment_id());
        let documents = documents.into_iter().flatten().copied();
        Ok(scorer(segment, documents, boost))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("one of some documents", 0.0))
    }
}
