//! Tests that every indexed text is found by a search for that text: analysis, plan and index agree.

#![allow(clippy::disallowed_methods)] // the index is a folder

mod support;

use std::path::Path;

use ken_core::{Document, Field, Ipath, Kind, Location, Order};
use ken_engine::{FileState, Record, Sink, Source};
use ken_index::{Snapshot, Writer, WriterOptions};
use ken_search::parse::{Clause, Phrase, Piece, Tree, Value};
use ken_search::plan::plan;
use proptest::prelude::*;

const OPTIONS: WriterOptions = WriterOptions {
    memory_bytes: 30 << 20,
    threads: 1,
};

/// Pieces that analysis treats in different ways, and any characters.
fn text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        " ",
        " ",
        "-\n",
        "\u{ad}\n",
        "\n",
        "_",
        "-",
        ".",
        ",",
        "++",
        "#",
        "10kg",
        "10 kg",
        "1,000",
        "1000",
        "3.5mm",
        "RFC2822",
        "v1.2.3",
        "parseHTTP",
        "report",
        "Word",
        "ẞ",
        "½",
        "㎏",
        "™",
        "ﬁ",
        "İ",
        "e\u{301}",
        "\u{301}",
        "\u{200b}",
        "\u{ad}",
        "カ",
        "ｶﾞ",
        "東",
        "京",
        "한",
        "ไท",
        "ำ",
        "ខ្",
        "မ",
        "१",
        "٣",
        "कि",
        "\0",
        "'",
        "@",
        "/",
        ":",
    ]);
    let piece = prop_oneof![
        6 => pieces.prop_map(String::from),
        1 => any::<char>().prop_map(String::from)
    ];
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

fn record(writer: &dyn Sink, number: usize, text: &str) -> Record {
    let path = format!("/{number}");
    let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
    document.body = text.to_owned();
    Record {
        state: Some(FileState {
            token: ken_core::Token::from_number(7),
            identity: 8,
        }),
        key: writer.meta().hasher.key(Path::new(&path)),
        location: Location {
            path: path.into(),
            ipath: Ipath::root(),
        },
        document,
    }
}

/// The text as a word, and as a phrase.
fn queries(text: &str) -> [Value; 2] {
    let phrase = Phrase {
        pieces: vec![Piece::Text(text.to_owned())],
        prefix_last: false,
        near: None,
    };
    [Value::Word(text.to_owned()), Value::Phrase(phrase)]
}

fn finds(snapshot: &dyn Source, value: Value, number: usize) -> bool {
    let tree = Tree::Clause(Clause::new(None, value));
    let plan = plan(&tree, &support::context());
    let found = snapshot.run(&plan, Order::default(), 0, 1000).unwrap();
    let path = format!("/{number}");
    found
        .hits
        .iter()
        .any(|hit| snapshot.location(hit.address).unwrap().to_string() == path)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_text_is_found_by_itself(texts in prop::collection::vec(text(), 60)) {
        let folder = tempfile::tempdir().unwrap();
        let writer = Writer::open(folder.path(), OPTIONS).unwrap();
        for (number, text) in texts.iter().enumerate() {
            writer.add(record(&writer, number, text)).unwrap();
        }
        writer.commit(&writer.meta().clone()).unwrap();
        let snapshot = Snapshot::open(folder.path()).unwrap();
        for (number, text) in texts.iter().enumerate() {
            let mut has_terms = false;
            support::analyze(Field::Body, text, &mut |_, _, _| has_terms = true);
            for value in queries(text) {
                let found = finds(&snapshot, value.clone(), number);
                prop_assert_eq!(found, has_terms, "{:?} {:?}", text, value);
            }
        }
    }
}
