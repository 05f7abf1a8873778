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
use crate::schema::{MESSAGE, SEQUENCE, STAMP};

/// What is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Doomed {
    /// The file.
    pub(crate) key: FileKey,
    pub(crate) part: Part,
    /// Place in the sequence of deletions.
    pub(crate) place: u64,
}

/// What is deleted of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    All,
    /// The file's own document.
    Own,
    /// The documents of a message, by its number in the column.
    Message(u64),
}

/// Files whose documents are deleted in a commit.
#[derive(Clone, Debug)]
pub(crate) struct Deletions {
    /// The column of the files' terms.
    pub(crate) file: Column,
    /// In their order.
    pub(crate) files: Arc<Vec<Doomed>>,
}

impl Deletions {
    fn doomed(&self, segment: &SegmentReader) -> Result<BitSet, TantivyError> {
        let sequence = segment.fast_fields().u64(SEQUENCE)?;
        let messages = segment.fast_fields().u64(MESSAGE)?;
        let stamps = segment.fast_fields().u64(STAMP)?;
        let mut doomed = BitSet::with_max_value(segment.max_doc());
        // A mailbox may have many, and each of its documents is looked at once.
        let files = self.files.chunk_by(|a, b| a.key == b.key);
        let files = files.filter_map(|file| Some((file.first()?.key, file)));
        files::each_document(segment, self.file, files, |doc, file| {
            let is_before = |part| {
                let last = last_of(file, part);
                last.is_some_and(|place| sequence.first(doc).is_none_or(|added| added < place))
            };
            if is_before(Part::All)
                || stamps.first(doc).is_some() && is_before(Part::Own)
                || messages
                    .first(doc)
                    .map(Part::Message)
                    .is_some_and(is_before)
            {
                doomed.insert(doc);
            }
        })?;
        Ok(doomed)
    }
}

/// Returns the place of the last deletion of a part; the deletions are of one file, in their order.
fn last_of(file: &[Doomed], part: Part) -> Option<u64> {
    let end = file.partition_point(|doomed| doomed.part <= part);
    let last = file[..end].last()?;
    (last.part == part).then_some(last.place)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_deletion_of_a_part_counts() {
        let doomed = |part, place| Doomed {
            key: FileKey(1),
            part,
            place,
        };
        let mut file = vec![
            doomed(Part::Message(7), 3),
            doomed(Part::Own, 1),
            doomed(Part::Message(7), 5),
            doomed(Part::Message(9), 4),
        ];
        file.sort_unstable();
        assert_eq!(last_of(&file, Part::Message(7)), Some(5));
        assert_eq!(last_of(&file, Part::Message(9)), Some(4));
        assert_eq!(last_of(&file, Part::Message(8)), None);
        assert_eq!(last_of(&file, Part::Own), Some(1));
        assert_eq!(last_of(&file, Part::All), None);
    }
}
