//! Tests of the changes between two walks, in chosen cases and in random ones against a model.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::{Duration, UNIX_EPOCH};

use ken_core::{Change, FileKey, FileRow, KeyHasher, Root, Stamp, Token};
use ken_walk::{
    Catalogue, Comparison, Progress, Summary, Visitor, WalkOptions, changes, changes_of, root_at,
    walk,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A folder, and what a simple index knows about it.
struct World {
    _folder: tempfile::TempDir,
    path: PathBuf,
    hasher: KeyHasher,
    index: BTreeMap<PathBuf, FileRow>,
    options: WalkOptions,
    full: bool,
    /// Files that count as changed although they did not change.
    stale: BTreeSet<PathBuf>,
}

impl World {
    fn new(files: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self {
            path: fs_err::canonicalize(folder.path()).unwrap(),
            _folder: folder,
            hasher: KeyHasher::new(3, 4),
            index: BTreeMap::new(),
            options: WalkOptions::default(),
            full: false,
            stale: BTreeSet::new(),
        };
        for file in files {
            world.write(file, file);
        }
        world
    }

    fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn root(&self) -> Root {
        root_at(&self.path).unwrap()
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.at(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }

    fn row(&self, path: &Path, stamp: &Stamp) -> FileRow {
        FileRow {
            key: self.hasher.key(path),
            token: stamp.token(&self.hasher, 1),
            identity: stamp.identity(&self.hasher),
        }
    }

    /// Finds the changes and applies them to the index.
    fn update(&mut self) -> Vec<String> {
        let roots = [self.root()];
        self.run(&roots, &Progress::default()).0
    }

    /// Does the same for some paths, with everything below them.
    fn update_at(&mut self, names: &[&str]) -> Vec<String> {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.at(name)).collect();
        let roots = [self.root()];
        self.run_at(Some(&paths), &roots, &Progress::default()).0
    }

    fn run(&mut self, roots: &[Root], progress: &Progress) -> (Vec<String>, Summary) {
        self.run_at(None, roots, progress)
    }

    fn run_at(
        &mut self,
        only: Option<&[PathBuf]>,
        roots: &[Root],
        progress: &Progress,
    ) -> (Vec<String>, Summary) {
        let is_meant =
            |path: &Path| only.is_none_or(|only| only.iter().any(|at| path.starts_with(at)));
        let known = self.index.iter().filter(|(path, _)| is_meant(path));
        let catalogue = Catalogue::new(known.map(|(_, row)| *row).collect());
        let paths: BTreeMap<FileKey, &PathBuf> = self
            .index
            .iter()
            .map(|(path, row)| (row.key, path))
            .collect();
        let found = Mutex::new(Vec::new());
        let comparison = Comparison {
            is_reclassified: None,
            hasher: self.hasher,
            catalogue: &catalogue,
            full: self.full,
            is_stale: &|path, row| self.stale.contains(path) && row.token.is_finished(),
            path_of: &|keys| {
                keys.iter()
                    .map(|key| paths.get(key).copied().cloned())
                    .collect()
            },
            emit: &|change| found.lock().unwrap().push(change),
            recorder: None,
        };
        let summary = match only {
            Some(paths) => changes_of(paths, roots, &self.options, progress, &comparison),
            None => changes(roots, &self.options, progress, &comparison),
        };
        let mut lines: Vec<String> = Vec::new();
        for change in found.into_inner().unwrap() {
            lines.push(self.apply(change));
        }
        lines.sort();
        (lines, summary)
    }

    /// Applies a change to the index and returns it as a line.
    fn apply(&mut self, change: Change) -> String {
        match change {
            Change::Added { path, stamp } => self.put("added", path, &stamp),
            Change::Changed { path, stamp } => self.put("changed", path, &stamp),
            Change::Access { path, stamp } => self.put("access", path, &stamp),
            Change::Gone { key } => format!("gone {}", self.remove(key)),
            Change::Moved { from, path, stamp } => {
                let from = self.remove(from);
                self.put(&format!("moved {from}"), path, &stamp)
            }
        }
    }

    fn put(&mut self, verb: &str, path: PathBuf, stamp: &Stamp) -> String {
        let line = format!("{verb} {}", self.name(&path));
        let row = self.row(&path, stamp);
        self.index.insert(path, row);
        line
    }

    fn remove(&mut self, key: FileKey) -> String {
        let found = self.index.iter().find(|(_, row)| row.key == key);
        let path = found.expect("the file is known").0.clone();
        self.index.remove(&path);
        self.name(&path)
    }

    fn name(&self, path: &Path) -> String {
        let name = path.strip_prefix(&self.path).unwrap();
        name.to_string_lossy().into_owned()
    }
}

/// Sets a distant time, so that stamps differ whatever the clock of the file system.
fn set_mtime(path: &Path, seconds: u64) {
    let file = fs_err::File::options().write(true).open(path).unwrap();
    let time = UNIX_EPOCH + Duration::from_secs(seconds);
    file.file().set_modified(time).unwrap();
}

#[test]
fn a_folder_that_is_named_stands_for_all_below_it() {
    let mut world = World::new(&["a/b/1", "a/b/c/2", "a/3", "x/4", "x/5"]);
    world.update();
    set_mtime(&world.at("a/3"), 5);
    set_mtime(&world.at("x/5"), 5);
    fs_err::rename(world.at("a/b"), world.at("x/b")).unwrap();
    world.write("x/b/6", "new");
    assert_eq!(world.update_at(&["x/4", "x/none"]), [""; 0]);
    let moved = ["added x/b/6", "moved a/b/1 x/b/1", "moved a/b/c/2 x/b/c/2"];
    assert_eq!(world.update_at(&["a/b", "x/b"]), moved);
    // A file replaces a folder, and a path below the folder is given.
    fs_err::remove_dir_all(world.at("x/b")).unwrap();
    world.write("x/b", "a file");
    let gone = ["gone x/b/1", "gone x/b/6", "gone x/b/c/2"];
    assert_eq!(world.update_at(&["x/b/1", "x/b/6", "x/b/c"]), gone);
    assert_eq!(world.update_at(&["x"]), ["added x/b", "changed x/5"]);
    assert_eq!(world.update(), ["changed a/3"]);
}

#[test]
fn nothing_changed_yields_nothing() {
    let mut world = World::new(&["a", "b/c", "b/d"]);
    assert_eq!(world.update(), ["added a", "added b/c", "added b/d"]);
    let roots = [world.root()];
    let (lines, summary) = world.run(&roots, &Progress::default());
    assert!(lines.is_empty());
    assert_eq!((summary.unchanged, summary.kept), (3, 0));
    world.stale.insert(world.at("b/c"));
    assert_eq!(world.update(), ["changed b/c"]);
    world.full = true;
    assert_eq!(world.update(), ["changed a", "changed b/c", "changed b/d"]);
}

#[test]
fn each_kind_of_change_is_distinguished() {
    let names = ["changed", "gone", "here", "replaced", "same", "touched"];
    let mut world = World::new(&names);
    world.update();
    world.write("changed", "longer than before");
    fs_err::remove_file(world.at("gone")).unwrap();
    fs_err::rename(world.at("here"), world.at("there")).unwrap();
    world.write("new", "another");
    fs_err::rename(world.at("new"), world.at("replaced")).unwrap();
    set_mtime(&world.at("touched"), 5);
    let expected = [
        "changed changed",
        "changed replaced",
        "changed touched",
        "gone gone",
        "moved here there",
    ];
    assert_eq!(world.update(), expected);
    assert!(world.update().is_empty());
}

#[test]
fn a_renamed_folder_moves_its_files() {
    let mut world = World::new(&["old/a", "old/b/c"]);
    world.update();
    fs_err::rename(world.at("old"), world.at("new")).unwrap();
    let expected = ["moved old/a new/a", "moved old/b/c new/b/c"];
    assert_eq!(world.update(), expected);
}

#[test]
fn folders_that_change_places_change_their_files() {
    let names: Vec<String> = (0..50)
        .flat_map(|n| [format!("a/{n:02}"), format!("b/{n:02}")])
        .collect();
    let mut world = World::new(&names.iter().map(String::as_str).collect::<Vec<_>>());
    world.update();
    for (from, to) in [("a", "c"), ("b", "a"), ("c", "b")] {
        fs_err::rename(world.at(from), world.at(to)).unwrap();
    }
    assert_eq!(world.update().len(), names.len());
    assert!(world.update().is_empty());
}

#[test]
fn copies_and_hard_links_are_added() {
    let mut world = World::new(&["a"]);
    set_mtime(&world.at("a"), 5);
    world.update();
    fs_err::copy(world.at("a"), world.at("copy")).unwrap();
    set_mtime(&world.at("copy"), 5);
    assert_eq!(world.update(), ["added copy"]);
    fs_err::hard_link(world.at("a"), world.at("link")).unwrap();
    // Another link changes the `ctime`.
    assert_eq!(world.update(), ["added link", "changed a"]);
}

#[test]
fn one_file_that_is_gone_moves_to_one_path_only() {
    let mut world = World::new(&["a"]);
    world.update();
    fs_err::hard_link(world.at("a"), world.at("b")).unwrap();
    fs_err::rename(world.at("a"), world.at("c")).unwrap();
    assert_eq!(world.update(), ["added c", "moved a b"]);
    // Both known links are removed; either may be the one that moves.
    fs_err::remove_file(world.at("b")).unwrap();
    fs_err::rename(world.at("c"), world.at("d")).unwrap();
    let lines = world.update();
    assert!(lines[0].starts_with("gone ") && lines[1].starts_with("moved "));
    assert_eq!(lines.len(), 2);
}

#[test]
fn a_file_not_indexed_to_its_end_is_read_again_and_never_moved() {
    let mut world = World::new(&["a", "b"]);
    world.update();
    for row in world.index.values_mut() {
        row.token = Token::UNFINISHED;
    }
    fs_err::rename(world.at("b"), world.at("c")).unwrap();
    assert_eq!(world.update(), ["added c", "changed a", "gone b"]);
}

#[test]
fn of_many_links_only_one_indexed_to_its_end_moves() {
    let mut world = World::new(&["good"]);
    for link in 0..8 {
        fs_err::hard_link(world.at("good"), world.at(&format!("link{link}"))).unwrap();
    }
    world.update();
    let good = world.at("good");
    for (path, row) in &mut world.index {
        if *path != good {
            row.token = Token::UNFINISHED;
            fs_err::remove_file(path).unwrap();
        }
    }
    fs_err::rename(good, world.at("moved")).unwrap();
    let lines = world.update();
    assert_eq!(lines.len(), 9);
    assert_eq!(lines[8], "moved good moved");
}

#[test]
fn a_root_that_is_absent_or_not_mounted_purges_nothing() {
    let mut world = World::new(&["disk/a", "home/b"]);
    let mut roots = ["disk", "home"].map(|name| root_at(&world.at(name)).unwrap());
    roots[0].mounted = true;
    world.run(&roots, &Progress::default());
    fs_err::remove_file(world.at("home/b")).unwrap();
    world.write("home/c", "kept");
    fs_err::rename(world.at("disk"), world.at("away")).unwrap();
    let (lines, summary) = world.run(&roots, &Progress::default());
    assert_eq!(lines, ["added home/c", "gone home/b"]);
    assert_eq!(summary.kept, 1);
    fs_err::create_dir(world.at("disk")).unwrap();
    let (lines, summary) = world.run(&roots, &Progress::default());
    assert!(lines.is_empty());
    assert_eq!((summary.kept, summary.unchanged), (1, 1));
    // The owner emptied a folder that is not a mount point.
    roots[0].mounted = false;
    assert_eq!(world.run(&roots, &Progress::default()).0, ["gone disk/a"]);
}

#[test]
fn an_absent_root_inside_another_purges_nothing_either() {
    let mut world = World::new(&["disk/a", "b"]);
    let mut roots = [world.root(), root_at(&world.at("disk")).unwrap()];
    roots[1].mounted = true;
    world.run(&roots, &Progress::default());
    fs_err::remove_file(world.at("disk/a")).unwrap();
    assert!(world.run(&roots, &Progress::default()).0.is_empty());
    // Once it is no longer a root, the outer root determines what exists.
    assert_eq!(world.update(), ["gone disk/a"]);
}

#[test]
fn files_that_no_root_covers_any_more_are_gone() {
    let mut world = World::new(&["a/1", "b/2"]);
    world.update();
    let roots = [root_at(&world.at("a")).unwrap()];
    assert_eq!(world.run(&roots, &Progress::default()).0, ["gone b/2"]);
    assert_eq!(world.update(), ["added b/2"]);
}

#[test]
fn files_below_a_folder_that_cannot_be_read_are_kept() {
    let mut world = World::new(&["a", "deep/down/b"]);
    world.update();
    // A path that is too long cannot be opened, even by the superuser.
    let mut long = world.path.clone();
    for _ in 0..17 {
        long.push("x".repeat(250));
    }
    let hidden = long.join("b");
    let row = FileRow {
        key: world.hasher.key(&hidden),
        token: Token::from_number(9),
        identity: 9,
    };
    let summary = unreadable(&mut world, &long, &hidden, row);
    assert_eq!(summary.kept, 1);
    assert!(summary.walk.n_errors > 0);
}

/// Creates a folder whose path is too long for the walk, and updates with a known file below it.
fn unreadable(world: &mut World, long: &Path, hidden: &Path, row: FileRow) -> Summary {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = openat(CWD, &world.path, flags, Mode::empty()).unwrap();
    for name in long.strip_prefix(&world.path).unwrap() {
        mkdirat(&folder, name, Mode::RWXU).unwrap();
        folder = openat(&folder, name, flags, Mode::empty()).unwrap();
    }
    world.index.insert(hidden.to_path_buf(), row);
    let roots = [world.root()];
    let (lines, summary) = world.run(&roots, &Progress::default());
    assert!(lines.is_empty());
    summary
}

#[test]
fn a_cancelled_run_says_nothing_is_gone() {
    let mut world = World::new(&["a", "b"]);
    world.update();
    fs_err::rename(world.at("a"), world.at("c")).unwrap();
    let roots = [world.root()];
    let progress = Progress::default();
    progress.cancelled.store(true, Ordering::Relaxed);
    let (lines, summary) = world.run(&roots, &progress);
    assert!(lines.is_empty());
    assert!(summary.walk.cancelled);
    assert_eq!(world.update(), ["moved a c"]);
}

/// A user's action on files; the numbers choose names.
#[derive(Clone, Debug)]
enum Step {
    Write(usize, u64),
    Remove(usize),
    Rename(usize, usize),
    Link(usize, usize),
    /// Writes two files of the same size at nearly the same time.
    Twins,
    /// Two folders change places.
    Swap,
    Update,
}

const NAMES: [&str; 8] = ["a", "b", "c/a", "c/b", "c/d/a", "e/a", "e/b", "f"];

fn step() -> impl Strategy<Value = Step> {
    let name = || 0..NAMES.len();
    prop_oneof![
        (name(), 1..1_000_000_u64).prop_map(|(name, time)| Step::Write(name, time)),
        name().prop_map(Step::Remove),
        (name(), name()).prop_map(|(from, to)| Step::Rename(from, to)),
        (name(), name()).prop_map(|(from, to)| Step::Link(from, to)),
        Just(Step::Twins),
        Just(Step::Swap),
        Just(Step::Update),
    ]
}

fn take(world: &World, step: &Step) {
    let at = |name: usize| world.at(NAMES[name]);
    // Steps that the file system refuses (no such file, file exists) do nothing.
    match *step {
        Step::Write(name, time) => {
            world.write(NAMES[name], &"x".repeat(name + 1));
            set_mtime(&at(name), time);
        }
        Step::Remove(name) => drop(fs_err::remove_file(at(name))),
        Step::Rename(from, to) => drop(fs_err::rename(at(from), at(to))),
        Step::Link(from, to) => drop(fs_err::hard_link(at(from), at(to))),
        Step::Twins => ["c/a", "e/a"]
            .map(|name| world.write(name, name))
            .into_iter()
            .collect(),
        Step::Swap => {
            for (from, to) in [("c", "d"), ("e", "c"), ("d", "e")] {
                drop(fs_err::rename(world.at(from), world.at(to)));
            }
        }
        Step::Update => {}
    }
}

/// Returns what an index made from scratch would hold.
fn fresh(world: &World) -> BTreeMap<PathBuf, FileRow> {
    let rows = Mutex::new(BTreeMap::new());
    let visitor = Visitor {
        file: &|path, stamp| {
            let row = world.row(path, &stamp);
            rows.lock().unwrap().insert(path.to_path_buf(), row);
        },
        skipped: None,
        recorder: None,
    };
    walk(
        &[world.root()],
        &world.options,
        &Progress::default(),
        visitor,
    );
    rows.into_inner().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]
    #[test]
    fn an_updated_index_equals_a_fresh_one(steps in vec(step(), 1..40), threads in 1..4_usize) {
        let mut world = World::new(&NAMES[..4]);
        // Keeps the folder from being empty, like a mount point.
        world.write("z", "");
        world.options.threads = threads;
        for step in steps.iter().chain([&Step::Update]) {
            take(&world, step);
            if let Step::Update = step {
                let before: BTreeSet<PathBuf> = world.index.keys().cloned().collect();
                let lines = world.update();
                prop_assert_eq!(&world.index, &fresh(&world));
                let after: BTreeSet<PathBuf> = world.index.keys().cloned().collect();
                let is_added = |line: &&String| line.starts_with("added") || line.starts_with("moved");
                let added = lines.iter().filter(is_added).count();
                prop_assert_eq!(added, after.difference(&before).count());
                prop_assert_eq!(world.update(), Vec::<String>::new());
            }
        }
    }
}
