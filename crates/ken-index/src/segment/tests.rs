//! Tests of the builder's segments against those that the engine builds from the same documents.

use std::path::PathBuf;

use ken_core::{Document, FIELDS, Field, FieldKind, FileKey, Ipath, Kind, Location};
use ken_engine::{FileState, Sequence};
use proptest::prelude::*;
use tantivy::indexer::NoMergePolicy;
use tantivy::postings::Postings as _;
use tantivy::schema::{IndexRecordOption, TantivyDocument, Value as _};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer, TokenizerManager};
use tantivy::{DocSet, Index, IndexWriter, SegmentReader, TERMINATED};

use super::{MAX_PARTS, SegmentBuilder, Spill, Thresholds};
use crate::Record;
use crate::analysis::{BORDER, analyze};
use crate::dictionary;
use crate::record;
use crate::record::Row;
use crate::schema::{Columns, KEYWORD, LANGUAGE, PATH, TEXT};

/// The analysis of a field in the form of an engine's tokenizer.
#[derive(Clone)]
struct Reference(Field);

struct Tokens(Vec<Token>, Option<usize>);

impl Tokenizer for Reference {
    type TokenStream<'a> = Tokens;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Tokens {
        let mut tokens = Vec::new();
        analyze(self.0, text, |term, position, _| {
            tokens.push(Token {
                text: term.to_owned(),
                position: position as usize,
                ..Token::default()
            });
        });
        Tokens(tokens, None)
    }
}

impl TokenStream for Tokens {
    fn advance(&mut self) -> bool {
        let next = self.1.map_or(0, |at| at + 1);
        self.1 = Some(next);
        next < self.0.len()
    }
    fn token(&self) -> &Token {
        &self.0[self.1.unwrap()]
    }
    fn token_mut(&mut self) -> &mut Token {
        &mut self.0[self.1.unwrap()]
    }
}

fn index(columns: &Columns) -> Index {
    let mut index = Index::create_in_ram(columns.schema.clone());
    let manager = TokenizerManager::default();
    for (name, field) in [
        (TEXT, Field::Body),
        (KEYWORD, Field::Mime),
        (LANGUAGE, Field::Lang),
        (PATH, Field::Dir),
    ] {
        manager.register(name, TextAnalyzer::builder(Reference(field)).build());
    }
    index.set_tokenizers(manager);
    index
}

fn built_by_engine(columns: &Columns, records: Vec<Record>) -> Index {
    let index = index(columns);
    let mut writer: IndexWriter<Row> = index.writer_with_num_threads(1, 20 << 20).unwrap();
    writer.set_merge_policy(Box::new(NoMergePolicy));
    for record in records {
        writer
            .add_document(record::row(record, columns, Sequence(3)).unwrap())
            .unwrap();
    }
    writer.commit().unwrap();
    index
}

/// Builds an index whose postings are written out after `part` documents each time.
fn built_here(columns: &Columns, records: Vec<Record>, part: usize) -> Index {
    let index = index(columns);
    let mut writer: IndexWriter<Row> = index.writer_with_num_threads(1, 20 << 20).unwrap();
    writer.set_merge_policy(Box::new(NoMergePolicy));
    let folder = tempfile::tempdir().unwrap();
    let mut builder = SegmentBuilder::new(&index, folder.path(), Thresholds::SMALL).unwrap();
    for (number, record) in records.into_iter().enumerate() {
        if number > 0 && number.is_multiple_of(part) {
            // With and without memory that is kept.
            let limit = if number.is_multiple_of(2) { 0 } else { 1 << 20 };
            builder.write_out(limit).unwrap();
        }
        let row = record::row(record, columns, Sequence(3)).unwrap();
        builder.add(row, columns).unwrap();
    }
    writer.add_segment(builder.finish().unwrap()).unwrap();
    writer.commit().unwrap();
    index
}

/// Returns everything that a segment answers, as text.
fn contents(index: &Index, columns: &Columns, has_borders: bool) -> String {
    let searcher = index.reader().unwrap().searcher();
    assert_eq!(searcher.segment_readers().len(), 1);
    let segment = searcher.segment_reader(0);
    let mut all = format!("{} documents\n", segment.max_doc());
    for (column, entry) in columns.schema.fields() {
        if let Some(detail) = entry.field_type().index_record_option() {
            let name = entry.name();
            // The engine has no border before the first value; it has a gap after a value.
            let first = u32::from(has_borders && entry.has_fieldnorms());
            all += &format!("{name}: {}\n", terms(segment, column, detail, first));
        }
        if entry.has_fieldnorms() {
            let norms = segment.get_fieldnorms_reader(column).unwrap();
            let norms: Vec<_> = (0..segment.max_doc())
                .map(|doc| norms.fieldnorm(doc))
                .collect();
            all += &format!("norms {norms:?}\n");
        }
    }
    for doc in 0..segment.max_doc() {
        let stored: TantivyDocument = segment.get_store_reader(1).unwrap().get(doc).unwrap();
        let values: Vec<_> = stored
            .field_values()
            .map(|(column, value)| format!("{column:?} {:?}", value.as_value()))
            .collect();
        let fast = segment.fast_fields();
        let of = |name| {
            let column = fast.u64_lenient(name).unwrap().unwrap().0;
            column.values_for_doc(doc).collect::<Vec<_>>()
        };
        let location = fast.bytes("_location").unwrap().unwrap();
        let mut bytes = Vec::new();
        for ord in location.term_ords(doc) {
            location.ord_to_bytes(ord, &mut bytes).unwrap();
        }
        let numbers = [of("_key"), of("_stamp"), of("size"), of("date")];
        all += &format!("{doc} {values:?} {numbers:?} {bytes:?}\n");
    }
    all
}

fn terms(
    segment: &SegmentReader,
    column: super::Column,
    detail: IndexRecordOption,
    first: u32,
) -> String {
    let inverted = segment.inverted_index(column).unwrap();
    let mut all = format!("{} tokens", inverted.total_num_tokens());
    let mut stream = inverted.terms().stream().unwrap();
    while stream.advance() {
        if stream.key() == BORDER.as_bytes() {
            continue;
        }
        let info = stream.value().clone();
        all += &format!(
            "\n {:?} in {}:",
            String::from_utf8_lossy(stream.key()),
            info.doc_freq
        );
        let mut postings = inverted.read_postings_from_terminfo(&info, detail).unwrap();
        while postings.doc() != TERMINATED {
            let mut positions = Vec::new();
            postings.positions(&mut positions);
            positions.iter_mut().for_each(|position| *position -= first);
            all += &format!(" {}*{}{positions:?}", postings.doc(), postings.term_freq());
            postings.advance();
        }
    }
    all
}

fn record(number: usize, values: Vec<(usize, String)>) -> Record {
    let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
    for (field, text) in values {
        let info = &FIELDS[field % FIELDS.len()];
        match info.kind {
            FieldKind::Text if info.field == Field::Body => document.body += &text,
            // The engine leaves a gap for a value without words, which has no border here.
            FieldKind::Text if !text.chars().any(char::is_alphanumeric) => {}
            FieldKind::Text | FieldKind::Keyword => document.add_text(info.field, &text),
            FieldKind::Path => {}
            _ => document.add_number(info.field, text.len() as i64),
        }
    }
    Record {
        location: Location {
            path: PathBuf::from(format!("/home/a b/{number}/file.txt")),
            ipath: document.ipath.clone(),
        },
        key: FileKey(number as u64 % 7 * 0x0101_0101_0101),
        state: number.is_multiple_of(2).then_some(FileState {
            token: ken_core::Token::from_number(number as u64),
            identity: 1,
        }),
        document,
    }
}

fn same(documents: &[Vec<(usize, String)>]) {
    let columns = Columns::new();
    let records = || {
        let numbered = documents.iter().cloned().enumerate();
        numbered
            .map(|(number, values)| record(number, values))
            .collect()
    };
    let expected = contents(&built_by_engine(&columns, records()), &columns, false);
    for part in [usize::MAX, 300, 7, 1] {
        let found = contents(&built_here(&columns, records(), part), &columns, true);
        assert!(
            found == expected,
            "built here, in parts of {part}:\n{found}\nby the engine:\n{expected}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_engine_builds_the_same(
        documents in proptest::collection::vec(
            proptest::collection::vec((0_usize..64, "([a-cA-C]{1,4}[ _./]{1,3}|東京|é|[0-9]{2} ){0,12}"), 0..12),
            1..40,
        )
    ) {
        same(&documents);
    }
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let columns = Columns::new();
    let mut builder = SegmentBuilder::new(
        &index(&columns),
        "/no/such/folder".as_ref(),
        Thresholds::SMALL,
    )
    .unwrap();
    let row = record(1, vec![(0, "frobnicate".to_owned())]);
    let row = record::row(row, &columns, Sequence(3)).unwrap();
    builder.add(row, &columns).unwrap();
    let error = builder.write_out(0).unwrap_err().to_string();
    assert!(error.contains("/no/such/folder"), "{error}");
}

/// Adds a document with `n_words` words that are in no other document.
fn add(builder: &mut SegmentBuilder, columns: &Columns, number: usize, n_words: usize) {
    let body = FIELDS.iter().position(|info| info.field == Field::Body);
    let words = (0..n_words).map(|word| format!("w{number}x{word} "));
    let row = record(number, vec![(body.unwrap(), words.collect())]);
    builder
        .add(record::row(row, columns, Sequence(3)).unwrap(), columns)
        .unwrap();
}

#[test]
fn what_is_large_is_written_out_until_there_are_many_parts() {
    let columns = Columns::new();
    let folder = tempfile::tempdir().unwrap();
    let index = index(&columns);
    let mut builder = SegmentBuilder::new(&index, folder.path(), Thresholds::SMALL).unwrap();
    let n_parts = |builder: &SegmentBuilder| builder.spill.as_ref().map_or(0, Spill::n_parts);
    let n_words = Thresholds::SMALL.part_bytes / 20;
    add(&mut builder, &columns, 0, 2);
    assert!(builder.fit(usize::MAX).unwrap());
    assert_eq!(n_parts(&builder), 0);
    for number in 1..MAX_PARTS {
        add(&mut builder, &columns, number, n_words);
        assert!(builder.fit(usize::MAX).unwrap());
        assert_eq!(n_parts(&builder), number);
    }
    add(&mut builder, &columns, MAX_PARTS, n_words);
    assert!(!builder.fit(usize::MAX).unwrap());
    let mut writer: IndexWriter<Row> = index.writer_with_num_threads(1, 20 << 20).unwrap();
    writer.add_segment(builder.finish().unwrap()).unwrap();
    writer.commit().unwrap();
    let searcher = index.reader().unwrap().searcher();
    let segment = searcher.segment_reader(0);
    let inverted = segment.inverted_index(columns.of(Field::Body)).unwrap();
    // Including a border.
    assert_eq!(inverted.terms().num_terms(), 2 + MAX_PARTS * n_words + 1);

    // Its terms are listed; those of fields with few terms are not.
    let mut expected = Vec::new();
    let mut terms = inverted.terms().stream().unwrap();
    while terms.advance() {
        expected.extend_from_slice(terms.key());
        expected.push(b'\n');
    }
    let list = folder
        .path()
        .join(crate::layout::term_list(segment.segment_id()));
    let list = fs_err::read(list).unwrap();
    assert!(dictionary::is_sound(&list));
    assert!(list.starts_with(&expected));
    let table = 3 + 1 + 1 + 1; // of one field, and how it ends
    assert_eq!(list.len(), expected.len() + table * size_of::<u64>());
    let files = fs_err::read_dir(folder.path()).unwrap();
    assert_eq!(files.count(), 1, "nothing is left of writing it");
}

/// The memory kept after writing out a large document leaves room for many small ones.
#[test]
fn small_documents_behind_a_large_one_make_no_parts() {
    let columns = Columns::new();
    for limit in [
        32 * Thresholds::SMALL.part_bytes,
        1024 * Thresholds::SMALL.part_bytes,
        usize::MAX,
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut builder =
            SegmentBuilder::new(&index(&columns), folder.path(), Thresholds::SMALL).unwrap();
        add(&mut builder, &columns, 0, Thresholds::SMALL.part_bytes);
        let _ = builder.fit(limit).unwrap();
        assert_eq!(builder.spill.as_ref().map(Spill::n_parts), Some(1));
        for number in 1..100 {
            add(&mut builder, &columns, number, 1);
            assert!(builder.fit(limit).unwrap());
        }
        let n_parts = builder.spill.as_ref().map_or(0, Spill::n_parts);
        assert!(n_parts <= 2, "{n_parts} parts, of {limit} bytes at most");
    }
}

#[test]
fn what_cannot_be_written_out_ends_a_segment() {
    let columns = Columns::new();
    let folder = tempfile::tempdir().unwrap();
    let mut builder =
        SegmentBuilder::new(&index(&columns), folder.path(), Thresholds::SMALL).unwrap();
    for number in 0..1000 {
        add(&mut builder, &columns, number, 1);
    }
    // Numbers of documents take more than half of it.
    assert!(!builder.fit(10_000).unwrap());
    assert!(builder.spill.is_none());
    assert!(builder.fit(1 << 20).unwrap());
}

#[test]
fn many_documents_and_long_words_are_the_same() {
    let text = |n: usize| {
        let words = (0..n % 50).map(|word| format!("w{} ", (n * word) % 97));
        words.collect::<String>() + &"x".repeat(n % 70) + " common common"
    };
    // More than fit into a block of postings, so that there are skip lists.
    let documents = (0..700).map(|n| vec![(0, text(n)), (1, text(n / 2)), (1, text(n + 1))]);
    same(&documents.collect::<Vec<_>>());
}
