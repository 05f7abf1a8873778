//! Deletions, in the engine's terms.
//!
//! The engine applies a deletion to whole segments, when a commit is made, and cannot tell which of
//! their documents were added before it and which after. So each document keeps its place in the
//! sequence of the writer's deletions: a deletion spares those that came after it.

use std::sync::Arc;

use ken_core::FileKey;
use tantivy::query::{
    BitSetDocSet, ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::schema::Field as Column;
use tantivy::{BitSet, DocId, Score, SegmentReader, TantivyError};

use crate::files;
use crate::schema::{MESSAGE, SEQUENCE};

/// What is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Doomed {
    /// The file.
    pub(crate) key: FileKey,
    /// The message of the file, by its number in the column; all of the file if there is none.
    pub(crate) message: Option<u64>,
    /// Place in the sequence of deletions.
    pub(crate) place: u64,
}

/// Files whose documents are deleted in a commit.
#[derive(Clone, Debug)]
pub(crate) struct Deletions {
    /// The column of the files' terms.
    pub(crate) file: Column,
    /// In the order of their keys.
    pub(crate) files: Arc<Vec<Doomed>>,
}

impl Deletions {
    fn doomed(&self, segment: &SegmentReader) -> Result<BitSet, TantivyError> {
        let sequence = segment.fast_fields().u64(SEQUENCE)?;
        let messages = segment.fast_fields().u64(MESSAGE)?;
        let mut doomed = BitSet::with_max_value(segment.max_doc());
        let files = self.files.iter().map(|doomed| (doomed.key, *doomed));
        files::each_document(
            segment,
            self.file,
            files,
            |doc, Doomed { message, place, .. }| {
                let is_meant = message.is_none() || messages.first(doc) == message;
                if is_meant && sequence.first(doc).is_none_or(|added| added < place) {
                    doomed.insert(doc);
                }
            },
        )?;
        Ok(doomed)
    }
}

impl Query for Deletions {
    fn weight(&self, _: EnableScoring<'_>) -> Result<Box<dyn Weight>, TantivyError> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for Deletions {
    fn scorer(&self, segment: &SegmentReader, _: Score) -> Result<Box<dyn Scorer>, TantivyError> {
        let doomed = self.doomed(segment)?;
        if doomed.len() == 0 {
            return Ok(Box::new(EmptyScorer));
        }
        Ok(Box::new(ConstScorer::new(BitSetDocSet::from(doomed), 1.0)))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> Result<Explanation, TantivyError> {
        Ok(Explanation::new("deletion", 1.0))
    }
}
