//! How this engine numbers documents: the number of the segment in the upper half, that of the document in the lower.

use ken_engine::DocAddress;
use tantivy::{DocAddress as EngineAddress, DocId, SegmentOrdinal};

/// The parts of an address.
pub(crate) trait AddressParts: Sized {
    fn at(segment: SegmentOrdinal, doc: DocId) -> Self;
    fn segment(self) -> SegmentOrdinal;
    fn doc(self) -> DocId;

    fn of_engine(address: EngineAddress) -> Self {
        Self::at(address.segment_ord, address.doc_id)
    }

    fn to_engine(self) -> EngineAddress
    where
        Self: Copy,
    {
        EngineAddress::new(self.segment(), self.doc())
    }
}

impl AddressParts for DocAddress {
    fn at(segment: SegmentOrdinal, doc: DocId) -> Self {
        Self::from_number(u64::from(segment) << 32 | u64::from(doc))
    }

    fn segment(self) -> SegmentOrdinal {
        (self.number() >> 32) as SegmentOrdinal
    }

    fn doc(self) -> DocId {
        self.number() as DocId
    }
}
