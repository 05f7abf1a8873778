//! What a watcher tells of changes on a real file system.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use fs_err as fs;
use ken_core::Root;
use ken_walk::{WalkOptions, root_at};
use ken_watch::{Coverage, Lost, Watcher};
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

/// Returns all events that the kernel knows of now, below the root: changed paths and written files.
fn now(watcher: &mut Watcher, root: &Path) -> [BTreeSet<String>; 2] {
    let events = watcher.wait(Some(Instant::now())).unwrap();
    let relative = |path: &PathBuf| path.strip_prefix(root).unwrap().display().to_string();
    [&events.changed, &events.written].map(|paths| paths.iter().map(relative).collect())
}

#[test]
fn a_file_that_is_open_is_written_and_changes_when_it_is_closed() {
    let files = [(".kenignore", "*.tmp\n"), ("a", ""), ("b.tmp", "")];
    let (_folder, root, mut watcher) = watched(&files, 100);
    let mut open = ["a", "b.tmp"].map(|name| {
        let file = fs::OpenOptions::new().append(true).open(root.join(name));
        file.unwrap()
    });
    assert_eq!(now(&mut watcher, &root), [names([]), names([])]);
    for _ in 0..3 {
        open.iter_mut()
            .for_each(|file| file.write_all(b"x").unwrap());
        assert_eq!(now(&mut watcher, &root), [names([]), names(["a"])]);
    }
    open[0].write_all(b"x").unwrap();
    drop(open);
    assert_eq!(now(&mut watcher, &root), [names(["a"]), names([])]);
    // What is saved at once is no open file.
    write(&root, "c", "text");
    assert_eq!(now(&mut watcher, &root), [names(["c"]), names([])]);
}

#[test]
fn two_logs_that_are_written_all_the_time_rarely_wake_a_watcher() {
    let (_folder, root, mut watcher) = watched(&[], 100);
    let end = Instant::now() + Duration::from_secs(4);
    let mut logs = ["1.log", "2.log"].map(|name| fs::File::create(root.join(name)).unwrap());
    let writing = std::thread::spawn(move || {
        let mut n_written = 0;
        while Instant::now() < end {
            for _ in 0..20 {
                logs.iter_mut().for_each(|log| log.write_all(b"x").unwrap());
                n_written += 2;
            }
            std::thread::sleep(Duration::from_millis(4));
        }
        n_written
    });
    let mut wakes = 0;
    while Instant::now() < end {
        let events = watcher.wait(Some(end)).unwrap();
        assert_eq!(events.lost, None);
        wakes += 1;
    }
    let n_written = writing.join().unwrap();
    assert!(wakes < 25, "{wakes} after {n_written} events");
}

#[test]
fn a_folder_is_complete_if_all_folders_below_it_are_watched() {
    let files = [("a/1", ""), ("b/c/2", ""), ("b/c/d/3", ""), ("b/.x/4", "")];
    let (_folder, root, mut watcher) = watched(&files, 100);
    let complete = |watcher: &Watcher, names: &[&str]| -> Vec<bool> {
        let path = |name: &&str| root.join(name);
        let paths = names.iter().map(path);
        paths.map(|path| watcher.is_complete_below(&path)).collect()
    };
    let all = ["", "a", "a/1", "b/c", "b/c/d/3", "b/.x", "..", "none/1"];
    let expected = [true, true, true, true, true, false, false, false];
    assert_eq!(complete(&watcher, &all), expected);
    assert!(watcher.unwatched().is_empty());
    // Links may lead anywhere.
    let linked = Root {
        follow_links: true,
        ..root_at(&root.join("a")).unwrap()
    };
    watcher.watch(vec![root_at(&root).unwrap(), linked]);
    assert_eq!(watcher.unwatched(), [root.join("a")]);
    let expected = [false, false, false, true, true, false, false, false];
    assert_eq!(complete(&watcher, &all), expected);
    write(&root, "a/.ignore", "");
    assert_eq!(next(&mut watcher, &root), names(["a"]));
    assert_eq!(watcher.unwatched(), [root.join("a")]);
    assert_eq!(watcher.coverage().roots, 1);
    // Folders beyond the budget, and those above them.
    let mut small = Watcher::new(WalkOptions::default(), 2).unwrap();
    small.watch(vec![root_at(&root).unwrap()]);
    assert!(!small.is_complete_below(&root));
    let tops = small.unwatched();
    assert!(tops.iter().all(|top| !small.is_complete_below(top)));
    // A root that goes away.
    let mut away = Watcher::new(WalkOptions::default(), 100).unwrap();
    away.watch(vec![root_at(&root.join("b")).unwrap()]);
    assert!(away.is_complete_below(&root.join("b/c")));
    fs::rename(root.join("b"), root.join("e")).unwrap();
    assert_eq!(away.wait(None).unwrap().lost, Some(Lost::Root));
    assert!(!away.is_complete_below(&root.join("b/c")));
    away.watch(vec![away.roots()[0].clone()]);
    assert_eq!(away.unwatched(), [root.join("b")]);
}

/// Waits for events until some are told, and returns the changed paths below a folder.
fn next(watcher: &mut Watcher, folder: &Path) -> BTreeSet<String> {
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        let events = watcher.wait(Some(end)).unwrap();
        assert_eq!(events.lost, None);
        if !events.changed.is_empty() {
            let relative =
                |path: &PathBuf| path.strip_prefix(folder).unwrap().display().to_string();
            return events.changed.iter().map(relative).collect();
        }
    }
    panic!("nothing is told");
}

#[test]
fn rules_outside_the_roots_change_what_they_decide_on() {
    let folder = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(folder.path()).unwrap();
    let files = [
        "up/x/root/a/1.txt",
        "up/x/root/tree/2.txt",
        "up/x/plain/3.txt",
    ];
    files.iter().for_each(|name| write(&home, name, ""));
    fs::create_dir_all(home.join("up/x/root/tree/.git/info")).unwrap();
    let options = WalkOptions {
        global_ignore: Some(home.join("config/git/ignore")),
        ..WalkOptions::default()
    };
    let mut watcher = Watcher::new(options, 100).unwrap();
    let plain = Root {
        no_ignore: true,
        ..root_at(&home.join("up/x/plain")).unwrap()
    };
    watcher.watch(vec![root_at(&home.join("up/x/root")).unwrap(), plain]);
    let root = names(["up/x/root"]);
    // Each is made, changed and removed, and its folder may come later than the watch.
    write(&home, "up/.kenignore", "*.log\n");
    assert_eq!(next(&mut watcher, &home), root);
    write(&home, "up/.kenignore", "*.log\n1.txt\n");
    assert_eq!(next(&mut watcher, &home), root);
    write(&home, "up/x/root/a/1.txt", "unseen");
    write(&home, "up/x/root/a/2.txt", "seen");
    assert_eq!(next(&mut watcher, &home), names(["up/x/root/a/2.txt"]));
    fs::remove_file(home.join("up/.kenignore")).unwrap();
    assert_eq!(next(&mut watcher, &home), root);
    write(&home, "config/git/ignore", "*.tmp\n");
    assert_eq!(next(&mut watcher, &home), root);
    write(&home, "config/git/ignore", "*.tmp\n*.txt\n");
    assert_eq!(next(&mut watcher, &home), root);
    let tree = names(["up/x/root/tree"]);
    write(&home, "up/x/root/tree/.git/info/exclude", "3.txt\n");
    assert_eq!(next(&mut watcher, &home), tree);
    fs::create_dir_all(home.join("up/x/.git/info")).unwrap();
    assert_eq!(next(&mut watcher, &home), root);
    write(&home, "up/x/.git/info/exclude", "4.txt\n");
    assert_eq!(next(&mut watcher, &home), root);
    // Other names say nothing.
    write(&home, "up/other.txt", "");
    write(&home, "up/x/root/tree/.git/HEAD", "");
    let events = watcher.wait(Some(Instant::now())).unwrap();
    assert!(events.changed.is_empty() && events.lost.is_none());
    assert!(watcher.is_complete_below(&home.join("up/x/root")));
}

#[test]
fn a_root_goes_and_comes_with_a_folder_above_it() {
    let (_folder, root, mut watcher) = watched(&[("up/in/a", ""), ("file", "")], 100);
    let roots = ["up/in", "file"].map(|name| root_at(&root.join(name)).unwrap());
    watcher.watch(roots.to_vec());
    assert!(watcher.is_complete_below(&root.join("file")));
    write(&root, "file", "changed");
    assert_eq!(next(&mut watcher, &root), names(["file"]));
    for (from, to) in [("up", "down"), ("down", "up"), ("file", "gone")] {
        fs::rename(root.join(from), root.join(to)).unwrap();
        assert_eq!(watcher.wait(None).unwrap().lost, Some(Lost::Root));
        watcher.watch(roots.to_vec());
        let is_there = |path: &&str| watcher.is_complete_below(&root.join(path));
        let there: Vec<bool> = ["up/in", "file"].iter().map(is_there).collect();
        assert_eq!(there, [to != "down", to != "gone"]);
    }
    write(&root, "file", "again");
    assert_eq!(watcher.wait(None).unwrap().lost, Some(Lost::Root));
}

#[test]
fn a_work_tree_is_locked_while_git_changes_it() {
    let folder = tempfile::tempdir().unwrap();
    let root = root_at(folder.path()).unwrap();
    let path = root.path.clone();
    for name in ["one/.git/HEAD", "two/.git/worktrees/t/HEAD", "two/a"] {
        write(&path, name, "");
    }
    let linked = path.join("two/.git/worktrees/t");
    write(
        &path,
        "linked/.git",
        &format!("gitdir: {}\n", linked.display()),
    );
    write(&path, "one/.git/index.lock", "");
    let mut watcher = Watcher::new(WalkOptions::default(), 100).unwrap();
    watcher.watch(vec![root]);
    let mut locked = || watcher.wait(Some(Instant::now())).unwrap().locked;
    let trees = |names: &[&str]| names.iter().map(|name| path.join(name)).collect();
    assert_eq!(locked(), trees(&["one"]));
    fs::rename(
        path.join("one/.git/index.lock"),
        path.join("one/.git/index"),
    )
    .unwrap();
    assert_eq!(locked(), trees(&[]));
    fs::write(linked.join("index.lock"), "").unwrap();
    assert_eq!(locked(), trees(&["linked"]));
    fs::remove_file(linked.join("index.lock")).unwrap();
    assert_eq!(locked(), trees(&[]));
}

#[test]
fn a_hidden_folder_becomes_a_mail_folder_whatever_is_seen_first() {
    let (_folder, root, mut watcher) = watched(&[], 100);
    for (n, is_seen) in [false, true].into_iter().enumerate() {
        let mail = root.join(n.to_string());
        fs::create_dir_all(&mail).unwrap();
        watcher.wait(None).unwrap();
        for name in ["new", "cur", ".Sent", ".Sent/cur", ".Sent/new"] {
            fs::create_dir(mail.join(name)).unwrap();
            if is_seen || name == ".Sent" {
                watcher.wait(Some(Instant::now())).unwrap();
            }
        }
        changes(&mut watcher, &root);
        write(&mail, ".Sent/new/1.host", "");
        assert_eq!(changes(&mut watcher, &mail), names([".Sent/new/1.host"]));
    }
}

#[test]
fn the_best_folders_are_watched_if_not_all_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let root = root_at(folder.path()).unwrap();
    let path = root.path.clone();
    let files = [
        "old/a/1",
        "old/b/2",
        "mail/new/3",
        "mail/cur/4",
        "x/y/recent/5",
        "x/y/z/6",
    ];
    files.iter().for_each(|name| write(&path, name, ""));
    let hours_ago = |hours: u64| SystemTime::now() - Duration::from_secs(hours * 3_600);
    for name in [
        "old/a", "old/b", "old", "mail/new", "mail/cur", "mail", "x/y/z", "x/y", "x",
    ] {
        let opened = fs::File::open(path.join(name)).unwrap();
        opened.file().set_modified(hours_ago(24 * 300)).unwrap();
    }
    let mut watcher = Watcher::new(WalkOptions::default(), 4).unwrap();
    watcher.watch(vec![root]);
    let counts = (watcher.coverage().watched, watcher.coverage().beyond);
    assert_eq!(counts, (4, 7));
    for name in files {
        write(&path, name, "changed");
    }
    let best = names(["mail/cur/4", "mail/new/3", "x/y/recent/5"]);
    assert_eq!(changes(&mut watcher, &path), best);
    // The folder above it does not tell.
    fs::rename(path.join("x/y/recent"), path.join("x/y/z/recent")).unwrap();
    assert_eq!(changes(&mut watcher, &path), names(["x/y/recent"]));
    assert_eq!(watcher.coverage().watched, 3);
}
