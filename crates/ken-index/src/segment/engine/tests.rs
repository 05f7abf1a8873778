//! Tests of the files against those that the engine's own serializers write.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufWriter;

use proptest::prelude::*;
use tantivy::directory::{AntiCallToken, CompositeFile, FileSlice, TerminatingWrite};
use tantivy::fieldnorm::{FieldNormReaders, FieldNormsSerializer};
use tantivy::postings::InvertedIndexSerializer;
use tantivy::schema::{IndexRecordOption, Schema, SchemaBuilder, TextFieldIndexing, TextOptions};
use tantivy::termdict::TermDictionary;
use tantivy::{DocId, Index};

use super::*;

/// For each term, its documents and its positions in them.
type Terms = BTreeMap<Vec<u8>, BTreeMap<DocId, Vec<u32>>>;

const N_DOCS: DocId = 3000;

/// Returns a schema with a field without positions, one that is not ranked, and one that is.
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

/// Returns a segment with the lengths of documents, to which terms can be written.
fn segment(index: &Index, codes: &[u8]) -> (Segment, FieldNormReaders) {
    let segment = index.new_segment();
    let ranked = index.schema().get_field("ranked").unwrap();
    let file = segment.open_write(SegmentComponent::FieldNorms).unwrap();
    let mut norms = FieldNormsSerializer::from_write(file).unwrap();
    norms.serialize_field(ranked, codes).unwrap();
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

fn document(doc: DocId, deltas: &[u32]) -> Documents {
    let mut documents = Documents::default();
    let (docs, freqs, all) = documents.columns(1);
    (docs[0], freqs[0]) = (doc, deltas.len() as u32);
    all.extend_from_slice(deltas);
    documents
}

fn same(terms: &Terms) {
    let codes: Vec<u8> = (0..N_DOCS).map(|doc| (doc % 90) as u8).collect();
    same_with_lengths(terms, 123_456, &codes);
}

fn same_with_lengths(terms: &Terms, n_tokens: u64, codes: &[u8]) {
    let index = Index::create_in_ram(schema());
    let (own, norms) = segment(&index, codes);
    let (engine, _) = segment(&index, codes);
    let mut files = Files::open(&own).unwrap();
    let mut serializer = InvertedIndexSerializer::open(&engine).unwrap();
    for (column, entry) in index.schema().fields() {
        let has_positions =
            entry.field_type().index_record_option() != Some(IndexRecordOption::Basic);
        let norms = || norms.get_field(column).unwrap();
        let mut field = files
            .field(column, has_positions, n_tokens, norms())
            .unwrap();
        let mut expected = serializer.new_field(column, n_tokens, norms()).unwrap();
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
                field.documents(&document(*doc, &deltas)).unwrap();
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
            (
                size_of_automaton(&file),
                TermDictionary::open(file).unwrap(),
            )
        });
        same_dictionary(&found.1, &expected.1, terms);
        // The last nodes in the cache differ.
        assert!(
            found.0 <= expected.0 + expected.0 / 20 + 700,
            "{} bytes, {} of the engine",
            found.0,
            expected.0
        );
    }
}

/// Returns the size of a field's dictionary without the offsets of lists.
fn size_of_automaton(file: &FileSlice) -> usize {
    let bytes = file.read_bytes().unwrap();
    let end = bytes.len() - size_of_val(&VERSION_AND_KIND);
    let n_bytes = bytes[..end].last_chunk().unwrap();
    end - size_of_val(n_bytes) - u64::from_le_bytes(*n_bytes) as usize
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

/// Generates documents by a rule, with more than a block of them for some terms.
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
    let words = (0..20_000_u32).map(|n| match n % 4 {
        0 => format!("{:x}", n.wrapping_mul(0x9e37_79b9)).into_bytes(),
        1 => format!("register_{}_shift", n / 8).into_bytes(),
        2 => format!("register_{}_mask", n / 8).into_bytes(),
        _ => format!("{n}").into_bytes(),
    });
    same(&with_postings(words));
}

/// Similar terms share all but a few nodes, also nodes with many ways.
#[test]
fn dense_terms_are_the_same() {
    let once = || BTreeMap::from([(7, vec![3])]);
    let dense =
        |term: &dyn Fn(u32) -> Vec<u8>| same(&(0..20_000).map(|n| (term(n), once())).collect());
    dense(&|n| format!("{n:06}").into_bytes());
    dense(&|n| format!("{n:x}").into_bytes());
    dense(&|n| format!("{}{:02}{:02}", 1900 + n / 360, 1 + n / 30 % 12, 1 + n % 30).into_bytes());
    dense(&|n| u64::from(n).to_be_bytes().to_vec());
}

/// Endings that most terms have stay in the cache next to many that only one term has.
#[test]
fn ends_of_terms_are_shared() {
    let parts: Vec<String> = (0..40_u32)
        .map(|n| {
            format!(
                "{}{}",
                ["lock", "page", "read", "init"][n as usize % 4],
                n * 7
            )
        })
        .collect();
    let ends = ["", "s", "ed", "ing"].iter();
    let lasts = ends.flat_map(|end| parts.iter().map(move |last| format!("_{last}{end}")));
    let lasts: Vec<String> = lasts.collect();
    let both = parts
        .iter()
        .flat_map(|first| lasts.iter().map(move |last| format!("{first}{last}")));
    let single = (0..10_000_u32).map(|n| {
        let first = &parts[n as usize % parts.len()];
        format!("{first}_{:x}", n.wrapping_mul(0x9e37_79b9))
    });
    same(&with_postings(both.chain(single).map(String::into_bytes)));
}

#[test]
fn long_terms_are_the_same() {
    let long = |byte| vec![byte; 65_530];
    same(&with_postings([
        long(b'x'),
        long(0),
        vec![0; 65_529],
        [&b"x"[..], &long(b'y')[1..]].concat(),
    ]));
}

/// Their ranking is not a number.
#[test]
fn documents_without_words_are_the_same() {
    let docs = (0..300).map(|doc| (doc, vec![0; 1 + doc as usize % 3]));
    let terms = Terms::from([(b"\0".to_vec(), docs.collect())]);
    same_with_lengths(&terms, 0, &vec![0; N_DOCS as usize]);
}

#[test]
fn there_are_common_bytes() {
    assert_eq!(
        dictionary::common()
            .iter()
            .filter(|number| **number > 0)
            .count(),
        63
    );
}

#[test]
fn terms_that_are_not_in_order_are_refused() {
    for (first, second) in [("a", "a"), ("b", "a"), ("ab", "a"), ("a", ""), ("", "")] {
        let mut dictionary = Dictionary::new();
        dictionary.add(first.as_bytes()).unwrap();
        assert!(
            dictionary.add(second.as_bytes()).is_err(),
            "{first} {second}"
        );
    }
}

/// A disk with limited space in bytes.
struct Disk(usize);

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Disk {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        Ok(())
    }
}

/// Writes some terms to disks with limited space, for terms, postings and positions.
fn written_to(room: [usize; 3], n_docs_of_one: u32) -> io::Result<()> {
    let [terms, postings, positions] = room.map(|room| {
        CompositeWrite::wrap(BufWriter::with_capacity(1, Box::new(Disk(room)) as Box<_>))
    });
    let mut files = Files {
        terms,
        postings,
        positions,
    };
    let column = Column::from_field_id(1);
    let mut field = files.field(column, true, 1, None)?;
    for number in 0..30_000_u32 {
        field.term(
            format!("{number:05}{:x}", number.wrapping_mul(0x9e37_79b9)).as_bytes(),
            1,
        )?;
        let n_docs = if number == 77 { n_docs_of_one } else { 1 };
        for doc in 0..n_docs {
            field.documents(&document(doc * 7, &[number, doc * 1000]))?;
        }
        field.end_term()?;
    }
    field.close()?;
    files.close()
}

#[test]
fn a_full_disk_is_an_error_wherever_it_is() {
    const ENOUGH: usize = 4 << 20;
    // Large lists are written differently from small ones.
    for n_docs_of_one in [1, 400_000] {
        written_to([ENOUGH; 3], n_docs_of_one).unwrap();
        for file in 0..3 {
            for room in [0, 10, 40_000] {
                let mut disks = [ENOUGH; 3];
                disks[file] = room;
                let error = written_to(disks, n_docs_of_one).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{file} {room}");
            }
        }
    }
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
