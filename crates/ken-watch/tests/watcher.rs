//! What a watcher tells of changes on a real file system.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs_err as fs;
use ken_walk::{WalkOptions, root_at};
use ken_watch::{Coverage, Watcher};
use tempfile::TempDir;

/// Returns a watcher of a folder with these files.
fn watched(files: &[(&str, &str)], budget: usize) -> (TempDir, PathBuf, Watcher) {
    let folder = tempfile::tempdir().unwrap();
    let root = root_at(folder.path()).unwrap();
    let path = root.path.clone();
    files
        .iter()
        .for_each(|(name, text)| write(&path, name, text));
    let mut watcher = Watcher::new(WalkOptions::default(), budget).unwrap();
    watcher.watch(vec![root]);
    (folder, path, watcher)
}

fn write(root: &Path, name: &str, text: &str) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns the changes that the kernel knows of now, below the root.
fn changes(watcher: &mut Watcher, root: &Path) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    loop {
        let events = watcher.wait(Some(Instant::now())).unwrap();
        assert_eq!(events.lost, None);
        if events.changed.is_empty() {
            return all;
        }
        let relative = |path: &PathBuf| path.strip_prefix(root).unwrap().display().to_string();
        all.extend(events.changed.iter().map(relative));
    }
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

#[test]
fn names_that_a_walk_leaves_out_are_not_told() {
    let rules = [
        (".kenignore", "*.log\nbuild/\n"),
        ("build/a.txt", ""),
        ("a/b.txt", ""),
    ];
    let (_folder, root, mut watcher) = watched(&rules, 100);
    assert_eq!(watcher.coverage().watched, 2);
    for name in [
        "x.log",
        ".hidden",
        "build/a.txt",
        "build/c/d.txt",
        "a/y.log",
        ".git.txt",
    ] {
        write(&root, name, "unseen");
    }
    assert_eq!(changes(&mut watcher, &root), names([]));
    write(&root, "a/b.txt", "seen");
    write(&root, "a/b.log.txt", "seen");
    assert_eq!(
        changes(&mut watcher, &root),
        names(["a/b.txt", "a/b.log.txt"])
    );
    // The folder stands for all that its rules decide on.
    write(&root, ".kenignore", "a/\n");
    assert_eq!(changes(&mut watcher, &root), names([""]));
    write(&root, "a/b.txt", "unseen");
    write(&root, "build/a.txt", "seen");
    assert_eq!(changes(&mut watcher, &root), names(["build/a.txt"]));
}

#[test]
fn a_folder_that_comes_is_watched_before_it_is_told() {
    let (_folder, root, mut watcher) = watched(&[], 100);
    write(&root, "a/b/c/d.txt", "");
    assert_eq!(changes(&mut watcher, &root), names(["a"]));
    write(&root, "a/b/c/d.txt", "changed");
    assert_eq!(changes(&mut watcher, &root), names(["a/b/c/d.txt"]));
    fs::rename(root.join("a/b"), root.join("e")).unwrap();
    assert_eq!(changes(&mut watcher, &root), names(["a/b", "e"]));
    write(&root, "e/c/d.txt", "changed again");
    assert_eq!(changes(&mut watcher, &root), names(["e/c/d.txt"]));
    let outside = tempfile::tempdir().unwrap();
    fs::rename(root.join("e"), outside.path().join("e")).unwrap();
    assert_eq!(changes(&mut watcher, &root), names(["e"]));
    write(outside.path(), "e/c/d.txt", "unseen");
    assert_eq!(changes(&mut watcher, &root), names([]));
    assert_eq!(watcher.coverage().watched, 2);
}

#[test]
fn folders_beyond_the_budget_are_counted() {
    let (_folder, root, mut watcher) = watched(&[("a/1", ""), ("b/2", ""), ("c/3", "")], 2);
    let expected = Coverage {
        watched: 2,
        beyond: 2,
        ..Coverage::default()
    };
    assert_eq!(watcher.coverage(), expected);
    assert!(!watcher.coverage().is_complete());
    let roots = vec![root_at(&root.join("a")).unwrap()];
    watcher.watch(roots);
    assert_eq!(watcher.coverage().watched, 1);
    assert!(watcher.coverage().is_complete());
}

#[test]
fn a_waker_ends_a_wait() {
    let (_folder, _, mut watcher) = watched(&[], 100);
    let waker = watcher.waker();
    let waking = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        waker.wake();
    });
    let events = watcher.wait(None).unwrap();
    assert!(events.changed.is_empty() && events.lost.is_none());
    waking.join().unwrap();
}
