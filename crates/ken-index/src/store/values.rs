//! Reads the values of a stored document in place.
//!
//! The engine's own reader makes a string of each text, and reads bytes one by one: a packed body
//! of 0.9 MB takes it 11 ms. The format is that of index format 7 (`BinaryDocumentSerializer` of
//! Tantivy 0.27), where each number of variable length ends with a byte whose highest bit is set:
//!
//! ```text
//! number of values      variable
//! for each: column      u32, little-endian
//!           type        u8
//!           text, bytes: length (variable) and bytes; numbers: 8 bytes, little-endian
//! ```

use tantivy::schema::Field as Column;

const TEXT: u8 = 0;
const SIGNED: u8 = 2;
const BYTES: u8 = 4;
const LAST: u8 = 0x80;
/// Minimum size of a value with its column.
const LEAST_BYTES: usize = 6;

/// A value as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StoredValue<'a> {
    Text(&'a str),
    Signed(i64),
    Bytes(&'a [u8]),
}

/// Returns the values of a document with their columns; none if the document is damaged.
pub(crate) fn values(mut document: &[u8]) -> Option<Vec<(Column, StoredValue<'_>)>> {
    let n_values = usize::try_from(number(&mut document)?).ok()?;
    let mut values = Vec::with_capacity(n_values.min(document.len() / LEAST_BYTES));
    for _ in 0..n_values {
        let column = Column::from_field_id(u32::from_le_bytes(fixed(&mut document)?));
        let [kind] = fixed(&mut document)?;
        let value = match kind {
            TEXT => StoredValue::Text(str::from_utf8(bytes(&mut document)?).ok()?),
            BYTES => StoredValue::Bytes(bytes(&mut document)?),
            SIGNED => StoredValue::Signed(i64::from_le_bytes(fixed(&mut document)?)),
            _ => return None,
        };
        values.push((column, value));
    }
    document.is_empty().then_some(values)
}

fn fixed<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = from.split_first_chunk()?;
    *from = rest;
    Some(*first)
}

fn bytes<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(from)?).ok()?;
    let (first, rest) = from.split_at_checked(length)?;
    *from = rest;
    Some(first)
}

fn number(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let [byte] = fixed(from)?;
        number |= u64::from(byte & !LAST) << shift;
        if byte & LAST != 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::schema::{OwnedValue, STORED, Schema, TantivyDocument};
    use tantivy::{Index, IndexWriter, doc};

    use super::*;

    /// Returns the engine's stored form of a document.
    fn stored(text: &str, bytes: &[u8], signed: i64) -> Vec<u8> {
        let mut schema = Schema::builder();
        let columns = [
            schema.add_text_field("text", STORED),
            schema.add_bytes_field("bytes", STORED),
            schema.add_i64_field("signed", STORED),
        ];
        let index = Index::create_in_ram(schema.build());
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 15_000_000).unwrap();
        let document = doc!(columns[0] => text, columns[1] => bytes, columns[2] => signed, columns[0] => "again");
        writer.add_document(document).unwrap();
        writer.commit().unwrap();
        let searcher = index.reader().unwrap().searcher();
        let store = searcher.segment_reader(0).get_store_reader(1).unwrap();
        let read: TantivyDocument = store.get(0).unwrap();
        let read: Option<OwnedValue> = read.get_first(columns[0]).map(OwnedValue::from);
        assert_eq!(read, Some(OwnedValue::Str(text.to_owned())));
        store.get_document_bytes(0).unwrap().to_vec()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn what_the_engine_stores_is_read(
            text in "\\PC{0,300}", content in prop::collection::vec(any::<u8>(), 0..20_000),
            signed in any::<i64>()
        ) {
            let document = stored(&text, &content, signed);
            let column = Column::from_field_id;
            let expected = [
                (column(0), StoredValue::Text(&text)),
                (column(1), StoredValue::Bytes(&content)),
                (column(2), StoredValue::Signed(signed)),
                (column(0), StoredValue::Text("again")),
            ];
            prop_assert_eq!(values(&document), Some(expected.to_vec()));
        }
    }

    #[test]
    fn damaged_documents_are_reported() {
        let document = stored("a text", b"bytes", -3);
        assert!(values(&document).is_some());
        for length in 0..document.len() {
            assert_eq!(values(&document[..length]), None);
        }
        let mut longer = document;
        longer.push(0);
        assert_eq!(values(&longer), None);
        assert_eq!(values(&[0x7f; 12]), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(document in prop::collection::vec(any::<u8>(), 0..64)) {
            values(&document);
        }
    }
}
