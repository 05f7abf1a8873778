//! Writing, against a cluster that fails in every way that is known.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use ken_core::{Document, Field, FileKey, Ipath, Kind, Location, Token};
use ken_engine::{Claim, Engine, Error, FileState, Reading, Record, Scope, SharesNow, Sink};
use proptest::prelude::*;

use crate::fake::{Documents, Fake, Fault};
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

fn commit(sink: &dyn Sink) {
    sink.commit(&sink.meta().clone()).unwrap();
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
    commit(&*sink);
    let other = cluster(&fake, "b", TTL, LONG);
    let writer = || {
        let mut lines = other.state().unwrap().into_iter();
        lines.find(|(name, _)| *name == "writer")
    };
    let (_, line) = writer().unwrap();
    assert!(line.starts_with("a: 5 documents written in "), "{line}");
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
fn two_machines_add_to_one_log_of_tags() {
    let fake = Arc::new(Fake::default());
    let machines = ["a", "b"].map(|node| cluster(&fake, node, LONG, LONG));
    assert_eq!(machines[0].tag_log().unwrap(), b"");
    std::thread::scope(|scope| {
        for (machine, of) in machines.iter().zip(["a", "b"]) {
            scope.spawn(move || {
                for n in 0..40 {
                    machine
                        .add_to_tag_log(&format!("+{of}{n} -- id:{n}\n"))
                        .unwrap();
                }
            });
        }
    });
    let [one, other] =
        machines.map(|machine| String::from_utf8(machine.tag_log().unwrap()).unwrap());
    assert_eq!(one, other);
    let mut lines: Vec<&str> = one.lines().collect();
    for of in ["+a", "+b"] {
        let of_one = lines.iter().filter(|line| line.starts_with(of));
        let numbers = of_one.map(|line| line.rsplit(':').next().unwrap().parse::<u32>().unwrap());
        assert_eq!(numbers.collect::<Vec<_>>(), (0..40).collect::<Vec<_>>());
    }
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 80);
}

#[test]
fn an_addition_to_the_log_whose_answer_is_lost_is_there_once() {
    let fake = Arc::new(Fake::default());
    let machine = cluster(&fake, "a", LONG, LONG);
    machine.add_to_tag_log("+one -- id:1\n").unwrap();
    fake.lose_answer();
    machine.add_to_tag_log("+two -- id:1\n").unwrap();
    machine.add_to_tag_log("+three -- id:1\n").unwrap();
    assert_eq!(
        String::from_utf8(machine.tag_log().unwrap()).unwrap(),
        "+one -- id:1\n+two -- id:1\n+three -- id:1\n"
    );
}

/// Claims a share; panics if there is none.
fn claim(cluster: &Cluster) -> (String, Box<dyn Sink>) {
    match cluster.guest().unwrap().claim().unwrap() {
        Claim::Share(work, sink) => (work, sink),
        _ => panic!("there is no share"),
    }
}

#[test]
fn machines_share_the_work_of_a_run() {
    let fake = Arc::new(Fake::default());
    let run = cluster(&fake, "a", LONG, LONG).sink().unwrap();
    let shares = run.shares().unwrap();
    let mut model = Model::new();
    for (file, n_parts) in [(0, 1), (1, 2), (2, 0)] {
        shares.offer(&file.to_string()).unwrap();
        model.insert(file, (1, n_parts));
    }
    let machines = ["b", "c", "a"].map(|node| cluster(&fake, node, LONG, LONG));
    let claimed = machines.iter().map(claim).collect::<Vec<_>>();
    let now = shares.look().unwrap();
    assert_eq!((now.n_offered, now.n_claimed), (0, 3));
    let nothing = machines[0].guest().unwrap().claim().unwrap();
    assert!(matches!(nothing, Claim::Wait));
    // All write at once, the run too, and commit in another order.
    model.insert(3, (1, 1));
    std::thread::scope(|scope| {
        for (work, sink) in claimed {
            let n_parts = model[&work.parse().unwrap()].1;
            scope.spawn(move || {
                assert!(sink.shares().is_none());
                write(&*sink, work.parse().unwrap(), 1, n_parts).unwrap();
                commit(&*sink);
                sink.finish(&work).unwrap();
            });
        }
        write(&*run, 3, 1, 1).unwrap();
        let mut meta = run.meta().clone();
        meta.generation = 7;
        run.commit(&meta).unwrap();
    });
    let mut now = shares.look().unwrap();
    now.done.sort();
    assert_eq!(now.done, ["0", "1", "2"]);
    assert_eq!((now.n_offered, now.n_claimed), (0, 0));
    assert_eq!(shares.look().unwrap().done, [""; 0]);
    assert_is(&fake, &*run, &model);
    run.close().unwrap();
    let ended = machines[0].guest().unwrap().claim().unwrap();
    assert!(matches!(ended, Claim::Ended));
    let source = machines[0].source(&Reading::default()).unwrap();
    assert_eq!(source.meta().generation, 7);
    let rows = source.files().rows().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.token.is_finished()));
    // Descriptions of shares go with the run.
    assert_eq!(fake.root_documents(), ["root"]);
}

#[test]
fn what_a_machine_has_under_way_is_not_finished() {
    let fake = Arc::new(Fake::default());
    let run = cluster(&fake, "a", LONG, LONG).sink().unwrap();
    run.shares().unwrap().offer("0").unwrap();
    let other = cluster(&fake, "b", LONG, LONG);
    let (_, sink) = claim(&other);
    write(&*sink, 0, 1, 1).unwrap();
    write(&*sink, 1, 1, 0).unwrap();
    // A batch is sent when it is large, or at a commit, which fails here.
    fake.cut_off_root(true);
    let _ = sink.commit(&sink.meta().clone());
    fake.cut_off_root(false);
    write(&*run, 2, 1, 0).unwrap();
    commit(&*run);
    let finished = || {
        let rows = other.source(&Reading::default()).unwrap().files().rows();
        let rows = rows.unwrap().into_iter();
        rows.map(|row| row.token.is_finished()).collect::<Vec<_>>()
    };
    let mut now = finished();
    now.sort_unstable();
    assert_eq!(now, [false, false, true]);
    run.close().unwrap();
    let mut now = finished();
    now.sort_unstable();
    assert_eq!(now, [false, false, true]);
    let source = other.source(&Reading::default()).unwrap();
    let of = |file: u8| {
        let key = source.meta().hasher.key(Path::new(&format!("/{file}")));
        let documents = source.files().documents_of(key).unwrap();
        assert_eq!(source.documents(&documents).unwrap().len(), documents.len());
        let row = source.files().row(key).unwrap();
        (documents.len(), row.is_some())
    };
    assert_eq!([0, 1, 2].map(of), [(0, false), (0, false), (1, true)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    /// A machine with a share is cut off, another one gets the share, and then all arrives that the first one sent: it changes
    /// nothing. The run commits in between.
    #[test]
    fn a_share_of_a_machine_that_is_gone_is_done_by_another(
        before in prop::collection::vec((0..N_FILES, 0..3_u8), 0..4),
        cut in prop::collection::vec((0..N_FILES, 0..3_u8), 1..5),
        after in prop::collection::vec(0..3_u8, N_FILES as usize..=N_FILES as usize),
        commits in any::<bool>(),
    ) {
        let fake = Arc::new(Fake::default());
        let run = cluster(&fake, "a", TTL, LONG).sink().unwrap();
        let shares = run.shares().unwrap();
        for (round, (file, n_parts)) in (1..).zip(before) {
            write(&*run, file, round, n_parts).unwrap();
        }
        commit(&*run);
        shares.offer("all").unwrap();
        let (_, first) = claim(&cluster(&fake, "b", TTL, Duration::ZERO));
        if commits {
            write(&*first, cut[0].0, 90, cut[0].1).unwrap();
            commit(&*first);
        }
        fake.cut_off("http://b");
        for (round, (file, n_parts)) in (100..).zip(&cut) {
            let _ = write(&*first, *file, round, *n_parts);
        }
        let late = std::thread::spawn(move || {
            assert!(first.commit(&first.meta().clone()).is_err());
            first
        });
        let start = std::time::Instant::now();
        while shares.look().unwrap().n_offered == 0 {
            assert!(start.elapsed() < LONG);
            std::thread::sleep(TTL / 20);
        }
        let (work, second) = claim(&cluster(&fake, "c", TTL, LONG));
        assert_eq!(work, "all");
        let mut model = Model::new();
        for (file, n_parts) in (0..).zip(after) {
            write(&*second, file, 200, n_parts).unwrap();
            model.insert(file, (200, n_parts));
        }
        commit(&*second);
        second.finish("").unwrap();
        commit(&*run);
        assert_is(&fake, &*run, &model);
        let first = late.join().unwrap();
        fake.join("http://b");
        assert!(fake.deliver_late() > 0);
        assert!(first.commit(&first.meta().clone()).is_err());
        assert_is(&fake, &*run, &model);
        assert!(first.finish("late").is_ok());
        assert_eq!(shares.look().unwrap(), SharesNow { done: vec![String::new()], ..SharesNow::default() });
        run.close().unwrap();
    }
}

#[test]
fn a_run_that_is_gone_takes_its_shares_along() {
    let fake = Arc::new(Fake::default());
    let run = cluster(&fake, "a", TTL, Duration::ZERO).sink().unwrap();
    run.shares().unwrap().offer("1").unwrap();
    let (_, sink) = claim(&cluster(&fake, "b", LONG, LONG));
    write(&*sink, 1, 1, 1).unwrap();
    fake.cut_off("http://a");
    let mut guest = cluster(&fake, "c", TTL, LONG).guest().unwrap();
    let start = std::time::Instant::now();
    while !matches!(guest.claim().unwrap(), Claim::Lost) {
        assert!(start.elapsed() < LONG);
        std::thread::sleep(TTL / 20);
    }
    let next = cluster(&fake, "c", TTL, LONG).sink().unwrap();
    write(&*next, 1, 2, 0).unwrap();
    commit(&*next);
    assert!(sink.commit(&sink.meta().clone()).is_err());
    assert_is(&fake, &*next, &Model::from([(1, (2, 0))]));
    next.close().unwrap();
    drop((run, sink));
}

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

/// Documents that no other machine knew of arrive after the share was done by another one.
#[test]
fn parts_of_a_share_that_arrive_late_are_not_a_part_of_the_index() {
    let fake = Arc::new(Fake::default());
    let run = cluster(&fake, "a", TTL, LONG).sink().unwrap();
    let shares = run.shares().unwrap();
    shares.offer("all").unwrap();
    let (_, first) = claim(&cluster(&fake, "b", TTL, Duration::ZERO));
    // Its words are known afterwards, so that the parts are what is sent first.
    write(&*first, 0, 90, 3).unwrap();
    commit(&*first);
    fake.cut_off("http://b");
    write(&*first, 1, 90, 3).unwrap();
    assert!(first.commit(&first.meta().clone()).is_err());
    let start = std::time::Instant::now();
    while shares.look().unwrap().n_offered == 0 {
        assert!(start.elapsed() < LONG);
        std::thread::sleep(TTL / 20);
    }
    let (_, second) = claim(&cluster(&fake, "c", TTL, LONG));
    write(&*second, 0, 91, 0).unwrap();
    write(&*second, 1, 91, 0).unwrap();
    commit(&*second);
    second.finish("").unwrap();
    let n_before = fake.documents().len();
    assert!(fake.deliver_late() > 0);
    assert_eq!(fake.documents().len(), n_before + 3);
    commit(&*run);
    assert_is(&fake, &*run, &Model::from([(0, (91, 0)), (1, (91, 0))]));
    drop(first);
    run.close().unwrap();
}
