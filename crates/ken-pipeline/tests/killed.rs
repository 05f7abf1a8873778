//! Kills the process of an updater in a batch: the index has the state before or after the batch, and the next updater goes
//! on.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ken_core::{Order, Plan, Root};
use ken_engine::Source;
use ken_index::Snapshot;
use ken_index::layout::index_folder;
use ken_pipeline::updater::{Batching, PathChange, Ticket, Updater, UpdaterOptions};
use ken_pipeline::{Options, Progress, RootChange, update};

/// Names the folder to the process that is killed.
const FOLDER: &str = "KEN_TEST_UPDATER";
/// The files that each batch changes.
const N_FILES: usize = 40;
const LONG: Duration = Duration::from_secs(60);

/// Writes versions of all files, each in one batch, until it is killed. Says which ones are done.
#[test]
#[ignore = "started by the test below"]
#[allow(clippy::disallowed_methods, clippy::print_stdout)]
fn the_updater_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else {
        return;
    };
    let updater = updater(&folder);
    for version in 1.. {
        settle(&updater, updater.submit(write(&folder, version)));
        println!("\ndone {version}");
    }
}

#[test]
fn a_killed_updater_leaves_the_state_before_or_after_its_batch() {
    for round in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs_err::create_dir(folder.join("docs")).unwrap();
        make(folder, "data");
        // A batch takes some tens of milliseconds.
        let delay = Duration::from_millis(30 * round);
        let done = killed(folder, 1 + round as usize % 3, delay);
        let texts = texts(folder, "data");
        assert_eq!(texts.len(), N_FILES);
        let version = |version: u32| texts.values().all(|text| *text == text_of(version));
        assert!(version(done) || version(done + 1), "{done}: {texts:?}");
        let next = updater(folder);
        settle(&next, next.submit(write(folder, u32::MAX)));
        drop(next);
        make(folder, "fresh");
        assert_eq!(self::texts(folder, "data"), self::texts(folder, "fresh"));
    }
}

/// Runs an updater until it has done some versions and a while longer, and kills it. Returns the last version that it said
/// was done.
fn killed(folder: &Path, n_versions: usize, delay: Duration) -> u32 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["the_updater_that_is_killed", "--exact", "--include-ignored"])
        .arg("--nocapture")
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut done = lines.filter_map(|line| line.unwrap().strip_prefix("done ")?.parse().ok());
    let seen = done.by_ref().take(n_versions).last();
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
    done.last().or(seen).unwrap()
}

fn options(data: &Path) -> Options {
    Options {
        threads: 2,
        memory_bytes: 64 << 20,
        ..Options::new(data)
    }
}

fn updater(folder: &Path) -> Updater {
    let options = UpdaterOptions {
        batching: Batching::AT_ONCE,
        ..UpdaterOptions::new(options(&folder.join("data")))
    };
    Updater::start(options, |_| ())
}

fn settle(updater: &Updater, ticket: Ticket) {
    updater.wait(ticket, Instant::now() + LONG).unwrap();
}

/// Makes an index of all files.
fn make(folder: &Path, data: &str) {
    let add = RootChange::Add(Root::new(folder.join("docs")));
    let options = options(&folder.join(data));
    update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
}

fn text_of(version: u32) -> String {
    format!("version {version}")
}

/// Writes a version of all files.
fn write(folder: &Path, version: u32) -> Vec<PathChange> {
    let write = |number| {
        let path = folder.join(format!("docs/{number}.txt"));
        fs_err::write(&path, text_of(version)).unwrap();
        PathChange::Touched(path)
    };
    (0..N_FILES).map(write).collect()
}

/// Returns the texts of an index by their locations, each of which is there once.
fn texts(folder: &Path, data: &str) -> BTreeMap<String, String> {
    let snapshot = Snapshot::open(&index_folder(&folder.join(data))).unwrap();
    let found = snapshot.run(&Plan::All, Order::default(), 0, usize::MAX);
    let hits = found.unwrap().hits;
    let texts = hits.iter().map(|hit| {
        let stored = snapshot.document(hit.address).unwrap();
        let text = stored.document.body.trim().to_owned();
        (stored.location.to_string(), text)
    });
    let texts: BTreeMap<_, _> = texts.collect();
    assert_eq!(texts.len(), hits.len());
    texts
}
