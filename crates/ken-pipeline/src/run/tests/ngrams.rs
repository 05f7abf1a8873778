//! Tests of n-grams and the commits that name them, also when some are missing.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::Ordering;

use ken_core::{FileKey, Root};
use ken_engine::Source;
use ken_index::Snapshot;
use ken_index::layout::ngrams_folder;
use ken_ngram::{Builder, Covers, NgramSet, Store, Version};

use super::{folder_of_files, options};
use crate::ngrams;
use crate::ngrams::missing::MissingNgrams;
use crate::{Ngrams, Options, Progress, RootChange, update};

/// Returns the files that a commit lists as lacking n-grams.
fn without_ngrams(index: &Path) -> Vec<FileKey> {
    let Ok(snapshot) = Snapshot::open(index) else {
        return Vec::new();
    };
    let opened = ken_ngram::open(&ngrams_folder(index), ken_index::map).unwrap();
    let rows = snapshot
        .files()
        .rows()
        .unwrap()
        .into_iter()
        .map(|row| row.key);
    let has = |key: &FileKey| opened.segments.iter().any(|of| of.of(key.0).count() > 0);
    rows.filter(|key| !has(key)).collect()
}

#[test]
fn a_commit_names_only_files_whose_n_grams_are_written() {
    let folder = folder_of_files(100);
    let data = folder.path().join("data");
    let index = data.join("index");
    let options = Options {
        commit_interval: std::time::Duration::ZERO,
        ..options(&data, 64 << 20)
    };
    let add = RootChange::Add(Root::new(folder.path().join("docs")));
    std::thread::scope(|scope| {
        let run = scope.spawn(|| update(&options, &[add], &Progress::default(), &|_| ()));
        while !run.is_finished() {
            assert_eq!(without_ngrams(&index), []);
        }
        assert_eq!(run.join().unwrap().unwrap().added, 100);
    });
    assert_eq!(without_ngrams(&index), []);
}

#[test]
fn a_commit_says_whether_all_files_were_seen() {
    let folder = folder_of_files(100);
    let data = folder.path().join("data");
    let options = options(&data, 64 << 20);
    let add = |name: &str| vec![RootChange::Add(Root::new(folder.path().join(name)))];
    let write = |name: &str| {
        fs_err::create_dir_all(folder.path().join(name)).unwrap();
        for number in 0..40 {
            let file = folder.path().join(format!("{name}/{number}.txt"));
            fs_err::write(file, "other words").unwrap();
        }
    };
    let meta = || Snapshot::open(&data.join("index")).unwrap().meta().clone();
    let stopped = |changes: &[RootChange]| {
        let progress = Progress::default();
        let summary = update(&options, changes, &progress, &|_| {
            if progress.files_to_do.load(Ordering::Relaxed) == 20 {
                while progress.documents.load(Ordering::Relaxed) == 0 {
                    std::thread::yield_now();
                }
                progress.cancel();
            }
        });
        assert!(summary.unwrap().committed);
    };
    let run = || update(&options, &[], &Progress::default(), &|_| ()).unwrap();
    stopped(&add("docs"));
    assert!(!meta().all_seen && meta().ngram_files.is_some());
    run();
    assert!(meta().all_seen);
    // A run that only looks for changes removes nothing.
    write("docs");
    stopped(&[]);
    assert!(meta().all_seen);
    write("more");
    stopped(&add("more"));
    assert!(!meta().all_seen);
    run();
    assert!(meta().all_seen);
}

#[test]
fn lost_n_grams_are_taken_again() {
    let folder = folder_of_files(20);
    let data = folder.path().join("data");
    let index = data.join("index");
    let options = options(&data, 64 << 20);
    let add = RootChange::Add(Root::new(folder.path().join("docs")));
    let run = || {
        let summary = update(
            &options,
            std::slice::from_ref(&add),
            &Progress::default(),
            &|_| (),
        );
        (
            summary.as_ref().unwrap().changed,
            summary.unwrap().committed,
        )
    };
    run();
    fs_err::write(folder.path().join("docs/0.txt"), "other words").unwrap();
    assert_eq!(run(), (1, true));
    let file = |number: u64| ngrams::segment_path(&index, number);
    let named = || Snapshot::open(&index).unwrap().meta().ngram_files.clone();
    let last = named().unwrap().last().copied().unwrap();
    fs_err::remove_file(file(last)).unwrap();
    assert_eq!(run(), (1, true), "the one whose n-grams were there");
    assert!(named().is_some_and(|files| !files.contains(&last)));
    assert_eq!(without_ngrams(&index), []);
    assert_eq!(run(), (0, false));

    let other_format = file(named().unwrap().first().copied().unwrap());
    fs_err::write(&other_format, "of another format").unwrap();
    assert!(run().1);
    assert_eq!(without_ngrams(&index), []);
    assert!(!fs_err::exists(&other_format).unwrap());
}

#[test]
fn a_run_that_reads_all_deletes_the_n_grams_of_before() {
    let folder = folder_of_files(20);
    let data = folder.path().join("data");
    let index = data.join("index");
    let mut options = options(&data, 64 << 20);
    let run = |options: &Options| {
        run_over(folder.path(), options);
        let files = fs_err::read_dir(ngrams_folder(&index)).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
        files.sort();
        files
    };
    let before = run(&options);
    options.ngrams = Ngrams::None;
    fs_err::write(folder.path().join("docs/0.txt"), "other words").unwrap();
    assert_eq!(run(&options), before);
    assert_eq!(Snapshot::open(&index).unwrap().meta().ngram_files, None);
    options.ngrams = Ngrams::Text;
    options.full = true;
    let after = run(&options);
    assert!(!after.is_empty() && after.iter().all(|file| !before.contains(file)));
    assert!(Snapshot::open(&index).unwrap().meta().ngram_files.is_some());
    assert_eq!(without_ngrams(&index), []);
}

fn run_over(folder: &Path, options: &Options) {
    let add = RootChange::Add(Root::new(folder.join("docs")));
    update(options, &[add], &Progress::default(), &|_| ()).unwrap();
}

/// Returns the number of facts in the n-gram segments, and the segments.
fn facts(index: &Path) -> (usize, BTreeSet<u64>) {
    let folder = ngrams_folder(index);
    let opened = ken_ngram::open(&folder, ken_index::map).unwrap();
    let n_rows = opened.segments.iter().map(|of| of.rows().len()).sum();
    let snapshot = Snapshot::open(index).unwrap();
    let named = snapshot.meta().ngram_files.clone().unwrap_or_default();
    assert_eq!(opened.segments.len(), named.len(), "others are deleted");
    assert!(opened.missing(&named).is_empty());
    (n_rows, named)
}

#[test]
fn small_files_are_merged_before_the_commit_that_names_them() {
    let folder = folder_of_files(2);
    let data = folder.path().join("data");
    let index = data.join("index");
    let mut options = options(&data, 64 << 20);
    options.threads = 1;
    let run = |options: &Options| run_over(folder.path(), options);
    let change = |text: &str| fs_err::write(folder.path().join("docs/0.txt"), text).unwrap();
    run(&options);
    let mut n_files = vec![facts(&index).1.len()];
    for number in 0..7 {
        change(&"changed ".repeat(number + 1));
        run(&options);
        n_files.push(facts(&index).1.len());
        assert_eq!(without_ngrams(&index), []);
    }
    // The facts about earlier texts stay meanwhile.
    assert_eq!(n_files, [1, 2, 3, 4, 5, 6, 7, 1]);
    assert_eq!(facts(&index).0, 9);

    for number in 8..10 {
        change(&"again ".repeat(number));
        run(&options);
    }
    assert_eq!(facts(&index).1.len(), 3);
    options.full = true;
    run(&options);
    assert_eq!((facts(&index).0, facts(&index).1.len()), (2, 1));
    assert_eq!(without_ngrams(&index), []);
}

/// The rows of the files themselves are left, but not those of parts, which another thread wrote.
#[test]
fn files_with_parts_are_read_again() {
    let folder = folder_of_files(1);
    let data = folder.path().join("data");
    let index = data.join("index");
    let message =
        |n: u32| format!("From a@example.org Thu Jan  1 00:00:00 2026\nSubject: {n}\n\ntext\n\n");
    let mailbox = folder.path().join("docs/two.mbox");
    fs_err::write(mailbox, message(1) + &message(2)).unwrap();
    let add = RootChange::Add(Root::new(folder.path().join("docs")));
    let all = options(&data, 64 << 20);
    update(&all, &[add], &Progress::default(), &|_| ()).unwrap();
    let snapshot = Snapshot::open(&index).unwrap();
    let mut builder = Builder::default();
    let covers = Covers {
        text: true,
        ..Covers::default()
    };
    for row in snapshot.files().rows().unwrap() {
        let of = Version::new(row.key, row.token);
        builder.add(of, Path::new("/"), "", covers, &NgramSet::default());
    }
    fs_err::remove_dir_all(ngrams_folder(&index)).unwrap();
    let named = snapshot.meta().ngram_files.clone().unwrap();
    let store = Store::open(&ngrams_folder(&index), &named, ken_index::map).unwrap();
    store.write(&mut builder).unwrap();
    let lost = MissingNgrams::of(&index, snapshot.meta()).unwrap().unwrap();
    for row in snapshot.files().rows().unwrap() {
        let n_documents = snapshot.files().documents_of(row.key).unwrap().len();
        assert_eq!(lost.may_hold(Some(&snapshot), &row), n_documents > 1);
    }
}
