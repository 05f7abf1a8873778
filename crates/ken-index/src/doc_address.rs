//! The address of a document within a snapshot.

use tantivy::DocAddress as EngineAddress;

/// Which document of one snapshot is meant. In another snapshot the address may mean another document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocAddress {
    pub(crate) segment: u32,
    pub(crate) doc: u32,
}

impl From<EngineAddress> for DocAddress {
    fn from(address: EngineAddress) -> Self {
        Self {
            segment: address.segment_ord,
            doc: address.doc_id,
        }
    }
}

impl From<DocAddress> for EngineAddress {
    fn from(address: DocAddress) -> Self {
        Self::new(address.segment, address.doc)
    }
}
