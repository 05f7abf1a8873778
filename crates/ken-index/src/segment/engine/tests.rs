//! The files against those that the engine's own serializers write.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tantivy::directory::CompositeFile;
use tantivy::fieldnorm::{FieldNormReaders, FieldNormsSerializer};
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::{IndexRecordOption, Schema, SchemaBuilder, TextFieldIndexing, TextOptions};
use tantivy::termdict::TermDictionary;
use tantivy::{HasLen, Index};

use super::*;

/// Of each term, in which documents it is, and where.
type Terms = BTreeMap<Vec<u8>, BTreeMap<DocId, Vec<u32>>>;

const N_DOCS: DocId = 3000;

/// A field without positions, one that is not ranked, one that is.
fn schema() -> Schema {
    let mut schema = SchemaBuilder::new();
    for (name, detail, has_norms) in [
        ("documents", IndexRecordOption::Basic, false),
        ("positions", IndexRecordOption::WithFreqsAndPositions, false),
        ("ranked", IndexRecordOption::WithFreqsAndPositions, true),
    ] {
        let indexing = TextFieldIndexing::default().set_index_option(detail);
        let indexing = indexing.set_fieldnorms(has_norms);
        schema.add_text_field(name, TextOptions::default().set_indexing_options(indexing));
    }
    schema.build()
}

/// A segment with the lengths of documents, where terms are to be written.
fn segment(index: &Index) -> (Segment, FieldNormReaders) {
    let segment = index.new_segment();
    let ranked = index.schema().get_field("ranked").unwrap();
    let file = segment.open_write(SegmentComponent::FieldNorms).unwrap();
    let mut norms = FieldNormsSerializer::from_write(file).unwrap();
    let codes: Vec<u8> = (0..N_DOCS).map(|doc| (doc % 90) as u8).collect();
    norms.serialize_field(ranked, &codes).unwrap();
    norms.close().unwrap();
    let norms = segment.open_read(SegmentComponent::FieldNorms).unwrap();
    (segment, FieldNormReaders::open(norms).unwrap())
}

fn deltas(positions: &[u32]) -> Vec<u32> {
    let before = [0].into_iter().chain(positions.iter().copied());
    positions
        .iter()
        .zip(before)
        .map(|(at, before)| at - before)
        .collect()
}

fn same(terms: &Terms) {
    let index = Index::create_in_ram(schema());
    let (own, norms) = segment(&index);
    let (engine, _) = segment(&index);
    let mut files = Files::open(&own).unwrap();
    let mut serializer = InvertedIndexSerializer::open(&engine).unwrap();
    for (column, entry) in index.schema().fields() {
        let has_positions =
            entry.field_type().index_record_option() != Some(IndexRecordOption::Basic);
        let norms = || norms.get_field(column).unwrap();
        let mut field = files
            .field(column, has_positions, 123_456, norms())
            .unwrap();
        let mut expected = serializer.new_field(column, 123_456, norms()).unwrap();
        for (term, docs) in terms {
            field.term(term, docs.len() as u32).unwrap();
            expected
                .new_term(term, docs.len() as u32, has_positions)
                .unwrap();
            for (doc, positions) in docs {
                let deltas = if has_positions {
                    deltas(positions)
                } else {
                    Vec::new()
                };
                field.document(*doc, &deltas).unwrap();
                expected.write_doc(*doc, deltas.len() as u32, &deltas);
            }
            field.end_term().unwrap();
            expected.close_term().unwrap();
        }
        field.close().unwrap();
        expected.close().unwrap();
    }
    files.close().unwrap();
    serializer.close().unwrap();

    for component in [SegmentComponent::Postings, SegmentComponent::Positions] {
        let bytes = |segment: &Segment| {
            segment
                .open_read(component.clone())
                .unwrap()
                .read_bytes()
                .unwrap()
        };
        assert!(bytes(&own) == bytes(&engine), "{component:?}");
    }
    let [found, expected] = [&own, &engine].map(|segment| {
        CompositeFile::open(&segment.open_read(SegmentComponent::Terms).unwrap()).unwrap()
    });
    for (column, _) in index.schema().fields() {
        let [found, expected] = [&found, &expected].map(|file| {
            let file = file.open_read(column).unwrap();
            (file.len(), TermDictionary::open(file).unwrap())
        });
        same_dictionary(&found.1, &expected.1, terms);
        // Of few terms other ones of the last nodes are known.
        assert!(
            found.0 <= expected.0 * 5 / 4 + 100,
            "{} bytes, {} of the engine",
            found.0,
            expected.0
        );
    }
}

fn same_dictionary(found: &TermDictionary, expected: &TermDictionary, terms: &Terms) {
    assert_eq!(found.num_terms(), terms.len());
    let (mut ours, mut theirs) = (found.stream().unwrap(), expected.stream().unwrap());
    for term in terms.keys() {
        assert!(ours.advance() && theirs.advance());
        assert_eq!(ours.key(), term);
        assert_eq!(ours.term_ord(), theirs.term_ord());
        assert_eq!(ours.value(), theirs.value());
        assert_eq!(found.get(term).unwrap(), expected.get(term).unwrap());
        let longer = [term, &b"x"[..]].concat();
        assert_eq!(
            found.get(&longer).unwrap().is_some(),
            terms.contains_key(&longer)
        );
        let shorter = &term[..term.len().saturating_sub(1)];
        assert_eq!(
            found.get(shorter).unwrap().is_some(),
            terms.contains_key(shorter)
        );
    }
    assert!(!ours.advance());
}

/// Documents by a rule, more than a block of them for some.
fn postings(number: usize) -> BTreeMap<DocId, Vec<u32>> {
    let n_docs = match number % 50 {
        7 => 1 + number * 37 % 2000,
        n => 1 + n % 3,
    };
    let step = (N_DOCS as usize / n_docs).max(1);
    let docs = (0..n_docs).map(|n| {
        let doc = (number % step + n * step) as DocId;
        let n_positions = 1 + (number + n) % 7 * (number % 5) * 40;
        let positions = (0..n_positions).map(|at| (at * (1 + number % 90) + n % 2) as u32);
        (doc, positions.collect())
    });
    docs.filter(|(doc, _)| *doc < N_DOCS).collect()
}

fn with_postings(terms: impl IntoIterator<Item = Vec<u8>>) -> Terms {
    let terms: BTreeSet<_> = terms.into_iter().collect();
    terms
        .into_iter()
        .enumerate()
        .map(|(number, term)| (term, postings(number)))
        .collect()
}

#[test]
fn many_terms_are_the_same() {
    let words = (0..40_000_u32).map(|n| match n % 4 {
        0 => format!("{:x}", n.wrapping_mul(0x9e37_79b9)).into_bytes(),
        1 => format!("register_{}_shift", n / 8).into_bytes(),
        2 => format!("register_{}_mask", n / 8).into_bytes(),
        _ => format!("{n}").into_bytes(),
    });
    same(&with_postings(words));
}

#[test]
fn nodes_with_any_number_of_ways_are_the_same() {
    for n_ways in [0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256] {
        let ends = (0..n_ways).map(|byte| vec![b'a', byte as u8]);
        same(&with_postings(ends.clone().chain([vec![b'b']])));
        same(&with_postings(ends.chain([vec![b'a'], vec![]])));
        let roots = (0..n_ways.max(1)).map(|byte| vec![byte as u8, 0xff, byte as u8]);
        same(&with_postings(roots));
    }
    same(&with_postings([vec![]]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_terms_are_the_same(
        short in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..300),
        like in prop::collection::vec("[ab]{0,9}(ing|ed|s)?", 1..300),
    ) {
        same(&with_postings(short.into_iter().chain(like.into_iter().map(String::into_bytes))));
    }
}
