//! Machines that share the work of a run, and what becomes of it when one of them is gone.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ken_engine::{Claim, Engine, Reading, SharesNow, Sink};
use proptest::prelude::*;

use super::{LONG, Model, N_FILES, TTL, assert_is, cluster, commit, write};
use crate::Cluster;
use crate::fake::Fake;

/// Claims a share; panics if there is none.
fn claim(cluster: &Cluster) -> (String, Box<dyn Sink>) {
    match cluster.guest().unwrap().claim(&|_| Some(true)).unwrap() {
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
    let nothing = machines[0].guest().unwrap().claim(&|_| Some(true)).unwrap();
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
    // Descriptions go with the outcomes.
    assert_eq!(fake.root_documents(), ["root"]);
    shares.offer("again").unwrap();
    assert_eq!(fake.root_documents().len(), 2);
    assert_eq!(shares.look().unwrap().done, [""; 0]);
    assert_is(&fake, &*run, &model);
    run.close().unwrap();
    let ended = machines[0].guest().unwrap().claim(&|_| Some(true)).unwrap();
    assert!(matches!(ended, Claim::Ended(said) if said.is_empty()));
    let said = || match cluster(&fake, "b", LONG, LONG)
        .guest()
        .unwrap()
        .claim(&|_| Some(true))
    {
        Ok(Claim::Ended(said)) => said,
        _ => panic!("there is a run"),
    };
    let run = cluster(&fake, "a", LONG, LONG).sink().unwrap();
    run.finish("all is done").unwrap();
    assert_eq!(said(), "all is done");
    cluster(&fake, "a", LONG, LONG)
        .sink()
        .unwrap()
        .close()
        .unwrap();
    assert_eq!(said(), "");
    let source = machines[0].source(&Reading::default()).unwrap();
    assert_eq!(source.meta().generation, 7);
    let rows = source.files().rows().unwrap();
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| row.token.is_finished()));
    // Those that nobody did go with the run.
    assert_eq!(fake.root_documents(), ["root"]);
}

#[test]
fn a_long_outcome_is_kept_with_its_share() {
    let fake = Arc::new(Fake::default());
    let run = cluster(&fake, "a", LONG, LONG).sink().unwrap();
    let shares = run.shares().unwrap();
    for work in ["0", "1"] {
        shares.offer(work).unwrap();
    }
    let long = "ü".repeat(1 << 20);
    let other = cluster(&fake, "b", LONG, LONG);
    for outcome in [&long, "short"] {
        claim(&other).1.finish(outcome).unwrap();
    }
    // All machines read the root document again and again.
    assert!(fake.root("t").unwrap().to_string().len() < 10_000);
    let mut done = shares.look().unwrap().done;
    done.sort_by_key(String::len);
    assert_eq!(done, ["short", &long]);
    assert_eq!(fake.root_documents(), ["root"]);
    // What comes after the end of the run makes nothing.
    shares.offer("2").unwrap();
    let (_, late) = claim(&other);
    run.close().unwrap();
    let _ = late.finish(&long);
    assert_eq!(fake.root_documents(), ["root"]);
}

#[test]
fn a_machine_leaves_what_it_does_not_take() {
    let fake = Arc::new(Fake::default());
    let run = cluster(&fake, "a", LONG, LONG).sink().unwrap();
    let shares = run.shares().unwrap();
    shares.offer("0").unwrap();
    let mut guest = cluster(&fake, "b", LONG, LONG).guest().unwrap();
    let n_asked = std::cell::Cell::new(0);
    let takes = |work: &str| {
        n_asked.set(n_asked.get() + 1);
        Some(work != "0")
    };
    for _ in 0..3 {
        assert!(matches!(guest.claim(&takes).unwrap(), Claim::Wait));
    }
    assert_eq!(n_asked.get(), 1);
    let now = shares.look().unwrap();
    assert_eq!((now.n_offered, now.n_claimed), (1, 0));
    assert_eq!(claim(&cluster(&fake, "c", LONG, LONG)).0, "0");
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
    while !matches!(guest.claim(&|_| Some(true)).unwrap(), Claim::Lost) {
        assert!(start.elapsed() < LONG);
        std::thread::sleep(TTL / 20);
    }
    let next = cluster(&fake, "c", TTL, LONG).sink().unwrap();
    write(&*next, 1, 2, 0).unwrap();
    commit(&*next);
    assert!(sink.commit(&sink.meta().clone()).is_err());
    assert_is(&fake, &*next, &Model::from([(1, (2, 0))]));
    next.close().unwrap();
    assert_eq!(fake.root_documents(), ["root"]);
    drop((run, sink));
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
