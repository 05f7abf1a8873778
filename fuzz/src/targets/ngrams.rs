//! n-gram files: whatever their bytes are, they are read, queried and merged without a panic.

use ken_ngram::{Need, Segment, merge};

pub(super) fn run(bytes: &[u8]) {
    let Some(segment) = Segment::open(Box::new(bytes.to_vec())) else {
        return;
    };
    let expression = regex_syntax::parse("frobnicate|widget.*quux").expect("an expression");
    let need = Need::of(&expression);
    let candidates = segment.candidates(&need);
    for row in segment.rows() {
        candidates.contains(row.doc);
        segment.names().path(row.doc);
        segment.of(row.version.key).count();
    }
    let merged = merge(&[segment], &|_| true, 2, Vec::new());
    assert!(merged.is_ok_and(|bytes| Segment::open(Box::new(bytes)).is_some()));
}
