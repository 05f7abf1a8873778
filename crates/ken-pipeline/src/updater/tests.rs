//! Tests of an updater: against indexes made from scratch, next to other processes, and after
//! failures.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crossbeam_channel::{Receiver, unbounded};
use ken_core::{Order, Plan, Root};
use ken_engine::Source;
use ken_index::Snapshot;
use proptest::prelude::*;

use super::*;
use crate::background::{Pause, pause, resume};
use crate::run::tests::options;

const LONG: Duration = Duration::from_secs(60);

/// A folder under test, with its index and the updater that follows it.
struct World {
    folder: tempfile::TempDir,
    updater: Updater,
    outcomes: Receiver<Outcome>,
}

impl World {
    fn new(batching: Batching, keep_open: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("docs")).unwrap();
        let options = options(&folder.path().join("data"), 64 << 20);
        let add = RootChange::Add(Root::new(folder.path().join("docs")));
        update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
        let (sender, outcomes) = unbounded();
        let updater = Updater::start(
            UpdaterOptions {
                batching,
                keep_open,
                ..UpdaterOptions::new(options)
            },
            move |outcome| _ = sender.send(outcome.clone()),
        );
        Self {
            folder,
            updater,
            outcomes,
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("docs").join(name)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn write(&self, name: &str, text: &str) -> Ticket {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, text).unwrap();
        self.updater.submit([PathChange::Touched(path)])
    }

    fn settle(&self, ticket: Ticket) {
        self.updater.wait(ticket, Instant::now() + LONG).unwrap();
    }

    /// Returns the texts of an index by the paths of their files.
    fn texts(&self, data: &str) -> BTreeMap<String, String> {
        let index = self.folder.path().join(data).join("index");
        let snapshot = Snapshot::open(&index).unwrap();
        let found = snapshot.run(&Plan::All, Order::default(), 0, usize::MAX);
        let texts = found.unwrap().hits.into_iter().map(|hit| {
            let stored = snapshot.document(hit.address).unwrap();
            (stored.location.to_string(), stored.document.body)
        });
        let texts: Vec<_> = texts.collect();
        let by_path: BTreeMap<_, _> = texts.iter().cloned().collect();
        assert_eq!(by_path.len(), texts.len(), "none is there twice");
        by_path
    }

    /// Compares the index with one made from scratch.
    fn check(&self, name: &str) {
        let options = options(&self.folder.path().join(name), 64 << 20);
        let add = RootChange::Add(Root::new(self.folder.path().join("docs")));
        update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
        assert_eq!(self.texts("data"), self.texts(name));
        fs_err::remove_dir_all(self.folder.path().join(name)).unwrap();
    }

    /// Returns the number of files in the batches so far: added, changed, moved, gone.
    fn counts(&self) -> [u64; 4] {
        self.outcomes.try_iter().fold([0; 4], |sum, outcome| {
            let of = outcome.summary.unwrap();
            let [added, changed, moved, gone] = sum;
            [
                added + of.added,
                changed + of.changed,
                moved + of.moved,
                gone + of.gone,
            ]
        })
    }
}

/// An edit of the folder, with the number of a file or folder.
#[derive(Clone, Debug)]
enum Edit {
    Write(usize, u8),
    RenameFile(usize, usize),
    RenameFolder(usize, usize),
    RemoveFile(usize),
    RemoveFolder(usize),
    /// A file replaces a folder.
    Flatten(usize),
    /// An ignore file leaves out all files of a folder whose names begin with a digit.
    Ignore(usize, bool),
}

const FOLDERS: [&str; 6] = ["a", "a/b", "a/b/c", "ab", "x", "x/y"];

fn folder_name(number: usize) -> &'static str {
    FOLDERS[number % FOLDERS.len()]
}

fn file_name(number: usize) -> String {
    format!("{}/{}.txt", folder_name(number), number % 3)
}

fn edits() -> impl Strategy<Value = Edit> {
    let (file, folder) = (0..18_usize, 0..6_usize);
    prop_oneof![
        8 => (file.clone(), any::<u8>()).prop_map(|(at, text)| Edit::Write(at, text)),
        3 => (file.clone(), file.clone()).prop_map(|(from, to)| Edit::RenameFile(from, to)),
        4 => (folder.clone(), folder.clone()).prop_map(|(from, to)| Edit::RenameFolder(from, to)),
        2 => file.prop_map(Edit::RemoveFile),
        1 => folder.clone().prop_map(Edit::RemoveFolder),
        1 => folder.clone().prop_map(Edit::Flatten),
        1 => (folder, any::<bool>()).prop_map(|(at, is_there)| Edit::Ignore(at, is_there)),
    ]
}

impl World {
    /// Makes an edit; returns the changes that a file system watcher reports.
    fn edit(&self, edit: &Edit) -> Vec<PathChange> {
        let touched = |path: PathBuf| vec![PathChange::Touched(path)];
        match edit {
            Edit::Write(number, text) => {
                let path = self.path(&file_name(*number));
                let folder = path.parent().unwrap();
                if fs_err::create_dir_all(folder).is_ok() && !path.is_dir() {
                    fs_err::write(&path, format!("text{text}")).unwrap();
                }
                touched(path)
            }
            Edit::RenameFile(from, to) => self.rename(&file_name(*from), &file_name(*to)),
            Edit::RenameFolder(from, to) => self.rename(folder_name(*from), folder_name(*to)),
            Edit::RemoveFile(number) => {
                let path = self.path(&file_name(*number));
                let _ = fs_err::remove_file(&path);
                touched(path)
            }
            Edit::RemoveFolder(number) => {
                let path = self.path(folder_name(*number));
                let _ = fs_err::remove_dir_all(&path);
                touched(path)
            }
            Edit::Flatten(number) => {
                let path = self.path(folder_name(*number));
                let _ = fs_err::remove_dir_all(&path);
                let _ = fs_err::write(&path, "no folder any more");
                touched(path)
            }
            Edit::Ignore(number, is_there) => {
                let rules = self.path(folder_name(*number)).join(".ignore");
                let _ = match is_there {
                    true => fs_err::write(&rules, "1.txt\n"),
                    false => fs_err::remove_file(&rules),
                };
                touched(rules)
            }
        }
    }

    fn rename(&self, from: &str, to: &str) -> Vec<PathChange> {
        let (from, to) = (self.path(from), self.path(to));
        match fs_err::rename(&from, &to) {
            Ok(()) => vec![PathChange::Renamed { from, to }],
            Err(_) => Vec::new(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// After any edits, reported in any order, the index equals one made from scratch.
    #[test]
    fn batches_of_changes_leave_the_index_as_one_made_from_nothing(
        rounds in proptest::collection::vec(
            (proptest::collection::vec(edits(), 1..9), any::<bool>(), any::<bool>()), 1..7),
    ) {
        let world = World::new(Batching::AT_ONCE, LONG);
        for (edits, is_submitted_at_once, is_submitted_backwards) in rounds {
            let mut changes = Vec::new();
            for edit in edits {
                changes.extend(world.edit(&edit));
                if is_submitted_at_once {
                    world.updater.submit(changes.drain(..));
                }
            }
            if is_submitted_backwards {
                changes.reverse();
            }
            let last = world.updater.submit(changes);
            // Some batches overlap the edits of the next round.
            if !is_submitted_backwards {
                world.settle(last);
            }
        }
        world.settle(world.updater.submit([]));
        prop_assert_eq!(world.updater.n_opened(), 1);
        world.check("fresh");
    }
}

#[test]
fn a_renamed_folder_is_not_read_again() {
    let world = World::new(Batching::default(), LONG);
    for number in 0..20 {
        world.write(&format!("old/below/{number}.txt"), "some words");
    }
    world.settle(world.updater.submit([]));
    assert_eq!(world.counts(), [20, 0, 0, 0]);
    let changes = world.rename("old", "new");
    fs_err::write(world.path("new/below/0.txt"), "changed meanwhile").unwrap();
    world.settle(world.updater.submit(changes));
    assert_eq!(world.counts(), [1, 0, 19, 1]);
    world.check("fresh");
    fs_err::remove_dir_all(world.path("new")).unwrap();
    let gone = PathChange::Touched(world.path("new"));
    world.settle(world.updater.submit([gone]));
    assert_eq!(world.counts(), [0, 0, 0, 20]);
    assert_eq!(world.texts("data").len(), 0);
}

#[test]
fn a_file_that_is_submitted_ten_times_is_read_once() {
    let batching = Batching {
        quiet: LONG,
        longest: LONG,
        ..Batching::default()
    };
    let world = World::new(batching, LONG);
    let mut last = Ticket::default();
    for number in 0..10 {
        last = world.write("a.txt", &format!("text {number}"));
    }
    assert_eq!(world.updater.done_up_to(), Ticket::default());
    let begun = Instant::now();
    world.settle(last);
    assert_eq!(
        (world.counts(), world.updater.done_up_to()),
        ([1, 0, 0, 0], last)
    );
    assert!(begun.elapsed() < LONG / 2);
}

#[test]
fn the_report_of_a_batch_finds_it_done_and_precedes_the_end_of_the_wait() {
    let mut world = World::new(Batching::AT_ONCE, LONG);
    let (sender, outcomes) = unbounded();
    let (go_on, goes_on) = unbounded::<()>();
    let options = options(&world.data(), 64 << 20);
    world.updater = Updater::start(UpdaterOptions::new(options), move |outcome| {
        sender.send(outcome.clone()).unwrap();
        goes_on.recv().unwrap();
    });
    let ticket = world.write("a.txt", "first");
    let waited = world.updater.wait(ticket, Instant::now());
    assert!(matches!(waited, Err(NotDone::Deadline)), "{waited:?}");
    assert_eq!(outcomes.recv_timeout(LONG).unwrap().done, ticket);
    assert_eq!(world.updater.done_up_to(), ticket);
    let soon = Instant::now() + Duration::from_millis(50);
    let waited = world.updater.wait(ticket, soon);
    assert!(matches!(waited, Err(NotDone::Deadline)), "{waited:?}");
    go_on.send(()).unwrap();
    world.settle(ticket);
}

#[test]
fn one_writer_serves_many_batches() {
    let world = World::new(Batching::AT_ONCE, LONG);
    for number in 0..12 {
        world.settle(world.write(&format!("{}.txt", number % 5), &format!("text {number}")));
        // A batch without changes commits nothing.
        world.settle(world.updater.submit([]));
    }
    let committed = world.outcomes.try_iter();
    let committed = committed.filter(|outcome| outcome.summary.as_ref().unwrap().committed);
    assert_eq!((committed.count(), world.updater.n_opened()), (12, 1));
    world.check("fresh");
}

/// Takes the lock of an index, as another process would.
fn take_lock(world: &World) -> RunLock {
    let until = Instant::now() + LONG;
    RunLock::take(&world.data(), &|| Instant::now() < until)
        .unwrap()
        .expect("the updater lets the index go")
}

#[test]
fn an_idle_updater_lets_the_index_go() {
    let world = World::new(Batching::AT_ONCE, Duration::from_millis(20));
    world.settle(world.write("a.txt", "first"));
    while RunLock::take(&world.data(), &|| false).unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    world.settle(world.write("b.txt", "second"));
    assert!(world.updater.n_opened() >= 2);
    world.check("fresh");
}

#[test]
fn an_updater_lets_others_write_and_goes_on() {
    let world = World::new(Batching::AT_ONCE, LONG);
    world.settle(world.write("a.txt", "first"));
    let lock = take_lock(&world);
    let ticket = world.write("b.txt", "second");
    let soon = Instant::now() + Duration::from_millis(50);
    let waited = world.updater.wait(ticket, soon);
    assert!(matches!(waited, Err(NotDone::Deadline)), "{waited:?}");
    drop(lock);
    world.settle(ticket);
    assert_eq!(world.updater.n_opened(), 2);
    // Another run over all files writes between two batches.
    fs_err::write(world.path("c.txt"), "third").unwrap();
    let run = update(
        &options(&world.data(), 64 << 20),
        &[],
        &Progress::default(),
        &|_| (),
    );
    assert_eq!(run.unwrap().added, 1);
    world.settle(world.write("c.txt", "changed"));
    world.check("fresh");
}

#[test]
fn a_pause_closes_the_index_and_may_hold_batches() {
    let world = World::new(Batching::AT_ONCE, LONG);
    world.settle(world.write("a.txt", "first"));
    pause(&world.data(), Pause::Open).unwrap();
    while RunLock::take(&world.data(), &|| false).unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    world.settle(world.write("b.txt", "single files are written all the same"));
    let updater = Updater::start(
        UpdaterOptions {
            batching: Batching::AT_ONCE,
            respects_pause: true,
            ..UpdaterOptions::new(options(&world.data(), 64 << 20))
        },
        |_| (),
    );
    fs_err::write(world.path("c.txt"), "third").unwrap();
    let ticket = updater.submit([PathChange::Touched(world.path("c.txt"))]);
    let soon = Instant::now() + Duration::from_millis(100);
    assert!(updater.wait(ticket, soon).is_err());
    resume(&world.data()).unwrap();
    updater.wait(ticket, Instant::now() + LONG).unwrap();
    drop(updater);
    world.check("fresh");
}

#[test]
fn the_error_of_a_batch_reaches_those_who_wait_for_it() {
    let world = World::new(Batching::AT_ONCE, Duration::ZERO);
    world.settle(world.write("a.txt", "first"));
    drop(take_lock(&world));
    let (index, away) = (world.data().join("index"), world.data().join("away"));
    fs_err::rename(&index, &away).unwrap();
    fs_err::write(&index, "no folder").unwrap();
    let ticket = world.write("b.txt", "second");
    let failed = world.updater.wait(ticket, Instant::now() + LONG);
    assert!(matches!(failed, Err(NotDone::Failed(_))), "{failed:?}");
    let also = world.write("c.txt", "third");
    let failed = world.updater.wait(also, Instant::now() + LONG);
    assert!(matches!(failed, Err(NotDone::Failed(_))), "{failed:?}");
    assert!(world.updater.wait(ticket, Instant::now()).is_err());
    assert!(world.updater.done_up_to() < ticket);
    fs_err::remove_file(&index).unwrap();
    fs_err::rename(&away, &index).unwrap();
    // The files of the failed batches come with the next one, whatever that is.
    let next = world.updater.submit([]);
    world.settle(next);
    assert!(world.updater.wait(ticket, Instant::now()).is_ok());
    assert_eq!(world.updater.done_up_to(), next);
    world.check("fresh");
}

#[test]
fn a_failed_run_over_all_files_fails_by_itself() {
    let world = World::new(Batching::AT_ONCE, Duration::ZERO);
    let wrong = vec![RootChange::Forget(world.path("no root"))];
    let options = options(&world.data(), 64 << 20);
    let failed: Vec<Ticket> = (0..40)
        .map(|_| {
            let progress = Arc::default();
            world
                .updater
                .submit_all(options.clone(), wrong.clone(), progress)
        })
        .collect();
    let last = world.write("a.txt", "first");
    world.settle(last);
    assert_eq!(world.updater.done_up_to(), last);
    for ticket in failed {
        let waited = world.updater.wait(ticket, Instant::now());
        assert!(matches!(waited, Err(NotDone::Failed(_))), "{waited:?}");
    }
    world.check("fresh");
}

#[test]
fn a_pause_that_is_heeded_interrupts_a_batch() {
    let mut world = World::new(Batching::AT_ONCE, LONG);
    let lock = take_lock(&world);
    let options = options(&world.data(), 64 << 20);
    world.updater = Updater::start(
        UpdaterOptions {
            batching: Batching::AT_ONCE,
            respects_pause: true,
            ..UpdaterOptions::new(options)
        },
        |_| (),
    );
    let ticket = world.write("a.txt", "first");
    let waits_for = |is_wanted| {
        let until = Instant::now() + Duration::from_secs(5);
        while RunLock::is_wanted(&world.data()) != is_wanted && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    waits_for(true);
    pause(&world.data(), Pause::Open).unwrap();
    // The batch waits for the pause now, and not for the lock.
    waits_for(false);
    drop(lock);
    let soon = Instant::now() + Duration::from_millis(200);
    let waited = world.updater.wait(ticket, soon);
    assert!(matches!(waited, Err(NotDone::Deadline)), "{waited:?}");
    resume(&world.data()).unwrap();
    world.settle(ticket);
    world.check("fresh");
}

#[test]
fn a_run_over_all_files_comes_in_its_turn() {
    let world = World::new(Batching::default(), LONG);
    let first = world.write("a.txt", "first");
    fs_err::write(world.path("b.txt"), "not submitted").unwrap();
    let options = options(&world.data(), 64 << 20);
    let all = world
        .updater
        .submit_all(options, Vec::new(), Arc::default());
    let last = world.write("c.txt", "third");
    assert!(first < all && all < last);
    world.settle(last);
    let outcomes: Vec<_> = world.outcomes.try_iter().collect();
    let done = outcomes.iter().map(|outcome| (outcome.done, outcome.all));
    assert_eq!(
        done.collect::<Vec<_>>(),
        [(first, false), (all, true), (last, false)]
    );
    world.check("fresh");
}

#[test]
fn what_a_stopped_updater_left_the_next_run_does() {
    let world = World::new(Batching::default(), LONG);
    world.settle(world.write("a.txt", "first"));
    world.write("b.txt", "second");
    world.updater.stop();
    let ticket = world.write("c.txt", "third");
    let waited = world.updater.wait(ticket, Instant::now() + LONG);
    assert!(matches!(waited, Err(NotDone::Stopped)), "{waited:?}");
    let options = options(&world.data(), 64 << 20);
    update(&options, &[], &Progress::default(), &|_| ()).unwrap();
    world.check("fresh");
}

#[test]
fn a_path_below_what_is_a_file_now_adds_nothing() {
    let world = World::new(Batching::AT_ONCE, LONG);
    world.settle(world.write("a", "a file"));
    let below = PathChange::Touched(world.path("a/b.txt"));
    world.settle(world.updater.submit([below]));
    assert_eq!(world.counts(), [1, 0, 0, 0]);
    world.check("fresh");
}

#[test]
fn a_sidecar_and_a_list_of_states_change_the_files_that_they_are_about() {
    let world = World::new(Batching::AT_ONCE, LONG);
    world.write("photo.jpg", "no picture");
    world.settle(world.write("mh/7", "Subject: seven\n\nA message.\n"));
    for (name, text) in [
        ("photo.xmp", "<x:xmpmeta/>"),
        ("photo.jpg.xmp", "<x:xmpmeta/>"),
        ("mh/.mh_sequences", "unseen: 7\n"),
    ] {
        assert_eq!(world.counts()[1], 0);
        world.settle(world.write(name, text));
        assert_eq!(world.counts()[1], 1, "{name}");
    }
    world.check("fresh");
}

#[test]
fn an_updater_that_ends_does_not_wait_for_long_merges() {
    let folder = tempfile::tempdir().unwrap();
    let shared = Arc::new(Shared {
        options: UpdaterOptions::new(options(folder.path(), 64 << 20)),
        state: Mutex::default(),
        changed: Condvar::new(),
        n_opened: AtomicU64::new(0),
    });
    shared.state().is_closing = true;
    let (end, merged) = unbounded::<()>();
    let thread = std::thread::spawn(move || _ = merged.recv_timeout(LONG));
    let begun = Instant::now();
    drop(Updater {
        shared,
        thread: Some(thread),
    });
    assert!(begun.elapsed() < LONG / 2);
    drop(end);
}
