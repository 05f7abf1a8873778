//! Tests that a kept listing equals the content of its folder, or is not kept.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::Path;
use std::thread;
use std::time::Duration;

use ken_core::{KeyHasher, Root};
use proptest::prelude::*;

use super::*;
use crate::listing::{EntryOrder, Listing};
use crate::{FileSystems, Progress, Visitor, WalkOptions, needs, root_at, walk};

/// File system clocks advance in steps of up to 10 ms.
const TICK: Duration = Duration::from_millis(25);
const ALL: i64 = i64::MAX;

/// Returns an empty folder of whose subfolders listings are kept; `None` if there is no such file system. The temporary
/// folder of a container is often on an overlay, of which none are kept.
fn kept_folder() -> Option<tempfile::TempDir> {
    let parents = [tempfile::env::temp_dir(), "/dev/shm".into()];
    let mut folders = parents
        .into_iter()
        .filter_map(|parent| tempfile::tempdir_in(parent).ok());
    folders.find(|folder| {
        let open = fs_err::File::open(folder.path()).unwrap();
        let stat = rustix::fs::fstat(&open).unwrap();
        FileSystems::default().number(open.as_fd(), &stat).is_some()
    })
}

fn is_kept_here() -> bool {
    needs::met("listings", kept_folder().is_some())
}

struct Tree {
    top: tempfile::TempDir,
    index: tempfile::TempDir,
}

impl Tree {
    fn new(n_folders: usize) -> Self {
        let tree = Self {
            top: kept_folder().unwrap_or_else(|| tempfile::tempdir().unwrap()),
            index: tempfile::tempdir().unwrap(),
        };
        for number in 0..n_folders {
            tree.write(&format!("{number}/file"));
        }
        tree
    }

    fn root(&self) -> Root {
        root_at(self.top.path()).unwrap()
    }

    fn path(&self, path: &str) -> PathBuf {
        match path {
            "" => self.root().path,
            _ => self.root().path.join(path),
        }
    }

    fn write(&self, path: &str) {
        let path = self.path(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, "").unwrap();
    }

    fn hasher() -> KeyHasher {
        KeyHasher::new(1, 2)
    }

    fn known(&self) -> Option<Listings> {
        let map = |path: &Path| Ok(Box::new(fs_err::read(path)?) as Bytes);
        Listings::open(self.index.path(), Self::hasher(), map)
    }

    /// Walks, and records folders that did not change since.
    fn walk(&self, since: i64, saw_all: bool) {
        self.walked(since).finish(saw_all).unwrap();
        assert!(!fs_err::exists(self.index.path().join("listings.new")).unwrap());
    }

    fn walked(&self, since: i64) -> Recorder {
        let mut recorder = Recorder::new(self.index.path(), self.known(), Self::hasher(), since);
        recorder.min_changed = 1;
        let visitor = Visitor {
            file: &|_, _| (),
            skipped: None,
            recorder: Some(&recorder),
        };
        let options = WalkOptions {
            threads: 3,
            ..WalkOptions::default()
        };
        walk(&[self.root()], &options, &Progress::default(), visitor);
        recorder
    }

    /// Returns what is kept of a folder, after comparing it with the folder's content.
    fn kept(&self, listings: &Listings, folder: &str) -> Option<usize> {
        let folder = self.path(folder);
        let open = fs_err::File::open(&folder).unwrap();
        let stat = rustix::fs::fstat(&open).unwrap();
        let file_system = FileSystems::default().number(open.as_fd(), &stat).unwrap();
        let other = listings.of(&folder, &stat, file_system + 1);
        assert!(other.is_none(), "on another file system");
        let kept = listings.of(&folder, &stat, file_system)?;
        let mut listing = Listing::default();
        listing.read(open.as_fd()).unwrap();
        listing.sort(open.as_fd(), EntryOrder::Inode);
        let entries = listing.entries.iter();
        let entries = entries.map(|entry| (listing.name(*entry), entry.kind, entry.inode));
        assert!(kept.clone().eq(entries), "{folder:?}");
        Some(kept.count())
    }

    fn n_rows(&self) -> usize {
        self.known().map_or(0, |known| known.rows().len())
    }
}

#[test]
fn folders_that_did_not_change_are_kept() {
    if !is_kept_here() {
        return;
    }
    let tree = Tree::new(20);
    tree.write("0/a/b/c");
    fs_err::os::unix::fs::symlink("nowhere", tree.path("1/link")).unwrap();
    tree.write("2/.hidden");
    tree.walk(ALL, true);
    let listings = tree.known().unwrap();
    assert!(listings.is_sound());
    let of = |folder: &str| tree.kept(&listings, folder);
    assert_eq!(
        (of(""), of("0"), of("0/a"), of("1")),
        (Some(20), Some(2), Some(1), Some(2))
    );
    assert_eq!(of("2"), Some(2), "what the rules leave out is there too");

    thread::sleep(TICK);
    tree.write("3/new");
    fs_err::remove_file(tree.path("4/file")).unwrap();
    fs_err::rename(tree.path("5/file"), tree.path("5/other")).unwrap();
    fs_err::rename(tree.path("6"), tree.path("6 old")).unwrap();
    fs_err::rename(tree.path("7"), tree.path("6")).unwrap();
    tree.write("7/file");
    for changed in ["", "3", "4", "5", "6", "7", "6 old"] {
        assert_eq!(of(changed), None, "{changed}");
    }
    // The content of a file does not concern its folder.
    fs_err::write(tree.path("8/file"), "more").unwrap();
    assert_eq!((of("0"), of("8")), (Some(2), Some(1)));
}

#[test]
fn of_another_index_nothing_is_believed() {
    if !is_kept_here() {
        return;
    }
    let tree = Tree::new(3);
    tree.walk(ALL, true);
    let bytes = || Box::new(fs_err::read(tree.index.path().join("listings")).unwrap());
    assert!(Listings::new(bytes(), Tree::hasher()).is_some());
    assert!(Listings::new(bytes(), KeyHasher::new(1, 3)).is_none());
}

#[test]
fn folders_that_changed_just_now_and_huge_ones_are_not_kept() {
    if !is_kept_here() {
        return;
    }
    let tree = Tree::new(3);
    tree.walk(0, true);
    assert_eq!(tree.n_rows(), 0);
    for number in 0..=4096 {
        tree.write(&format!("huge/{number}"));
    }
    tree.walk(ALL, true);
    let listings = tree.known().unwrap();
    assert_eq!(
        (tree.kept(&listings, ""), tree.kept(&listings, "huge")),
        (Some(4), None)
    );
}

#[test]
fn the_file_is_written_anew_when_many_changed_and_forgets_what_is_gone() {
    if !is_kept_here() {
        return;
    }
    let tree = Tree::new(200);
    tree.walk(ALL, false);
    assert_eq!(tree.n_rows(), 0, "not all was seen");
    tree.walk(ALL, true);
    assert_eq!(tree.n_rows(), 201);
    let bytes = || fs_err::read(tree.index.path().join("listings")).unwrap();
    let before = bytes();

    thread::sleep(TICK);
    tree.write("0/new");
    tree.walk(ALL, true);
    assert!(bytes() == before, "one of 201");

    (0..20).for_each(|number| fs_err::remove_dir_all(tree.path(&number.to_string())).unwrap());
    tree.write("199/new");
    tree.walk(ALL, false);
    assert!(bytes() == before, "not all was seen");
    tree.walk(ALL, true);
    assert_eq!(tree.n_rows(), 181);
    let listings = tree.known().unwrap();
    assert!(listings.is_sound());
    assert_eq!(tree.kept(&listings, ""), Some(180));
    assert_eq!(
        (tree.kept(&listings, "199"), tree.kept(&listings, "100")),
        (Some(2), Some(1))
    );
}

/// More than a thread collects before it writes.
#[test]
fn many_listings_are_kept() {
    if !is_kept_here() {
        return;
    }
    let tree = Tree::new(0);
    let long = "x".repeat(200);
    for folder in 0..20 {
        (0..60).for_each(|number| tree.write(&format!("{folder}/{long}{number}")));
    }
    tree.walk(ALL, true);
    let listings = tree.known().unwrap();
    for folder in 0..20 {
        assert_eq!(tree.kept(&listings, &folder.to_string()), Some(60));
    }
}

/// Tests both cases: the first listings are written during the walk, or all at its end.
#[test]
fn a_file_that_cannot_be_written_leaves_the_one_before() {
    if !is_kept_here() {
        return;
    }
    for n_folders in [30, 900] {
        let tree = Tree::new(3);
        tree.walk(ALL, true);
        let path = tree.index.path().join("listings");
        let bytes = fs_err::read(&path).unwrap();
        // A folder cannot be overwritten by a file.
        fs_err::create_dir(tree.index.path().join("listings.new")).unwrap();
        let long = "x".repeat(200);
        (3..n_folders).for_each(|number| tree.write(&format!("{number}/{long}")));
        let error = tree.walked(ALL).finish(true).unwrap_err().to_string();
        assert!(error.contains("listings.new"), "{error}");
        assert!(fs_err::read(&path).unwrap() == bytes);
    }
}

#[test]
fn what_a_killed_run_left_is_deleted() {
    let tree = Tree::new(3);
    fs_err::write(tree.index.path().join("listings.new"), "half a fi").unwrap();
    tree.walk(0, true);
}

/// With `listings.new` a checksum is computed again: nothing damaged may get into it.
#[test]
fn a_damaged_listing_is_not_taken_over() {
    if !is_kept_here() {
        return;
    }
    let tree = Tree::new(20);
    tree.walk(ALL, true);
    let path = tree.index.path().join("listings");
    let mut bytes = fs_err::read(&path).unwrap();
    let name = bytes.windows(4).position(|window| window == b"file");
    bytes[name.unwrap()] ^= 1;
    fs_err::write(&path, bytes).unwrap();
    let of_all = |listings: &Listings| {
        let folders = (0..20).map(|number| tree.kept(listings, &number.to_string()));
        folders.flatten().count()
    };
    let damaged = tree.known().unwrap();
    assert!(!damaged.is_sound());
    assert_eq!(of_all(&damaged), 19);
    thread::sleep(TICK);
    (20..25).for_each(|number| tree.write(&format!("{number}/file")));
    tree.walk(ALL, true);
    let mended = tree.known().unwrap();
    assert!(mended.is_sound());
    assert_eq!(of_all(&mended), 20);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(30) })]
    /// After any changes of a tree, a kept listing equals the content of its folder.
    #[test]
    fn what_is_kept_is_what_is_there(
        changes in prop::collection::vec((0..5_u8, 0..12_usize, 0..12_usize), 1..12),
    ) {
        if !is_kept_here() {
            return Ok(());
        }
        let tree = Tree::new(12);
        tree.walk(ALL, true);
        let listings = tree.known().unwrap();
        thread::sleep(TICK);
        for (what, one, other) in changes {
            let (from, to) = (tree.path(&one.to_string()), tree.path(&other.to_string()));
            // Missing files are not changed.
            let _ = match what {
                0 => fs_err::write(from.join(other.to_string()), ""),
                1 => fs_err::remove_file(from.join("file")),
                2 => fs_err::rename(from, to.join("moved")),
                3 => fs_err::remove_dir_all(from),
                _ => fs_err::create_dir(to),
            };
        }
        let mut kept = BTreeMap::new();
        for entry in fs_err::read_dir(tree.path("")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            kept.insert(name.clone(), tree.kept(&listings, &name));
        }
        prop_assert!(kept.len() <= 12);
    }

    /// With a flipped bit anywhere, a kept listing equals the content of its folder, or is not
    /// kept.
    #[test]
    fn damage_is_noticed_and_misleads_nobody(offset: prop::sample::Index, flipped in 1..=255_u8) {
        if !is_kept_here() {
            return Ok(());
        }
        let tree = Tree::new(5);
        tree.walk(ALL, true);
        let mut bytes = fs_err::read(tree.index.path().join("listings")).unwrap();
        let offset = offset.index(bytes.len());
        bytes[offset] ^= flipped;
        if let Some(listings) = Listings::new(Box::new(bytes), Tree::hasher()) {
            prop_assert!(!listings.is_sound());
            let folders = ["", "0", "1", "2", "3", "4"];
            let n_kept = folders.iter().filter_map(|folder| tree.kept(&listings, folder)).count();
            prop_assert!((5..=6).contains(&n_kept) || offset >= listings.rows.start);
        }
    }
}
