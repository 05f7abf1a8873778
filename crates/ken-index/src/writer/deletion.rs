//! Deletions, in the engine's terms.
//!
//! The engine applies a deletion to whole segments, when a commit is made, and does not know which of
//! their documents were added before it and which after. So each document keeps its sequence in the
//! sequence of the writer's deletions: a deletion spares those that came after it.

use std::sync::Arc;

use ken_core::FileKey;
use ken_engine::{MessageId, Scope};
use tantivy::query::{
    BitSetDocSet, ConstScorer, EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight,
};
use tantivy::schema::Field as Column;
use tantivy::{BitSet, DocId, Score, SegmentReader, TantivyError};

use crate::postings::files;
use crate::schema::{MESSAGE, SEQUENCE, STAMP};

/// A deletion of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Deletion {
    /// The file.
    pub(crate) key: FileKey,
    pub(crate) scope: Scope,
    /// Position in the sequence of deletions.
    pub(crate) sequence: u64,
}

/// Files whose documents are deleted in a commit.
#[derive(Clone, Debug)]
pub(crate) struct DeletionQuery {
    /// The column of the files' terms.
    pub(crate) file: Column,
    /// The deletions, in order.
    pub(crate) files: Arc<Vec<Deletion>>,
}

impl DeletionQuery {
    fn deletion(&self, segment: &SegmentReader) -> Result<BitSet, TantivyError> {
        let added = segment.fast_fields().u64(SEQUENCE)?;
        let messages = segment.fast_fields().u64(MESSAGE)?;
        let stamps = segment.fast_fields().u64(STAMP)?;
        let mut deletion = BitSet::with_max_value(segment.max_doc());
        // A mailbox may have many, and each of its documents is looked at once.
        let files = self.files.chunk_by(|a, b| a.key == b.key);
        let files = files.filter_map(|file| Some((file.first()?.key, file)));
        files::each_document(segment, self.file, files, |doc, file| {
            let is_before = |scope| {
                let last = last_of(file, scope);
                last.is_some_and(|sequence| added.first(doc).is_none_or(|added| added < sequence))
            };
            if is_before(Scope::File)
                || stamps.first(doc).is_some() && is_before(Scope::Own)
                || messages
                    .first(doc)
                    .map(|number| Scope::Message(MessageId::from_number(number)))
                    .is_some_and(is_before)
            {
                deletion.insert(doc);
            }
        })?;
        Ok(deletion)
    }
}

/// Returns the sequence of the last deletion of a scope; the deletions are of one file, in their order.
fn last_of(file: &[Deletion], scope: Scope) -> Option<u64> {
    let end = file.partition_point(|deletion| deletion.scope <= scope);
    let last = file[..end].last()?;
    (last.scope == scope).then_some(last.sequence)
}

impl Query for DeletionQuery {
    fn weight(&self, _: EnableScoring<'_>) -> Result<Box<dyn Weight>, TantivyError> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for DeletionQuery {
    fn scorer(&self, segment: &SegmentReader, _: Score) -> Result<Box<dyn Scorer>, TantivyError> {
        let deletion = self.deletion(segment)?;
        if deletion.len() == 0 {
            return Ok(Box::new(EmptyScorer));
        }
        Ok(Box::new(ConstScorer::new(
            BitSetDocSet::from(deletion),
            1.0,
        )))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> Result<Explanation, TantivyError> {
        Ok(Explanation::new("deletion", 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_deletion_of_a_part_counts() {
        let deletion = |scope, sequence| Deletion {
            key: FileKey(1),
            scope,
            sequence,
        };
        let message = |number| Scope::Message(MessageId::from_number(number));
        let mut file = vec![
            deletion(message(7), 3),
            deletion(Scope::Own, 1),
            deletion(message(7), 5),
            deletion(message(9), 4),
        ];
        file.sort_unstable();
        assert_eq!(last_of(&file, message(7)), Some(5));
        assert_eq!(last_of(&file, message(9)), Some(4));
        assert_eq!(last_of(&file, message(8)), None);
        assert_eq!(last_of(&file, Scope::Own), Some(1));
        assert_eq!(last_of(&file, Scope::File), None);
    }
}
