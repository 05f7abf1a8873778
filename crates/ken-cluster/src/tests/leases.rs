//! Who writes, and how others see it.

use std::sync::Arc;
use std::time::Instant;

use ken_engine::{Engine, Error, Reading, Record, Scope, Stored};

use super::{LONG, TTL, add, cluster, commit, key, write};
use crate::fake::{Fake, Fault};

#[test]
fn one_machine_writes_at_a_time() {
    let fake = Arc::new(Fake::default());
    let first = cluster(&fake, "a", TTL, LONG).sink().unwrap();
    let second = cluster(&fake, "b", TTL, LONG).sink();
    assert!(matches!(second.err(), Some(Error::Busy(_))));
    first.close().unwrap();
    let second = cluster(&fake, "b", TTL, LONG);
    second.sink().unwrap().close().unwrap();
}

#[test]
fn every_machine_sees_who_writes_and_how_far_it_is() {
    let fake = Arc::new(Fake::default());
    let sink = cluster(&fake, "a", TTL, LONG).sink().unwrap();
    write(&*sink, 1, 1, 2).unwrap();
    commit(&*sink);
    write(&*sink, 2, 1, 1).unwrap();
    sink.shares().unwrap().note("7/9 files, 4 s left");
    commit(&*sink);
    let other = cluster(&fake, "b", TTL, LONG);
    let writer = || {
        let mut lines = other.state().unwrap().into_iter();
        lines.find(|(name, _)| *name == "writer")
    };
    let (_, line) = writer().unwrap();
    assert!(line.starts_with("a: 5 documents written in "), "{line}");
    assert!(
        line.ends_with("; the whole run: 7/9 files, 4 s left"),
        "{line}"
    );
    sink.close().unwrap();
    assert_eq!(writer(), None);
}

#[test]
fn a_machine_that_nobody_replaced_goes_on() {
    let fake = Arc::new(Fake::default());
    let sink = cluster(&fake, "a", TTL, LONG).sink().unwrap();
    write(&*sink, 1, 1, 1).unwrap();
    fake.cut_off("http://a");
    std::thread::sleep(2 * TTL);
    fake.join("http://a");
    write(&*sink, 2, 1, 1).unwrap();
    commit(&*sink);
    assert_eq!(fake.documents().len(), 4);
    sink.close().unwrap();
    // It gave the lease back.
    let second = cluster(&fake, "b", LONG, LONG).sink().unwrap();
    second.close().unwrap();
}

#[test]
fn a_machine_whose_lease_was_taken_stops_sending() {
    let fake = Arc::new(Fake::default());
    let first = cluster(&fake, "a", TTL, LONG).sink().unwrap();
    write(&*first, 1, 1, 1).unwrap();
    // The cluster is busy for longer than the lease lasts.
    fake.fail(std::iter::repeat_n(Fault::Busy, 1_000_000));
    let start = Instant::now();
    std::thread::scope(|scope| {
        let sent = scope.spawn(|| first.commit(&first.meta().clone()));
        while fake.n_bulks() == 0 {
            std::thread::sleep(TTL / 100);
        }
        fake.change_root("t", |root| root["leases"] = serde_json::json!([]));
        let error = sent.join().unwrap().unwrap_err().to_string();
        assert!(error.contains("has taken over"), "{error}");
        fake.forgive();
        let second = cluster(&fake, "b", LONG, LONG).sink().unwrap();
        write(&*second, 2, 1, 0).unwrap();
        commit(&*second);
        second.close().unwrap();
    });
    assert!(start.elapsed() < LONG / 2);
    assert_eq!(fake.documents().len(), 1);
}

#[test]
fn an_index_opens_while_others_commit_all_the_time() {
    let fake = Arc::new(Fake::default());
    let run = cluster(&fake, "a", LONG, LONG).sink().unwrap();
    write(&*run, 1, 1, 1).unwrap();
    commit(&*run);
    run.close().unwrap();
    // Another machine begins with a share, and commits.
    for number in ["term", "commit"] {
        fake.grow(Some(number));
        let opened = cluster(&fake, "b", LONG, LONG).source(&Reading::default());
        fake.grow(None);
        assert_eq!(opened.unwrap().files().rows().unwrap().len(), 1, "{number}");
    }
}

#[test]
fn commits_that_came_to_nothing_are_forgotten_once_nothing_of_them_is_there() {
    let fake = Arc::new(Fake::default());
    let cluster = cluster(&fake, "a", LONG, LONG);
    let sink = cluster.sink().unwrap();
    write(&*sink, 1, 1, 1).unwrap();
    commit(&*sink);
    // Written, and never committed.
    write(&*sink, 2, 1, 200).unwrap();
    fake.cut_off_root(true);
    assert!(sink.commit(&sink.meta().clone()).is_err());
    fake.cut_off_root(false);
    drop(sink);
    fake.end_lease();
    cluster.sink().unwrap().close().unwrap();
    let [lost] = fake.aborted()[..] else {
        panic!("{:?}", fake.aborted());
    };
    let old: Vec<u64> = (0..2_000).map(|n| n << 40 | 1).collect();
    let all = [&[lost], &old[..]].concat();
    fake.change_root("t", |root| root["aborted"] = serde_json::json!(all));
    let sink = cluster.sink().unwrap();
    let kept = fake.aborted();
    assert_eq!(kept, [&[lost], &old[1_500..]].concat());
    assert_eq!(finished(&cluster), 1);
    // The file is read again, and then the name stands for nothing.
    write(&*sink, 2, 2, 0).unwrap();
    commit(&*sink);
    sink.close().unwrap();
    fake.change_root("t", |root| root["aborted"] = serde_json::json!(all));
    cluster.sink().unwrap().close().unwrap();
    assert_eq!(fake.aborted(), old[1_500..]);
    assert_eq!(finished(&cluster), 2);
}

/// As when a file gets other tags: its documents are written again from the index, with the same token.
#[test]
fn a_file_of_which_a_lost_lease_had_written_some_parts_is_not_finished() {
    const FILES: u8 = 8;
    const PARTS: u8 = 250;
    let fake = Arc::new(Fake::default());
    let cluster = cluster(&fake, "a", LONG, LONG);
    let sink = cluster.sink().unwrap();
    (0..FILES).for_each(|file| write(&*sink, file, 1, PARTS).unwrap());
    commit(&*sink);
    // So many are sent, and their own documents are not.
    for file in 0..FILES {
        sink.delete(key(&*sink, file), Scope::File);
        (0..PARTS).for_each(|part| add(&*sink, file, Some(part), 1, PARTS).unwrap());
    }
    drop(sink);
    assert_eq!(finished(&cluster), usize::from(FILES));
    fake.end_lease();
    let sink = cluster.sink().unwrap();
    // What was sent is seen from now on.
    commit(&*sink);
    let source = cluster.source(&Reading::default()).unwrap();
    for file in 0..FILES {
        assert_eq!(source.files().row(key(&*sink, file)).unwrap(), None);
    }
    assert_eq!(finished(&cluster), 0);
    (0..FILES).for_each(|file| write(&*sink, file, 1, PARTS).unwrap());
    commit(&*sink);
    sink.close().unwrap();
    assert_eq!(finished(&cluster), usize::from(FILES));
}

fn finished(cluster: &crate::Cluster) -> usize {
    let rows = cluster.source(&Reading::default()).unwrap().files().rows();
    let rows = rows.unwrap().into_iter();
    rows.filter(|row| row.token.is_finished()).count()
}

#[test]
fn an_index_of_another_schema_is_neither_asked_nor_written_but_filled_anew() {
    let fake = Arc::new(Fake::default());
    let cluster = cluster(&fake, "a", LONG, LONG);
    let sink = cluster.sink().unwrap();
    write(&*sink, 1, 1, 2).unwrap();
    commit(&*sink);
    sink.close().unwrap();
    for other in [
        serde_json::json!({ "format": 1, "mapping": "x" }),
        serde_json::json!({}),
    ] {
        fake.change_root("t", |root| root["schema"] = other.clone());
        let is_schema = |error: Option<Error>| matches!(error, Some(Error::Schema(_)));
        assert!(is_schema(cluster.source(&Reading::default()).err()));
        assert!(is_schema(cluster.last().err()));
        assert!(is_schema(cluster.sink().err()));
        assert!(is_schema(
            cluster.guest().unwrap().claim(&|_| Some(true)).err()
        ));
        let beside = cluster.beside(1).unwrap();
        let source = cluster.source_to_copy().unwrap();
        let mut n_given = 0;
        let mut take = |stored: Stored| {
            n_given += 1;
            let record = Record {
                key: beside.meta().hasher.key(&stored.location.path),
                location: stored.location,
                state: stored.state,
                document: stored.document,
            };
            beside.add(record).map(|()| true)
        };
        source.each_document(&mut take).unwrap();
        assert_eq!(n_given, 3);
        // Nothing is there until it is whole.
        assert!(is_schema(cluster.source(&Reading::default()).err()));
        commit(&*beside);
        beside.close().unwrap();
        assert_eq!(finished(&cluster), 1);
        cluster.sink().unwrap().close().unwrap();
    }
}
