//! What was acknowledged is there, whatever fails and whatever arrives late.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use ken_core::{Document, Ipath, Kind, Location, Token};
use ken_engine::{Engine, FileState, Record, Scope};
use proptest::prelude::*;

use super::{
    LONG, Model, N_FILES, TTL, assert_is, body, cluster, commit, key, own_document_comes_last,
    write,
};
use crate::fake::{Fake, Fault};
use crate::kept;

#[derive(Clone, Debug)]
enum Deed {
    Write(u8, u8),
    Delete(u8),
    Commit,
    /// The process dies, and another one does what was not committed again.
    Crash,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        5 => (0..N_FILES, 0..4_u8).prop_map(|(file, n_parts)| Deed::Write(file, n_parts)),
        2 => (0..N_FILES).prop_map(Deed::Delete),
        2 => Just(Deed::Commit),
        1 => Just(Deed::Crash),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        3 => Just(Fault::None),
        1 => Just(Fault::ResetBefore),
        1 => Just(Fault::ResetAfter),
        1 => Just(Fault::Torn),
        1 => Just(Fault::Busy),
        1 => (1..4_usize).prop_map(Fault::AtMost),
        2 => (1..4_usize).prop_map(Fault::SomeItems),
        1 => Just(Fault::Blocked),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever fails: what a commit acknowledged is there, once and in its newest form, and nothing that was deleted is.
    #[test]
    fn commits_hold_what_was_written_whatever_fails(
        deeds in prop::collection::vec(deed(), 1..24),
        faults in prop::collection::vec(fault(), 0..60),
    ) {
        let fake = Arc::new(Fake::default());
        fake.watch(Box::new(own_document_comes_last));
        fake.fail(faults);
        let cluster = cluster(&fake, "a", LONG, LONG);
        let mut sink = cluster.sink().unwrap();
        let (mut model, mut since) = (Model::new(), Vec::new());
        for (round, deed) in (1..).zip(deeds) {
            match deed {
                Deed::Write(file, n_parts) => {
                    write(&*sink, file, round, n_parts).unwrap();
                    since.push(file);
                    model.insert(file, (round, n_parts));
                }
                Deed::Delete(file) => {
                    sink.delete(key(&*sink, file), Scope::File);
                    since.push(file);
                    model.remove(&file);
                }
                Deed::Commit => {
                    commit(&*sink);
                    assert_is(&fake, &*sink, &model);
                    since.clear();
                }
                Deed::Crash => {
                    drop(sink);
                    fake.end_lease();
                    sink = cluster.sink().unwrap();
                    for file in since.clone() {
                        match model.get(&file) {
                            Some((round, n_parts)) => write(&*sink, file, *round, *n_parts).unwrap(),
                            None => sink.delete(key(&*sink, file), Scope::File),
                        }
                    }
                }
            }
        }
        commit(&*sink);
        assert_is(&fake, &*sink, &model);
        sink.close().unwrap();
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    /// A machine is cut off, another takes over, and then all arrives that the first one sent: it changes nothing.
    #[test]
    fn what_arrives_late_changes_nothing(
        before in prop::collection::vec((0..N_FILES, 0..3_u8), 0..5),
        cut in prop::collection::vec((0..N_FILES, 0..3_u8), 1..5),
        after in prop::collection::vec((0..N_FILES, prop::option::of(0..3_u8)), 1..6),
    ) {
        let fake = Arc::new(Fake::default());
        let first = cluster(&fake, "a", TTL, Duration::ZERO).sink().unwrap();
        let mut model = Model::new();
        for (round, (file, n_parts)) in (1..).zip(before) {
            write(&*first, file, round, n_parts).unwrap();
            model.insert(file, (round, n_parts));
        }
        commit(&*first);
        fake.cut_off("http://a");
        for (round, (file, n_parts)) in (100..).zip(&cut) {
            let _ = write(&*first, *file, round, *n_parts);
        }
        let late = std::thread::spawn(move || {
            let committed = first.commit(&first.meta().clone());
            assert!(committed.is_err());
            first
        });
        let second = cluster(&fake, "b", TTL, LONG).sink().unwrap();
        // The second machine sees to every file.
        for file in 0..N_FILES {
            match model.get(&file) {
                Some((round, n_parts)) => write(&*second, file, *round, *n_parts).unwrap(),
                None => second.delete(key(&*second, file), Scope::File),
            }
        }
        for (round, (file, n_parts)) in (200..).zip(after) {
            match n_parts {
                Some(n_parts) => {
                    write(&*second, file, round, n_parts).unwrap();
                    model.insert(file, (round, n_parts));
                }
                None => {
                    second.delete(key(&*second, file), Scope::File);
                    model.remove(&file);
                }
            }
        }
        commit(&*second);
        assert_is(&fake, &*second, &model);
        // The first one has given up.
        let first = late.join().unwrap();
        assert!(fake.deliver_late() > 0);
        assert_is(&fake, &*second, &model);
        drop(first);
        second.close().unwrap();
    }
}

#[test]
fn a_document_that_is_refused_becomes_a_failure_of_its_own() {
    let fake = Arc::new(Fake::default());
    let sink = cluster(&fake, "a", LONG, LONG).sink().unwrap();
    let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
    // The fake refuses thirteen words.
    document.body = "a b c d e f g h i j k l m".to_owned();
    sink.add(Record {
        key: key(&*sink, 1),
        location: Location::file("/1"),
        state: Some(FileState {
            token: Token::from_number(1),
            identity: 1,
        }),
        document,
    })
    .unwrap();
    write(&*sink, 2, 1, 1).unwrap();
    commit(&*sink);
    let documents = fake.documents();
    assert_eq!(documents.len(), 3);
    let refused = documents[&kept::key(key(&*sink, 1))]
        .source
        .clone()
        .unwrap();
    assert!(
        refused["doc"]
            .as_str()
            .unwrap()
            .contains("mapper_parsing_exception: 13")
    );
    assert_eq!(refused["k_is"], serde_json::json!(["failed"]));
    assert_eq!(body(&refused), "");
}

#[test]
fn a_run_without_changes_sends_nothing() {
    let fake = Arc::new(Fake::default());
    let sink = cluster(&fake, "a", LONG, LONG).sink().unwrap();
    write(&*sink, 1, 1, 1).unwrap();
    commit(&*sink);
    let before = fake.n_bulks();
    commit(&*sink);
    assert_eq!(fake.n_bulks(), before);
    sink.close().unwrap();
}

#[test]
fn a_deletion_that_arrives_during_a_commit_is_of_the_next_one() {
    let fake = Arc::new(Fake::default());
    let sink = cluster(&fake, "a", LONG, LONG).sink().unwrap();
    write(&*sink, 1, 1, 2).unwrap();
    commit(&*sink);
    let of = key(&*sink, 1);
    std::thread::scope(|scope| {
        let (sink, (begun, begins)) = (&*sink, mpsc::channel());
        let mut prepare = || {
            let begun = begun.clone();
            scope.spawn(move || {
                begun.send(()).unwrap();
                sink.delete(of, Scope::File);
            });
            begins.recv().unwrap();
            // The commit goes on while the deletion is there, or waits for it.
            std::thread::sleep(Duration::from_millis(100));
            Ok(sink.meta().clone())
        };
        sink.commit_with(&mut prepare).unwrap();
    });
    commit(&*sink);
    assert_is(&fake, &*sink, &Model::new());
    sink.close().unwrap();
}

#[test]
fn a_deletion_that_arrives_late_makes_no_index() {
    let fake = Arc::new(Fake::default());
    let first = cluster(&fake, "a", LONG, Duration::ZERO);
    let sink = first.sink().unwrap();
    write(&*sink, 1, 1, 2).unwrap();
    commit(&*sink);
    sink.delete(key(&*sink, 1), Scope::File);
    fake.fail([Fault::Late]);
    assert!(sink.commit(&sink.meta().clone()).is_err());
    drop(sink);
    // Meanwhile somebody deletes the whole index.
    first.delete().unwrap();
    assert_eq!(fake.deliver_late(), 1);
    assert_eq!(fake.by_mistake(), [""; 0]);
    first.sink().unwrap().close().unwrap();
}
