//! The columns of a segment that are read for every displayed document.

use ken_core::{Document, MessageSpan, Token};
use ken_engine::{FileState, MessageId};
use tantivy::columnar::Column;
use tantivy::{DocId, SegmentReader, TantivyError};

use crate::schema::{CONTENT, DIGEST, IDENTITY, KEY, MESSAGE, OFFSET, STAMP};

/// The columns of what is kept of a document and is no field.
pub(crate) struct DocumentColumns {
    pub(crate) keys: Column<u64>,
    stamps: Column<u64>,
    identities: Column<u64>,
    contents: Column<u64>,
    messages: Column<u64>,
    offsets: Column<u64>,
    digests: Column<u64>,
}

impl DocumentColumns {
    pub(crate) fn open(segment: &SegmentReader) -> Result<Self, TantivyError> {
        let columns = segment.fast_fields();
        Ok(Self {
            keys: columns.u64(KEY)?,
            stamps: columns.u64(STAMP)?,
            identities: columns.u64(IDENTITY)?,
            contents: columns.u64(CONTENT)?,
            messages: columns.u64(MESSAGE)?,
            offsets: columns.u64(OFFSET)?,
            digests: columns.u64(DIGEST)?,
        })
    }

    /// Returns the data about a file, from its own document.
    pub(crate) fn state(&self, doc: DocId) -> Option<FileState> {
        let state = self.stamps.first(doc).zip(self.identities.first(doc));
        state.map(|(token, identity)| FileState {
            token: Token::from_number(token),
            identity,
        })
    }

    /// Fills in a document's data from these columns.
    pub(crate) fn fill(&self, doc: DocId, document: &mut Document) {
        document.content = self.contents.first(doc);
        document.message = self
            .messages
            .first(doc)
            .map(|number| MessageId::from_number(number).components());
        let span = self.offsets.first(doc).zip(self.digests.first(doc));
        document.span = span.map(|(offset, digest)| MessageSpan { offset, digest });
    }
}
