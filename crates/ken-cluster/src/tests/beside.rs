//! An index that is filled beside another one, and takes its place.

use std::sync::Arc;
use std::time::Duration;

use ken_engine::{Engine, Error, Reading, Sink};

use super::{LONG, TTL, cluster, commit, write};
use crate::Cluster;
use crate::fake::Fake;

/// Fills an index beside the other one with a file of one part, in a round.
fn fill(cluster: &Cluster, round: u32) -> Box<dyn Sink> {
    let sink = cluster.beside(3).unwrap();
    write(&*sink, 1, round, 1).unwrap();
    sink
}

fn finished_files(cluster: &Cluster) -> usize {
    let source = cluster.source(&Reading::default()).unwrap();
    let rows = source.files().rows().unwrap().into_iter();
    rows.filter(|row| row.token.is_finished()).count()
}

#[test]
fn an_index_that_was_filled_beside_takes_the_place_of_the_other_at_once() {
    let fake = Arc::new(Fake::default());
    let cluster = cluster(&fake, "a", LONG, LONG);
    assert!(matches!(cluster.beside(3).err(), Some(Error::Missing(_))));
    let sink = cluster.sink().unwrap();
    write(&*sink, 1, 1, 1).unwrap();
    write(&*sink, 2, 1, 0).unwrap();
    commit(&*sink);
    sink.close().unwrap();
    let before = cluster.source(&Reading::default()).unwrap();
    let beside = fill(&cluster, 1);
    // Who reads meanwhile has the former one, and so has who opened it before.
    assert_eq!(finished_files(&cluster), 2);
    commit(&*beside);
    write(&*beside, 3, 2, 0).unwrap();
    commit(&*beside);
    beside.close().unwrap();
    assert_eq!(before.files().rows().unwrap().len(), 2);
    assert_eq!(finished_files(&cluster), 2);
    assert!(cluster.source(&Reading::default()).unwrap().commit() > before.commit());
    // The next run writes to the new one, and deletes the other one.
    assert!(fake.has_index("t-documents"));
    let sink = cluster.sink().unwrap();
    assert!(!fake.has_index("t-documents"));
    write(&*sink, 4, 3, 1).unwrap();
    commit(&*sink);
    sink.close().unwrap();
    assert_eq!(finished_files(&cluster), 3);
    cluster.delete().unwrap();
    assert_eq!(fake.indices(), [""; 0]);
}

#[test]
fn an_index_that_was_not_filled_to_its_end_is_never_there() {
    let fake = Arc::new(Fake::default());
    let first = cluster(&fake, "a", TTL, Duration::ZERO);
    let sink = first.sink().unwrap();
    write(&*sink, 1, 1, 0).unwrap();
    write(&*sink, 2, 1, 0).unwrap();
    commit(&*sink);
    sink.close().unwrap();
    let beside = fill(&first, 9);
    assert_eq!(fake.indices().len(), 4);
    fake.cut_off("http://a");
    // Another machine takes over, and writes to the index that is there.
    let other = cluster(&fake, "b", TTL, LONG);
    let sink = other.sink().unwrap();
    assert_eq!(fake.indices().len(), 3);
    write(&*sink, 3, 2, 0).unwrap();
    commit(&*sink);
    fake.join("http://a");
    assert!(beside.commit(&beside.meta().clone()).is_err());
    assert_eq!(finished_files(&other), 3);
    sink.close().unwrap();
    drop(beside);
    assert_eq!(finished_files(&other), 3);
    assert_eq!(fake.indices().len(), 3);
}
