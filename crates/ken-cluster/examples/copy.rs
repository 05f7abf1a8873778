//! Copies an embedded index into a cluster, and compares the answers of both: `copy INDEX NODE NAME [WORDS]...`
//!
//! Each argument after the name is a query of words, all of which must be there. A line shows the matches of both engines,
//! how many of the first ten are the same at the same place, and the milliseconds of each.

#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ken_cluster::{Auth, Certificates, Cluster, Patience, Shape, Tcp};
use ken_core::{Order, Pattern, Plan, SortKey, Span, Word};
use ken_engine::{Engine, Reading, Record, Request, Source};
use ken_index::Snapshot;

/// The documents that are read at once.
const AT_ONCE: usize = 200;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("copy INDEX NODE NAME [WORDS]...");
    let (index, node, name) = (next()?, next()?, next()?);
    let embedded = Snapshot::open(Path::new(&index))?;
    let nodes = vec![node];
    let http = Tcp::new(&nodes, Auth::None, &Certificates::default())?;
    let shape = Shape {
        replicas: 0,
        ..Shape::default()
    };
    let cluster = Cluster::new(Arc::new(http), nodes, &name, shape, Patience::default());
    if matches!(cluster.last(), Err(ken_engine::Error::Missing(_))) {
        copy(&embedded, &cluster)?;
    }
    let source = cluster.source(&Reading::default())?;
    println!("{} documents", source.n_documents());
    for words in arguments {
        let (one, ms) = ask(&embedded, &words)?;
        let (other, their_ms) = ask(&*source, &words)?;
        let same = one.1.iter().zip(&other.1).filter(|(a, b)| a == b).count();
        let (total, theirs, n) = (one.0, other.0, one.1.len());
        println!("{words:30} {total:7} {theirs:7} {same:2} of {n:2} {ms:7.1} {their_ms:7.1}");
    }
    Ok(())
}

fn copy(embedded: &Snapshot, cluster: &Cluster) -> Result<(), Box<dyn Error>> {
    let began = Instant::now();
    let sink = cluster.sink()?;
    let by_path = Order {
        key: SortKey::Path,
        reverse: true,
    };
    // In the reverse order a file comes after its members.
    let all = embedded.run(&Plan::All, by_path, 0, usize::MAX)?.hits;
    let addresses: Vec<_> = all.iter().map(|hit| hit.address).collect();
    for some in addresses.chunks(AT_ONCE) {
        for stored in embedded.documents(some)? {
            sink.add(Record {
                key: embedded.meta().hasher.key(&stored.location.path),
                location: stored.location,
                state: stored.state,
                document: stored.document,
            })?;
        }
    }
    sink.commit(embedded.meta())?;
    sink.close()?;
    let seconds = began.elapsed().as_secs_f64();
    println!("{} documents in {seconds:.1} s", addresses.len());
    Ok(())
}

/// The number of matches, and the first ten.
type Answer = (usize, Vec<String>);

fn ask(source: &dyn Source, words: &str) -> Result<(Answer, f64), Box<dyn Error>> {
    let word = |word: &str| {
        let stem = Span::Match(Pattern::Stem(word.to_owned()));
        let mut word = Word::new(None, stem);
        word.folders = true;
        Plan::Word(word)
    };
    let plan = Plan::And(words.split(' ').map(word).collect());
    let began = Instant::now();
    let found = source.find(&Request {
        limit: 10,
        ..Request::new(&plan)
    })?;
    let ms = began.elapsed().as_secs_f64() * 1e3;
    let locations = found
        .hits
        .iter()
        .map(|hit| Ok(source.location(hit.address)?.to_string()));
    let locations = locations.collect::<Result<Vec<_>, ken_engine::Error>>()?;
    Ok(((found.total, locations), ms))
}
