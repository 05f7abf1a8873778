//! Tests of runs that are stopped, broken, or limited to some files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use ken_core::Root;
use ken_engine::{Sink, Source};
use ken_index::{Snapshot, Writer, WriterOptions};

use super::*;
use crate::Ngrams;
use crate::lock::RunLock;

mod mailbox;
mod ngrams;

pub(crate) fn options(data: &Path, memory_bytes: usize) -> Options {
    Options {
        threads: 2,
        memory_bytes,
        ngrams: Ngrams::All,
        commit_interval: std::time::Duration::from_secs(3600),
        ..Options::new(data)
    }
}

pub(crate) fn folder_of_files(n_files: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs_err::create_dir(folder.path().join("docs")).unwrap();
    for number in 0..n_files {
        let file = folder.path().join(format!("docs/{number}.txt"));
        fs_err::write(file, "some words ".repeat(5000)).unwrap();
    }
    folder
}

/// A medium is removed while a run reads all files again: immediately, and when the walk has seen
/// the last file.
#[test]
fn a_root_that_goes_away_meanwhile_loses_no_document() {
    const FILES: usize = 60;
    for last in [1, FILES] {
        let folder = folder_of_files(FILES);
        let [docs, away, data] = ["docs", "away", "data"].map(|name| folder.path().join(name));
        let options = options(&data, 64 << 20);
        let add = RootChange::Add(Root::new(docs.clone()));
        update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
        let n_files = || {
            let snapshot = Snapshot::open(&data.join("index")).unwrap();
            snapshot.files().rows().unwrap().len()
        };
        let full = Options {
            full: true,
            ..options.clone()
        };
        let seen = AtomicUsize::new(0);
        let run = update(&full, &[], &Progress::default(), &|_| {
            if seen.fetch_add(1, Ordering::Relaxed) + 1 == last {
                fs_err::rename(&docs, &away).unwrap();
            }
        });
        let run = run.unwrap();
        assert_eq!(n_files(), FILES, "{last}: {:?}", run.messages);
        assert_eq!(
            run.changed + run.unchanged + run.kept,
            FILES as u64,
            "{last}"
        );
        assert!(run.kept > 0 && run.gone == 0, "{last}");
        assert!(run.messages.iter().any(|text| text.contains("is kept")));
        let again = update(&options, &[], &Progress::default(), &|_| ()).unwrap();
        assert_eq!(
            (again.gone, again.kept, n_files()),
            (0, FILES as u64, FILES)
        );
        fs_err::rename(&away, &docs).unwrap();
        let back = update(&options, &[], &Progress::default(), &|_| ()).unwrap();
        assert_eq!((back.gone, back.kept, n_files()), (0, 0, FILES));
    }
}

#[test]
fn a_run_whose_engine_dies_ends_with_the_cause() {
    let folder = folder_of_files(50);
    let index = folder.path().join("data/index");
    let add = RootChange::Add(Root::new(folder.path().join("docs")));
    // As on a full disk, nothing can be written.
    let outcome = update(
        &options(&folder.path().join("data"), 1 << 20),
        &[add],
        &Progress::default(),
        &|_| fs_err::remove_dir_all(&index).unwrap_or_default(),
    );
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("No such file or directory"), "{error}");
}

#[test]
fn a_run_whose_index_is_deleted_meanwhile_fails() {
    let folder = folder_of_files(6);
    let options = options(&folder.path().join("data"), 64 << 20);
    let add = RootChange::Add(Root::new(folder.path().join("docs")));
    update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
    let index = options.data.join("index");
    // A file of the first segment is gone when the run commits a second one.
    let delete = |_: &Change| {
        for entry in fs_err::read_dir(&index).unwrap() {
            let path = entry.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "store")
            {
                fs_err::remove_file(path).unwrap();
            }
        }
    };
    fs_err::write(folder.path().join("docs/new.txt"), "new").unwrap();
    let failed = update(&options, &[], &Progress::default(), &delete).unwrap_err();
    let failed = failed.to_string();
    assert!(failed.contains("another program deleted"), "{failed}");
}

#[test]
fn what_a_stopped_run_did_not_do_is_not_counted() {
    let folder = folder_of_files(50);
    let progress = Progress::default();
    let add = RootChange::Add(Root::new(folder.path().join("docs")));
    let summary = update(
        &options(&folder.path().join("data"), 64 << 20),
        &[add],
        &progress,
        &|_| progress.cancel(),
    )
    .unwrap();
    assert!(summary.interrupted);
    assert_eq!((summary.added, summary.documents), (0, 0));
}

#[test]
fn a_run_that_is_paused_lets_the_index_go_and_goes_on_later() {
    let folder = folder_of_files(40);
    let data = folder.path().join("data");
    let options = options(&data, 64 << 20);
    let add = RootChange::Add(Root::new(folder.path().join("docs")));
    let (progress, met) = (Progress::default(), AtomicUsize::new(0));
    let summary = thread::scope(|scope| {
        let other = scope.spawn(|| {
            while !progress.paused.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            // The lock is free, and completed work is there.
            assert!(RunLock::take(&data, &|| true).unwrap().is_some());
            let snapshot = Snapshot::open(&data.join("index")).unwrap();
            let tallies = snapshot.statistics().unwrap().tallies;
            let n_documents: u64 = tallies.iter().map(|tally| tally.documents).sum();
            assert!(background::resume(&data).unwrap());
            n_documents
        });
        let summary = update(&options, &[add], &progress, &|_| {
            if met.fetch_add(1, Ordering::Relaxed) == 20 {
                background::pause(&data, background::Pause::Open).unwrap();
                while !progress.is_cancelled() {
                    thread::yield_now();
                }
            }
        });
        let before = other.join().unwrap();
        assert!(before < 40, "{before}");
        summary.unwrap()
    });
    assert_eq!((summary.added, summary.interrupted), (40, false));
    assert_eq!(summary.documents, 40);
    let later = update(&options, &[], &Progress::default(), &|_| ()).unwrap();
    assert_eq!((later.unchanged, later.committed), (40, false));
}

#[test]
fn a_paused_run_can_be_stopped() {
    let folder = folder_of_files(1);
    let data = folder.path().join("data");
    background::pause(&data, background::Pause::Open).unwrap();
    let progress = Progress::default();
    let add = [RootChange::Add(Root::new(folder.path().join("docs")))];
    let summary = thread::scope(|scope| {
        let run = scope.spawn(|| update(&options(&data, 64 << 20), &add, &progress, &|_| ()));
        while !progress.paused.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        progress.cancel();
        run.join().unwrap().unwrap()
    });
    assert_eq!((summary.added, summary.interrupted), (0, true));
}

#[test]
fn some_files_are_brought_up_to_date_and_no_others() {
    let folder = folder_of_files(4);
    let data = folder.path().join("data");
    let options = options(&data, 64 << 20);
    let docs = fs_err::canonicalize(folder.path().join("docs")).unwrap();
    let add = RootChange::Add(Root::new(&docs));
    update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
    let path = |name: &str| docs.join(name);
    fs_err::rename(path("0.txt"), path("moved.txt")).unwrap();
    fs_err::remove_file(path("1.txt")).unwrap();
    fs_err::write(path("2.txt"), "changed").unwrap();
    fs_err::write(path("3.txt"), "changed and not named").unwrap();
    fs_err::write(path("new.txt"), "new").unwrap();
    let named = ["0.txt", "moved.txt", "1.txt", "2.txt", "new.txt"].map(path);
    let progress = Progress::default();
    let summary = update_files(&options, &[], &named, &progress, &|_| ()).unwrap();
    let counts = (summary.added, summary.changed, summary.moved, summary.gone);
    assert_eq!(counts, (1, 1, 1, 1));
    assert!(summary.committed);
    let nothing = update_files(&options, &[], &named, &Progress::default(), &|_| ()).unwrap();
    assert_eq!((nothing.unchanged, nothing.committed), (3, false));
    let rest = update(&options, &[], &Progress::default(), &|_| ()).unwrap();
    let counts = (rest.added, rest.changed, rest.moved, rest.gone);
    assert_eq!(counts, (0, 1, 0, 0));
    fs_err::write(path(".noupdate"), "").unwrap();
    fs_err::remove_file(path("new.txt")).unwrap();
    let named = update_files(&options, &[], &named, &Progress::default(), &|_| ()).unwrap();
    assert_eq!(named.gone, 1, "whatever the folder says of other runs");
    let elsewhere = [folder.path().join("elsewhere.txt")];
    fs_err::write(&elsewhere[0], "below no root").unwrap();
    let none = update_files(&options, &[], &elsewhere, &Progress::default(), &|_| ()).unwrap();
    assert_eq!((none.added, none.committed), (0, false));
}

/// Makes the last commit say that other versions of the extractors read the files.
fn forget_extractors(data: &Path) {
    let options = WriterOptions {
        memory_bytes: 0,
        threads: 1,
    };
    let writer = Writer::open(&data.join("index"), options).unwrap();
    let mut meta = writer.meta().clone();
    meta.profile.formats.values_mut().for_each(|v| *v = 0);
    writer.commit(&meta).unwrap();
    writer.close().unwrap();
}

#[test]
fn a_stopped_run_does_not_read_again_what_it_has_read() {
    let folder = folder_of_files(100);
    let data = folder.path().join("data");
    let options = options(&data, 64 << 20);
    let run = |progress: &Progress, notify: &(dyn Fn(&Change) + Sync)| {
        let add = RootChange::Add(Root::new(folder.path().join("docs")));
        update(&options, &[add], progress, notify).unwrap()
    };
    run(&Progress::default(), &|_| ());
    forget_extractors(&data);

    let progress = Progress::default();
    let stopped = run(&progress, &|_| {
        // The walk waits halfway, and does not continue.
        if progress.files_to_do.load(Ordering::Relaxed) == 50 {
            while progress.documents.load(Ordering::Relaxed) < 20 {
                std::thread::yield_now();
            }
            progress.cancel();
        }
    });
    assert!(stopped.interrupted && stopped.committed);
    let rest = run(&Progress::default(), &|_| ());
    assert!((18..=50).contains(&rest.unchanged), "{rest:?}");
    assert_eq!(rest.added + rest.changed + rest.unchanged, 100);
    let after = run(&Progress::default(), &|_| ());
    assert_eq!((after.unchanged, after.committed), (100, false));
}

#[test]
fn after_a_stopped_batch_a_lazy_run_looks_everywhere() {
    let folder = folder_of_files(100);
    let data = folder.path().join("data");
    let options = options(&data, 64 << 20);
    let add = RootChange::Add(Root::new(folder.path().join("docs")));
    update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
    let began = || Snapshot::open(&data.join("index")).unwrap().meta().began;
    let of_run = began();
    assert!(of_run.is_some());
    let path = |number: usize| folder.path().join(format!("docs/{number}.txt"));
    fs_err::write(path(0), "changed").unwrap();
    update_files(&options, &[], &[path(0)], &Progress::default(), &|_| ()).unwrap();
    assert_eq!(
        began(),
        of_run,
        "what the batch did not look at is as it was"
    );

    let named: Vec<PathBuf> = (0..100).map(path).collect();
    for path in &named {
        fs_err::write(path, "changed in place, and again").unwrap();
    }
    let progress = Progress::default();
    let stopped = update_files(&options, &[], &named, &progress, &|_| {
        if progress.files_to_do.load(Ordering::Relaxed) == 50 {
            while progress.documents.load(Ordering::Relaxed) < 20 {
                std::thread::yield_now();
            }
            progress.cancel();
        }
    });
    let stopped = stopped.unwrap();
    assert!(stopped.interrupted && stopped.committed);
    assert_eq!(began(), None);
    let lazy = Options {
        lazy: true,
        ..options
    };
    let rest = update(&lazy, &[], &Progress::default(), &|_| ()).unwrap();
    // One that left the index and did not come again is new.
    assert_eq!(stopped.changed + rest.changed + rest.added, 100);
}

#[test]
fn tags_of_a_log_that_is_gone_stay_until_a_run_over_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let (docs, data) = (folder.path().join("docs"), folder.path().join("data"));
    fs_err::create_dir(&docs).unwrap();
    let message = "Message-ID: <1@x>\nSubject: one\n\nA message.\n";
    fs_err::write(docs.join("1.eml"), message).unwrap();
    let options = options(&data, 64 << 20);
    let add = RootChange::Add(Root::new(&docs));
    let log = |line: &str| fs_err::write(crate::tags::path(&data), line).unwrap();
    let n_tagged = || {
        let snapshot = Snapshot::open(&data.join("index")).unwrap();
        crate::tags::tagged(&snapshot).unwrap().len()
    };
    fs_err::create_dir(&data).unwrap();
    log("+old -- id:1@x\n");
    update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
    assert_eq!(n_tagged(), 1);
    log("+new -- id:2@x\n");
    update_files(&options, &[], &[], &Progress::default(), &|_| ()).unwrap();
    assert_eq!(n_tagged(), 1);
    let cancelled = Progress::default();
    cancelled.cancel();
    update(&options, &[], &cancelled, &|_| ()).unwrap();
    assert_eq!(n_tagged(), 1);
    update(&options, &[], &Progress::default(), &|_| ()).unwrap();
    assert_eq!(n_tagged(), 0);
    let quiet = update(&options, &[], &Progress::default(), &|_| ()).unwrap();
    assert!(!quiet.committed);
}

#[test]
fn a_batch_looks_for_no_files_of_another_profile() {
    let folder = folder_of_files(3);
    let data = folder.path().join("data");
    let options = options(&data, 64 << 20);
    let docs = folder.path().join("docs");
    let add = RootChange::Add(Root::new(&docs));
    update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
    forget_extractors(&data);
    let named = [docs.join("0.txt"), docs.join("1.txt")];
    fs_err::write(&named[0], "changed").unwrap();
    let batch = update_files(&options, &[], &named, &Progress::default(), &|_| ()).unwrap();
    assert_eq!((batch.changed, batch.stale, batch.unchanged), (1, 0, 1));
    let rest = update(&options, &[], &Progress::default(), &|_| ()).unwrap();
    assert_eq!((rest.changed, rest.stale, rest.unchanged), (2, 2, 1));
}

/// Many threads read while one writes. Each sees one commit, in which all parts of a file are from
/// one time; if the file's own document is there, all parts are, since it comes last.
#[test]
fn readers_see_whole_commits() {
    const MESSAGES: usize = 4;
    const LETTERS: usize = 20;
    const READERS: usize = 50;
    const ROUNDS: usize = 8;
    let folder = folder_of_files(1);
    let data = folder.path().join("data");
    // A message with letters attached.
    let write = |number: usize, round: usize| {
        let letter = |n| {
            format!(
                "--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename={n}.txt\n\nround{round} letter\n"
            )
        };
        let letters: String = (0..LETTERS).map(letter).collect();
        let text = format!(
            "From: a@example.org\nContent-Type: multipart/mixed; boundary=b\n\n{letters}--b--\n"
        );
        fs_err::write(folder.path().join(format!("docs/{number}.eml")), text).unwrap();
    };
    let options = Options {
        commit_interval: std::time::Duration::from_millis(5),
        ..options(&data, 64 << 20)
    };
    let run = || {
        let add = RootChange::Add(Root::new(folder.path().join("docs")));
        update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
    };
    // By path: whether the file is finished, and its letters.
    let read = |snapshot: &dyn Source| {
        let mut messages: BTreeMap<PathBuf, (bool, Vec<String>)> = BTreeMap::new();
        for row in snapshot.files().rows().unwrap() {
            for address in snapshot.files().documents_of(row.key).unwrap() {
                let stored = snapshot.document(address).unwrap();
                if stored.document.body.contains("letter") {
                    let of_one = messages.entry(stored.location.path).or_default();
                    of_one.0 = row.token.is_finished();
                    of_one.1.push(stored.document.body.trim().to_owned());
                }
            }
        }
        messages
    };
    (0..MESSAGES).for_each(|number| write(number, 0));
    run();
    let index = data.join("index");
    let first = Snapshot::open(&index).unwrap();
    let before = read(&first);
    let ended = AtomicBool::new(false);
    let n_whole = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    // The writer needs a core too.
                    std::thread::sleep(std::time::Duration::from_millis(100));
                    let messages = read(&Snapshot::open(&index).unwrap());
                    for (path, (is_finished, texts)) in messages {
                        let path = path.display();
                        assert!(texts.len() <= LETTERS, "{path}");
                        assert!(!is_finished || texts.len() == LETTERS, "{path}");
                        n_whole.fetch_add(usize::from(is_finished), Ordering::Relaxed);
                        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:?}");
                    }
                }
            });
        }
        for round in 1..=ROUNDS {
            write(round % MESSAGES, round);
            run();
        }
        ended.store(true, Ordering::Relaxed);
    });
    assert!(n_whole.into_inner() >= READERS);
    assert_eq!(read(&first), before, "an old commit stays as it is");
    let last = read(&Snapshot::open(&index).unwrap());
    let newest = format!("round{ROUNDS} letter");
    assert!(
        last.values()
            .any(|(is_finished, texts)| *is_finished && texts[0] == newest)
    );
}

/// Other machines left files of a run: until its second pass has read them, it has not come to its end.
#[test]
fn a_run_that_left_files_is_under_way() {
    let folder = folder_of_files(3);
    let (progress, data) = (Progress::default(), folder.path().join("data"));
    let options = options(&data, 64 << 20);
    for is_whole in [false, true] {
        let mut session = Session::open(&options, &progress).unwrap().unwrap();
        let add = [RootChange::Add(Root::new(folder.path().join("docs")))];
        let prepared = Prepared::load(&options, &add, Scope::All).unwrap();
        let writer = LazyWriter::new(session.slot(&prepared.options), true, true);
        let run = Run::new(writer, &prepared, &progress, &|_| ());
        let walked = run.execute().unwrap();
        if !is_whole {
            run.shared.left().push("/left".into());
        }
        assert!(run.commit(&run.summary(&walked), true).unwrap());
        drop(run);
        session.close_writer().unwrap();
        let meta = options.meta().unwrap();
        assert_eq!(meta.completed.is_some(), is_whole);
        assert_eq!(meta.began.is_some(), is_whole);
        assert_eq!(
            (meta.all_seen, meta.under_way.is_none()),
            (is_whole, is_whole)
        );
    }
}

/// The second pass reads what was left, whether it changed or not, and nothing else; then the run has come to its end.
#[test]
fn what_a_run_left_is_read_alone() {
    let folder = folder_of_files(5);
    let (progress, data) = (Progress::default(), folder.path().join("data"));
    let options = options(&data, 64 << 20);
    let add = [RootChange::Add(Root::new(folder.path().join("docs")))];
    let mut session = Session::open(&options, &progress).unwrap().unwrap();
    let stopped = {
        let prepared = Prepared::load(&options, &add, Scope::All).unwrap();
        let writer = LazyWriter::new(session.slot(&prepared.options), true, true);
        let run = Run::new(writer, &prepared, &progress, &|_| ());
        let walked = run.execute().unwrap();
        run.shared.left().push("/left".into());
        let summary = run.summary(&walked);
        run.commit(&summary, true).unwrap();
        summary
    };
    session.close_writer().unwrap();
    // One that is there, and one that is new.
    let docs = folder.path().join("docs");
    fs_err::write(docs.join("new.txt"), "new").unwrap();
    fs_err::write(docs.join("other.txt"), "nobody left it").unwrap();
    let first = pass::First {
        began: 7,
        saw_all: true,
        left: Some(vec![docs.join("1.txt"), docs.join("new.txt")]),
    };
    let summary = second_pass(&mut session, &options, stopped, &first, &progress, &|_| ()).unwrap();
    session.close_writer().unwrap();
    assert_eq!((summary.added, summary.changed), (6, 1));
    assert!(summary.committed && !summary.has_left);
    let meta = options.meta().unwrap();
    assert!(meta.completed.is_some() && meta.all_seen && meta.under_way.is_none());
    assert_eq!(meta.began, Some(7));
}
