//! Writing, against a cluster that fails in every way that is known.

mod beside;
mod faults;
mod leases;
mod shares;
mod tags;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ken_core::{Document, Field, FileKey, Ipath, Kind, Location, Token};
use ken_engine::{Error, FileState, Record, Scope, Sink};

use crate::fake::{Documents, Fake};
use crate::kept;
use crate::{Cluster, Patience, Shape};

const N_FILES: u8 = 4;
/// Long enough for a machine that is busy with other tests.
const TTL: Duration = Duration::from_millis(600);
const LONG: Duration = Duration::from_secs(60);

fn cluster(fake: &Arc<Fake>, node: &str, ttl: Duration, total: Duration) -> Cluster {
    let patience = Patience {
        pause: Duration::from_micros(20),
        total,
    };
    let http = Arc::clone(fake) as Arc<dyn crate::Http>;
    let nodes = vec![format!("http://{node}")];
    Cluster::new(http, nodes, "t", Shape::default(), patience)
        .with_holder(node.to_owned())
        .with_ttl(ttl)
}

fn key(sink: &dyn Sink, file: u8) -> FileKey {
    sink.meta().hasher.key(Path::new(&format!("/{file}")))
}

/// Adds a document whose text says in which round it was written, and of how many parts its file is.
fn add(sink: &dyn Sink, file: u8, part: Option<u8>, round: u32, n_parts: u8) -> Result<(), Error> {
    let ipath = match part {
        Some(part) => Ipath::root().child(&part.to_string()),
        None => Ipath::root(),
    };
    let mut document = Document::new(ipath.clone(), "text/plain", Kind::Document);
    document.body = format!("round {round} of {n_parts} word{round}");
    document.add_text(Field::Filename, "a.txt");
    sink.add(Record {
        key: key(sink, file),
        location: Location {
            path: format!("/{file}").into(),
            ipath,
        },
        state: part.is_none().then_some(FileState {
            token: Token::from_number(u64::from(round) << 16 | 1),
            identity: 8,
        }),
        document,
    })
}

/// Writes a file as a run does: what it had is deleted, then come the parts, and its own document.
fn write(sink: &dyn Sink, file: u8, round: u32, n_parts: u8) -> Result<(), Error> {
    sink.delete(key(sink, file), Scope::File);
    for part in 0..n_parts {
        add(sink, file, Some(part), round, n_parts)?;
    }
    add(sink, file, None, round, n_parts)
}

fn body(source: &serde_json::Value) -> String {
    let kept = source["body"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    kept.iter().filter_map(|piece| piece.as_str()).collect()
}

/// Fails if a file's own document is there while a part of the same round is missing, or one of another round is there.
fn own_document_comes_last(documents: &Documents, id: &str) {
    let Some(own) = documents[id]
        .source
        .as_ref()
        .filter(|source| source["own"] == true)
    else {
        return;
    };
    let parts = documents
        .values()
        .filter_map(|stored| stored.source.as_ref());
    let parts = parts.filter(|source| source["file"] == own["file"] && source["own"] != true);
    let parts: Vec<String> = parts.map(body).collect();
    let own = body(own);
    let n_parts = own.split(' ').nth(3).unwrap().parse::<usize>().unwrap();
    assert_eq!(parts.len(), n_parts, "{own}: {parts:?}");
    assert!(parts.iter().all(|part| *part == own), "{own}: {parts:?}");
}

/// What a file has: the round in which it was written, and its parts.
type Model = BTreeMap<u8, (u32, u8)>;

/// Fails unless the cluster has the documents of the model, and no others.
fn assert_is(fake: &Fake, sink: &dyn Sink, model: &Model) {
    let mut expected = BTreeSet::new();
    for (file, (round, n_parts)) in model {
        let key = key(sink, *file);
        let text = format!("round {round} of {n_parts} word{round}");
        let parts = (0..*n_parts).map(|part| Ipath::root().child(&part.to_string()));
        for ipath in parts.chain([Ipath::root()]) {
            expected.insert((kept::id(key, &ipath), text.clone()));
        }
    }
    let aborted = fake.aborted();
    let mut found = fake.documents();
    // Searches leave these out.
    found.retain(|_, stored| {
        let made = stored
            .source
            .as_ref()
            .and_then(|source| source["made"].as_u64());
        !aborted.contains(&made.unwrap())
    });
    let found: BTreeSet<_> = found
        .into_iter()
        .map(|(id, stored)| (id, body(&stored.source.unwrap())))
        .collect();
    assert_eq!(found, expected);
    let words = fake.words();
    assert!(
        model
            .values()
            .all(|(round, _)| words.contains(&format!("word{round}")))
    );
}

fn commit(sink: &dyn Sink) {
    sink.commit(&sink.meta().clone()).unwrap();
}
