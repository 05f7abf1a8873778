//! Documents that differ in title and body only, and what is found of them.

use std::path::Path;

use ken_core::{Document, Field, FileKey, Ipath, Kind, Location, Order, Pattern, Plan};
use ken_engine::{FileState, Record, Sink, Source};
use ken_index::WriterOptions;

pub(crate) const OPTIONS: WriterOptions = WriterOptions {
    memory_bytes: 30 << 20,
    threads: 2,
};

pub(crate) fn document(ipath: Ipath, title: &str, body: &str) -> Document {
    let mut document = Document::new(ipath, "text/plain", Kind::Document);
    document.add_text(Field::Title, title);
    document.add_text(Field::Filename, "report.txt");
    document.add_number(Field::Date, body.len() as i64);
    document.add_number(Field::Size, body.len() as i64);
    document.body = body.to_owned();
    document
}

pub(crate) fn record(
    writer: &dyn Sink,
    path: &str,
    ipath: Ipath,
    title: &str,
    body: &str,
) -> Record {
    let key = writer.meta().hasher.key(Path::new(path));
    Record {
        state: ipath.is_root().then_some(FileState {
            token: ken_core::Token::from_number(7),
            identity: 8,
        }),
        location: Location {
            path: path.into(),
            ipath: ipath.clone(),
        },
        key,
        document: document(ipath, title, body),
    }
}

pub(crate) fn add(writer: &dyn Sink, path: &str, title: &str, body: &str) -> FileKey {
    let record = record(writer, path, Ipath::root(), title, body);
    let key = record.key;
    writer.add(record).unwrap();
    key
}

pub(crate) fn term(field: Field, term: &str) -> Plan {
    Plan::Match {
        field,
        pattern: Pattern::Term(term.to_owned()),
    }
}

pub(crate) fn paths(snapshot: &dyn Source, plan: &Plan, order: Order) -> Vec<String> {
    let found = snapshot.run(plan, order, 0, 100).unwrap();
    assert_eq!(found.total, found.hits.len());
    let location = |address| snapshot.location(address).unwrap().to_string();
    found.hits.iter().map(|hit| location(hit.address)).collect()
}

pub(crate) fn found(snapshot: &dyn Source, plan: &Plan) -> Vec<String> {
    let mut paths = paths(snapshot, plan, Order::default());
    paths.sort();
    paths
}
